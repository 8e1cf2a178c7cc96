"""How evenly rules let routes spread, and how often that can be afforded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import BoolArray, Topology
from routelab.kernels.even_loads import even_loads
from routelab.toolkit.irregular.roots import root_of

MOST_STEPS = 500_000_000
"""Edges that all calls of `unevenness` in one search may visit; they take some seconds."""


def unevenness(graph: RoutingGraph, blocked: BoolArray | None = None) -> float:
    """Return the sum of the squares of all channel loads, relative to capacities; less is better.

    Every pair splits its traffic evenly over its shortest legal routes, so long routes count as
    well as busy channels.

    Parameters
    ----------
    graph : RoutingGraph
        Deterministic. Pairs without a route add nothing: compare graphs that join the same pairs.
    blocked : bool array, shape (E,), or None
        Edges that no route may use; None if there are none.
    """
    topology = graph.topology
    if blocked is None:
        blocked = np.zeros(graph.num_edges, dtype=np.bool_)
    loads, _ = even_loads(graph.arrays, blocked, topology.endpoints, topology.demand)
    return float(np.square(loads / topology.channel_capacity).sum())


def affordable_evaluations(graph: RoutingGraph) -> int:
    """Return how often a search may call `unevenness` with graphs of this size."""
    # Each call visits all edges forwards and backwards, for each source.
    return MOST_STEPS // max(1, 2 * graph.num_edges * len(graph.topology.endpoints))


def best_root(topology: Topology, unevenness_of: Callable[[int], float], max_tries: int) -> int:
    """Try switches as roots; return that with the least unevenness, the first of equals.

    Parameters
    ----------
    topology : Topology
        Has a switch.
    unevenness_of : function
        Returns the unevenness of the rules with a switch as root.
    max_tries : int
        Largest number of switches to try, at least one. In a larger network they are evenly spaced.
    """
    num_tries = min(max(max_tries, 1), topology.num_switches)
    # 3 tries among 8 switches: 0, 3.5 and 7, so the switches 0, 3 and 7
    evenly_spaced = np.linspace(0, topology.num_switches - 1, num_tries)
    switches: list[int] = np.unique(evenly_spaced.astype(np.int64)).tolist()
    return min(switches, key=unevenness_of)


def graph_of_root(
    topology: Topology, choice: str, rules: str, graph_from: Callable[[int], RoutingGraph]
) -> RoutingGraph:
    """Return the routing graph of rules with the root that a parameter names or describes.

    Parameters
    ----------
    topology : Topology
    choice : str
        Value of the parameter, one of `routelab.toolkit.irregular.ROOTS_AND_BEST`.
    rules : str
        Name of the rules, for messages.
    graph_from : function
        Returns the routing graph with a switch as root.

    Raises
    ------
    InputError
        If the network has no switch, or none of that name.
    """
    # for a network without switches, `root_of` raises the error
    if choice != "best" or topology.num_switches == 0:
        return graph_from(root_of(topology, choice, rules))
    # graphs of other roots have similar sizes
    max_tries = affordable_evaluations(graph_from(0))
    root = best_root(topology, lambda switch: unevenness(graph_from(switch)), max_tries)
    return graph_from(root)
