"""Choice of one route per pair that minimizes the load of the fullest bin.

A *row* represents pairs that choose alike, a *bin* channels with equal load (on a network without
symmetry: one pair, one channel). The hops of a row's routes are the numbers of the bins that they
load.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from routelab.kernels.jit import helper


class Rows(NamedTuple):
    """Rows with more than one route (M rows), and the bins that they may load (B bins).

    Routes of row m start at ``first[m]`` in `bins`, ``routes[m]`` routes of ``length[m]`` hops;
    each adds ``weight[m]`` to the bin of every hop. The maximum is taken in each *segment* of
    bins, and the sum of these is the objective.
    """

    first: NDArray[np.int64]
    routes: NDArray[np.int32]
    length: NDArray[np.int32]
    weight: NDArray[np.int64]
    bins: NDArray[np.int32]
    segment: NDArray[np.int32]


@njit(cache=True)
def fullest_bins(load, segment):
    """Return the load of the fullest bin of every segment; int64."""
    fullest = np.zeros(segment.max() + 1, np.int64)
    for c in range(len(load)):
        fullest[segment[c]] = max(fullest[segment[c]], load[c])
    return fullest


@njit(cache=True)
def objective(load, segment):
    """Return the sum over the segments of their fullest bin's load."""
    return fullest_bins(load, segment).sum()


@helper()
def _random(state):
    """Return the next state of an xorshift generator (Marsaglia 2003); 64 bits, never 0."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@njit(cache=True)
def price_bins(load, segment, emphasis, beta, price):
    """Compute the prices: emphasis · exp(beta · load), relative to the segment's fullest bin."""
    fullest = fullest_bins(load, segment)
    for c in range(len(load)):
        price[c] = emphasis[c] * np.exp(beta * (load[c] - fullest[segment[c]]))


@njit(cache=True)
def sweep_rows(rows, load, choice, price, beta, placed, state):
    """Remove every row in turn and place it on a cheapest route.

    With bins that no route loads twice, the potential Σ emphasis · exp(beta · load) never grows.

    Parameters
    ----------
    rows : Rows
    load : int64 array, shape (B,)
        Changed.
    choice : int32 array, shape (M,)
        Changed: number of each row's route.
    price : float64 array, shape (B,)
        From `price_bins`; kept up to date.
    beta : float
    placed : bool
        Whether loads already include the rows' routes; otherwise each row is placed first.
    state : uint64
        State of the random numbers for equally cheap routes and for the first row.

    Returns
    -------
    state : uint64
    """
    count = len(rows.first)
    state = _random(state)
    begin = np.int64(state % np.uint64(max(count, 1))) if placed else 0
    backwards = placed and (state >> np.uint64(40)) & np.uint64(1) == np.uint64(1)
    first_of, count_of, length_of = rows.first, rows.routes, rows.length
    weight_of, bins = rows.weight, rows.bins
    row_weight = np.int64(-1)
    up, down = 1.0, 1.0
    for x in range(count):
        m = begin - x if backwards else begin + x
        if m < 0:
            m += count
        elif m >= count:
            m -= count
        first, length = first_of[m], np.int64(length_of[m])
        if weight_of[m] != row_weight:
            row_weight = weight_of[m]
            up, down = np.exp(beta * row_weight), np.exp(-beta * row_weight)
        if placed:
            for h in range(first + choice[m] * length, first + (choice[m] + 1) * length):
                load[bins[h]] -= row_weight
                price[bins[h]] *= down
        cheapest, pick, equal = np.inf, 0, 0
        for r in range(count_of[m]):
            cost = 0.0
            for h in range(first + r * length, first + (r + 1) * length):
                cost += price[bins[h]]
            if cost < cheapest * (1 - 1e-9):
                cheapest, pick, equal = cost, r, 1
            elif cost <= cheapest * (1 + 1e-9):
                equal += 1
                state = _random(state)
                if state % np.uint64(equal) == np.uint64(0):
                    pick = r
        choice[m] = pick
        for h in range(first + pick * length, first + (pick + 1) * length):
            load[bins[h]] += row_weight
            price[bins[h]] *= up
    return state


