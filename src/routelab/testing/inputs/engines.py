"""Cases to check engines with: route tables, with traffic or a workload of the kit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from routelab.api import EngineCase, EnginePlugin, EngineResult, RouteTable
from routelab.stages.engines.case import case_of
from routelab.stages.engines.trial import brief_engine, trial_work
from routelab.testing.inputs.tables import TABLES

ON = (
    "two-switches",
    "several-terminals",
    "transit-switches",
    "mesh",
    "petersen+multipath",
    "failed-torus",
    "torus+bubble",
    "torus",
)

GROUNDS: Mapping[str, Callable[[], RouteTable]] = {name: TABLES[name] for name in ON}
"""Functions that build route tables, by name."""


def short_run(engine: EnginePlugin) -> EnginePlugin:
    """Return the engine with the settings of a short run; settings that are not defaults stay."""
    given = engine.parameters.non_defaults()
    values = {name: getattr(engine.parameters, name) for name in given}
    return type(engine)(**{**dict(brief_engine(engine).parameters), **values})


def case_on(engine: EnginePlugin, table: RouteTable) -> EngineCase:
    """Return the case of an engine with a table."""
    return case_of(table.topology, table, trial_work(engine))[0]


def result_on(engine: EnginePlugin, table: RouteTable) -> EngineResult:
    """Return the result of the engine, without columns that depend on the speed of the machine."""
    result = short_run(engine).run(case_on(engine, table))
    if not isinstance(result, EngineResult):
        return result
    return replace(
        result,
        facts=_without(result.facts, engine),
        tables={name: _without(columns, engine) for name, columns in result.tables.items()},
        notes=(),
    )


def _without(columns: Mapping[str, Any], engine: EnginePlugin) -> dict[str, Any]:
    return {name: value for name, value in columns.items() if name not in engine.clock}
