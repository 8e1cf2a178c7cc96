"""What a lower bound of the maximum channel load is, and how it is checked.

Loads are relative (see `routelab.metrics.capacity`): routes that cross a channel times its factor
f = greatest capacity / capacity. For any non-negative weights y of the channels the loads of a
route table fulfil ::

    max load >= sum of y × routes / sum of (y / f)
             >= sum over pairs of demand × (least y-weight of an allowed route) / sum of (y / f)

as a channel has at most (max load) / f routes, and the y-weight of a pair's routes is not less
than the least one. The routes that are allowed here are the *shortest legal* ones. The second
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
from routelab.bounds.kernels import least_weights
from routelab.metrics import RouteDiversity, load_factors, route_diversity
from routelab.toolkit import SourceSymmetry

ALL_MINIMAL = "all minimal routes"
"""Turn set of a bound that no rules limit."""


@dataclass(frozen=True, eq=False)
class LoadBound:
    """A lower bound of the maximum channel load of tables with shortest legal routes.

    Attributes
    ----------
    value : float
        The proven quotient: no table has a smaller maximum load, in how many parts it may split
        a pair's packets.
    load : Fraction
        No table with one path a pair has a smaller maximum load: the least relative load of
        whole routes that is not below the quotient (on a network of one speed the least integer);
        with method ``milp`` what the solver found to be the least.
    method : {"lp", "dual", "milp"}
        Where the weights come from: a linear program, or multiplicative weights where that is
        too large. ``milp``: a mixed-integer program raised `load` above the quotient, which is
        the solver's word and no certificate.
    turn_set : str
        Set of turns that the allowed routes may take.
    seconds : float
        Wall time of finding it.
    weights : int64 array, shape (C,)
        The certificate y: `certified` makes `value` of it.
    """

    value: float
    load: Fraction
    method: str
    turn_set: str
    seconds: float
    weights: Int64Array


def certified(graph: RoutingGraph, weights: ArrayLike) -> Fraction:
    """The lower bound of the maximum channel load that some weights of the channels prove.

    Uses nothing but the graph, the capacities and shortest-path searches from every endpoint, in
    integers and fractions.

    Parameters
    ----------
    graph : RoutingGraph
    weights : array of int, shape (C,)
        Not negative.

    Returns
    -------
    bound : Fraction
        0 if all weights are 0. Pairs without a legal route count nothing.

    Raises
    ------
    InputError
        If there are other weights than one integer a channel, or a negative one.
    """
    given = np.asarray(weights)
    if given.shape != (graph.topology.num_channels,) or not np.issubdtype(given.dtype, np.integer):
        raise InputError(
            f"bound: expected an integer weight for each of {graph.topology.num_channels} "
            f"channels, found {given.dtype} of shape {given.shape}"
        )
    if given.size and given.min() < 0:
        raise InputError(f"bound: channel {int(given.argmin())} has a negative weight")
    return _quotient(graph, frozen_array(given, np.int64), graph.topology.endpoints, 1)


def certified_by_class(
    graph: RoutingGraph, weights: Int64Array, symmetry: SourceSymmetry
) -> Fraction:
    """The same as `certified` for weights that translations keep, from one source a class."""
    return _quotient(graph, weights, symmetry.representatives, symmetry.order)


def _quotient(graph: RoutingGraph, weights: Int64Array, sources: Any, times: int) -> Fraction:
    factors, speed = load_factors(graph.topology)
    by_speed = [sum(weights[speed == k].tolist()) for k in range(len(factors))]
    total = sum((w / f for w, f in zip(by_speed, factors, strict=True)), Fraction(0))
    if not total:
        return Fraction(0)
    terminals = graph.topology.terminals_per_switch.astype(np.int64)
    least = least_weights(graph.arrays, sources, terminals, weights)
    demand = terminals[sources].tolist()
    covered = sum(of * weight for of, weight in zip(demand, least.tolist(), strict=True))
    return Fraction(times * covered) / total


def network_graph(topology: Topology) -> RoutingGraph:
    """The routing graph of the bare network, all of whose minimal routes are legal."""
    return RoutingGraph.of_walks(topology, ALL_MINIMAL)


def takes_shortest(
    graph: RoutingGraph,
    table_pairs: int,
    table_hops: float,
    routes: RouteDiversity | None = None,
) -> bool:
    """Whether a table joins all pairs that it may, by shortest legal routes only.

    Bounds hold for such tables alone: detours, and pairs left out, can get below them.

    Parameters
    ----------
    graph : RoutingGraph
        Every route of the table is legal in it; deterministic.
    table_pairs : int
        Ordered pairs of different terminals that the table joins.
    table_hops : float
        Hops of their routes together, by the weight of each: the sum of all channel loads.
    routes : RouteDiversity, optional
        What `routelab.metrics.route_diversity` tells of the graph, if it has been asked.
    """
    terminals = graph.topology.terminals_per_switch.astype(np.int64)
    same_switch = int((terminals * (terminals - 1)).sum())
    routes = routes or route_diversity(graph)
    pairs, hops = (0, 0) if routes is None else (routes.pairs, routes.total_hops)
    # no route is shorter than a shortest one, so equal sums are equal term by term
    return table_pairs == pairs + same_switch and isclose(table_hops, hops, rel_tol=1e-9)
