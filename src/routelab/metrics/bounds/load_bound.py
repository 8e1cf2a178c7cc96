"""Lower bounds of the maximum channel load, and their verification.

Loads are relative (see `routelab.metrics.capacity`): routes that cross a channel times its factor
f = greatest capacity / capacity. For any non-negative weights y of the channels, the loads of a
route table satisfy ::

    max load >= sum of y × routes / sum of (y / f)
             >= sum over pairs of demand × (least y-weight of an allowed route) / sum of (y / f)

because a channel has at most (max load) / f routes, and the y-weight of a pair's routes is not less
than the least one. The allowed routes are the *shortest legal* ones. The second
quotient is a bound for any y, and a shortest-path routine can check it: y is the
certificate. On a network of one speed all f are 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isclose
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from routelab.api import InputError, RoutingGraph
from routelab.api.topology import Int64Array, Topology, frozen_array
from routelab.metrics import RouteCounts, load_factors, route_diversity
from routelab.metrics.bounds.kernels import least_weights
from routelab.toolkit import SourceSymmetry

ALL_MINIMAL = "all minimal routes"
"""Turn set of a bound without rules."""


@dataclass(frozen=True, eq=False)
class LoadBound:
    """A lower bound of the maximum channel load of tables with shortest legal routes.

    Attributes
    ----------
    value : float
        The proven quotient: no table has a smaller maximum load, even if it splits the packets of
        pairs.
    load : Fraction
        No table with one path per pair has a smaller maximum load: the least relative load of
        whole routes that is not below the quotient (on a network of one speed the least integer);
        with method ``milp`` the least load that the solver found.
    method : {"lp", "dual", "balance", "milp"}
        Source of the weights: a linear program, or if that is too large, multiplicative weights
        (``balance``: of routes of any length).
        ``milp``: a mixed-integer program raised `load` above the quotient; this relies on the
        solver and has no certificate.
    turn_set : str
        Set of turns that the allowed routes may take.
    seconds : float
        Wall time of the search.
    weights : int64 array, shape (C,)
        The certificate y, from which `bound_from_weights` computes `value`.
    """

    value: float
    load: Fraction
    method: str
    turn_set: str
    seconds: float
    weights: Int64Array


def bound_from_weights(graph: RoutingGraph, weights: ArrayLike) -> Fraction:
    """Return the lower bound of the maximum channel load that channel weights prove.

    Uses only the graph, the capacities and shortest-path searches from every endpoint, in integers
    and fractions.

    Parameters
    ----------
    graph : RoutingGraph
    weights : array of int, shape (C,)
        Not negative.

    Returns
    -------
    bound : Fraction
        0 if all weights are 0. Pairs without a legal route do not count.

    Raises
    ------
    InputError
        If `weights` is not one non-negative integer per channel.
    """
    array = np.asarray(weights)
    if array.shape != (graph.topology.num_channels,) or not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"bound: expected an integer weight for each of {graph.topology.num_channels} "
            f"channels, found {array.dtype} of shape {array.shape}"
        )
    if array.size and array.min() < 0:
        raise InputError(f"bound: channel {int(array.argmin())} has a negative weight")
    integers, endpoints = frozen_array(array, np.int64), graph.topology.endpoints
    return _bound_quotient(graph, integers, endpoints, sources_per_class=1)


def symmetric_bound_from_weights(
    graph: RoutingGraph, weights: Int64Array, symmetry: SourceSymmetry
) -> Fraction:
    """Return the bound that channel weights prove, by searches from one source of each class.

    Translations of the network map that source to the others of its class, so these need no search.
    The weights must be equal for all channels that translations map to each other.
    """
    return _bound_quotient(
        graph, weights, symmetry.representatives, sources_per_class=symmetry.order
    )


def _bound_quotient(
    graph: RoutingGraph, weights: Int64Array, sources: Any, *, sources_per_class: int
) -> Fraction:
    """Return the bound (sum of demand × least weight) / (sum of capacity × weight).

    It is 0 if all weights are 0.

    `sources` are switches, each of which stands for `sources_per_class` equivalent ones.
    """
    # 1. Capacity × weight, the sum of y / f. Weights of channels with one factor are added up
    #    first, as Python integers (`tolist`), which do not overflow.
    factors, factor_index = load_factors(graph.topology)
    by_factor = [sum(weights[factor_index == k].tolist()) for k in range(len(factors))]
    capacity_sum = sum((w / f for w, f in zip(by_factor, factors, strict=True)), Fraction(0))
    if not capacity_sum:
        return Fraction(0)
    # 2. Demand × least weight. `least` is the sum over all receivers for one terminal of a source.
    terminals = graph.topology.terminals_per_switch.astype(np.int64)
    least = least_weights(graph.arrays, sources, terminals, weights)
    senders = terminals[sources].tolist()
    demand_sum = sum(count * weight for count, weight in zip(senders, least.tolist(), strict=True))
    return Fraction(sources_per_class * demand_sum) / capacity_sum


def network_graph(topology: Topology) -> RoutingGraph:
    """Return the routing graph of the bare network, all of whose minimal routes are legal."""
    return RoutingGraph.of_walks(topology, ALL_MINIMAL)


def takes_shortest(
    graph: RoutingGraph,
    table_pairs: int,
    table_hops: float,
    shortest: RouteCounts | None = None,
) -> bool:
    """Return whether a table joins all pairs that it can, by shortest legal routes only.

    Bounds hold only for such tables: detours and missing pairs can lower the maximum load.

    Parameters
    ----------
    graph : RoutingGraph
        Every route of the table is legal in it; deterministic.
    table_pairs : int
        Ordered pairs of different terminals that the table joins.
    table_hops : float
        Total hops of their routes, weighted: the sum of all channel loads.
    shortest : RouteCounts, optional
        Result of `routelab.metrics.route_diversity` for the graph, if available.
    """
    terminals = graph.topology.terminals_per_switch.astype(np.int64)
    pairs_on_one_switch = int((terminals * (terminals - 1)).sum())  # their routes have 0 hops
    # None: no two terminals on different switches have a legal route
    shortest = shortest or route_diversity(graph)
    pairs, hops = (0, 0) if shortest is None else (shortest.pairs, shortest.total_hops)
    # No route is shorter than a shortest one, so equal sums of hops mean equal lengths. The sum of
    # the table is one of floats, because paths have weights.
    joins_all = table_pairs == pairs + pairs_on_one_switch
    return joins_all and isclose(table_hops, hops, rel_tol=1e-9)
