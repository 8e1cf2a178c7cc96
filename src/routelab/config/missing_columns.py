"""Columns that tables and figures name and that a study's simulations will not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from routelab.api import Column, EnginePlugin
from routelab.api.engine import FACTS
from routelab.config.views import FLOWS, SIMULATED, Figure, Table
from routelab.registry.engines import engine_classes

KEYS = {"traffic": "simulation", "workload": "flow"}
"""Keys of a study with the settings of engines, by kind of work."""


def named_columns(view: Table | Figure) -> Iterator[tuple[str, str]]:
    """Iterate over the columns that a table or figure names, each with its key.

    A name that a table gives to a column (`names`) stands for that column.
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
        for column in view.names.values():
            yield "names", column
    else:
        for key in ("x", "y", "hue", "col", "colour"):
            if (column := getattr(view, key)) is not None:
                yield key, column


def without_simulation(
    views: Mapping[str, Table | Figure], engines: Sequence[EnginePlugin]
) -> Iterator[tuple[str, str]]:
    """Find columns of tables or figures that no simulation of a study has.

    Parameters
    ----------
    views : mapping
        By name.
    engines : sequence of EnginePlugin
        Engines of the study's simulations.

    Yields
    ------
    name, text : str
        The view, and a message with the missing columns and the setting that adds them.
    """
    for name, view in views.items():
        asked = list(dict.fromkeys(column for _, column in named_columns(view)))
        if view.of in (*SIMULATED, *FLOWS):
            yield from ((name, text) for text in _not_simulated(view.of, asked, engines))
        elif lost := _of_simulations(asked):
            yield name, f"{lost}: only simulations have this; use 'of: simulations'"


def setting_for(column: str) -> str | None:
    """Return the setting that a column of simulations needs; None if it needs none."""
    for engine in engine_classes():
        for one in engine.columns:
            if one.name == column and one.needs:
                return f"{_spelled(engine, one.needs)} in '{KEYS[engine.work]}'"
    return None


def _not_simulated(of: str, asked: Sequence[str], engines: Sequence[EnginePlugin]) -> Iterator[str]:
    """Report the columns that need a setting which is off in all simulations."""
    lost: dict[tuple[str, str], list[str]] = {}
    have: set[str] = set()
    for engine in engines:
        if (of in FLOWS) != (engine.work == "workload"):
            continue
        for column in engine.columns:
            if column.name not in asked or not _belongs(column, of, engine):
                continue
            if not column.needs or getattr(engine.parameters, column.needs):
                have.add(column.name)
            else:
                say = f"{_spelled(type(engine), column.needs)} in '{KEYS[engine.work]}'"
                lost.setdefault((column.needs, say), []).append(column.name)
    for (need, say), names in lost.items():
        if missing := [name for name in dict.fromkeys(names) if name not in have]:
            yield f"{', '.join(missing)}: needs `{need}`; add {say}"


def _belongs(column: Column, of: str, engine: EnginePlugin) -> bool:
    """Return whether rows have a column; rows of tables also have the facts of their run."""
    names = [one.name for one in engine.columns if of in one.of]
    return of in column.of or (FACTS[engine.work] in column.of and column.name not in names)


def _spelled(engine: type[EnginePlugin], setting: str) -> str:
    field = engine.Parameters.model_fields[setting]
    return f"`{setting}: true`" if field.annotation is bool else f"`{setting}`"


def _of_simulations(asked: Collection[str]) -> str:
    """Return columns of the saturation search; metrics may have the names of other columns."""
    lost = [name for name in asked if name.startswith("saturation")]
    return ", ".join(name for name in lost if setting_for(name))