@njit(cache=True)
def dual_bound(rows, base, price):
    """Return the bound that the prices prove for the fullest bin of any choice (one segment).

    The load of the fullest bin is at least the mean load weighted with any prices, and that is
    least where every row takes its cheapest route.

    Parameters
    ----------
    base : int64 array, shape (B,)
        Load of the rows with one route.
    """
    total, worth = 0.0, 0.0
    for c in range(len(base)):
        total += price[c]
        worth += price[c] * base[c]
    for m in range(len(rows.first)):
        length, cheapest = np.int64(rows.length[m]), np.inf
        for r in range(rows.routes[m]):
            cost = 0.0
            first = rows.first[m] + r * length
            for h in range(first, first + length):
                cost += price[rows.bins[h]]
            cheapest = min(cheapest, cost)
        worth += cheapest * rows.weight[m]
    return worth / total


@njit(cache=True)
def bin_loads(rows, base, choice):
    """Return the load of every bin under a choice; int64, shape (B,)."""
    load = base.copy()
    for m in range(len(rows.first)):
        first = rows.first[m] + np.int64(choice[m]) * rows.length[m]
        for h in range(first, first + rows.length[m]):
            load[rows.bins[h]] += rows.weight[m]
    return load


@njit(cache=True)
def balance(rows, base, choice, cooling, repairs, seed):
    """Anneal a choice of routes, then repair bins above the goal.

    First sweeps under exponential prices that grow steeper (from 0.03 to 2 a unit of load). Then,
    with one less than the best maximum as the goal, the emphasis of every bin above it grows
    until a sweep finds its way round: the breakout method of Morris (AAAI 1993), which is also
    the multiplicative-weights method for the dual. Ends when the prices prove that no choice is
    better, or after so many sweeps.

    Parameters
    ----------
    rows : Rows
    base : int64 array, shape (B,)
        Load of the rows with one route.
    choice : int32 array, shape (M,)
        Initial choice if `cooling` is 0; overwritten with the best choice.
    cooling, repairs : int
        Sweeps of either part.
    seed : int

    Returns
    -------
    sweeps : int
        Number of sweeps.
    proven : bool
        No choice has a smaller objective.
    """
    bins, unit = len(base), 1.0
    for m in range(len(rows.first)):
        unit = max(unit, np.float64(rows.weight[m]))
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(88172645463325252)
    if state == np.uint64(0):
        state = np.uint64(1)
    best_choice = choice.copy()
    emphasis, price = np.ones(bins), np.empty(bins)
    one_segment = rows.segment.max() == 0
    if cooling > 0:
        load, best_value = base.copy(), np.int64(1) << 62
    else:
        load = bin_loads(rows, base, choice)
        best_value = objective(load, rows.segment)
    # largest load of each segment under the best choice; one less is the goal
    fullest = fullest_bins(load, rows.segment)
    mean_price = np.zeros(bins)
    for s in range(cooling + repairs):
        if s < cooling:
            beta = 0.03 * (2.0 / 0.03) ** (s / max(cooling - 1, 1)) / unit
        else:
            beta = 1.2 / unit
        price_bins(load, rows.segment, emphasis, beta, price)
        state = sweep_rows(rows, load, choice, price, beta, s > 0 or cooling == 0, state)
        value = objective(load, rows.segment)
        if value < best_value:
            best_value = value
            best_choice[:] = choice
            fullest = fullest_bins(load, rows.segment)
            emphasis[:] = 1.0
        elif s >= cooling:
            total = 0.0
            for c in range(bins):
                if load[c] > 0 and load[c] >= fullest[rows.segment[c]]:
                    emphasis[c] *= 1.1
                total += emphasis[c]
            for c in range(bins):
                emphasis[c] *= bins / total
        if not one_segment:
            continue
        price_bins(load, rows.segment, emphasis, beta, price)
        mean_price += price / price.sum()
        # try a proof after each better choice, and from time to time
        if value == best_value or s % 16 == 15:
            bound = max(dual_bound(rows, base, mean_price), dual_bound(rows, base, price))
            if best_value <= np.ceil(bound - 1e-6):
                choice[:] = best_choice
                return s + 1, True
    choice[:] = best_choice
    return cooling + repairs, False


