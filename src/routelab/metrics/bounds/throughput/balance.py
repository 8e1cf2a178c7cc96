"""Fractional routes and channel weights by balancing loads, for networks without symmetry.

Every pair has a few routes. The weight of a channel grows exponentially with its relative load.
Flow moves to lightest routes, which makes the sum of the exponentials smaller; then the exponent
becomes steeper, so that the sum approaches the greatest load. The loads are what these fractional
routes attain, and the weights prove a bound: at the minimum of a sum of m exponentials with
steepness ln(m) / e they differ by about the factor 1 + e. Potential functions of this kind are the
subject of Bienstock, *Potential Function Methods for Approximately Solving Linear Programming
Problems*, 2002. The Newton steps between routes of a pair are those of gradient projection:
Bertsekas, Gallager, *Data Networks*, 1992, section 5.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from time import thread_time

import numpy as np

from routelab.api.topology import Float64Array
from routelab.metrics.bounds.throughput.kernels.balance import (
    STEEPEST,
    Prices,
    Routes,
    balance_routes,
    feasible_flow,
)
from routelab.metrics.bounds.throughput.kernels.trees import lightest_costs
from routelab.metrics.bounds.throughput.problem import FlowProblem

RATE = 20_000_000
"""Visits of channels that a search may make per second of its time limit. A fast core makes 45
million, so on most machines the work ends a search and not the clock."""

OVERHEAD = 15_000
"""Visits that take as long as the rest of a pass, on networks of any size."""

FEWEST_PASSES = 10
"""Passes of the largest networks."""

GOAL_GAP = 5e-4
"""Relative gap at which a search stops."""

FIRST_CHECK, PROGRESS = 150, 0.9
"""A search also stops if four times as many passes do not make the gap smaller than `PROGRESS`
times what it was. The gap is compared after `FIRST_CHECK` passes, after twice as many, and so on.
It usually falls like 1 / sqrt(passes), so to about half."""

GREATEST_SMOOTHING, LEAST_SMOOTHING, FINER, COARSER = 2.0, 0.002, 0.9, 1.1
"""Limits of the smoothing, the e of the steepness ln(m) / e, and factors by which it changes."""

NEAR, FAR = 0.4, 1.6
"""Gaps, in units of the smoothing, below which the exponent becomes steeper and above which it
becomes less steep."""

SETTLED = 0.01
"""Relative change of the gap below which the exponent becomes steeper, too, unless it is far."""

FEWEST_SLOTS, MOST_SLOTS, MOST_HOPS = 4, 24, 20_000_000
"""Least and largest number of routes that a pair has room for; hops that all routes together should
have room for at most."""

DETOUR = 6
"""Hops of the longest routes beyond twice the largest distance of a pair."""

NEWEST_SHARE = 0.2
"""Share of the newest weights in their running mean."""


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """Result of a search for the sustained load, or for the accepted traffic.

    The largest value that fractional routes can attain is between `attained` and `bound`.

    Attributes
    ----------
    attained : float
        What the routes found attain. In a search for the sustained load (`balance_sustained`) it is
        a load; in one for the accepted traffic (`balance_accepted`), flits per cycle that arrive.
    bound : float
        Upper bound of the same quantity, which `weights` prove up to rounding errors.
    weights : float64 array, shape (C,)
        Weight of each channel.
    """

    attained: float
    bound: float
    weights: Float64Array


Evaluate = Callable[[Float64Array], tuple[float, Float64Array]]
"""Function that returns the bound which weights prove, and the multiple of them that proves it."""


def sustained_bound(problem: FlowProblem, weights: Float64Array) -> tuple[float, Float64Array]:
    """Return the bound of the sustained load that weights prove, and the weights unchanged."""
    cost = lightest_costs(problem.network, weights)
    demand_sum = float((problem.demand * np.maximum(cost, 0)).sum())  # −1 without a route
    capacity_sum = float(problem.capacity @ weights)
    return (capacity_sum / demand_sum if demand_sum > 0 else np.inf), weights


def accepted_bound(problem: FlowProblem, weights: Float64Array) -> tuple[float, Float64Array]:
    """Return the bound of the accepted traffic by the best multiple of weights, and that multiple.

    The bound by the multiple a of the weights is ::

        a × sum of capacity × weight + sum over pairs of demand × max(0, 1 − a × cost)

    with the cost of a pair's lightest route. It is convex and piecewise linear in a, with a corner
    where a × cost of a pair becomes 1: from there on the pair adds nothing.
    """
    cost = lightest_costs(problem.network, weights)[problem.pairs]
    demand = problem.demand[problem.pairs]
    capacity_sum = float(problem.capacity @ weights)
    # 1. The slope of the bound: capacity_sum − sum of demand × cost over the pairs that still add
    #    something. As a grows, the heaviest pairs drop out first: with k of them gone, the sum is
    #    remaining_sum[k].
    heaviest_first = np.argsort(-cost)
    running_sum = np.cumsum((demand * cost)[heaviest_first])
    demand_sum = running_sum[-1] if len(running_sum) else 0.0
    remaining_sum = demand_sum - np.concatenate([[0.0], running_sum[:-1]])
    # 2. The minimum is the corner from which on the slope is not negative: the least k with
    #    remaining_sum[k] <= capacity_sum. Negative, because searchsorted needs an ascending array.
    num_gone = int(np.searchsorted(-remaining_sum, -capacity_sum, side="left"))
    if demand_sum <= capacity_sum or num_gone == 0:  # never negative: the minimum is at a = 0
        return problem.routed, np.zeros_like(weights)
    factor = 1 / cost[heaviest_first[num_gone - 1]]  # the corner of the pair that dropped out last
    # 3. The bound there. A weight of 1 is enough for a channel: the pairs that cross it add nothing
    #    from there on.
    scaled = np.minimum(weights * factor, 1.0)
    remaining = float(demand @ np.maximum(1 - cost * factor, 0))
    return capacity_sum * factor + remaining, scaled


def balance_sustained(
    problem: FlowProblem, seconds: float, work: float, enough: float = np.inf
) -> SearchOutcome:
    """Search for the largest load that all pairs sustain together.

    Parameters
    ----------
    problem : FlowProblem
        At least one pair of nodes has a demand.
    seconds : float
        Limit of the CPU time, for safety.
    work : float
        Largest number of visits of channels, counted over all passes.
    enough : float
        Load beyond which the bound does not matter: the search stops at the next check of the gap
        if it is attained.
    """

    def evaluate(weights: Float64Array) -> tuple[float, Float64Array]:
        return sustained_bound(problem, weights)

    def measure(routes: Routes) -> tuple[float, float]:
        # Flows are those of load 1. At 1 / greatest relative load, the busiest channel is full.
        _, greatest_load = feasible_flow(routes, problem.capacity)
        return 1 / greatest_load, greatest_load

    start = evaluate(1 / problem.capacity)
    bound, _ = start
    return _search(
        problem,
        start=start,
        evaluate=evaluate,
        measure=measure,
        level=1 / bound,  # at load 1, no routing has a smaller greatest relative load
        rejected=np.inf,  # all traffic has to be sent
        seconds=seconds,
        work=work,
        enough=enough,
    )


def balance_accepted(
    problem: FlowProblem, weights: Float64Array, seconds: float, work: float
) -> SearchOutcome:
    """Search for the largest traffic that arrives if pairs may be served in part.

    Parameters
    ----------
    problem : FlowProblem
        With the demand of an offered load, and the terminals that limit it.
    weights : float64 array, shape (C,)
        Weights to start from, if no simpler ones prove a smaller bound.
    seconds, work
        As in `balance_sustained`.

    Returns
    -------
    SearchOutcome
        In flits per cycle, without traffic between terminals of one switch. Weights are at most 1.
    """

    def evaluate(weights: Float64Array) -> tuple[float, Float64Array]:
        return accepted_bound(problem, weights)

    def measure(routes: Routes) -> tuple[float, float]:
        accepted, _ = feasible_flow(routes, problem.capacity)
        return accepted, 1.0  # the relative load of a full channel

    # The best of three starts. With weights of 0, the bound is all demand.
    by_capacity = evaluate(1 / problem.capacity)
    zero_weights = problem.routed, np.zeros_like(problem.capacity)
    starts = (by_capacity, zero_weights, evaluate(weights))
    return _search(
        problem,
        start=min(starts, key=lambda bound_and_weights: bound_and_weights[0]),
        evaluate=evaluate,
        measure=measure,
        level=1.0,  # channels become full
        rejected=1.0,  # rejecting a flit costs as much as a route of weight 1
        seconds=seconds,
        work=work,
    )


def _search(
    problem: FlowProblem,
    *,
    start: tuple[float, Float64Array],
    evaluate: Evaluate,
    measure: Callable[[Routes], tuple[float, float]],
    level: float,
    rejected: float,
    seconds: float,
    work: float,
    enough: float = np.inf,
) -> SearchOutcome:
    """Balance loads until a limit of the work or of the gap is reached.

    The gap is bound / attained − 1, and a pass is one call of `balance_routes`.

    Parameters
    ----------
    problem : FlowProblem
    start : (float, float64 array)
        A bound, and the weights that prove it.
    evaluate : function of weights
        Returns the bound that they prove, and the multiple of them that proves it.
    measure : function of Routes
        Returns what the routes attain, and the next level: their greatest relative load, or 1 if
        the capacities limit them.
    level : float
        A first guess of the greatest relative load.
    rejected : float
        Weight of rejected traffic; infinite if all traffic has to be sent.
    seconds, work, enough
        See `balance_sustained`.
    """
    end = np.inf
    bound, best_weights = start
    best_attained, smoothing = 0.0, GREATEST_SMOOTHING
    routes, load = _empty_routes(problem), np.zeros(len(problem.capacity) + 1)
    inverse = 1 / problem.capacity
    num_nodes, num_channels = len(problem.demand), len(inverse)
    # a pass looks for the lightest routes and weighs those in use
    visits_of_a_pass = OVERHEAD + num_nodes * num_channels + 15 * len(routes.target)
    visits = 0
    # at first, a mean route of fewest hops weighs 1
    hops = lightest_costs(problem.network, np.ones(num_channels))
    scale = problem.routed / float((problem.demand * np.maximum(hops, 0)).sum())
    mean_weights, gap_before = np.zeros(num_channels), np.inf
    # two infinite gaps, so that the first two checks have an earlier gap to compare with
    next_check, gaps = FIRST_CHECK, [np.inf, np.inf]
    for passes in count():  # the number of passes so far
        # 1. A pass, as long as work is left.
        if passes == 1:  # the first pass may compile kernels
            end = thread_time() + seconds
        if thread_time() > end or (passes >= FEWEST_PASSES and visits >= work):
            break
        sharpness = np.log(num_channels + 1) / (smoothing * level)
        prices = Prices(
            inverse=inverse, sharpness=sharpness, level=level, scale=scale, rejected=rejected
        )
        balance_routes(problem.network, routes, prices, load)  # changes routes and load
        visits += visits_of_a_pass + int(routes.length[routes.flow > 0].sum())
        # 2. What its routes attain, and what the weights of their loads prove. The running mean of
        #    the weights is tried in every third pass only: a bound takes a search from every node,
        #    like a pass.
        latest_attained, level = measure(routes)
        best_attained = max(best_attained, latest_attained)
        height = np.clip(sharpness * (load[:-1] * inverse - level), -STEEPEST, STEEPEST)
        weights = np.exp(height) * inverse * scale
        # a new array: the best weights may be an earlier mean
        mean_weights = mean_weights + NEWEST_SHARE * (weights / weights.max() - mean_weights)
        latest_bound, latest_weights = evaluate(weights)
        candidates = [(latest_bound, latest_weights)]
        if passes % 3 == 2:
            candidates.append(evaluate(mean_weights))
        for candidate_bound, candidate_weights in candidates:
            if candidate_bound < bound:
                bound, best_weights = candidate_bound, candidate_weights
        # 3. Stop at the goal, and where passes no longer help.
        if bound <= best_attained * (1 + GOAL_GAP):
            break
        if passes + 1 == next_check:
            gaps.append(bound / best_attained - 1 if best_attained > 0 else np.inf)
            # two checks ago, after a quarter of the passes; infinite at the first two checks
            earlier_gap = gaps[-3]
            if best_attained >= enough or gaps[-1] > PROGRESS * earlier_gap:
                break
            next_check *= 2
        # 4. Near the minimum of the sum, the gap of the latest pass is about the smoothing. Only
        #    then, a steeper exponent (less smoothing) helps; a much larger gap says that it became
        #    steep too early.
        gap = latest_bound / latest_attained - 1 if latest_attained > 0 else np.inf
        is_settled = abs(gap - gap_before) < SETTLED * gap
        gap_before = gap
        if gap > FAR * smoothing:
            smoothing = min(smoothing * COARSER, GREATEST_SMOOTHING)
        elif gap < NEAR * smoothing or is_settled:
            smoothing = max(smoothing * FINER, LEAST_SMOOTHING)
    # rounding may put what is attained above the bound
    return SearchOutcome(attained=min(best_attained, bound), bound=bound, weights=best_weights)


def _empty_routes(problem: FlowProblem) -> Routes:
    """Return empty slots for the routes of all pairs.

    On large networks each pair has fewer slots, and those may be for shorter routes.
    """
    source, target = problem.pairs
    num_pairs, num_nodes = len(source), len(problem.demand)
    # if every channel weighs 1, the weight of a lightest route is its number of hops
    distance = lightest_costs(problem.network, np.ones(len(problem.capacity), dtype=np.int64))
    greatest_distance = int(distance[problem.pairs].max(initial=1))
    # Keep num_pairs × slots × max_hops at MOST_HOPS or less, if possible: on large networks a pair
    # first gets fewer slots; then shorter ones, but every shortest route must fit.
    wanted_hops = min(2 * greatest_distance + DETOUR, num_nodes)
    slots = int(np.clip(MOST_HOPS // (num_pairs * wanted_hops), FEWEST_SLOTS, MOST_SLOTS))
    max_hops = int(np.clip(MOST_HOPS // (num_pairs * slots), greatest_distance, wanted_hops))
    return Routes(
        # `source` ascends: the pairs of node s begin at the first entry that is s or more
        start=np.searchsorted(source, np.arange(num_nodes + 1)).astype(np.int64),
        target=target.astype(np.int32),
        demand=problem.demand[problem.pairs],
        hops=np.zeros((num_pairs, slots, max_hops), dtype=np.int32),
        length=np.zeros((num_pairs, slots), dtype=np.int32),
        flow=np.zeros((num_pairs, slots)),
    )
