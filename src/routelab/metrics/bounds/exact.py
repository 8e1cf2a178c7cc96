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
    # The true optimum may be smaller than the solver's by the tolerance. Whole routes cause only
    # some loads (integers, if all channels have one speed), so round up to the next of these. At
    # most 0.5 is subtracted, so an optimum of 7 stays 7: 6.5 and more is rounded up to 7.
    tolerance = min(TOLERANCE * max(objective, 1.0), 0.5)
    return least_attainable(graph.topology, max(Fraction(objective - tolerance), Fraction(0)))


def _route_program(graph: RoutingGraph, at_least: Fraction) -> LinearProgram | None:
    """Build the program that `least_whole_load` solves; None for more than `MAX_HOPS` hops.

    Variable 0 is the maximum load. The others say for each route whether its pair takes it, 0 or 1.
    Pairs with a single route need no variables.
    """
    # 1. All routes, pair after pair, and the hops of all routes, route after route. A pair without
    #    a route has the length −1.
    topology = graph.topology
    endpoints = topology.endpoints
    counts, lengths = count_routes(graph.arrays, endpoints), route_lengths(graph.arrays, endpoints)
    if float((counts * np.maximum(lengths, 0)).sum()) > MAX_HOPS:
        return None
    pair_start, _, hop_channel = enumerate_routes(graph.arrays, endpoints, counts, lengths)
    routes_of_pair = np.diff(pair_start)
    route_pair = np.repeat(np.arange(len(routes_of_pair)), routes_of_pair)
    route_length = np.maximum(lengths.reshape(-1), 0)[route_pair]
    # 2. What each hop adds to the load of its channel. That is fixed if its pair has one route.
    demand = terminal_pairs(topology).reshape(-1)
    hop_route = np.repeat(np.arange(len(route_pair)), route_length)
    hop_load = demand[route_pair[hop_route]]
    route_has_choice = routes_of_pair[route_pair] > 1
    hop_has_choice = route_has_choice[hop_route]
    fixed_load = np.bincount(
        hop_channel[~hop_has_choice],
        weights=hop_load[~hop_has_choice],
        minlength=topology.num_channels,
    )
    # 3. On each channel: load of the routes taken − maximum load / factor <= −fixed load. If all
    #    channels have one speed, the maximum load is an integer, too.
    program = LinearProgram()
    factor = channel_factors(topology)
    has_one_speed = bool((factor == 1).all())
    program.add_variables(1, cost=1.0, lower=float(at_least), integer=has_one_speed)
    channel_rows = program.add_rows(np.full(topology.num_channels, -np.inf), -fixed_load)
    max_load_variable = np.zeros(len(channel_rows), np.int64)
    program.add_entries(channel_rows, max_load_variable, -1.0 / factor)
    taken_variable = program.add_variables(int(route_has_choice.sum()), integer=True)
    # index of each route in `taken_variable`; only valid for routes that have a variable
    variable_index = np.cumsum(route_has_choice) - 1
    hop_variable = taken_variable[variable_index[hop_route[hop_has_choice]]]
    # channels have the first rows, so the number of a channel is its row
    program.add_entries(hop_channel[hop_has_choice], hop_variable, hop_load[hop_has_choice])
    # 4. Each pair with a choice takes exactly one route: its variables add up to 1.
    choosing_pairs, pair_index = np.unique(route_pair[route_has_choice], return_inverse=True)
    ones = np.ones(len(choosing_pairs))
    one_route_rows = program.add_rows(ones, ones)
    program.add_entries(one_route_rows[pair_index], taken_variable, 1.0)
    return program
