"""What a survey keeps of a bound: its numbers, not its certificate."""

from __future__ import annotations

from functools import cache
from typing import cast

import numpy as np

from routelab.api import RulesPlugin, Topology, UnsupportedError
from routelab.bounds import LoadBound, lower_bound_rules, lower_bound_topology
from routelab.registry.instances import load
from routelab.stages.survey_rows import Network, Row, timed_row

_FACTS = ("value", "load", "method", "turn_set", "seconds")


@cache
def _rules(name: str) -> RulesPlugin:
    return cast(RulesPlugin, load("rules", name))


def bound_row(network: Network, rules: str, seconds: float, exact: bool) -> Row:
    """Bound the maximum load under some rules, or of the bare network.

    Parameters
    ----------
    network : Network
    rules : str
        Instance name; empty for the bare network.
    seconds, exact
        See `routelab.bounds.lower_bound_rules`.
    """

    def work(topology: Topology) -> Row:
        if rules:
            plugin = _rules(rules)
            if (reason := plugin.supports(topology)) is not None:
                raise UnsupportedError(f"{plugin.name}: {reason}")
            graph = plugin.routing_graph(topology)
            bound = lower_bound_rules(graph, seconds=seconds, exact=exact)
        else:
            bound = lower_bound_topology(topology, seconds=seconds)
        return {"facts": {name: getattr(bound, name) for name in _FACTS}}

    return timed_row(network, work)


def kept_bound(row: Row | None) -> LoadBound | None:
    """The bound that a row tells of, without certificate; None if there is none."""
    if row is None or row["status"] != "ok":
        return None
    return LoadBound(**row["facts"], weights=np.zeros(0, dtype=np.int64))
