"""Files that users name: one reader for all of them, with a limit of the size.

Only regular files are read. A pipe would wait forever, and some devices never end. Every failure
is an `OSError` whose ``strerror`` is a text for messages, so that a caller has one case to handle.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from routelab.api.errors import InputError

MAX_TEXT = 1 << 30
"""Largest text file in bytes, 1 GiB: a traffic matrix of 20,000 ranks or the links of ten million
switches fit, and Python still reads it on an ordinary machine."""

MAX_ARTIFACT = 1 << 28
"""Largest JSON file that routelab wrote, in bytes, 256 MiB: 100 times what the largest needs."""

MAX_ARRAYS = 1 << 36
"""Largest file of arrays, compressed and uncompressed, in bytes, 64 GiB: a route table of 50,000
switches. More does not fit into the memory of most machines."""

MAX_PROBLEMS = 5
"""Largest number of mistakes in one error message."""

_CHUNK = 1 << 20

_BINARY = {
    b"\x1f\x8b": "compressed (gzip); unpack it first",
    b"BZh": "compressed (bzip2); unpack it first",
    b"\xfd7zXZ": "compressed (xz); unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed (zstd); unpack it first",
    b"PK\x03\x04": "an archive (zip) or a spreadsheet; unpack it, or save the table as CSV",
    b"\xff\xfe": "text in UTF-16; save it as UTF-8",
    b"\xfe\xff": "text in UTF-16; save it as UTF-8",
}
"""First bytes of files that are taken for text by mistake, and what to do."""


def describe_binary(content: bytes) -> str:
    """Return what a file is if its first bytes are not text in UTF-8; an empty text if they are."""
    if not content.strip(b" \t\r\n"):
        return "empty"
    for first_bytes, description in _BINARY.items():
        if content.startswith(first_bytes):
            return description
    # ASCII in UTF-16 without a mark has a zero in every second byte, the first or the second.
    halves = content[:64:2], content[1:64:2]
    is_utf16 = any(half.count(0) > len(half) / 2 for half in halves)
    return _BINARY[b"\xff\xfe"] if is_utf16 else ""


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder; False also for a text that cannot be a path.

    `Path.is_dir` raises an error if the text is too long for a file name, as the names of networks
    with many failed links are.
    """
    return os.path.isdir(path)  # noqa: PTH112


def is_regular(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a regular file; False also for a text that cannot be a path."""
    return os.path.isfile(path)  # noqa: PTH113


@contextmanager
def open_input(path: str | os.PathLike[str], limit: int = MAX_TEXT) -> Iterator[BufferedReader]:
    """Open a regular file to read its bytes.

    Parameters
    ----------
    path : path-like
    limit : int
        Largest size in bytes.

    Raises
    ------
    OSError
        If it cannot be opened, is not a regular file, or is larger than `limit`.
    """
    try:
        _require_regular(os.stat(path), path, limit)  # noqa: PTH116 - opening a device may change its state
        # If a pipe takes the file's place in between, opening it must not wait for a writer.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except ValueError:
        raise OSError(
            errno.EINVAL, "its name has a character that file names cannot have"
        ) from None
    with os.fdopen(handle, "rb") as stream:
        # What is open may be another file than the one above.
        _require_regular(os.fstat(handle), path, limit)
        yield stream


def _require_regular(status: os.stat_result, path: str | os.PathLike[str], limit: int) -> None:
    """Raise an OSError if a file is not regular or is larger than `limit` bytes."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    if status.st_size > limit:
        raise _too_large(path, limit)


def _too_large(path: str | os.PathLike[str], limit: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {limit} bytes; give a smaller file", str(path))


def read_bytes(path: str | os.PathLike[str], limit: int = MAX_TEXT) -> bytes:
    """Read a regular file.

    Parameters
    ----------
    path : path-like
    limit : int
        Largest size in bytes.

    Raises
    ------
    OSError
        If it cannot be read, is not a regular file, or is larger than `limit`.
    """
    with open_input(path, limit) as stream:
        parts, size = [], 0
        # The size is checked again: a file may grow, and the system reports 0 for some.
        while part := stream.read(_CHUNK):
            size += len(part)
            if size > limit:
                raise _too_large(path, limit)
            parts.append(part)
    return b"".join(parts)


def read_text(path: str | os.PathLike[str], limit: int = MAX_TEXT, encoding: str = "utf-8") -> str:
    """Read a regular file as text, with its line ends as they are.

    Raises
    ------
    OSError
        As `read_bytes`.
    UnicodeDecodeError
        If the bytes are not text in `encoding`.
    """
    return read_bytes(path, limit).decode(encoding)


def read_user_text(path: Path) -> str:
    """Read a text file, with or without a byte order mark.

    Raises
    ------
    InputError
        If it cannot be read, or is not UTF-8 text; names the file.
    """
    try:
        content = read_bytes(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    description = describe_binary(content)
    if description:
        raise InputError(f"{path}: the file is {description}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; save the file in that encoding") from None


def refuse(path: Path, problems: list[str]) -> None:
    """Raise an InputError if a file has problems; it names the first `MAX_PROBLEMS` of them."""
    if problems:
        more = [f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else []
        raise InputError("\n    ".join([f"{path}:", *problems[:MAX_PROBLEMS], *more]))
