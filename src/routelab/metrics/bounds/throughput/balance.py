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
    flow_within,
)
from routelab.metrics.bounds.throughput.kernels.trees import lightest_costs
from routelab.metrics.bounds.throughput.problem import FlowProblem

RATE = 20_000_000
"""Visits of channels that a search may make per second of its time limit. A fast core makes 45
million, so on most machines the work ends a search and not the clock."""

OVERHEAD = 15_000
"""Visits that take as long as the rest of a pass, on networks of any size."""

FEWEST = 10
"""Passes of the largest networks."""

GOAL = 5e-4
"""Relative gap at which a search stops."""

FIRST, SMALLER = 150, 0.9
"""A search also stops if four times as many passes do not make the gap smaller than `SMALLER` times
what it was. It is compared after `FIRST` passes, after twice as many, and so on, and usually
falls like 1 / sqrt(passes)."""

BLUNT, SHARP, FINER, COARSER = 2.0, 0.002, 0.9, 1.1
NEAR, FAR = 0.4, 1.6
"""Gaps, in units of the smoothing, below which the exponent becomes steeper and above which it
becomes less steep."""

SETTLED = 0.01
"""Relative change of the gap below which the exponent becomes steeper, too, unless it is far."""

PLACES, MOST_HOPS = 24, 20_000_000
"""Largest number of routes of a pair, and of all hops."""

DETOUR = 6
"""Hops of the longest routes beyond twice the largest distance of a pair."""

MEAN = 0.2
"""Weight of the newest weights in their mean."""


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """Result of a search.

    Attributes
    ----------
    attained : float
        What fractional routes attain: a load, or flits per cycle.
    bound : float
        What `weights` prove, but for rounding.
    weights : float64 array, shape (C,)
    """

    attained: float
    bound: float
    weights: Float64Array


Evaluate = Callable[[Float64Array], tuple[float, Float64Array]]


def quotient(problem: FlowProblem, weights: Float64Array) -> tuple[float, Float64Array]:
    """Return the load that weights bound, and the weights."""
    cost = lightest_costs(problem.network, weights)
    weighed = float((problem.demand * np.maximum(cost, 0)).sum())
    carried = float(problem.capacity @ weights)
    return (carried / weighed if weighed > 0 else np.inf), weights


def smallest_line(problem: FlowProblem, weights: Float64Array) -> tuple[float, Float64Array]:
    """Return the bound of the accepted traffic by the best multiple of weights, and that multiple.

    The bound is convex and piecewise linear in the factor, with a corner where the weight of a pair
    becomes 1.
    """
    cost = lightest_costs(problem.network, weights)[problem.pairs]
    demand = problem.demand[problem.pairs]
    carried = float(problem.capacity @ weights)
    order = np.argsort(-cost)
    below = np.cumsum((demand * cost)[order])
    # up to factor 1 / cost of a pair, this pair and all lighter ones are below 1
    total = below[-1] if len(below) else 0.0
    before = np.concatenate([[0.0], below[:-1]])
    place = int(np.searchsorted(-(total - before), -carried, side="left"))
    if total <= carried or place == 0:
        return problem.routed, np.zeros_like(weights)
    factor = 1 / cost[order[place - 1]]
    scaled = np.minimum(weights * factor, 1.0)
    rejected = float(demand @ np.maximum(1 - cost * factor, 0))
    return carried * factor + rejected, scaled


def balance_sustained(
    problem: FlowProblem, seconds: float, work: float, enough: float = np.inf
) -> SearchOutcome:
    """Search for the largest load that all pairs sustain together.

    Parameters
    ----------
    problem : FlowProblem
        With a demand.
    seconds : float
        Limit of the CPU time, for safety.
    work : float
        Largest number of visits of channels, counted over all passes.
    enough : float
        Load beyond which the bound does not matter; stop after `FIRST` passes if it is attained.
    """

    def evaluate(weights: Float64Array) -> tuple[float, Float64Array]:
        return quotient(problem, weights)

    def attained(routes: Routes) -> tuple[float, float]:
        greatest = flow_within(routes, problem.capacity)[1]
        return 1 / greatest, greatest

    start = evaluate(1 / problem.capacity)
    return _search(problem, start, evaluate, attained, 1 / start[0], np.inf, seconds, work, enough)


