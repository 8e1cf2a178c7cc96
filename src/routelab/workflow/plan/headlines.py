"""Check the routings that the headline of a study names, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator

from routelab.registry.names import without_parameters
from routelab.study.errors import suggestion
from routelab.workflow.parts.study_plugins import Parts


def unknown_in_headline(parts: Parts) -> Iterator[str]:
    """Find routings that the headline of a study must not name.

    Its table cannot show them, or would compare them with themselves. A headline compares routings
    by a value of one of the study's tables, to answer its question.

    Yields
    ------
    str
        One line each: place, problem, fix.
    """
    study, headline = parts.study, parts.study.headline
    table = study.tables.get(headline.table or next(iter(study.tables), ""))
    # `read_study` reports a table that does not exist
    if table is None or headline.value is None:
        return
    baselines = table.relative.routings if table.relative else []
    # The table shows names without the parameters that it pools. An id that is not the canonical
    # name is an alias, which it shows as it is.
    routings = [
        id_ if id_ != instance.text else without_parameters(id_, table.over)
        for id_, instance in parts.routings.items()
    ]
    routings = list(dict.fromkeys([*routings, *baselines]))
    # without a baseline in the headline, the only routing of the table's `relative`
    compared_with = headline.baseline or next(iter(baselines), None)
    for key, names in (("compare", headline.routings), ("baseline", [headline.baseline])):
        place = study.place("headline", key)
        for routing in names:
            if routing is not None and routing not in routings:
                fix = suggestion(routing, routings)
                yield f"{place}the study has no routing {routing!r}{fix}"
            elif key == "compare" and routing == compared_with:
                yield f"{place}{routing!r} is the routing to compare with; leave it out"