@njit(cache=True)
def deviation(load, mean):
    """Return Σ |load − mean|⁴ over the bins."""
    total = 0.0
    for x in load:
        total += (x - mean) ** 4
    return total


@njit(cache=True)
def even_out(rows, load, choice, limit, mean, most_sweeps, kicks, seed):
    """Lower Σ |load − mean|⁴ and load no bin above `limit`.

    Moves one row at a time while that helps. Then some rows are moved at random, and the result is
    kept if it is better (an iterated local search).

    Parameters
    ----------
    load : int64 array, shape (B,)
        Changed; never to a greater deviation.
    choice : int32 array, shape (M,)
        Changed.
    limit : int64 array, shape (B,)
    mean : float
    most_sweeps : int
        For each local search.
    kicks : int
    seed : int

    Returns
    -------
    sweeps : int
    """
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(88172645463325252)
    if state == np.uint64(0):
        state = np.uint64(1)
    sweeps = _descend(rows, load, choice, limit, mean, most_sweeps)
    least = deviation(load, mean)
    best_choice, best_load = choice.copy(), load.copy()
    count = len(rows.first)
    for _ in range(kicks):
        for _ in range(1 + count // 50):
            state = _random(state)
            m = np.int64(state % np.uint64(count))
            state = _random(state)
            r = np.int64(state % np.uint64(rows.routes[m]))
            _move(rows, load, choice, m, r, limit)
        sweeps += _descend(rows, load, choice, limit, mean, most_sweeps)
        value = deviation(load, mean)
        if value <= least:
            least = value
            best_choice[:], best_load[:] = choice, load
        else:
            choice[:], load[:] = best_choice, best_load
    return sweeps


@helper()
def _move(rows, load, choice, m, r, limit):
    """Move row m to route r, unless that loads a bin above its limit."""
    length, weight = np.int64(rows.length[m]), rows.weight[m]
    old_start, new_start = rows.first[m] + choice[m] * length, rows.first[m] + r * length
    fits = True
    for h in range(length):
        load[rows.bins[old_start + h]] -= weight
    for h in range(length):
        load[rows.bins[new_start + h]] += weight
        fits &= load[rows.bins[new_start + h]] <= limit[rows.bins[new_start + h]]
    if fits:
        choice[m] = r
        return
    for h in range(length):
        load[rows.bins[new_start + h]] -= weight
    for h in range(length):
        load[rows.bins[old_start + h]] += weight


@helper()
def _descend(rows, load, choice, limit, mean, most_sweeps):
    """Move rows to routes that lower Σ |load − mean|⁴, until none does; return the sweeps."""
    for s in range(most_sweeps):
        moves = 0
        for m in range(len(rows.first)):
            first, length, weight = rows.first[m], np.int64(rows.length[m]), rows.weight[m]
            for h in range(first + choice[m] * length, first + (choice[m] + 1) * length):
                load[rows.bins[h]] -= weight
            least, pick = 0.0, choice[m]
            for k in range(rows.routes[m]):
                # the current route first: only a better one replaces it
                r = choice[m] if k == 0 else (k - 1 if k <= choice[m] else k)
                cost, fits = 0.0, True
                for h in range(first + r * length, first + (r + 1) * length):
                    c = rows.bins[h]
                    cost -= (load[c] - mean) ** 4
                    load[c] += weight
                    cost += (load[c] - mean) ** 4
                    fits &= load[c] <= limit[c]
                for h in range(first + r * length, first + (r + 1) * length):
                    load[rows.bins[h]] -= weight
                if k == 0 or (fits and cost < least - 1e-9 * abs(least)):
                    least, pick = cost, r
            moves += pick != choice[m]
            choice[m] = pick
            for h in range(first + pick * length, first + (pick + 1) * length):
                load[rows.bins[h]] += weight
        if moves == 0:
            return s + 1
    return most_sweeps
