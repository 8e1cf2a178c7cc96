"""Order of runs: balanced, so that drift and preceding runs favour no routing."""

from __future__ import annotations

import random


def routing_orders(num_routings: int, num_rounds: int, seed: int) -> list[list[int]]:
    """Return the order of the routings in every round.

    The rounds are the rows of a Williams design: each routing is equally often in each position
    and equally often directly behind each other one. For an even number of routings it has as
    many rows, for an odd one twice as many; after the last row it starts again. The assignment
    of the routings and the order of the rows are random.

    Returns
    -------
    orders : list of list of int
        A permutation of ``range(num_routings)`` per round.

    Notes
    -----
    E. J. Williams, "Experimental designs balanced for the estimation of residual effects of
    treatments", Australian Journal of Scientific Research A 2 (1949), pp. 149-168.
    """
    generator = random.Random(seed)
    routing_of_treatment = list(range(num_routings))
    generator.shuffle(routing_of_treatment)
    rows = [
        [routing_of_treatment[treatment] for treatment in row]
        for row in _williams_design(num_routings)
    ]
    generator.shuffle(rows)
    return [list(rows[number % len(rows)]) for number in range(num_rounds)]


def _williams_design(num_treatments: int) -> list[list[int]]:
    """Return the rows of a Williams design; of 4 treatments: 0132, 1203, 2310, 3021."""
    # The first row is 0, 1, n-1, 2, n-2, ...: upwards from 1 at odd positions, and downwards from
    # n, which is 0, at even ones. For an even n the differences between neighbours are all
    # different, so in its n shifts each treatment is once directly behind each other one.
    n = num_treatments
    first_row = [
        (position + 1) // 2 if position % 2 else (n - position // 2) % n for position in range(n)
    ]
    rows = [[(treatment + shift) % n for treatment in first_row] for shift in range(n)]
    if n % 2 == 0 or n == 1:
        return rows
    # For an odd n one half of the differences comes twice: for n = 5, in 0, 1, 4, 2, 3, these are
    # 1 and 3. The reversed rows have the other half, here 4 and 2.
    return [*rows, *(row[::-1] for row in rows)]


def benchmark_order(num_benchmarks: int, round_: int, turn: int) -> list[int]:
    """Return the order of the benchmarks in a turn.

    The first one shifts by 1 with the turn and with the round, so that each is first about equally
    often: with 3 benchmarks, turn 1 of round 1 is 2, 0, 1, and turn 2 of it, like turn 1 of
    round 2, is 0, 1, 2.
    """
    first = (round_ + turn) % num_benchmarks
    return [(first + position) % num_benchmarks for position in range(num_benchmarks)]
