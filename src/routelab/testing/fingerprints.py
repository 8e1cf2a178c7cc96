"""Digests of inputs and results, field by field, to compare them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

WORK_COUNTERS = "counters"
"""Field of a table with its computing effort, which may differ between runs."""


def field_digests(value: Any, name: str = "") -> dict[str, str]:
    """Return a digest of each field of a network, routing graph, route table or list of numbers.

    A list of two tables has the fields ``""`` (the list itself), ``0``, ``0.topology``, and so on
    to ``1.per_terminal``. Two values are equal, but for `WORK_COUNTERS`, if all digests are;
    otherwise the names of the digests that differ say what differs.

    Parameters
    ----------
    value : object
        Dataclasses, sequences and mappings are digested by part; an array by its type, shape and
        content; other objects by ``repr``.
    name : str
        Prefix of the fields' names, for parts of a larger value.
    """
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, Mapping):
        parts = {repr(key): value[key] for key in sorted(value, key=repr)}
    elif isinstance(value, (list, tuple)):
        parts = {str(number): item for number, item in enumerate(value)}
    else:
        return {name: _digest(value)}
    # The type and size of the container, so that [] differs from ().
    digests = {name: f"{type(value).__name__} of {len(parts)}"}
    for key, part in parts.items():
        if key != WORK_COUNTERS:
            digests |= field_digests(part, f"{name}.{key}" if name else key)
    return digests


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """Return the names of the fields in which two sets of digests differ."""
    names = dict.fromkeys((*first, *second))
    # the whole value has the empty name
    return [name or "all" for name in names if first.get(name) != second.get(name)]


def _digest(value: Any) -> str:
    """Return a text that differs if the value does, and is the same in every process."""
    if isinstance(value, np.ndarray):
        header = f"{value.dtype.str} {value.shape} ".encode()
        return hashlib.sha256(header + np.ascontiguousarray(value).tobytes()).hexdigest()
    if hasattr(value, "py_func"):
        # the repr of a compiled function contains its address, which changes with the process
        value = f"{value.py_func.__module__}.{value.py_func.__qualname__}"
    return hashlib.sha256(repr(value).encode()).hexdigest()
