"""The mixed-integer program of the least maximum channel load, and its solution by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from routelab.api.topology import BoolArray, Float64Array, Int64Array
from routelab.metrics import channel_factors, least_attainable, load_factors
from routelab.toolkit import ListedRoutes

TOLERANCE = 1e-6
"""Distance from its bound that the solver ignores."""


@dataclass(frozen=True)
class Solution:
    """Result of the solver.

    Attributes
    ----------
    chosen : int64 array
        Numbers of the chosen routes, one for each reachable pair, ascending.
    optimal : bool
        Whether the solver reports that no choice has a smaller maximum load.
    bound : Fraction
        Maximum load below which, according to the solver, no choice is possible.
    nodes : int
        Nodes of the search tree.
    """

    chosen: Int64Array
    optimal: bool
    bound: Fraction
    nodes: int


def minimise(
    routes: ListedRoutes, first_choice: Int64Array, gap: float, max_nodes: int, seconds: float
) -> Solution:
    """Choose one route per pair, so that the maximum relative load is least.

    The variables (columns of the program) are a choice, 0 or 1, for each route of the pairs that
    have several, and the maximum load. If all channels have the same speed, that load is an
    integer, because all demand is. The constraints (rows) give each such pair one route, and bound
    the load of every channel.

    Parameters
    ----------
    first_choice : int64 array
        Numbers of routes, one for each reachable pair, ascending; the search begins with this
        choice.
    gap : float
        Relative distance of the maximum load from the bound at which the search may end.
    max_nodes : int
        Limit on nodes of the search tree.
    seconds : float
        Time limit.
    """
    import highspy  # late, as importing takes time and most runs need no solver

    highs: Any = highspy

    pair = routes.route_pair
    has_choice = np.diff(routes.route_start)[pair] > 1
    route_of_column = np.flatnonzero(has_choice)
    # pairs with a single route cause this maximum under every choice
    fixed_max_load = max_load(routes, ~has_choice)
    if not len(route_of_column):
        return Solution(chosen=first_choice, optimal=True, bound=fixed_max_load, nodes=0)
    integer_loads = bool((channel_factors(routes.topology) == 1).all())
    solver = highs.Highs()
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "random_seed": 0,
        "time_limit": seconds,
        # three times as fast as the simplex method: these relaxations are degenerate
        "mip_lp_solver": "ipm",
        "mip_max_nodes": max_nodes,
        "mip_rel_gap": gap,
        # where loads are integers, a maximum less than 1 above the bound is optimal
        "mip_abs_gap": 0.999 if integer_loads else TOLERANCE,
    }.items():
        solver.setOptionValue(option, value)
    lp = _build_program(
        highs,
        routes,
        route_of_column=route_of_column,
        fixed_loads=_channel_loads(routes, ~has_choice),
        min_max_load=float(fixed_max_load),
        integer_loads=integer_loads,
    )
    solver.passModel(lp)
    # a mask over all routes
    is_chosen = np.isin(np.arange(routes.num_routes), first_choice)
    # The values of all columns for the first choice: 0 or 1 for each route, and the maximum load at
    # the end.
    first_solution = highs.HighsSolution()
    first_solution.col_value = [
        *is_chosen[route_of_column].astype(float),
        float(max_load(routes, is_chosen)),
    ]
    solver.setSolution(first_solution)
    solver.run()

    info = solver.getInfo()
    values = np.array(solver.getSolution().col_value)
    # Without a solution, the first choice remains. The solver's 0 and 1 have rounding errors.
    if info.primal_solution_status == highs.SolutionStatus.kSolutionStatusFeasible:
        is_chosen[route_of_column] = values[:-1] > 0.5
    # The solver's bound is minus infinity if time ran out before there was one. A maximum load is a
    # load that whole routes can cause, so the bound is rounded up to the next such load. But it has
    # rounding errors: without TOLERANCE, 4.0000001 would become 5.
    proven = Fraction(max(info.mip_dual_bound - TOLERANCE, 0.0))
    bound = max(least_attainable(routes.topology, proven), fixed_max_load)
    return Solution(
        chosen=np.flatnonzero(is_chosen),
        optimal=max_load(routes, is_chosen) <= bound,
        bound=bound,
        nodes=int(info.mip_node_count),
    )


def max_load(routes: ListedRoutes, choice: BoolArray) -> Fraction:
    """Return the relative load of the busiest channel under the routes of `choice`, exactly.

    0 for a network without channels. `choice` is a mask over all routes.
    """
    # Relative loads are load * factor, where all channels of one speed have the same factor. The
    # largest whole load of each speed gives an exact fraction.
    factors, factor_index = load_factors(routes.topology)
    loads = _channel_loads(routes, choice)
    largest_loads = (
        int(loads[factor_index == k].max()) * factor for k, factor in enumerate(factors)
    )
    return max(largest_loads, default=Fraction(0))


def _channel_loads(routes: ListedRoutes, choice: BoolArray) -> Float64Array:
    """Return the load of each channel under the routes of the mask `choice`; float64, (C,)."""
    length = np.diff(routes.hop_start)
    weight = np.where(choice, routes.pair_demand[routes.route_pair], 0)
    loads = np.bincount(
        routes.hops, np.repeat(weight, length), minlength=routes.topology.num_channels
    )
    return loads.astype(np.float64)


def _build_program(
    highs: Any,
    routes: ListedRoutes,
    route_of_column: Int64Array,
    fixed_loads: Float64Array,
    min_max_load: float,
    integer_loads: bool,
) -> Any:
    """Return the integer program: one route for each pair, least maximum relative load.

    Parameters
    ----------
    route_of_column : int64 array
        Number of the route that each column chooses.
    fixed_loads : float64 array, shape (C,)
        Loads by pairs with one route.
    min_max_load : float
        Lower bound of the maximum relative load.
    integer_loads : bool
        Whether the maximum load is an integer.
    """
    num_channels, num_columns = routes.topology.num_channels, len(route_of_column)
    pair = routes.route_pair[route_of_column]
    pairs, pair_row = np.unique(pair, return_inverse=True)
    # 1. The matrix, column by column: entries start[k] to start[k + 1] - 1 have the rows `index`
    #    and the values `value`. The first entry of a route is a 1 in the row of its pair. The
    #    others are the demand of the pair in the row of each of its channels; these rows follow the
    #    pairs.
    length = np.diff(routes.hop_start)[route_of_column]
    start = np.concatenate(([0], np.cumsum(length + 1)))
    index = np.empty(start[-1], dtype=np.int64)
    value = np.ones(start[-1])
    index[start[:-1]] = pair_row
    # the hops of all columns, each with its column and its number in the route, from 0
    column_of_hop = np.repeat(np.arange(num_columns), length)
    hop = np.arange(len(column_of_hop)) - np.repeat(np.cumsum(length) - length, length)
    entry = start[column_of_hop] + 1 + hop
    first_hop = routes.hop_start[route_of_column]
    index[entry] = len(pairs) + routes.hops[first_hop[column_of_hop] + hop]
    value[entry] = routes.pair_demand[pair][column_of_hop]

    # 2. Rows: each pair has one route; load by columns − maximum load · capacity ≤ −fixed load. The
    #    capacity is a share of the greatest one (1 / factor). The last column is the maximum
    #    relative load. It alone has a cost.
    lp = highs.HighsLp()
    lp.num_col_ = num_columns + 1
    lp.num_row_ = len(pairs) + num_channels
    lp.col_cost_ = np.concatenate((np.zeros(num_columns), [1.0]))
    lp.col_lower_ = np.concatenate((np.zeros(num_columns), [min_max_load]))
    lp.col_upper_ = np.concatenate((np.ones(num_columns), [highs.kHighsInf]))
    lp.row_lower_ = np.concatenate((np.ones(len(pairs)), np.full(num_channels, -highs.kHighsInf)))
    lp.row_upper_ = np.concatenate((np.ones(len(pairs)), -fixed_loads))
    load_type = highs.HighsVarType.kInteger if integer_loads else highs.HighsVarType.kContinuous
    lp.integrality_ = [highs.HighsVarType.kInteger] * num_columns + [load_type]
    lp.a_matrix_.format_ = highs.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.concatenate((start, [start[-1] + num_channels]))
    lp.a_matrix_.index_ = np.concatenate((index, len(pairs) + np.arange(num_channels)))
    lp.a_matrix_.value_ = np.concatenate((value, -1.0 / channel_factors(routes.topology)))
    return lp
