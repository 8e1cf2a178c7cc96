"""Writing files and directories so that nobody ever sees one half-written.

The content is made under a temporary name beside its place and moved there when it is complete
and on the disk. An error or a kill leaves what was there before (a kill leaves the temporary
file as well, whose name starts with a dot).
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

_MENDS = {
    errno.ENOSPC: "the disk is full; free some space or choose another folder",
    errno.EDQUOT: "your disk quota is used up; free some space or choose another folder",
    errno.EFBIG: "the file is larger than allowed; raise the limit (ulimit -f)",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.EACCES: "permission denied; choose a folder that you may write to",
    errno.EPERM: "permission denied; choose a folder that you may write to",
    errno.ENOTDIR: "a part of the path is a file and no folder; choose another folder",
    errno.ENOENT: "the folder cannot be made, or has been removed; choose another folder",
    errno.EEXIST: "a file is where a folder is needed; remove it or choose another folder",
    errno.EISDIR: "there is a folder of that name; remove it or choose another name",
    errno.ENAMETOOLONG: "the name is too long; give it an alias",
}


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write one file: the block writes to the path it gets, which takes `path`'s place after it.

    Missing folders are made. The temporary path has the same suffix as `path`. A symbolic link
    stays one: the file that it leads to is replaced.

    Raises
    ------
    InputError
        If the disk is full or `path` cannot be written.
    """
    target = Path(os.path.realpath(path))
    new = _beside(target)
    with explained(Path(path), target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield new
            _to_disk(new)
            new.replace(target)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        _to_disk(target.parent)


@contextmanager
def atomic_directory(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a directory as a whole: the block fills the empty one it gets.

    After the block it takes the place of `path`, with all that was in that. Between moving the
    old one away and the new one in there is an instant without either.

    Raises
    ------
    InputError
        If the disk is full or `path` cannot be written.
    """
    target = Path(os.path.realpath(path))
    new = _beside(target)
    with explained(Path(path), target):
        new.mkdir(parents=True)
        try:
            yield new
            for folder, _, names in os.walk(new):
                for name in names:
                    _to_disk(Path(folder, name))
                _to_disk(Path(folder))
            _swap(new, target)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        _to_disk(target.parent)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Find out whether `atomic_directory` could write `path`; missing parents are made.

    Raises
    ------
    InputError
        If not.
    """
    target = Path(os.path.realpath(path))
    with explained(Path(path), target):
        _refuse_file(target)
        new = _beside(target)
        new.mkdir(parents=True)
        new.rmdir()


def _refuse_file(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(errno.EEXIST, "not a directory", str(target))


def _swap(new: Path, target: Path) -> None:
    """Move `new` to `target`, and put what was there back if that fails."""
    _refuse_file(target)
    old = _beside(target) if target.exists() else None
    if old:
        target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        if old:
            old.rename(target)
        raise
    if old:
        shutil.rmtree(old, ignore_errors=True)


def _beside(target: Path) -> Path:
    # short, as the name of the target may be as long as names can be
    return target.parent / f".{uuid.uuid4().hex}{target.suffix}"


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # some network file systems cannot do this for a folder
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


@contextmanager
def explained(path: Path, target: Path) -> Iterator[None]:
    """Turn what the system says about writing `target` into a message about `path`.

    Raises
    ------
    InputError
        If the disk is full or `target` cannot be written.
    """
    try:
        yield
    except OSError as error:
        # an error that names a file elsewhere is about something that the block read
        named = error.filename if isinstance(error.filename, str | os.PathLike) else None
        elsewhere = named is not None and not _within(Path(named), target.parent)
        mend = _MENDS.get(error.errno or 0)
        if mend is None or elsewhere:
            raise
        raise InputError(f"cannot write {path}: {mend}") from error


def _within(path: Path, folder: Path) -> bool:
    # a folder on the way may be the one that cannot be made
    return path.is_relative_to(folder) or folder.is_relative_to(path)
