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
        "bound_load": _plain(bound.load),
        "bound_method": bound.method,
        "turn_set": bound.turn_set,
        "bound_seconds": bound.seconds,
    }


def bound_from_numbers(numbers: Mapping[str, Any]) -> LoadBound:
    """Return the bound that `bound_numbers` described, without the weights."""
    return LoadBound(
        value=float(numbers["bound_value"]),
        load=as_fraction(numbers["bound_load"]),
        method=str(numbers["bound_method"]),
        turn_set=str(numbers["turn_set"]),
        seconds=float(numbers["bound_seconds"]),
        weights=np.empty(0, dtype=np.int64),
    )


def _method(bound: LoadBound | None, finer: bool) -> str | None:
    if bound is None:
        return None
    return "lp" if finer and bound.method == "milp" else bound.method


def bound_facts(
    facts: Mapping[str, Any], rules: LoadBound | None, topology: LoadBound | None
) -> dict[str, Any]:
    """Compare bounds with the maximum load of a table.

    Both bounds are given as they hold for the table: as loads of whole routes if it has one path
    per pair, otherwise as the proven quotients. The other facts are about the narrower bound, that
    of the rules, or of the network for a complete algorithm. Whole routes are compared as
    fractions, so that ``optimal`` does not depend on rounding.

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
    whole, finer = not facts.get("multipath"), facts.get("per_terminal")

    def holds(bound: LoadBound | None) -> float | int | None:
        if bound is None:
            return None
        if finer and bound.method == "milp":
            # in the program all terminals of a switch share one route
            return bound.value
        return _plain(bound.load) if whole else bound.value

    nearest, applies = (
        (topology, facts.get("minimal")) if rules is None else (rules, facts.get("shortest_legal"))
    )
    least, load = holds(nearest), facts.get("max_load")
    gap = None
    if applies and least is not None and load is not None:
        gap = _plain(as_fraction(load) - as_fraction(least)) if whole else load - least
    return {
        "lower_bound_rules": holds(rules),
        "lower_bound_topology": holds(topology),
        "bound_method": _method(nearest, bool(finer)),
        "gap": gap,
        "optimal": gap == 0 if whole and gap is not None else None,
        "turn_set": None if nearest is None else nearest.turn_set,
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
        None: unknown.
    pairs : int
        Ordered pairs of different terminals.

    Returns
    -------
    facts : dict
        Values of `routelab.metrics.bounds.columns.ANY_LENGTH_COLUMNS`, or None: the bound does not
        hold for a table that leaves out pairs.
    """
    least: float | int | None = None
    if bound is not None and facts.get("reachable_pairs") == pairs:
        least = bound.value if facts.get("multipath") else _plain(bound.load)
    load = facts.get("max_load")
    gap = None if load is None or least is None else load - least
    return {"lower_bound_any_length": least, "gap_any_length": gap}


def _plain(load: Fraction) -> float | int:
    """Return a load as a JSON number: an integer if it is one."""
    return int(load) if load == int(load) else float(load)
