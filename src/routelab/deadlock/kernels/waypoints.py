"""Waypoints that a hop-by-hop algorithm chooses at injection."""

from functools import cache
from typing import Any

import numpy as np
from numba import njit, types

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

_SPARE_ROWS = 64


@njit
def spaced_word(k, count, low):
    """Return the k-th of `count` evenly spaced words, with the lower bits of another."""
    upper = (np.uint64(k) << np.uint64(32)) // np.uint64(count)
    if upper * np.uint64(count) < np.uint64(k) << np.uint64(32):
        upper += np.uint64(1)
    return (upper << np.uint64(32)) | (low & np.uint64(0xFFFFFFFF))


@cache
def compile_samples() -> Any:
    """Compile `sample_waypoints` at the first call, once for all algorithms."""
    rows = types.Array(types.int32, 2, "C")
    signature = types.int64(
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
    return njit(signature, cache=True, nogil=True)(sample_waypoints)


def sample_waypoints(
    hop, inject, tables, reals, queue_contents, pairs, words, candidates, is_waypoint
):
    """Call inject for some pairs with evenly spaced random words.

    Parameters
    ----------
    hop, inject : compiled functions
    tables : int32 array
    reals : float64 array
    queue_contents : int32 array, shape (P, Q, QUEUE_COLUMNS)
        Possible contents of all queues.
    pairs : int32 array, shape (N, 4)
        Source and target switch, and a terminal at each.
    words : int
        Number of words for each pair.
    candidates : int
        Largest number of candidates that `hop` writes.
    is_waypoint : bool array, shape (S,)
        Updated: switches that were set as waypoints.

    Returns
    -------
    int
        Pair for which inject writes to a column that is not its own, or sets a waypoint that does
        not exist; −1 if there is none.
    """
    packets = np.zeros((1, PACKET_COLUMNS), np.int32)
    packet_before = np.empty(PACKET_COLUMNS, np.int32)
    candidate_rows = np.zeros((candidates + _SPARE_ROWS, 3), np.int32)
    packet, random = packets[0], np.uint64(2026)
    for pair in range(len(pairs)):
        for k in range(words):
            random = word_after(random)
            fill_packet(packet_before, pairs[pair])
            copy_row(packet, packet_before)
            queues = queue_contents[(pair + k) % len(queue_contents)]
            word = spaced_word(k, words, random)
            inject(
                tables,
                reals,
                packets,
                0,
                queues,
                hop,
                RandomWord(word, np.uint64(0)),
                candidate_rows,
            )
            waypoint = packet[WAYPOINT]
            for column in range(PACKET_COLUMNS):
                is_writable = column == WAYPOINT or STATE <= column < STATE + STATES
                if not is_writable and packet[column] != packet_before[column]:
                    return pair
            if not -1 <= waypoint < len(is_waypoint):
                return pair
            if waypoint >= 0:
                is_waypoint[waypoint] = True
    return -1
