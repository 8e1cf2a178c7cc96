"""Atomic writing of files and directories: no reader ever sees one half-written.

Only regular files and folders are replaced. A device, a pipe or a socket of that name is refused.

The content is written under a temporary name in the same folder and renamed when it is complete
and on the disk. After an error or a kill the old content is still there. A kill also leaves the
temporary file, whose name starts with a dot.

What can be computed again need not wait for the disk: then a power failure may leave cut files,
which the checksums of `routelab.results.outcome` reveal.
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
from routelab.toolkit.input_files import is_folder, is_regular

_UNWRITABLE = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM),
        *(errno.ENOTDIR, errno.ENOENT, errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG),
        *(errno.ELOOP, errno.EBUSY, errno.EINVAL),
    }
)
"""Errors of the system about a path that cannot be written."""

_being_written: set[Path] = set()
"""Folders that blocks of `atomic_directory` are filling."""

_OUTPUTS = ("/dev/fd/", "/dev/std", "/proc/self/fd/")
"""Beginnings of paths to the open files of this process, such as its standard output."""


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write one file completely or not at all, in a ``with`` block.

    The block gets a temporary path and writes there. After the block this file replaces `path`; if
    the block raises, it is removed. Missing folders are created. The temporary path has the same
    suffix as `path`. A symbolic link stays a link: the file that it points to is replaced.

    Raises
    ------
    InputError
        If the disk is full or `path` cannot be written.
    """
    target = _resolve_target(path)
    draft = _temporary_path(target)
    with explain_write_errors(Path(path), target):
        _refuse_folder(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        # A file in a folder that `atomic_directory` fills is synced with that folder, at its end.
        sync_now = target.parent not in _being_written
        try:
            yield draft
            if sync_now:
                _sync(draft)
            # Check a second time, because a pipe may have got this name during the block.
            _refuse_special(path)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        if sync_now:
            _sync(target.parent)


@contextmanager
def atomic_directory(path: str | os.PathLike[str], durable: bool = True) -> Iterator[Path]:
    """Write a whole directory completely or not at all, in a ``with`` block.

    The block gets an empty temporary directory and fills it. After the block this directory
    replaces `path` and all its content. That takes two steps, to move the old one away and the new
    one in. So a reader finds the old content, the new one or, between the steps, no `path`; but
    never a part of them.

    Parameters
    ----------
    path : path-like
    durable : bool
        Whether the content must be on the disk before it replaces `path` (default: yes). Results
        that can be computed again do without, which is faster.

    Raises
    ------
    InputError
        If the disk is full or `path` cannot be written.
    """
    target = _resolve_target(path)
    draft = _temporary_path(target)
    with explain_write_errors(Path(path), target):
        draft.mkdir(parents=True)
        _being_written.add(draft)  # so that `atomic_file` does not sync each file in it
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


def check_folder_writable(path: str | os.PathLike[str]) -> None:
    """Raise an InputError if `atomic_directory` could not write `path`; create missing parents."""
    target = _resolve_target(path)
    with explain_write_errors(Path(path), target):
        _refuse_file(target)
        draft = _temporary_path(target)
        draft.mkdir(parents=True)
        draft.rmdir()


def check_file_writable(path: str | os.PathLike[str]) -> None:
    """Raise an InputError if `atomic_file` could not write `path`; create missing parents."""
    target = _resolve_target(path)
    with explain_write_errors(Path(path), target):
        _refuse_folder(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = _temporary_path(target)
        draft.touch()
        draft.unlink()


def _resolve_target(path: str | os.PathLike[str]) -> Path:
    """Return the file or folder to which the symbolic links of `path` lead, which is written.

    Pipes and devices are refused.
    """
    _refuse_special(path)
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        raise InputError(
            f"cannot write {os.fspath(path)!r}: it has a character that file names cannot have; "
            "choose another name"
        ) from None


def _refuse_special(path: str | os.PathLike[str]) -> None:
    """Refuse pipes, devices and the open output of this process, which a file must not replace."""
    is_special = os.path.exists(path) and not (is_regular(path) or is_folder(path))  # noqa: PTH110
    if is_special or os.path.abspath(path).startswith(_OUTPUTS):  # noqa: PTH100
        raise InputError(f"cannot write {os.fspath(path)}: it is no regular file")


def _refuse_file(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(target))


def _refuse_folder(target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))


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
        # An error about a file in another folder is no error of writing: the block has read that
        # file. An error may also name a folder above the target, which cannot be created.
        is_elsewhere = False
        if isinstance(error.filename, str | os.PathLike):
            error_path, folder = Path(error.filename), target.parent
            is_below = error_path.is_relative_to(folder)
            is_above = folder.is_relative_to(error_path)
            is_elsewhere = not (is_below or is_above)
        if error.errno not in _UNWRITABLE or is_elsewhere:
            raise
        raise InputError(f"cannot write {path}: {error.strerror}") from error
