"""Lower bounds of routing graphs and networks, by whatever fits their size."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from time import perf_counter

import numpy as np

from routelab.api import RoutingGraph, Topology
from routelab.api.topology import Int64Array, frozen_array
from routelab.bounds.ascent import Ascent
from routelab.bounds.exact import least_whole_load
from routelab.bounds.flow import flow_weights, integer_weights
from routelab.bounds.load_bound import LoadBound, certified_by_class, network_graph
from routelab.metrics import least_attainable
from routelab.toolkit import SourceSymmetry, determinized, source_symmetry

LP_SHARE = 0.6
"""Part of the time that the linear program may take."""


def lower_bound_rules(
    graph: RoutingGraph, *, seconds: float = 60.0, exact: bool = False
) -> LoadBound:
    """Bound the maximum channel load of all tables of shortest legal routes.

    Loads are relative, and counted over ordered pairs of terminals. The weights come from a linear
    program (see `routelab.bounds.flow`), or from multiplicative weights where that has too many
    variables (see `routelab.bounds.ascent`); what is reported is what they prove, exactly.

    Parameters
    ----------
    graph : RoutingGraph
    seconds : float
        About the longest wall time. How much work is done depends on the graph alone, and so
        does the result, unless this limit strikes.
    exact : bool
        Look in what is left of the time for the least maximum load of tables with one path a
        pair, by a mixed-integer program, if there are few routes.

    Returns
    -------
    LoadBound
    """
    begin = perf_counter()
    graph = determinized(graph)
    bound = _bound(graph, seconds)
    if exact:
        bound = with_exact(graph, bound, seconds - (perf_counter() - begin))
    return replace(bound, seconds=perf_counter() - begin)


def lower_bound_topology(topology: Topology, *, seconds: float = 60.0) -> LoadBound:
    """Bound the maximum channel load of all tables of minimal routes, whatever the rules.

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


def with_exact(graph: RoutingGraph, bound: LoadBound, seconds: float) -> LoadBound:
    """A bound with its `load` raised by a mixed-integer program, if that proves more in time.

    Parameters
    ----------
    graph : RoutingGraph
        The one that `bound` was made for, deterministic.
    bound : LoadBound
    seconds : float
        Time limit of the solver.
    """
    begin = perf_counter()
    load = least_whole_load(graph, bound.load, seconds)
    spent = bound.seconds + perf_counter() - begin
    if load is None or load <= bound.load:
        return replace(bound, seconds=spent)
    return replace(bound, load=load, method="milp", seconds=spent)


def _bound(graph: RoutingGraph, seconds: float) -> LoadBound:
    begin = perf_counter()
    count = graph.topology.num_channels
    value, weights, method = Fraction(0), np.zeros(count, dtype=np.int64), "lp"
    if count:
        symmetry = source_symmetry(graph)
        dual = flow_weights(graph, symmetry, seconds)
        method = "dual" if dual is None else "lp"
        by_class = [Ascent(graph, symmetry).run(seconds)] if dual is None else integer_weights(dual)
        value, weights = _best(graph, symmetry, by_class, value, weights)
    return LoadBound(
        value=float(value),
        load=least_attainable(graph.topology, value),
        method=method,
        turn_set=graph.turn_set,
        seconds=perf_counter() - begin,
        weights=frozen_array(weights, np.int64),
    )


def _best(
    graph: RoutingGraph,
    symmetry: SourceSymmetry,
    candidates: list[Int64Array],
    value: Fraction,
    weights: Int64Array,
) -> tuple[Fraction, Int64Array]:
    """The weights that prove most; the first of equals."""
    for candidate in candidates:
        own = candidate[symmetry.channel_class]
        proven = certified_by_class(graph, own, symmetry)
        if proven > value:
            value, weights = proven, own // max(int(np.gcd.reduce(own)), 1)
    return value, weights
