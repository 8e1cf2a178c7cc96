"""Check the routings and conditions that the headline of a study names, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from routelab.api.parameters import value_text
from routelab.registry.columns import installed_columns
from routelab.registry.names import without_parameters
from routelab.study import Between, Table
from routelab.study.errors import suggestion
from routelab.workflow.parts.instances import Instance
from routelab.workflow.parts.study_plugins import Parts

_SIMULATED = ("simulations", "loads")


def unknown_in_headline(parts: Parts) -> Iterator[str]:
    """Find routings and conditions of a headline that its table does not show.

    Yields
    ------
    str
        One line each: place, problem, fix.
    """
    study, headline = parts.study, parts.study.headline
    name = headline.table or next(iter(study.tables), None)
    if name is None or headline.value is None:
        return
    table = study.tables[name]
    instances = parts.routings if table.of in _SIMULATED else parts.tables
    routings = _names(instances, table)
    relative = table.relative.routings if table.relative else []
    table_routings = [*_chosen(routings, table.where.get("routing")), *relative]
    for key, names in (("compare", headline.routings), ("baseline", [headline.baseline])):
        for routing in names:
            place = study.place("headline", key)
            if routing is not None and routing not in table_routings:
                fix = suggestion(routing, table_routings)
                if routing in (*routings, *parts.routings):
                    yield f"{place}table {name!r} does not show the routing {routing!r}{fix}"
                else:
                    yield f"{place}the study has no routing {routing!r}{fix}"
            elif key == "compare" and routing in (headline.baseline, *relative[:1]):
                yield f"{place}{routing!r} is the routing to compare with; leave it out"
    for column, condition in headline.where.items():
        source = table.names.get(column, column)
        values = table_routings if source == "routing" else _values(parts, table, source)
        values = _chosen(values, table.where.get(column))
        place = study.place("headline", "where", column)
        for value in _listed(condition) if values else ():
            if not _chosen(values, value):
                text = repr(value) if not isinstance(value, Between) else "within these limits"
                fix = suggestion(str(value), values)
                yield f"{place}table {name!r} shows no {column} {text}{fix}"


def _names(instances: Mapping[str, Instance], table: Table) -> list[str]:
    """Return names as the table shows them: without the parameters that it pools."""
    ids = instances.items()
    names = (
        id_ if id_ != instance.text else without_parameters(id_, table.over)
        for id_, instance in ids
    )
    return list(dict.fromkeys(names))


def _values(parts: Parts, table: Table, column: str) -> list[str]:
    """Return the values of a column of a table; nothing if only results tell."""
    kinds = {"topology": parts.topologies, "routing": parts.routings}
    kinds |= {"traffic": parts.traffic, "workload": parts.workloads}
    if column in kinds:
        return _names(kinds[column], table)
    engines = parts.study.settings if table.of in _SIMULATED else ()
    if column == "load":
        loads = [getattr(engine.parameters, "loads", ()) for engine in engines]
        searched = [getattr(engine.parameters, "find_saturation", False) for engine in engines]
        all_known = table.of == "loads" and all(loads) and not any(searched)
        return (
            list(dict.fromkeys(str(load) for engine_loads in loads for load in engine_loads))
            if all_known
            else []
        )
    # facts of results precede parameters of their name
    if installed_columns().find(column) is not None:
        return []
    texts: dict[str, None] = {}
    plugins = [
        (kind, plugin)
        for kind, instances in kinds.items()
        for i in instances.values()
        for plugin in i.plugins
    ]
    for kind, plugin in [*plugins, *(("simulation", engine) for engine in engines)]:
        for name, text in plugin.parameters.texts().items():
            if column in (name, f"{kind}.{name}", f"{kind}.{plugin.kind}.{name}"):
                texts[text] = None
    return list(texts)


def _listed(condition: Any) -> list[Any]:
    return list(condition) if isinstance(condition, list | tuple) else [condition]


def _chosen(texts: Iterable[str], condition: Any) -> list[str]:
    """Return the values that meet a condition of a table; all without one."""
    if condition is None:
        return list(texts)
    return [text for text in texts if any(_meets(text, value) for value in _listed(condition))]


def _meets(text: str, condition: Any) -> bool:
    number = _number(text)
    if isinstance(condition, Between):
        low, high = condition.min, condition.max
        above = low is None or (number is not None and number >= low)
        return above and (high is None or (number is not None and number <= high))
    condition_text = value_text(condition, condition)
    return text == condition_text or (number is not None and number == _number(condition_text))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
