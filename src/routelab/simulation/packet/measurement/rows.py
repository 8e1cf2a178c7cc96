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
        name: _read(kind, row[name]) for name, kind in _hints(LoadResult) if name != _NOT_STORED
    }
    return LoadResult(settings=settings, **fields)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return to_plain(value)


@cache
def _hints(kind: type) -> tuple[tuple[str, Any], ...]:
    """Return name and type of every field of a dataclass."""
    hints = get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in fields(kind))


def _read(kind: Any, value: Any) -> Any:
    """Return a value of type `kind` from plain JSON, the reverse of `_plain`."""
    # `kind` may be "T or None": then T
    options = [option for option in get_args(kind) if option is not NoneType]
    if NoneType in get_args(kind):
        return None if value is None else _read(options[0], value)
    if is_dataclass(kind):
        assert isinstance(kind, type)
        return kind(**{name: _read(hint, value[name]) for name, hint in _hints(kind)})
    if kind is float:
        # JSON has no NaN
        return float("nan") if value is None else float(value)
    return np.array(value, dtype=np.int64) if isinstance(value, list) else value
