"""Columns of bounds beside the maximum load of a table; see `routelab.bounds.bound_facts`."""

from __future__ import annotations

from typing import Any, Final

from routelab.api.columns import Column


def _column(name: str, meaning: str, **more: Any) -> Column:
    return Column(name, meaning, needs="bound", group="How good it could be", **more)


COLUMNS: Final = (
    _column(
        "lower_bound_rules",
        "no table of shortest routes that the rules allow has a smaller `max_load`",
        heading="lower bound, rules",
        unit="routes",
    ),
    _column(
        "lower_bound_topology",
        "the same for all routes as short as the network allows, legal or not: what the rules cost",
        heading="lower bound, network",
        unit="routes",
    ),
    _column(
        "bound_method",
        "where the bound comes from. `lp` and `dual` (a linear program, multiplicative weights): "
        "channel weights that anyone can check. `milp`: the word of an integer program's solver; "
        "it holds where the terminals of a switch share their routes, and is not used for tables "
        "with routes per terminal",
    ),
    _column(
        "gap",
        "`max_load` minus the bound (that of the rules; of the network for a complete "
        "algorithm). Empty for tables with longer routes than the rules need, or without a pair "
        "that they could join: no bound applies to those",
        unit="routes",
        better="lower",
    ),
    _column(
        "optimal",
        "whether the gap is 0: no other table of such routes has a smaller maximum load. Empty if "
        "pairs are split over several paths",
        heading="proven optimal",
    ),
    _column("turn_set", "the routes that the bound is about, by the turns that they may take"),
)
