"""Check the rows that tables and figures select, before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from routelab.registry.names import without_parameters
from routelab.study import Figure, Table
from routelab.study.errors import suggestion
from routelab.workflow.parts.instances import Instance
from routelab.workflow.parts.study_plugins import Parts

Run = dict[str, str]
"""Id of the topology, the routing and the traffic or workload."""


def row_mistakes(parts: Parts) -> Iterator[str]:
    """Find tables in which one row would stand for runs of different names.

    For example ``rows: [topology]`` in a study with two routings. Tables with other columns in
    their rows or filters are left to the report, because the values of these columns are results.

    Yields
    ------
    str
        One line each: place, problem, fix.
    """
    for name, table in parts.study.tables.items():
        # with statistics or a count, a row stands for several runs by intention
        if table.statistics or table.count or table.relative:
            continue
        keys = [*table.rows, *([table.pivot.by] if table.pivot else [])]
        runs = _table_runs(parts, table)
        # All runs have the same columns. If the table has others, these are results.
        if not runs or not {*keys, *table.where} <= runs[0].keys():
            continue
        run_of_row: dict[tuple[str, ...], Run] = {}
        for run in runs:
            if not all(_matches(run[column], wanted) for column, wanted in table.where.items()):
                continue
            other = run_of_row.setdefault(tuple(run[key] for key in keys), run)
            if other != run:
                differing = next(column for column in run if run[column] != other[column])
                yield (
                    f"{parts.study.place('tables', name)}rows {', '.join(keys)} do not distinguish "
                    f"{differing} {other[differing]!r} from {run[differing]!r}; add {differing!r} "
                    "to 'rows', choose with 'where', or name the parameter to pool in 'over'"
                )
                break


def filter_mistakes(parts: Parts) -> Iterator[str]:
    """Find filters of tables and figures that select a name which the study lacks.

    Yields
    ------
    str
        One line each: place, problem, fix.
    """
    views: list[tuple[str, str, Table | Figure]] = [
        *(("tables", name, table) for name, table in parts.study.tables.items()),
        *(("figures", name, figure) for name, figure in parts.study.figures.items()),
    ]
    instances = {
        "topology": parts.topologies,
        "routing": parts.routings,
        "traffic": parts.traffic,
        "workload": parts.workloads,
        "benchmark": parts.benchmarks,
    }
    for study_key, name, view in views:
        pooled = {key.rpartition(".")[2] for key in view.over}  # of `routing.seed`: seed
        for column, wanted in view.where.items():
            if not instances.get(column):  # a column of results, or an empty list of the study
                continue
            # a filter may give the complete name, or the name without the pooled parameters
            known = {*instances[column], *_pooled_names(instances[column], pooled).values()}
            for wanted_name in wanted if isinstance(wanted, list) else [wanted]:
                if isinstance(wanted_name, str) and wanted_name not in known:
                    place = parts.study.place(study_key, name, "where")
                    fix = suggestion(wanted_name, known)
                    yield f"{place}the study has no {column} {wanted_name!r}{fix}"


def _table_runs(parts: Parts, table: Table) -> list[Run]:
    """Return the runs that a table shows, with names without the parameters that it pools."""
    pooled = {key.rpartition(".")[2] for key in table.over}  # of `routing.seed`: seed
    networks = _pooled_names(parts.topologies, pooled)
    routings = _pooled_names(parts.routings, pooled)
    if table.of == "routes":
        return [
            {"topology": networks[topology_id], "routing": routings[routing_id]}
            for topology_id, routing_id in parts.runs
        ]
    # what runs on each pair of topology and routing, and the column that has its name
    work_column, works = {
        "simulations": ("traffic", parts.traffic),
        "loads": ("traffic", parts.traffic),
        "flows": ("workload", parts.workloads),
    }.get(table.of, ("benchmark", parts.benchmarks))
    # a routing without a table (hop by hop) can only be simulated with packets, that is traffic
    pairs = parts.pairs if work_column == "traffic" else parts.runs
    return [
        {"topology": networks[topology_id], "routing": routings[routing_id], work_column: name}
        for topology_id, routing_id in pairs
        for work_id, name in _pooled_names(works, pooled).items()
        # a workload may name the routings that it runs with
        if work_column != "workload" or parts.combines(routing_id, work_id)
    ]


def _pooled_names(instances: Mapping[str, Instance], pooled: Collection[str]) -> dict[str, str]:
    """Return the names that a table shows, by id; an alias is shown as it is."""
    return {
        id_: without_parameters(id_, pooled) if id_ == instance.text else id_
        for id_, instance in instances.items()
    }


def _matches(name: str, wanted: object) -> bool:
    """Return whether a name is the wanted one, or one of these."""
    return name in map(str, wanted) if isinstance(wanted, list) else name == str(wanted)
