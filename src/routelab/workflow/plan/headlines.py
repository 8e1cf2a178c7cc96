"""Check the routings that the headline of a study names, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from routelab.registry.names import without_parameters
from routelab.study import Table
from routelab.study.errors import suggestion
from routelab.workflow.parts.instances import Instance
from routelab.workflow.parts.study_plugins import Parts


def unknown_in_headline(parts: Parts) -> Iterator[str]:
    """Find routings of a headline that the study lacks.

    Yields
    ------
    str
        One line each: place, problem, fix.
    """
    study, headline = parts.study, parts.study.headline
    name = headline.table or next(iter(study.tables), None)
    if name is None or headline.value is None:
        return
    table = study.tables.get(name)
    if table is None:  # `read_study` reports it
        return
    relative = table.relative.routings if table.relative else []
    routings = [*_names(parts.routings, table), *relative]
    for key, names in (("compare", headline.routings), ("baseline", [headline.baseline])):
        place = study.place("headline", key)
        for routing in names:
            if routing is not None and routing not in routings:
                fix = suggestion(routing, routings)
                yield f"{place}the study has no routing {routing!r}{fix}"
            elif key == "compare" and routing in (headline.baseline, *relative[:1]):
                yield f"{place}{routing!r} is the routing to compare with; leave it out"


def _names(instances: Mapping[str, Instance], table: Table) -> list[str]:
    """Return names as the table shows them: without the parameters that it pools."""
    ids = instances.items()
    names = (
        id_ if id_ != instance.text else without_parameters(id_, table.over)
        for id_, instance in ids
    )
    return list(dict.fromkeys(names))
