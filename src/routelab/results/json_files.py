"""Strict JSON for any numbers: no NaN, no numpy types, the same text on every machine."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from typing import Any

from routelab.api.errors import InputError
from routelab.results.atomic import atomic_file
from routelab.toolkit.input_files import MAX_ARTIFACT, read_bytes


def to_plain(value: Any) -> Any:
    """Convert `value` to dictionaries, lists, strings, numbers, booleans and None.

    Numbers that JSON does not have (NaN and the infinities) become None, "no value"; arrays and
    tuples become lists, keys and paths become strings. Bytes of a file name that are not valid
    UTF-8 become escapes.

    Raises
    ------
    TypeError
        If `value` contains anything else.
    """
    if hasattr(value, "tolist"):  # numpy's arrays and scalars, without importing numpy
        value = value.tolist()
    if isinstance(value, str):  # invalid bytes are lone surrogates in it, which UTF-8 does not have
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {to_plain(str(key)): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, os.PathLike):
        return to_plain(os.fspath(value))
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be written as JSON")


def to_json(value: Any) -> str:
    """Return `value` as strict JSON text, indented, keys in their own order."""
    return json.dumps(to_plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


_SEAL = re.compile(rb',\n  "sha256": "(?P<checksum>[0-9a-f]{64})"\n\}\n\Z')
"""The end of a text that `write_json` wrote."""


def write_json(path: str | os.PathLike[str], value: Mapping[str, Any]) -> None:
    """Write `value` as strict JSON, atomically; its last key is the SHA-256 of what is before.

    Raises
    ------
    InputError
        If `path` cannot be written.
    """
    with atomic_file(path) as draft:
        draft.write_text(seal_json(value), encoding="utf-8")


def seal_json(value: Mapping[str, Any]) -> str:
    """Return the text that `write_json` writes: the JSON with its checksum as the last key."""
    # The checksum is that of the text without its closing brace, to which it is appended.
    text = to_json(value).removesuffix("\n}\n")
    seal = hashlib.sha256(text.encode()).hexdigest()
    return f'{text},\n  "sha256": "{seal}"\n}}\n'


def load_sealed(content: bytes) -> dict[str, Any]:
    """Return what `write_json` wrote, without its checksum; early versions wrote none.

    Raises
    ------
    ValueError
        If it is not a JSON object, or not the one that was written.
    """
    value = json.loads(content.decode())
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    if value.pop("sha256", None) is not None:
        # The checksum must be the last key, as `write_json` writes it, and fit what is before it.
        seal = _SEAL.search(content)
        is_intact = (
            seal is not None
            and hashlib.sha256(content[: seal.start()]).hexdigest() == seal["checksum"].decode()
        )
        if not is_intact:
            raise ValueError("another content than was written")
    return value


def read_json(path: str | os.PathLike[str], expected: str) -> dict[str, Any]:
    """Read an artifact written as JSON.

    Parameters
    ----------
    path : path-like
    expected : str
        Its format, e.g. ``"outcome/1"``.

    Raises
    ------
    InputError
        If the file is missing, not a JSON object, or of another format.
    """
    try:
        content = load_sealed(read_bytes(path, MAX_ARTIFACT))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is damaged or not JSON: expected {expected}, found {error}; remove it and "
            "run again"
        ) from error
    check_format(path, content.get("format"), expected)
    return content


def check_format(path: str | os.PathLike[str], actual: object, expected: str) -> None:
    """Raise an InputError if an artifact has another format than the reader expects.

    A format is a kind and a version: ``routes/1``. The message says how to get the right one.
    """
    if actual == expected:
        return
    kind, _, version = expected.partition("/")
    actual_kind, _, actual_version = str(actual or "").partition("/")
    if actual_kind != kind or not actual_version.isdecimal():
        fix = "give a file of that format"
    elif int(actual_version) > int(version):
        fix = "a newer routelab wrote it; update routelab"
    else:
        fix = "an older routelab wrote it; remove it and run again"
    raise InputError(f"{path}: expected format {expected}, found {actual or 'none'}; {fix}")
