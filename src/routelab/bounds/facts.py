"""Bounds beside what a route table reaches: the facts of a run."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from routelab.bounds.columns import COLUMNS
from routelab.bounds.load_bound import LoadBound
from routelab.metrics import as_fraction

BOUND_FIELDS = tuple(column.name for column in COLUMNS)
"""What `bound_facts` tells, in order."""


def bound_numbers(bound: LoadBound) -> dict[str, Any]:
    """A bound as facts that a file can hold, without the weights."""
    return {
        "bound_value": bound.value,
        "bound_load": _plain(bound.load),
        "bound_method": bound.method,
        "turn_set": bound.turn_set,
        "bound_seconds": bound.seconds,
    }


def bound_of(numbers: Mapping[str, Any]) -> LoadBound:
    """The bound that `bound_numbers` told of, without the weights."""
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
    """Put bounds beside the maximum load of a table.

    Both bounds are given as they hold for the table: as loads of whole routes where it has one
    path a pair, otherwise as the proven quotients. The rest is about the narrower one, that of
    the rules; for a complete algorithm, which has none, about that of the network. Whole routes
    are compared as fractions, so that ``optimal`` does not depend on rounding.

    Parameters
    ----------
    facts : mapping
        Of the table, as `routelab.stages.facts.routing_facts` makes them: ``max_load``,
        ``multipath``, ``per_terminal``, ``minimal``, ``shortest_legal``.
    rules : LoadBound or None
        Of the rules that the routes were chosen from; None for a complete algorithm.
    topology : LoadBound or None
        Of the bare network; None if not known.

    Returns
    -------
    facts : dict
        By `BOUND_FIELDS`; None where there is no value. ``gap`` and ``optimal`` have none for
        tables with detours or without some of the pairs, of which the bound tells nothing;
        ``optimal`` has none for tables that split pairs.
    """
    whole, finer = not facts.get("multipath"), facts.get("per_terminal")

    def holds(bound: LoadBound | None) -> float | int | None:
        if bound is None:
            return None
        if finer and bound.method == "milp":
            # the program took all terminals of a switch to share one route
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


def _plain(load: Fraction) -> float | int:
    """A load as a file holds it: an integer where it is one."""
    return int(load) if load == int(load) else float(load)
