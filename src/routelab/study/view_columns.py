"""Columns that tables and figures name, and the settings of engines that columns need."""

from __future__ import annotations

from collections.abc import Iterator

from routelab.api import EnginePlugin
from routelab.registry.engines import engine_classes
from routelab.study.views import Figure, Table

KEYS = {"traffic": "simulation", "workload": "flow"}
"""Keys of a study with the settings of engines, by kind of work."""


def named_columns(view: Table | Figure) -> Iterator[tuple[str, str]]:
    """Yield each column that a table or figure names, after the key that names it.

    A table may give a column another name, ``names: {mine: max_load}``, and use that one,
    ``values: [mine]``. Then only ``("names", "max_load")`` comes out, because `mine` is no column.
    """
    for column in view.where:
        yield "where", column
    if view.relative is not None:
        yield "relative", view.relative.column
    if isinstance(view, Table):
        for key in ("rows", "values", "statistics"):
            for column in getattr(view, key):
                if column not in view.names:
                    yield key, column
        if view.pivot is not None:
            for column in (view.pivot.by, *view.pivot.values):
                if column not in view.names:
                    yield "pivot", column
        for column in view.names.values():
            yield "names", column
    else:
        for key in ("x", "y", "bound", "hue", "col", "colour"):
            if (column := getattr(view, key)) is not None:
                yield key, column


def setting_for(column: str) -> str | None:
    """Return the setting that a column of simulations needs; None if it needs none."""
    for engine in engine_classes():
        for engine_column in engine.columns:
            if engine_column.name == column and engine_column.needs:
                return setting_text(engine, engine_column.needs)
    return None


def setting_text(engine: type[EnginePlugin], setting: str) -> str:
    """Return a setting of an engine with the study's key, for messages."""
    field = engine.Parameters.model_fields[setting]
    text = f"`{setting}: true`" if field.annotation is bool else f"`{setting}`"
    return f"{text} in '{KEYS[engine.work]}'"
