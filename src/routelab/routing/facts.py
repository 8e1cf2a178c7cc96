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
    """Return loads, lengths, proof and time of a routed network; None for missing values.

    Raises
    ------
    PluginError
        If a counter of the table, or a fact of the rules, has the name of another fact.
    """
    table, verdict = routed.table, routed.verdict
    loads = channel_loads(table)
    diversity = None if routed.graph is None else route_diversity(routed.graph)
    lines = verdict.describe_cycle(table.topology) if verdict.cycle else []
    cycle = {"deadlock_cycle": "\n".join(lines)} if lines else {}
    facts = {
        "reachable_pairs": reachable_pairs(table),
        **_load_facts(table, loads),
        **_shape_facts(routed, float(loads.sum()), diversity),
        "max_hops": max_hops(table),
        "mean_hops": mean_hops(table),
        "single_route_share": None if diversity is None else diversity.single_route_share,
        "destination_based": table.destination_based,
        "deadlock": verdict.status,
        "deadlock_reason": verdict.reason,
        **cycle,
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
    # what plugins tell must not replace facts about the table, or one another
    names = {*facts, *FIELDS, *BOUND_FIELDS, *TOPOLOGY_FIELDS}
    for whose, extra in plugin_facts:
        repeated = sorted(names & extra.keys())
        if repeated:
            raise PluginError(f"{whose} {', '.join(repeated)} have the names of facts")
        names |= extra.keys()
        facts |= extra
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


def _shape_facts(
    routed: RoutedNetwork, hops: float, diversity: RouteCounts | None
) -> dict[str, Any]:
    """Return the facts that decide which bounds hold for a table: `metrics.bounds.bound_facts`."""
    joined = reachable_pairs(routed.table)
    legal = None if routed.graph is None else takes_shortest(routed.graph, joined, hops, diversity)
    return {
        "per_terminal": routed.table.per_terminal,
        "multipath": bool((routed.table.path_weight != 1).any()),
        "minimal": takes_shortest(network_graph(routed.table.topology), joined, hops),
        "shortest_legal": legal,
    }


def _integer_if_whole(load: float) -> float | int:
    """Return a load as an integer if it is one: single paths give integers, shares do not."""
    return int(load) if float(load).is_integer() else float(load)
