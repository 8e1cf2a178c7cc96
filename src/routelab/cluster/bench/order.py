"""Order of runs: balanced, so that drift and preceding runs favour no routing."""

from __future__ import annotations

import random


def routing_orders(routings: int, rounds: int, seed: int) -> list[list[int]]:
    """Return the order of the routings in every round.

    The rounds are the rows of a Williams design: each routing is equally often in each position
    and equally often directly behind each other one. For an even number of routings it has as
    many rows, for an odd one twice as many; after the last row it starts again. The assignment
    of the routings and the order of the rows are random.

    Parameters
    ----------
    routings : int
    rounds : int
    seed : int

    Returns
    -------
    orders : list of list of int
        A permutation of ``range(routings)`` per round.

    Notes
    -----
    E. J. Williams, "Experimental designs balanced for the estimation of residual effects of
    treatments", Australian Journal of Scientific Research A 2 (1949), pp. 149-168.
    """
    draw = random.Random(seed)
    names = list(range(routings))
    draw.shuffle(names)
    rows = [[names[place] for place in row] for row in _williams(routings)]
    draw.shuffle(rows)
    return [list(rows[number % len(rows)]) for number in range(rounds)]


def _williams(count: int) -> list[list[int]]:
    # 0, 1, n-1, 2, n-2, ...: the differences between neighbours are all different
    first = [(step + 1) // 2 if step % 2 else (count - step // 2) % count for step in range(count)]
    rows = [[(place + shift) % count for place in first] for shift in range(count)]
    return rows if count % 2 == 0 or count == 1 else [*rows, *(row[::-1] for row in rows)]


def benchmark_order(benchmarks: int, round_: int, turn: int) -> list[int]:
    """Return the order of the benchmarks in a turn: each turn starts with another one."""
    first = (round_ + turn) % benchmarks
    return [(first + place) % benchmarks for place in range(benchmarks)]
