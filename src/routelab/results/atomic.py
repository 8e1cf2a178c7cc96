"""Atomic writing of files and directories: no reader ever sees one half-written.

Only regular files and folders are replaced. A device, a pipe or a socket of that name is refused.

The content is written under a temporary name in the same folder and renamed when it is complete
and on the disk. After an error or a kill the old content is still there. A kill also leaves the
temporary file, whose name starts with a dot.

What can be computed again need not wait for the disk: then a power failure may leave cut files,
which the checksums of `routelab.results.outcome` tell.
"""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from routelab.api.errors import InputError
from routelab.toolkit.input_files import special_kind

_FIXES = {
    errno.ENOSPC: "the disk is full; free some space or choose another folder",
    errno.EDQUOT: "your disk quota is exceeded; free some space or choose another folder",
    errno.EFBIG: "the file is larger than allowed; raise the limit (ulimit -f)",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.EACCES: "permission denied; choose a folder that you may write to",
    errno.EPERM: "permission denied; choose a folder that you may write to",
    errno.ENOTDIR: "a part of the path is a file, not a folder; choose another folder",
    errno.ENOENT: "the folder cannot be created, or was removed; choose another folder",
    errno.EEXIST: "a file is where a folder is needed; remove it or choose another folder",
    errno.EISDIR: "a folder has this name; remove it or choose another name",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.ELOOP: "its symbolic links form a loop; choose another name",
    errno.EBUSY: "it is in use, for example as a mount point; choose a folder in it",
    errno.EINVAL: "the file system does not accept this name; choose another one",
}

_being_written: set[Path] = set()
"""Folders that blocks of `atomic_directory` are filling."""

_OUTPUTS = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/proc/self/fd/")


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write one file: the block writes to the path it gets, which replaces `path` afterwards.

    Missing folders are created. The temporary path has the same suffix as `path`. A symbolic link
    stays a link: the file that it points to is replaced.

    Raises
    ------
    InputError
        If the disk is full or `path` cannot be written.
    """
    target = _target(path)
    draft = _temporary_path(target)
    with explain_write_errors(Path(path), target):
        _refuse_folder(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        # a folder that is being written is synced as a whole
        alone = target.parent not in _being_written
        try:
            yield draft
            if alone:
                _sync(draft)
            _refuse_special(path)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        if alone:
            _sync(target.parent)


@contextmanager
def atomic_directory(path: str | os.PathLike[str], durable: bool = True) -> Iterator[Path]:
    """Write a whole directory: the block fills the empty one it gets.

    After the block the new directory replaces `path` and all its content. For an instant between
    moving the old one away and the new one in, neither exists.

    Parameters
    ----------
    path : path-like
    durable : bool
        Whether the content must be on the disk before it replaces `path`.

    Raises
    ------
    InputError
        If the disk is full or `path` cannot be written.
    """
    target = _target(path)
    draft = _temporary_path(target)
    with explain_write_errors(Path(path), target):
        draft.mkdir(parents=True)
        _being_written.add(draft)
        try:
            yield draft
            if durable:
                for folder, _, names in os.walk(draft):
                    for name in names:
                        _sync(Path(folder, name))
                    _sync(Path(folder))
            _swap(draft, target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        finally:
            _being_written.discard(draft)
        if durable:
            _sync(target.parent)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Find out whether `atomic_directory` could write `path`; create missing parents.

    Raises
    ------
    InputError
        If it could not.
    """
    target = _target(path)
    with explain_write_errors(Path(path), target):
        _refuse_file(target)
        draft = _temporary_path(target)
        draft.mkdir(parents=True)
        draft.rmdir()


def check_file_writable(path: str | os.PathLike[str]) -> None:
    """Find out whether `atomic_file` could write `path`; create missing parents.

    Raises
    ------
    InputError
        If it could not.
    """
    target = _target(path)
    with explain_write_errors(Path(path), target):
        _refuse_folder(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = _temporary_path(target)
        draft.touch()
        draft.unlink()


def _target(path: str | os.PathLike[str]) -> Path:
    """Return the file or folder that is written: where links lead to."""
    _refuse_special(path)
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        raise InputError(
            f"cannot write {os.fspath(path)!r}: it has a character that file names cannot have; "
            "choose another name"
        ) from None


def _refuse_special(path: str | os.PathLike[str]) -> None:
    """Refuse pipes, devices and the open output of this process."""
    kind = special_kind(path)
    # the output of this process may be a regular file, which is not ours to replace
    if kind is None and os.path.abspath(path).startswith(_OUTPUTS):  # noqa: PTH100
        kind = "an open file of a process"
    if kind is not None:
        raise InputError(
            f"cannot write {os.fspath(path)}: it is {kind}, and only regular files and folders are "
            "written; choose another name"
        )


def _refuse_file(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(errno.EEXIST, "not a directory", str(target))


def _refuse_folder(target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a directory", str(target))


def _swap(draft: Path, target: Path) -> None:
    """Move `draft` to `target`; if that fails, put the old content back."""
    _refuse_file(target)
    backup = _temporary_path(target) if target.exists() else None
    if backup:
        target.rename(backup)
    try:
        draft.rename(target)
    except BaseException:
        if backup:
            backup.rename(target)
        raise
    if backup:
        shutil.rmtree(backup, ignore_errors=True)


def _temporary_path(target: Path) -> Path:
    # short, because the target's name may have the maximum length already
    return target.parent / f".{uuid.uuid4().hex}{target.suffix}"


def _sync(path: Path) -> None:
    """Wait until a file or folder is on the disk, where the file system can tell."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # some network file systems cannot sync a folder
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


@contextmanager
def explain_write_errors(path: Path, target: Path) -> Iterator[None]:
    """Turn a system error about writing `target` into a message about `path`.

    Raises
    ------
    InputError
        If the disk is full or `target` cannot be written.
    """
    try:
        yield
    except OSError as error:
        # an error that names a file elsewhere comes from something that the block read
        file_name = error.filename if isinstance(error.filename, str | os.PathLike) else None
        elsewhere = file_name is not None and not _is_within(Path(file_name), target.parent)
        fix = _FIXES.get(error.errno or 0)
        if fix is None or elsewhere:
            raise
        raise InputError(f"cannot write {path}: {fix}") from error


def _is_within(path: Path, folder: Path) -> bool:
    # a folder on the way may be the one that cannot be created
    return path.is_relative_to(folder) or folder.is_relative_to(path)
