"""Waypoints that a hop-by-hop algorithm chooses at injection."""

from functools import cache
from typing import Any

import numpy as np
from numba import njit, types

from routelab.deadlock.kernels.guards import (
    FIRST_ROW,
    PACKET,
    allocate_guards,
    draw_filling,
    fill_out,
    find_cell_with_memory,
    find_changed_cell,
)
from routelab.deadlock.kernels.packet_states import copy_row, fill_packet
from routelab.kernels.hops import (
    HOP,
    INJECT,
    PACKET_COLUMNS,
    STATE,
    STATES,
    WAYPOINT,
    RandomWord,
    word_after,
)
from routelab.kernels.jit import helper

WRONG_WRITE, WRONG_CELL, NOT_REPEATABLE = range(3)
"""Rules that inject may break: which columns, waypoints and cells it writes, and that equal calls
have equal results."""


@helper()
def spaced_word(k, count, random_word):
    """Return a word whose `pick` among `count` outcomes is k, so that each outcome gets its word.

    `pick` reads the upper half of a word; the lower half is that of `random_word`. The upper half
    is k / count of 2^32, rounded up: else `pick`, which rounds down, gives k − 1.
    """
    upper = (np.uint64(k) << np.uint64(32)) // np.uint64(count)
    if upper * np.uint64(count) < np.uint64(k) << np.uint64(32):
        upper += np.uint64(1)
    return (upper << np.uint64(32)) | (random_word & np.uint64(0xFFFFFFFF))


@cache
def compile_samples() -> Any:
    """Compile `sample_waypoints` at the first call, once for all algorithms."""
    rows = types.Array(types.int32, 2, "C")
    signature = types.UniTuple(types.int64, 3)(
        types.FunctionType(HOP),
        types.FunctionType(INJECT),
        types.Array(types.int32, 1, "C"),
        types.Array(types.float64, 1, "C"),
        types.Array(types.int32, 3, "C"),
        rows,
        types.int64,
        types.int64,
        types.Array(types.bool_, 1, "C"),
    )
    return njit(signature, cache=True, nogil=True, no_cfunc_wrapper=True)(sample_waypoints)


def sample_waypoints(
    hop, inject, tables, reals, queue_contents, pairs, words_per_pair, max_candidates, is_waypoint
):
    """Call inject for some pairs with evenly spaced random words; mark the waypoints that it sets.

    Parameters
    ----------
    hop, inject : compiled functions
    tables : int32 array
    reals : float64 array
    queue_contents : int32 array, shape (contents, rows, QUEUE_COLUMNS)
        Possible contents of all queues.
    pairs : int32 array, shape (N, 4)
        Source and target switch, and a terminal at each.
    words_per_pair : int
        Random words for each pair.
    max_candidates : int
        Largest number of candidates that `hop` writes.
    is_waypoint : bool array, shape (S,)
        Updated: switches that were set as waypoints.

    Returns
    -------
    pair : int
        Index of a pair for which inject breaks a rule; −1 if there is none.
    fault : int
        The rule. `WRONG_WRITE`: a column that it must not write to, or a waypoint that does not
        exist. `WRONG_CELL`: see `cell`. `NOT_REPEATABLE`: two equal calls differ. Without a pair it
        is `WRONG_WRITE`: if the program has one phase, the caller reports any waypoint as that.
    cell : int
        The cell that inject must not change; −1 for other faults.
    """
    guards = allocate_guards(max_candidates, len(is_waypoint), np.int64(0))
    repeat_guards = allocate_guards(max_candidates, len(is_waypoint), np.int64(1))
    packet_before = np.empty(PACKET_COLUMNS, np.int32)
    packet, random = guards.rows[1], np.uint64(2026)
    for pair in range(len(pairs)):
        draw_filling(repeat_guards, len(is_waypoint), pair)
        for k in range(words_per_pair):
            random = word_after(random)
            fill_packet(packet_before, pairs[pair])
            # each content in turn; with one word for each pair, not all pairs get the first one
            queues = queue_contents[(pair + k) % len(queue_contents)]
            word = RandomWord(spaced_word(k, words_per_pair, random), np.uint64(0))
            # 1. The same call twice, in memory with different fillings. (`packet` is a row of
            #    `guards`.)
            for memory in (guards, repeat_guards):
                copy_row(memory.rows[1], packet_before)
                fill_out(memory, FIRST_ROW, max_candidates)
                inject(tables, reals, memory.packets, PACKET, queues, hop, word, memory.out)
            # 2. Only WAYPOINT and STATE may have changed, and in both calls alike.
            waypoint = packet[WAYPOINT]
            for column in range(PACKET_COLUMNS):
                is_writable = column == WAYPOINT or STATE <= column < STATE + STATES
                if not is_writable and packet[column] != packet_before[column]:
                    return pair, WRONG_WRITE, -1
                if packet[column] != repeat_guards.rows[1, column]:
                    return pair, NOT_REPEATABLE, -1
            # 3. No cell of other packets, or behind the rows of candidates, may have changed. What
            #    these rows hold now must not depend on what they held before.
            cell = find_changed_cell(guards, max_candidates)
            if cell < 0:
                cell = find_cell_with_memory(guards, repeat_guards, FIRST_ROW, max_candidates)
            if cell >= 0:
                return pair, WRONG_CELL, cell
            if not -1 <= waypoint < len(is_waypoint):
                return pair, WRONG_WRITE, -1
            if waypoint >= 0:
                is_waypoint[waypoint] = True
    return -1, WRONG_WRITE, -1
