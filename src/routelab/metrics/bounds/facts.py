"""Facts of a run that compare a route table with bounds."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from routelab.metrics import as_fraction
from routelab.metrics.bounds.columns import COLUMNS
from routelab.metrics.bounds.load_bound import LoadBound

BOUND_FIELDS = tuple(column.name for column in COLUMNS)
"""Keys of `bound_facts`, in order."""


def bound_numbers(bound: LoadBound) -> dict[str, Any]:
    """Return a bound as JSON values, without the weights."""
    return {
        "bound_value": bound.value,
        "bound_load": _json_number(bound.load),
        "bound_method": bound.method,
        "turn_set": bound.turn_set,
        "bound_seconds": bound.seconds,
    }


def bound_from_numbers(numbers: Mapping[str, Any]) -> LoadBound:
    """Return the bound that `bound_numbers` turned into JSON values; its weights are empty."""
    return LoadBound(
        value=float(numbers["bound_value"]),
        load=as_fraction(numbers["bound_load"]),
        method=str(numbers["bound_method"]),
        turn_set=str(numbers["turn_set"]),
        seconds=float(numbers["bound_seconds"]),
        weights=np.empty(0, dtype=np.int64),
    )


def bound_facts(
    facts: Mapping[str, Any], rules: LoadBound | None, topology: LoadBound | None
) -> dict[str, Any]:
    """Compare bounds with the maximum load of a table.

    For a table with one path per pair, a bound is its `LoadBound.load`, otherwise its
    `LoadBound.value`. The facts besides the two bounds are about the bound of the rules; for a
    complete algorithm, which has no rules, about that of the network. Loads of whole routes are
    compared as fractions, so that ``optimal`` does not depend on rounding.

    Parameters
    ----------
    facts : mapping
        Facts of the table from `routelab.routing.facts.routing_facts`: ``max_load``,
        ``multipath``, ``per_terminal``, ``minimal``, ``shortest_legal``.
    rules : LoadBound or None
        Bound of the rules that the routes were chosen from; None for a complete algorithm.
    topology : LoadBound or None
        Bound of the bare network; None if unknown.

    Returns
    -------
    facts : dict
        Values by `BOUND_FIELDS`, or None. ``gap`` and ``optimal`` are None for tables with detours
        or missing pairs, because the bound does not apply; ``optimal`` is None for tables that
        split pairs.
    """
    one_path, per_terminal = not facts.get("multipath"), bool(facts.get("per_terminal"))

    def uses_value(bound: LoadBound) -> bool:
        # The integer program gives all terminals of a switch one route, but a table per terminal
        # may give each its own and have a smaller load.
        return not one_path or (per_terminal and bound.method == "milp")

    def bound_for_table(bound: LoadBound | None) -> float | int | None:
        if bound is None:
            return None
        return bound.value if uses_value(bound) else _json_number(bound.load)

    # A bound applies to tables of all pairs on shortest routes: of the network, or of the rules.
    if rules is None:
        compared_bound, applies = topology, facts.get("minimal")
    else:
        compared_bound, applies = rules, facts.get("shortest_legal")
    least, max_load = bound_for_table(compared_bound), facts.get("max_load")
    gap = None
    if applies and least is not None and max_load is not None:
        gap = max_load - least
        if one_path:
            gap = _json_number(as_fraction(max_load) - as_fraction(least))
    method = None if compared_bound is None else compared_bound.method
    if compared_bound is not None and method == "milp" and uses_value(compared_bound):
        method = "lp"  # of the value; the integer program has raised the load alone
    return {
        "lower_bound_rules": bound_for_table(rules),
        "lower_bound_topology": bound_for_table(topology),
        "bound_method": method,
        "gap": gap,
        "optimal": gap == 0 if one_path and gap is not None else None,
        "turn_set": None if compared_bound is None else compared_bound.turn_set,
    }


def any_length_facts(
    facts: Mapping[str, Any], bound: LoadBound | None, pairs: int
) -> dict[str, Any]:
    """Compare the bound for routes of any length with the maximum load of a table.

    Parameters
    ----------
    facts : mapping
        Facts of the table as in `bound_facts`, and ``reachable_pairs``.
    bound : LoadBound or None
        Bound of the network; None if unknown.
    pairs : int
        Ordered pairs of different terminals in the network.

    Returns
    -------
    facts : dict
        Values of `routelab.metrics.bounds.columns.ANY_LENGTH_COLUMNS`. Both are None if the bound
        is unknown, or if the table leaves out pairs, for which the bound does not hold.
    """
    least: float | int | None = None
    if bound is not None and facts.get("reachable_pairs") == pairs:
        least = bound.value if facts.get("multipath") else _json_number(bound.load)
    max_load = facts.get("max_load")
    gap = None if max_load is None or least is None else max_load - least
    return {"lower_bound_any_length": least, "gap_any_length": gap}


def _json_number(load: Fraction) -> float | int:
    """Return a load as a JSON number: an integer if it is one."""
    return int(load) if load == int(load) else float(load)
