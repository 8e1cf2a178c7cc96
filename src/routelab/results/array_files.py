"""Arrays with a description, as numpy's npz: a zip of npy files that any tool can open.

The description is a JSON text in the member ``metadata``. Nothing is pickled, and equal content
gives equal bytes: the zip's times are fixed.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.api.errors import InputError
from routelab.results.atomic import atomic_file
from routelab.results.json_files import check_format, to_json
from routelab.toolkit.input_files import MAX_ARRAYS, open_input

METADATA = "metadata"

Arrays = dict[str, NDArray[Any]]

_DAMAGED_FILE_ERRORS = (
    ValueError,
    TypeError,
    EOFError,
    RuntimeError,
    LookupError,
    ArithmeticError,
    MemoryError,  # a header that claims more elements than the file has
    zipfile.BadZipFile,
    zlib.error,
)
"""Errors that NumPy and the modules below it raise for a file with invalid content."""


def write_arrays(
    path: str | os.PathLike[str], metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write arrays and their description, atomically and compressed.

    Parameters
    ----------
    path : path-like
        Should end in ``.npz``.
    metadata : mapping
        JSON values; ``format`` names kind and version, e.g. ``"routes/1"``.
    arrays : mapping of str to array
        By the name that they get in the file.

    Raises
    ------
    InputError
        If `path` cannot be written.
    """
    with atomic_file(path) as draft, draft.open("wb") as stream:
        # An npz has only arrays, so the description becomes one without dimensions, of one text.
        members: dict[str, Any] = {METADATA: np.array(to_json(metadata)), **arrays}
        np.savez_compressed(stream, **members)


def read_arrays(
    path: str | os.PathLike[str], expected: str, names: Collection[str]
) -> tuple[dict[str, Any], Arrays]:
    """Return the description and the arrays of an npz artifact.

    Parameters
    ----------
    path : path-like
    expected : str
        Format, e.g. ``"routes/1"``.
    names : collection of str
        Required arrays; others are returned as well.

    Raises
    ------
    InputError
        If the file is missing, damaged, of another format, or lacks one of the arrays.
    """
    expectation = f"expected {expected}"
    try:
        with open_input(path, MAX_ARRAYS) as stream:
            # 1. Look at the archive before NumPy does, which reads other formats, too, and unpacks
            #    arrays of any size.
            if not zipfile.is_zipfile(stream):
                raise zipfile.BadZipFile("not a complete zip archive")
            stream.seek(0)
            with zipfile.ZipFile(stream) as archive:
                size = sum(member.file_size for member in archive.infolist())
            if size > MAX_ARRAYS:
                raise ValueError(f"its arrays have {size} bytes, and the limit is {MAX_ARRAYS}")
            stream.seek(0)

            # 2. Check the format before the arrays, as another format has other arrays: the message
            #    is then about the format.
            file = np.load(stream, allow_pickle=False)
            members = set(file.files)
            if METADATA not in members:
                raise InputError(
                    f"{path} was not written by routelab; {expectation}, found no metadata"
                )
            metadata = dict(json.loads(str(file[METADATA])))
            check_format(path, metadata.get("format"), expected)
            absent = sorted(set(names) - members)
            if absent:
                raise InputError(
                    f"{path} lacks {', '.join(absent)}; found {', '.join(sorted(members))}; "
                    "remove it and run again"
                )
            return metadata, {name: file[name] for name in members - {METADATA}}
    except _DAMAGED_FILE_ERRORS as error:
        raise InputError(
            f"{path} is damaged or not an npz file: {expectation}, found {error}; remove it and "
            "run again"
        ) from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def narrow_integers(values: NDArray[Any]) -> NDArray[Any]:
    """Return non-negative integers in the smallest unsigned type that holds them."""
    largest = int(values.max()) if values.size else 0
    return values.astype(np.min_scalar_type(largest))


def arrays_digest(arrays: Mapping[str, NDArray[Any]], more: object = None) -> str:
    """Return the SHA-256 of arrays: of their names, types, shapes and values.

    It is the same for arrays in another order, with another memory layout or byte order. `more` is
    a JSON value that also counts, for what is not an array, such as the names of switches.
    """
    total = hashlib.sha256(to_json(more).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        little_endian = array.astype(array.dtype.newbyteorder("<"), copy=False)
        total.update(f"{name} {little_endian.dtype.str} {array.shape}\n".encode())
        total.update(little_endian.tobytes())
    return total.hexdigest()
