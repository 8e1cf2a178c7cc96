"""The facts about a routed network: one row of ``routelab evaluate``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routelab.api import PluginError, RouteTable
from routelab.api.topology import Float64Array
from routelab.metrics import (
    RouteCounts,
    channel_loads,
    max_hops,
    mean_hops,
    mean_load,
    perfect_load,
    reachable_pairs,
    relative_loads,
    route_diversity,
    sigma,
)
from routelab.metrics.bounds import BOUND_FIELDS, bound_facts, network_graph, takes_shortest
from routelab.routing.fact_columns import COLUMNS
from routelab.routing.routing import RoutedNetwork
from routelab.routing.topology import TOPOLOGY_FIELDS, topology_facts

FIELDS = tuple(column.name for column in COLUMNS if "evaluate-all" in column.shown)
"""Columns of ``routelab evaluate``, in order; with bounds, `BOUND_FIELDS` follow."""

__all__ = ["BOUND_FIELDS", "FIELDS", "bound_facts", "routing_facts", "topology_facts"]


def routing_facts(routed: RoutedNetwork) -> dict[str, Any]:
    """Return loads, lengths, deadlock verdict and time of a routed network.

    A fact that does not exist is None; ``deadlock_cycle`` is left out without a cycle. The counters
    of the table and the facts of the rules' routing graph follow, under the names that the plugins
    gave them.

    Raises
    ------
    PluginError
        If a counter of the table, or a fact of the routing graph, has the name of another fact.
    """
    table, verdict = routed.table, routed.verdict
    loads = channel_loads(table)
    diversity = None if routed.graph is None else route_diversity(routed.graph)
    # each hop of a route loads one channel
    total_hops = float(loads.sum())
    cycle = "\n".join(verdict.describe_cycle(table.topology)) if verdict.cycle else ""
    facts = {
        "reachable_pairs": reachable_pairs(table),
        **_load_facts(table, loads),
        **_bound_conditions(routed, total_hops, diversity),
        "max_hops": max_hops(table),
        "mean_hops": mean_hops(table),
        "single_route_share": None if diversity is None else diversity.single_route_share,
        "destination_based": table.destination_based,
        "deadlock": verdict.status,
        "deadlock_reason": verdict.reason,
        **({"deadlock_cycle": cycle} if cycle else {}),
        "flow_control": verdict.flow_control,
        "virtual_channels": table.virtual_channels,
        "routing_seconds": routed.seconds,
        "cpu_seconds": routed.cpu_seconds,
    }
    graph = routed.graph
    plugin_facts: list[tuple[str, Mapping[str, float | str]]] = [
        ("route table: counters", table.counters)
    ]
    plugin_facts += [] if graph is None else [("routing graph: facts", graph.facts)]
    # All facts become one row of results, also those of the network and of bounds. A fact of a
    # plugin must not replace one of them, or one of another plugin.
    taken_names = {*facts, *FIELDS, *BOUND_FIELDS, *TOPOLOGY_FIELDS}
    for source, extra_facts in plugin_facts:
        repeated_names = sorted(taken_names & extra_facts.keys())
        if repeated_names:
            raise PluginError(f"{source} {', '.join(repeated_names)} have the names of facts")
        taken_names |= extra_facts.keys()
        facts |= extra_facts
    return facts


def _load_facts(table: RouteTable, loads: Float64Array) -> dict[str, Any]:
    """Return maximum, minimum, mean and σ(4) of the relative loads; None without channels."""
    if not len(loads):
        return dict.fromkeys(("max_load", "min_load", "mean_load", "sigma4"))
    topology = table.topology
    relative = relative_loads(topology, loads)
    return {
        "max_load": _integer_if_whole(relative.max()),
        "min_load": _integer_if_whole(relative.min()),
        "mean_load": mean_load(topology, loads),
        "sigma4": sigma(relative, perfect_load(topology), 4),
    }


def _bound_conditions(
    routed: RoutedNetwork, total_hops: float, diversity: RouteCounts | None
) -> dict[str, Any]:
    """Return the facts that decide which lower bounds hold for a table.

    `metrics.bounds.bound_facts` reads them. `total_hops` is the sum of the hops of all pairs of
    terminals; of a pair with several paths, their mean by weight. `diversity` is that of the rules'
    graph.
    """
    table, rules_graph = routed.table, routed.graph
    all_minimal = network_graph(table.topology)
    pairs = reachable_pairs(table)
    return {
        "per_terminal": table.per_terminal,
        # the weights of a pair's paths sum to 1, so only several paths have others than 1
        "multipath": bool((table.path_weight != 1).any()),
        "minimal": takes_shortest(all_minimal, pairs, total_hops),
        "shortest_legal": (
            None
            if rules_graph is None
            else takes_shortest(rules_graph, pairs, total_hops, diversity)
        ),
    }


def _integer_if_whole(load: float) -> float | int:
    """Return a load as an integer if it is one: single paths give integers, shares do not."""
    return int(load) if float(load).is_integer() else float(load)
