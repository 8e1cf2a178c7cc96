"""Lower bounds of routing graphs and networks, with a method that fits their size."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from time import perf_counter

import numpy as np

from routelab.api import RoutingGraph, Topology
from routelab.api.topology import frozen_array
from routelab.metrics import least_attainable
from routelab.metrics.bounds.ascent import Ascent
from routelab.metrics.bounds.exact import least_whole_load
from routelab.metrics.bounds.flow import flow_weights, integer_weights
from routelab.metrics.bounds.load_bound import (
    LoadBound,
    network_graph,
    symmetric_bound_from_weights,
)
from routelab.toolkit import determinized, source_symmetry


def lower_bound_rules(
    graph: RoutingGraph, *, seconds: float = 60.0, exact: bool = False
) -> LoadBound:
    """Bound the maximum channel load of all tables of shortest legal routes.

    Loads are relative, and counted over ordered pairs of terminals. The weights come from a linear
    program (see `metrics.bounds.flow`), or from multiplicative weights if the program is too
    large (see `metrics.bounds.ascent`); the result is exactly the bound that they prove.

    Parameters
    ----------
    graph : RoutingGraph
    seconds : float
        Approximate limit of the wall time. The work and the result depend only on the graph,
        unless this limit is reached.
    exact : bool
        Use the rest of the time to find the least maximum load of tables with one path per pair,
        by a mixed-integer program, if the graph has few routes.

    Returns
    -------
    LoadBound
    """
    begin = perf_counter()
    graph = determinized(graph)
    bound = _bound_by_weights(graph, seconds)
    if exact:
        bound = tighten_bound(graph, bound, seconds - (perf_counter() - begin))
    return replace(bound, seconds=perf_counter() - begin)


def lower_bound_topology(topology: Topology, *, seconds: float = 60.0) -> LoadBound:
    """Bound the maximum channel load of all tables of minimal routes, for any rules.

    Parameters
    ----------
    topology : Topology
    seconds : float
        As in `lower_bound_rules`.

    Returns
    -------
    LoadBound
        Its turn set is `ALL_MINIMAL`.
    """
    return lower_bound_rules(network_graph(topology), seconds=seconds)


def tighten_bound(graph: RoutingGraph, bound: LoadBound, seconds: float) -> LoadBound:
    """Raise the `load` of a bound by a mixed-integer program, if this succeeds in time.

    Parameters
    ----------
    graph : RoutingGraph
        The graph of `bound`, deterministic.
    bound : LoadBound
    seconds : float
        Time limit of the solver.
    """
    begin = perf_counter()
    load = least_whole_load(graph, bound.load, seconds)
    total_seconds = bound.seconds + perf_counter() - begin
    if load is None or load <= bound.load:
        return replace(bound, seconds=total_seconds)
    return replace(bound, load=load, method="milp", seconds=total_seconds)


def _bound_by_weights(graph: RoutingGraph, seconds: float) -> LoadBound:
    """Return the best lower bound of the maximum load that channel weights prove.

    The weights come from a linear program (method ``lp``); if that is too large or takes too long,
    from an ascent (method ``dual``).
    """
    begin = perf_counter()
    num_channels = graph.topology.num_channels
    value, method = Fraction(0), "lp"
    weights = np.zeros(num_channels, dtype=np.int64)
    if num_channels:
        # 1. Weights of the channel classes, rounded to integers in one way or several.
        symmetry = source_symmetry(graph)
        dual_values = flow_weights(graph, symmetry, seconds)
        if dual_values is None:
            method, candidates = "dual", [Ascent(graph, symmetry).run(seconds)]
        else:
            candidates = integer_weights(dual_values)
        # 2. The candidate that proves the largest bound. Divided by their greatest common divisor,
        #    the weights prove the same.
        for class_weights in candidates:
            channel_weights = class_weights[symmetry.channel_class]
            proven = symmetric_bound_from_weights(graph, channel_weights, symmetry)
            if proven > value:
                divisor = max(int(np.gcd.reduce(channel_weights)), 1)
                value, weights = proven, channel_weights // divisor
    return LoadBound(
        value=float(value),
        load=least_attainable(graph.topology, value),
        method=method,
        turn_set=graph.turn_set,
        seconds=perf_counter() - begin,
        weights=frozen_array(weights, np.int64),
    )
