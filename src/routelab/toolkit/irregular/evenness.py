"""How evenly rules let routes spread, and how often that can be afforded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import BoolArray, Topology
from routelab.kernels.even_loads import even_loads
from routelab.toolkit.irregular.roots import root_of

MOST_STEPS = 500_000_000
"""Edges that a search may look at, some seconds; afterwards it keeps what it has."""


def unevenness(graph: RoutingGraph, blocked: BoolArray | None = None) -> float:
    """Return the sum of the squares of all channel loads; less is better.

    Every pair splits its traffic evenly over its shortest legal routes, so long routes count as
    well as busy channels.

    Parameters
    ----------
    graph : RoutingGraph
        Deterministic, and joins all pairs that are to be compared.
    blocked : bool array, shape (E,), or None
        Edges that no route may use; None if there are none.
    """
    topology = graph.topology
    if blocked is None:
        blocked = np.zeros(graph.num_edges, dtype=np.bool_)
    loads, _ = even_loads(graph.arrays, blocked, topology.endpoints, topology.demand)
    return float(np.square(loads / topology.channel_capacity).sum())


def affordable(graph: RoutingGraph) -> int:
    """Return how often a search may ask for the `unevenness` of such a graph."""
    return MOST_STEPS // max(1, 2 * graph.num_edges * len(graph.topology.endpoints))


def best_root(topology: Topology, unevenness_of: Callable[[int], float], most: int) -> int:
    """Return the switch with the least unevenness, the first of equals.

    Parameters
    ----------
    topology : Topology
        Has a switch.
    unevenness_of : function
        Of the rules with a switch as root.
    most : int
        Switches to try; if there are more, the tried ones are evenly spaced.
    """
    tried = np.linspace(0, topology.num_switches - 1, min(max(most, 1), topology.num_switches))
    switches: list[int] = np.unique(tried.astype(np.int64)).tolist()
    return min(switches, key=unevenness_of)


def graph_of_root(
    topology: Topology, choice: str, rules: str, graph_from: Callable[[int], RoutingGraph]
) -> RoutingGraph:
    """Return the routing graph of rules with the root that a parameter names.

    Parameters
    ----------
    topology : Topology
    choice : str
        See `routelab.toolkit.irregular.ROOTS_AND_BEST`.
    rules : str
        Name of the rules, for messages.
    graph_from : function
        Routing graph with a switch as root.

    Raises
    ------
    InputError
        If the network has no switch, or none of that name.
    """
    if choice != "best" or topology.num_switches == 0:
        return graph_from(root_of(topology, choice, rules))
    budget = affordable(graph_from(0))
    return graph_from(best_root(topology, lambda root: unevenness(graph_from(root)), budget))