def balance_accepted(
    problem: FlowProblem, weights: Float64Array, seconds: float, work: float
) -> SearchOutcome:
    """Search for the largest traffic that arrives if pairs may be served in part.

    Parameters
    ----------
    problem : FlowProblem
        Of a load.
    weights : float64 array, shape (C,)
        Weights that may prove a bound.
    seconds, work
        As in `balance_sustained`.

    Returns
    -------
    SearchOutcome
        In flits per cycle, without local traffic. Weights of 1 and more count as 1.
    """

    def evaluate(weights: Float64Array) -> tuple[float, Float64Array]:
        return smallest_line(problem, weights)

    def attained(routes: Routes) -> tuple[float, float]:
        return flow_within(routes, problem.capacity)[0], 1.0

    start = evaluate(1 / problem.capacity)
    nothing = problem.routed, np.zeros_like(problem.capacity)
    start = min(start, nothing, evaluate(weights), key=lambda one: one[0])
    return _search(problem, start, evaluate, attained, 1.0, 1.0, seconds, work)


def _search(
    problem: FlowProblem,
    start: tuple[float, Float64Array],
    evaluate: Evaluate,
    attained: Callable[[Routes], tuple[float, float]],
    level: float,
    rejected: float,
    seconds: float,
    work: float,
    enough: float = np.inf,
) -> SearchOutcome:
    """Balance loads; `level` is about the greatest one, and `rejected` a weight (see `Prices`)."""
    end = np.inf
    bound, weights = start
    largest, smoothing = 0.0, BLUNT
    routes, load = _no_routes(problem), np.zeros(len(problem.capacity) + 1)
    inverse = 1 / problem.capacity
    nodes, resources = len(problem.demand), len(inverse)
    # a pass looks for the lightest routes and weighs those in use
    visits_of_a_pass, visits = OVERHEAD + nodes * resources + 15 * len(routes.target), 0
    # at first, a mean route of fewest hops weighs 1
    hops = lightest_costs(problem.network, np.ones(resources))
    scale = problem.routed / float((problem.demand * np.maximum(hops, 0)).sum())
    mean, gap_before = np.zeros(resources), np.inf
    check, gaps = FIRST, [np.inf, np.inf]
    for number in count():
        # 1. A pass, as long as work is left.
        if number == 1:  # the first pass may compile kernels
            end = thread_time() + seconds
        if thread_time() > end or (number >= FEWEST and visits >= work):
            break
        sharpness = np.log(resources + 1) / (smoothing * level)
        balance_routes(
            problem.network, routes, Prices(inverse, sharpness, level, scale, rejected), load
        )
        visits += visits_of_a_pass + int(routes.length[routes.flow > 0].sum())
        # 2. What its routes attain, and what the weights of their loads prove. Their mean is tried
        #    now and then only: a bound takes a search from every node, like a pass.
        latest_attained, level = attained(routes)
        largest = max(largest, latest_attained)
        height = np.clip(sharpness * (load[:-1] * inverse - level), -STEEPEST, STEEPEST)
        weight = np.exp(height) * inverse * scale
        # a new array: the best weights may be an earlier mean
        mean = mean + MEAN * (weight / weight.max() - mean)
        latest_bound = evaluate(weight)
        candidates = [latest_bound, evaluate(mean)] if number % 3 == 2 else [latest_bound]
        for candidate in candidates:
            if candidate[0] < bound:
                bound, weights = candidate
        # 3. Stop at the goal, and where passes no longer help.
        if bound <= largest * (1 + GOAL):
            break
        if number + 1 == check:
            gaps.append(bound / largest - 1 if largest > 0 else np.inf)
            if largest >= enough or gaps[-1] > SMALLER * gaps[-3]:
                break
            check *= 2
        # 4. Near the minimum of the sum, the gap is about the smoothing. Only then, a steeper
        #    exponent helps; a far gap says that it became steep too early.
        gap = latest_bound[0] / latest_attained - 1 if latest_attained > 0 else np.inf
        is_settled = abs(gap - gap_before) < SETTLED * gap
        gap_before = gap
        if gap > FAR * smoothing:
            smoothing = min(smoothing * COARSER, BLUNT)
        elif gap < NEAR * smoothing or is_settled:
            smoothing = max(smoothing * FINER, SHARP)
    return SearchOutcome(min(largest, bound), bound, weights)


def _no_routes(problem: FlowProblem) -> Routes:
    """Return empty places for the routes of all pairs."""
    source, target = problem.pairs
    pairs, nodes = len(source), len(problem.demand)
    hops = lightest_costs(problem.network, np.ones(len(problem.capacity), dtype=np.int64))
    fewest = int(hops[problem.pairs].max(initial=1))
    longest = min(2 * fewest + DETOUR, nodes)
    places = int(np.clip(MOST_HOPS // (pairs * longest), 4, PLACES))
    longest = int(np.clip(MOST_HOPS // (pairs * places), fewest, longest))
    return Routes(
        start=np.searchsorted(source, np.arange(nodes + 1)).astype(np.int64),
        target=target.astype(np.int32),
        demand=problem.demand[problem.pairs],
        hops=np.zeros((pairs, places, longest), dtype=np.int32),
        length=np.zeros((pairs, places), dtype=np.int32),
        flow=np.zeros((pairs, places)),
    )
