"""Columns of lower bounds on the maximum load; see `routelab.metrics.bounds.bound_facts`."""

from __future__ import annotations

from typing import Any, Final

from routelab.api.columns import Column


def _column(name: str, meaning: str, needs: str = "bound", **more: Any) -> Column:
    """Return a column of the group "Lower bounds", which only runs with such a bound have."""
    return Column(name, meaning, needs=needs, group="Lower bounds", **more)


COLUMNS: Final = (
    _column(
        "lower_bound_rules",
        "lower bound of `max_load` for all tables of shortest routes that the rules allow",
        heading="proven lower bound under the rules",
        unit="routes",
        bound_of="max_load",
    ),
    _column(
        "lower_bound_topology",
        "lower bound of `max_load` for all tables of minimal routes, legal or not. The difference "
        "between the two bounds is the cost of the rules",
        heading="proven lower bound for minimal routing",
        unit="routes",
        bound_of="max_load",
    ),
    _column(
        "bound_method",
        "method of the bound. `lp` (linear program) and `dual` (multiplicative weights) give "
        "channel weights that anyone can check. `milp` (integer program) relies on the solver; it "
        "is not used for tables with routes per terminal",
        heading="method of the bound",
    ),
    _column(
        "gap",
        "`max_load` minus the bound of the rules, or of the network for a complete algorithm. "
        "Empty if no bound applies: some routes are longer than necessary, or a pair that could "
        "have a route has none",
        heading="gap to the bound",
        unit="routes",
        better="lower",
        gap_of="max_load",
    ),
    _column(
        "optimal",
        "whether the gap is 0: no table of such routes has a smaller maximum load. Empty if pairs "
        "are split over several paths",
        heading="proven optimal",
    ),
    _column(
        "turn_set",
        "turns that the routes of the bound may take, such as `angara/exact`",
        heading="allowed turns",
    ),
)

ANY_LENGTH_COLUMNS: Final = (
    _column(
        "lower_bound_any_length",
        "lower bound of `max_load` for all tables that join all pairs, with routes of any length. "
        "Empty if a pair has no route",
        needs="any_length",
        heading="proven lower bound for routes of any length",
        unit="routes",
        bound_of="max_load",
    ),
    _column(
        "gap_any_length",
        "`max_load` minus the bound for routes of any length",
        needs="any_length",
        heading="gap to the bound for routes of any length",
        unit="routes",
        better="lower",
        gap_of="max_load",
    ),
)
"""Facts of a run; see `routelab.metrics.bounds.any_length_facts`."""
