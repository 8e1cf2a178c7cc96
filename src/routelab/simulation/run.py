"""Run an engine on a case, check its result, and write it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from routelab.api import (
    EnginePlugin,
    EngineResult,
    PluginError,
    Topology,
    TrafficPlugin,
)
from routelab.api.engine import FACTS, TABLES, Store
from routelab.registry.instances import name_of
from routelab.registry.requirements import require_support, require_unchanged
from routelab.results.tables import write_csv
from routelab.routing.routing import Routing
from routelab.routing.topology import topology_facts
from routelab.simulation.case import build_case
from routelab.simulation.proofs import Proofs


def run_simulation(
    network: Topology,
    routing: Routing,
    work: Any,
    engine: EnginePlugin,
    store: Store | None = None,
    proofs: Proofs | None = None,
) -> EngineResult:
    """Run traffic or a workload on a network with an engine.

    Parameters
    ----------
    network : Topology
    routing : Routing
        A table must belong to this network.
    work : object
        Traffic or workload plugin, or the path of an MPI program.
    engine : EnginePlugin
    store : Store, optional
        Finished parts of the run, which the engine need not repeat after a kill.
    proofs : Proofs, optional
        Verdicts of the deadlock checker on hop-by-hop algorithms, so that each is found once.

    Returns
    -------
    result : EngineResult
        Result of the engine; the facts also contain those of the network, the settings, the name of
        the work and the name of the engine.

    Raises
    ------
    UnsupportedError
        If the engine cannot run this network, routing, work and settings together; the text is the
        reason.
    InputError
        If a file is missing or invalid.
    PluginError
        If a plugin breaks its contract.
    """
    # Plugins must not change the network. If it has changed before any of them has run here, none
    # is to blame (None).
    require_unchanged(None, network)
    if isinstance(work, TrafficPlugin):
        require_support(work.name, work.supports(network))
        require_unchanged(work.name, network)
    case = build_case(network, routing, work, store=store, proofs=proofs)
    require_support(engine.name, engine.supports(case))
    result = engine.run(case)
    check_result(engine, result)
    require_unchanged(engine.name, network, *routing.known_tables)
    # A fact is a single number or word, so settings that are lists or mappings are no facts.
    settings: dict[str, Any] = engine.parameters.model_dump(mode="json")
    setting_facts = {
        name: value for name, value in settings.items() if not isinstance(value, (list, dict))
    }
    routing_facts = {} if routing.seconds is None else {"routing_seconds": routing.seconds}
    # The engine's facts replace settings of the same name.
    facts = {
        **topology_facts(network),
        **setting_facts,
        engine.work: str(work) if isinstance(work, Path) else name_of(work),
        **result.facts,
        **routing_facts,
        "engine": engine.name,
    }
    return replace(result, facts=facts)


def check_result(engine: EnginePlugin, result: EngineResult) -> None:
    """Check the result of an engine against its declarations.

    Raises
    ------
    PluginError
        If the result breaks the contract.
    """
    if not isinstance(result, EngineResult):
        raise PluginError(f"{engine.name}: expected an EngineResult, found {type(result).__name__}")
    problems = list(dict.fromkeys(_find_problems(engine, result)))  # each once
    if problems:
        raise PluginError(f"{engine.name}: {'; '.join(problems)}")


def _find_problems(engine: EnginePlugin, result: EngineResult) -> Iterator[str]:
    """Yield a message for each undeclared column, wrong type and invalid table of a result."""
    # Facts and tables that are not mappings cannot be read below.
    type_problems = list(_find_type_problems(result))
    if type_problems:
        yield from type_problems
        return
    # 1. Columns, by the table that they belong to. The facts are one row of the table "simulations"
    #    or "flows" of all results. They may also repeat settings.
    settings = engine.parameters.texts()
    facts_table = FACTS[engine.work]
    columns_by_table: dict[str, Mapping[str, Any]] = {facts_table: result.facts, **result.tables}
    for table_name, columns in columns_by_table.items():
        if table_name not in (facts_table, *TABLES[engine.work]):
            tables = ", ".join(TABLES[engine.work])
            yield (
                f"an engine for {engine.work} cannot return the table {table_name!r} (tables: "
                f"{tables})"
            )
            continue
        declared = {column.name for column in engine.columns if table_name in column.of}
        undeclared = [name for name in columns if name not in declared and name not in settings]
        if undeclared:
            yield f"`columns` does not declare {', '.join(undeclared)} of {table_name}"
    # 2. Values.
    for name, value in result.facts.items():
        if not _is_scalar(value):
            yield f"fact {name} is {type(value).__name__}, expected a number, text or None"
    for table_name, table in result.tables.items():
        if len({len(column) for column in table.values()}) > 1:
            yield f"the columns of table {table_name!r} have different lengths"
        for name, column in table.items():
            # None is a scalar, so it also stands for "no wrong value"
            wrong = next((value for value in column if not _is_scalar(value)), None)
            if wrong is not None:
                yield (
                    f"{table_name}: {name} holds {type(wrong).__name__}, expected numbers, text or "
                    "None"
                )


def _find_type_problems(result: EngineResult) -> Iterator[str]:
    """Yield a message for facts or tables that are no mapping, and columns that are no sequence."""
    for part, value in (("facts", result.facts), ("tables", result.tables)):
        if not _is_mapping_by_name(value):
            yield f"{part} is {value!r}, expected a mapping by names"
    if not _is_mapping_by_name(result.tables):
        return
    for table_name, table in result.tables.items():
        if not _is_mapping_by_name(table):
            yield f"table {table_name!r} is {table!r}, expected a mapping of columns by names"
        elif not_sequences := [name for name, column in table.items() if not _has_rows(column)]:
            yield f"table {table_name!r}: {', '.join(not_sequences)} is not a sequence"


def _is_mapping_by_name(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _has_rows(column: Any) -> bool:
    return isinstance(column, Sized) and isinstance(column, Iterable)


def _is_scalar(value: Any) -> bool:
    # NumPy's bool is not a Real, unlike Python's
    return value is None or isinstance(value, (str, bool, np.bool_, Real))


def write_engine_result(result: EngineResult, work: str, folder: Path) -> None:
    """Write the tables of a result into a folder.

    Parameters
    ----------
    result : EngineResult
    work : {"traffic", "workload"}
        What the engine ran.
    folder : Path
    """
    for name, table in result.tables.items():
        write_csv(folder / TABLES[work][name], list(table), zip(*table.values(), strict=True))
