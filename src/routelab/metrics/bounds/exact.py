"""Mixed-integer program for the least maximum load if every pair takes one of its routes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from routelab.api import RoutingGraph
from routelab.kernels.enumeration import enumerate_routes
from routelab.kernels.graph import count_routes, route_lengths
from routelab.metrics import channel_factors, least_attainable, terminal_pairs
from routelab.metrics.bounds.solver import LinearProgram, solve_program

MAX_HOPS = 200_000
"""Largest total number of hops of all routes that are listed."""

TOLERANCE = 1e-6
"""Relative distance from the optimum that the solver ignores."""


def least_whole_load(graph: RoutingGraph, at_least: Fraction, seconds: float) -> Fraction | None:
    """Find the least maximum relative load of tables with one shortest legal route per pair.

    Parameters
    ----------
    graph : RoutingGraph
        Deterministic.
    at_least : Fraction
        A lower bound, which helps the solver.
    seconds : float
        Time limit of the solver.

    Returns
    -------
    load : Fraction or None
        The least load of whole routes within the solver's tolerance. None if the graph has too
        many routes or the solver does not finish.
    """
    program = _route_program(graph, at_least)
    if program is None:
        return None
    solution = solve_program(program, seconds, mip_rel_gap=0.0, mip_abs_gap=0.0)
    if solution is None:
        return None
    objective, _ = solution
    less = min(TOLERANCE * max(objective, 1.0), 0.5)
    return least_attainable(graph.topology, max(Fraction(objective - less), Fraction(0)))


def _route_program(graph: RoutingGraph, at_least: Fraction) -> LinearProgram | None:
    """Build a program with one integer variable per route of pairs that have several.

    Variable 0 is the maximum load. On a network of one speed it is an integer, too.
    """
    # 1. All routes, and the hops of all routes, one after the other.
    topology = graph.topology
    ends = topology.endpoints
    counts, lengths = count_routes(graph.arrays, ends), route_lengths(graph.arrays, ends)
    if float((counts * np.maximum(lengths, 0)).sum()) > MAX_HOPS:
        return None
    pair_start, _, hops = enumerate_routes(graph.arrays, ends, counts, lengths)
    routes = np.diff(pair_start)
    pair = np.repeat(np.arange(len(routes)), routes)
    length = np.maximum(lengths.reshape(-1), 0)[pair]
    # 2. What each hop adds to the load of its channel. That is fixed if its pair has no choice.
    demand = terminal_pairs(topology).reshape(-1)
    hop_route = np.repeat(np.arange(len(pair)), length)
    amount = demand[pair[hop_route]]
    chosen = routes[pair] > 1
    open_hop = chosen[hop_route]
    fixed = np.bincount(hops[~open_hop], weights=amount[~open_hop], minlength=topology.num_channels)
    # 3. On each channel, the chosen and the fixed load together are at most the maximum.
    program = LinearProgram()
    factor = channel_factors(topology)
    whole = bool((factor == 1).all())
    program.variables(1, cost=1.0, lower=float(at_least), integer=whole)
    loads = program.rows(np.full(topology.num_channels, -np.inf), -fixed)
    program.entries(loads, np.zeros(len(loads), np.int64), -1.0 / factor)
    is_taken = program.variables(int(chosen.sum()), integer=True)
    number = np.cumsum(chosen) - 1
    program.entries(hops[open_hop], is_taken[number[hop_route[open_hop]]], amount[open_hop])
    # 4. Each pair with a choice takes one route.
    _, place = np.unique(pair[chosen], return_inverse=True)
    one_route = program.rows(np.ones(place.max(initial=-1) + 1), np.ones(place.max(initial=-1) + 1))
    program.entries(one_route[place], is_taken, 1.0)
    return program
