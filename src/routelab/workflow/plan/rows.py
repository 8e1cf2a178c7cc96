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

    Only tables are examined whose rows and filters name networks, routings and work. Of all others
    the report finds it, when it knows the values.

    Yields
    ------
    str
        One line each: place, problem, fix.
    """
    for name, table in parts.study.tables.items():
        if table.statistics or table.count or table.relative:
            continue
        keys = [*table.rows, *([table.pivot.by] if table.pivot else [])]
        runs = _runs(parts, table)
        if not runs or not {*keys, *table.where} <= runs[0].keys():
            continue
        first: dict[tuple[str, ...], Run] = {}
        for run in runs:
            if not all(_matches(run[column], wanted) for column, wanted in table.where.items()):
                continue
            other = first.setdefault(tuple(run[key] for key in keys), run)
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
    for part, name, view in views:
        pooled = {key.rpartition(".")[2] for key in view.over}
        for column, wanted in view.where.items():
            if not instances.get(column):
                continue
            known = {*instances[column], *_names(instances[column], pooled).values()}
            for word in wanted if isinstance(wanted, list) else [wanted]:
                if isinstance(word, str) and word not in known:
                    place = parts.study.place(part, name, "where")
                    yield f"{place}the study has no {column} {word!r}{suggestion(word, known)}"


def _runs(parts: Parts, table: Table) -> list[Run]:
    """Return the runs of a table's kind, by names without the parameters that it pools."""
    pooled = {key.rpartition(".")[2] for key in table.over}
    networks, routings = _names(parts.topologies, pooled), _names(parts.routings, pooled)
    if table.of == "routes":
        return [{"topology": networks[t], "routing": routings[r]} for t, r in parts.runs]
    kind, work = {
        "simulations": ("traffic", parts.traffic),
        "loads": ("traffic", parts.traffic),
        "flows": ("workload", parts.workloads),
    }.get(table.of, ("benchmark", parts.benchmarks))
    # only packets are simulated without a route table
    pairs = parts.pairs if kind == "traffic" else parts.runs
    return [
        {"topology": networks[t], "routing": routings[r], kind: name}
        for t, r in pairs
        for id_, name in _names(work, pooled).items()
        if kind != "workload" or parts.combines(r, id_)
    ]


def _names(instances: Mapping[str, Instance], pooled: Collection[str]) -> dict[str, str]:
    return {
        id_: without_parameters(id_, pooled) if id_ == instance.text else id_
        for id_, instance in instances.items()
    }


def _matches(name: str, wanted: object) -> bool:
    """Return whether a name is the wanted one, or one of these."""
    return name in map(str, wanted) if isinstance(wanted, list) else name == str(wanted)
