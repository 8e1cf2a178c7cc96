"""Fingerprints of inputs and results, field by field, to tell whether they are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

WORK_COUNTERS = "counters"
"""A table's account of its own work may differ between runs; it is no part of the routes."""


def field_digests(value: Any, name: str = "") -> dict[str, str]:
    """A digest for each field of a network, routing graph, route table or list of numbers.

    Parameters
    ----------
    value : object
        Dataclasses, arrays, sequences and mappings are looked into; all else counts by ``repr``.
    name : str
        What the fields' names begin with.
    """
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, Mapping):
        parts = {repr(key): value[key] for key in sorted(value, key=repr)}
    elif isinstance(value, (list, tuple)):
        parts = {str(number): item for number, item in enumerate(value)}
    else:
        return {name: _digest(value)}
    found = {name: f"{type(value).__name__} of {len(parts)}"}
    for key, part in parts.items():
        if key != WORK_COUNTERS:
            found |= field_digests(part, f"{name}.{key}" if name else key)
    return found


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Names of the fields in which two fingerprints differ."""
    names = dict.fromkeys((*one, *other))
    return [name or "all" for name in names if one.get(name) != other.get(name)]


def _digest(value: Any) -> str:
    if isinstance(value, np.ndarray):
        head = f"{value.dtype.str} {value.shape} ".encode()
        return hashlib.sha256(head + np.ascontiguousarray(value).tobytes()).hexdigest()
    if hasattr(value, "py_func"):
        # a compiled function is shown with its place in memory
        value = f"{value.py_func.__module__}.{value.py_func.__qualname__}"
    return hashlib.sha256(repr(value).encode()).hexdigest()
