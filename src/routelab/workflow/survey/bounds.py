"""Rows of bounds in a survey: the numbers without the certificate."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from routelab.api import RulesPlugin, Topology
from routelab.jobs.limits import Failure
from routelab.metrics.bounds import (
    BOUND_FIELDS,
    LoadBound,
    bound_facts,
    bound_from_numbers,
    bound_numbers,
)
from routelab.registry.catalogue import QuarantinedError
from routelab.registry.instances import load
from routelab.routing.bound import bound_load
from routelab.workflow.survey.rows import Row, SurveyNetwork, failure_row, timed_row


@cache
def _rules(name: str) -> RulesPlugin:
    return cast(RulesPlugin, load("rules", name))


def bound_row(network: SurveyNetwork, rules: str, seconds: float, exact: bool) -> Row:
    """Bound the maximum load under some rules, or for all minimal routes.

    Parameters
    ----------
    network : SurveyNetwork
    rules : str
        Instance name; empty: no rules.
    seconds : float
        Approximate time limit of the search.
    exact : bool
        Whether to search for the exact bound by a mixed-integer program, if there are few routes.
    """
    try:
        plugin = _rules(rules) if rules else None
    except QuarantinedError as error:
        return failure_row(Failure("failed", str(error)))

    def work(topology: Topology) -> Row:
        return {"facts": bound_numbers(bound_load(topology, plugin, seconds=seconds, exact=exact))}

    return timed_row(network, work)


def run_bound_facts(
    facts: Mapping[str, Any], rules_row: Row | None, network_row: Row
) -> dict[str, Any]:
    """Return the bounds of a run's maximum load, and its gaps to them, as facts of the run.

    Parameters
    ----------
    facts : mapping
        Facts of the run.
    rules_row : dict or None
        Row of the bound under the run's rules; None for an algorithm without rules.
    network_row : dict
        Row of the network's bound without rules.

    Returns
    -------
    facts : dict
        `routelab.metrics.bounds.BOUND_FIELDS`, and ``bound_reason`` if a bound is missing.
    """
    rules_bound = None if rules_row is None else _bound(rules_row)
    bounds = bound_facts(facts, rules_bound, _bound(network_row))
    if rules_row is not None and rules_bound is None:
        # The bound under the rules could not be computed. The network's bound cannot replace it,
        # because the gap would include routes that the rules forbid. So the run has only the bound
        # of the network, and no gap.
        bounds |= dict.fromkeys(set(BOUND_FIELDS) - {"lower_bound_topology"})
    bound_rows = [row for row in (rules_row, network_row) if row is not None]
    reasons = [row["reason"] for row in bound_rows if row["reason"]]
    if reasons:
        bounds |= {"bound_reason": "; ".join(dict.fromkeys(reasons))}
    return bounds


def _bound(row: Row) -> LoadBound | None:
    return bound_from_numbers(row["facts"]) if row["status"] == "ok" else None
