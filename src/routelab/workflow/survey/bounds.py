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
    """Bound the maximum load under some rules, or of the bare network.

    Parameters
    ----------
    network : SurveyNetwork
    rules : str
        Instance name; empty for the bare network.
    seconds, exact
        See `routelab.metrics.bounds.lower_bound_rules`.
    """
    try:
        plugin = _rules(rules) if rules else None
    except QuarantinedError as error:
        return failure_row(Failure("failed", str(error)))

    def work(topology: Topology) -> Row:
        return {"facts": bound_numbers(bound_load(topology, plugin, seconds=seconds, exact=exact))}

    return timed_row(network, work)


def run_bound_facts(facts: Mapping[str, Any], rules: Row | None, network: Row) -> Row:
    """Return the bounds for the facts of a run.

    Parameters
    ----------
    facts : mapping
        Facts of the run.
    rules : dict or None
        Row of the bound of its rules; None for a complete algorithm.
    network : dict
        Row of the bound of the bare network.

    Returns
    -------
    facts : dict
        `routelab.metrics.bounds.BOUND_FIELDS`, and ``bound_reason`` if a bound is missing.
    """
    of_rules = None if rules is None else _bound(rules)
    bounds = bound_facts(facts, of_rules, _bound(network))
    if rules is not None and of_rules is None:
        # the network's bound cannot replace it: the gap would include routes that the rules forbid
        bounds |= dict.fromkeys(set(BOUND_FIELDS) - {"lower_bound_topology"})
    bound_reasons = [row["reason"] for row in (rules, network) if row is not None and row["reason"]]
    return bounds | (
        {"bound_reason": "; ".join(dict.fromkeys(bound_reasons))} if bound_reasons else {}
    )


def _bound(row: Row) -> LoadBound | None:
    return bound_from_numbers(row["facts"]) if row["status"] == "ok" else None
