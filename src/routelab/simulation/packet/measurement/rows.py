"""Conversion of measurements to JSON values and back, for stores of rows."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, get_args, get_type_hints

import numpy as np

from routelab.results.json_files import to_plain
from routelab.simulation.packet.measurement.result import LoadResult
from routelab.simulation.packet.measurement.settings import SimulationSettings

_NOT_STORED = "settings"
"""Field that is not stored, because the reader of a row knows it."""


def to_row(measured: LoadResult) -> dict[str, Any]:
    """Convert all results and counts of a measurement, without its settings."""
    return {
        field.name: _plain(getattr(measured, field.name))
        for field in fields(measured)
        if field.name != _NOT_STORED
    }


def from_row(row: dict[str, Any], settings: SimulationSettings) -> LoadResult:
    """Return the measurement that `to_row` converted; `settings` are those it was measured with."""
    fields = {
        name: _read(hint, row[name]) for name, hint in _hints(LoadResult) if name != _NOT_STORED
    }
    return LoadResult(settings=settings, **fields)


def _plain(value: Any) -> Any:
    """Return a value as plain JSON; a dataclass becomes a mapping of its fields."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return to_plain(value)


@cache
def _hints(dataclass: type) -> tuple[tuple[str, Any], ...]:
    """Return name and annotated type of every field of a dataclass."""
    hints = get_type_hints(dataclass)
    return tuple((field.name, hints[field.name]) for field in fields(dataclass))


def _read(hint: Any, value: Any) -> Any:
    """Return a value of the annotated type `hint` from plain JSON, the reverse of `_plain`."""
    # `T | None`: None, or a value of the other type
    if NoneType in get_args(hint):
        (value_hint,) = (option for option in get_args(hint) if option is not NoneType)
        return None if value is None else _read(value_hint, value)
    if is_dataclass(hint):
        assert isinstance(hint, type)
        return hint(**{name: _read(kind, value[name]) for name, kind in _hints(hint)})
    if hint is float:
        # JSON has no NaN, so NaN is stored as null
        return float("nan") if value is None else float(value)
    # all arrays of results are of int64
    return np.array(value, dtype=np.int64) if isinstance(value, list) else value
