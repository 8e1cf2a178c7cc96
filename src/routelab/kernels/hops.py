"""What compiled hop-by-hop routing functions see and call.

A hop-by-hop algorithm is two compiled functions of fixed signature, which the packet engine calls
through pointers: so one compiled engine serves every algorithm. Both get rows of integers; the
constants below name the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types

ABI = 1
"""Changes whenever a signature or a column does."""

# Columns of a packet's row. A routing function may read all of them, and write STATE … and, in
# inject, WAYPOINT; what is not listed here is the engine's own.
SOURCE = 0
"""Switch where the packet entered."""
TARGET = 1
"""Switch that the packet is heading for: its waypoint, then its destination."""
DESTINATION = 2
"""Switch where the packet will leave."""
WAYPOINT = 3
"""Set by inject: a switch to visit first; −1 for none."""
PHASE = 4
"""0 on the way to the waypoint, 1 behind it; always 0 without waypoints."""
HOPS = 5
"""Channels crossed so far."""
STATE = 8
"""First of `STATES` columns that are the algorithm's own; 0 at injection and in a new phase."""
STATES = 4
TARGET_TERMINAL = 12
"""Terminal where the packet will leave."""
PACKET_COLUMNS = 16

# Columns of a queue's row. A queue is the buffer of one virtual channel at the far end of a
# channel.
CAPACITY = 0
"""Units that the buffer holds: packets under virtual cut-through, flits under wormhole."""
CREDITS = 1
"""Units that the switch before the channel knows to be free."""
QUEUE_COLUMNS = 2

ESCAPE = 1 << 20
"""Penalty from which on a candidate is an escape: taken only if no other can be taken."""

_TABLES = types.Array(types.int32, 1, "C")
_ROWS = types.Array(types.int32, 2, "C")
_REALS = types.Array(types.float64, 1, "C")

HOP = types.int64(
    _TABLES,  # tables: what prepare made
    _ROWS,  # packets
    types.int64,  # packet: its row
    _ROWS,  # queues: see occupied
    types.int64,  # switch where the packet is; never its TARGET
    types.int64,  # channel that it came over; −1 at injection and where a waypoint was reached
    types.int64,  # vc: the class of the virtual channel that it came over; −1 as for channel
    types.uint64,  # random: 64 fresh random bits
    _ROWS,  # out: rows of (channel, class of virtual channel, penalty) to be written
)
"""Candidates of a packet at a switch: writes rows of `out` and returns how many."""

INJECT = types.int64(
    _TABLES,
    _REALS,
    _ROWS,  # packets
    types.int64,  # packet
    _ROWS,  # queues
    types.uint64,  # random
)
"""Choices made once, as a packet enters the network; the returned number has no meaning yet."""


def hop_kernel(function: Callable[..., Any]) -> Any:
    """Compile a hop function; a decorator.

    Raises
    ------
    numba.core.errors.NumbaError
        If the function does not fit `HOP`.
    """
    return _compiled(HOP, function)


def inject_kernel(function: Callable[..., Any]) -> Any:
    """Compile an inject function; a decorator.

    Raises
    ------
    numba.core.errors.NumbaError
        If the function does not fit `INJECT`.
    """
    return _compiled(INJECT, function)


def _compiled(signature: Any, function: Callable[..., Any]) -> Any:
    try:
        return njit(signature, cache=True, nogil=True)(function)
    except RuntimeError:
        # numba finds no place for a cache beside code that was typed in
        return njit(signature, nogil=True)(function)


@njit(_nrt=False, forceinline=True)
def table(tables, number):
    """Where the plugin's array of that number begins in `tables`."""
    return tables[1 + number]


@njit(_nrt=False, forceinline=True)
def queue_of(tables, channel, vc):
    """Row of `queues` of a virtual channel; `vc` counts virtual channels, not classes."""
    return tables[tables[0] + channel] + vc


@njit(_nrt=False, forceinline=True)
def occupied(tables, queues, channel, vc):
    """Units in a virtual channel's buffer and on their way to it, as its credits tell."""
    row = queue_of(tables, channel, vc)
    return queues[row, CAPACITY] - queues[row, CREDITS]


@njit(_nrt=False, forceinline=True)
def pick(random, count):
    """One of 0 … count−1, uniformly, from the upper bits of a random word."""
    return np.int64(((random >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@njit(_nrt=False, forceinline=True)
def another(random):
    """The next random word: a function that needs more than one draws them with this.

    SplitMix64: Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA
    2014, doi 10.1145/2660193.2660195.
    """
    z = random + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
