"""Memory layout of the flow engine: rows of messages, ranks, bundles and resources.

Flows share a *resource*: a directed channel, a terminal's injection or ejection, its memory. A
*bundle* is all messages that flow between the same two terminals on the same path: they always get
the same share, so they are one flow with a count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import typeof

from routelab.kernels.jit import inline

OPERATION = np.dtype(
    [
        ("amount", np.float64),  # bytes; seconds for COMPUTE
        ("kind", np.int32),
        ("peer", np.int32),  # rank; the request for WAIT
        ("pair", np.int32),  # pair of terminals of a send
        ("slot", np.int32),  # number of the message in the block
    ]
)

RANK = np.dtype(
    [
        ("clock", np.float64),  # its own time
        ("operation", np.int64),  # the next one,
        ("end", np.int64),  # … and where its operations in the block end
        ("place", np.int64),  # on the tape
        ("slot", np.int64),  # of the block's first message
        ("awaited", np.int32),  # requests that it waits for
        ("open", np.int32),  # requests without a wait so far
        ("next_timestamp", np.int32),  # in `timestamp_places`
        ("_pad", np.int32),
    ]
)

MESSAGE = np.dtype(
    [
        ("bytes", np.float64),
        ("time", np.float64),  # at which the first of its two ends was ready
        ("until", np.float64),  # bytes that its bundle will have served at its end
        ("source", np.int32),  # ranks
        ("target", np.int32),
        ("bundle", np.int32),
        ("state", np.int32),
        ("before", np.int32),  # in the bundle, by `until`; −1: none
        ("behind", np.int32),
        ("slot", np.int64),
    ]
)

# A message's state.
SENT, READY, DONE, SENDER_WAITS, RECEIVER_WAITS, SENDER_GONE, RECEIVER_GONE = (
    1,  # the sender has reached it
    2,  # the receiver has
    4,  # all its bytes have arrived
    8,
    16,
    32,  # the sender has released it
    64,
)

BUNDLE = np.dtype(
    [
        ("served", np.float64),  # bytes to each message that was present all the time,
        ("since", np.float64),  # … at this time
        ("rate", np.float64),  # bytes per second of each message
        ("fresh", np.float64),  # … during a computation
        ("finish", np.float64),  # when the first message ends
        ("delay", np.float64),  # latency of a message
        ("upto", np.float64),  # share of the pair's messages on its paths up to this one
        ("first", np.int64),  # in `crossings`
        ("crossings", np.int32),
        ("count", np.int32),  # messages
        ("head", np.int32),  # the message that ends next
        ("tail", np.int32),
        ("limit", np.int32),  # the resource that limits it; −1: none
        ("fresh_limit", np.int32),
        ("epoch", np.int32),  # its last computation of shares,
        ("changed", np.int32),  # 1: its messages have changed since then
        ("queue", np.int32),  # place in the queue of finishes; −1: none
        ("_pad", np.int32),
    ]
)

CROSSING = np.dtype([("resource", np.int32), ("place", np.int32)])
"""A resource on a bundle's path, and the bundle's place among its members."""

MEMBER = np.dtype([("bundle", np.int32), ("crossing", np.int32)])

RESOURCE = np.dtype(
    [
        ("capacity", np.float64),  # bytes per second
        ("free_capacity", np.float64),  # scratch of the computation: what others leave,
        ("fastest", np.float64),  # … the largest rate that is not recomputed,
        ("last_share", np.float64),  # … the largest that is recomputed
        ("first", np.int64),  # in `members`
        ("members", np.int32),  # bundles with messages
        ("limits", np.int32),  # bundles that it limits
        ("weight", np.int32),  # scratch: messages without a rate
        ("held", np.int32),  # … bundles that it limits and that keep their rates
        ("epoch", np.int32),  # its last computation of shares,
        ("whole", np.int32),  # … and in which all its bundles were
    ]
)

# settings and counts (int64)
(
    S_RANKS,
    S_HANDSHAKE,
    S_FULL,
    S_SEED,
    FREE,
    READY_RANKS,
    EVENTS,
    FINISHES,
    CHANGED,
    FREED,
    EPOCH,
    OLDEST,
    ENDED,
    TIME_STEPS,
    SHARE_COMPUTATIONS,
    COMPUTED_SHARES,
    INTS,
) = range(17)
"""S_FULL: every change recomputes the shares of all flows. FREE: messages on the stack of
free ones; READY_RANKS: ranks that can continue; EVENTS, FINISHES: in the queues; CHANGED: bundles,
FREED: resources at which a computation begins; OLDEST: first place on the tape that some rank has
not left; ENDED: ranks at the end; TIME_STEPS: different times of
events; SHARE_COMPUTATIONS: computations of shares; COMPUTED_SHARES: bundles in all of them."""

# reals (float64)
NOW, UNTIL, OVERHEAD, EAGER, REALS = range(5)
"""UNTIL: events up to this time happen now."""

# reasons for a stop of the engine
FINISHED, STUCK, PAUSED, FULL_MESSAGES, FULL_RING = range(5)

OUTSIDE, TIMED, REPEATED = range(3)
"""Parts of the tape whose messages are counted separately. REPEATED: timed rounds that also stand
for those that are not simulated."""

BURST = 32
"""Largest number of operations of a rank in one turn, and of new messages."""

NEVER = np.inf

NEAR = 4
"""Number of computations with a few more bundles before one with all that a change can reach."""

TOLERANCE = 1e-12
"""Relative difference below which times, and shares, count as equal."""


class FlowState(NamedTuple):
    """All arrays; P ranks, B bundles, R resources, C crossings, M messages."""

    ints: Any
    """int64 (INTS,)"""
    reals: Any
    """float64 (REALS,)"""
    operations: Any
    """OPERATION: those of a block together, by rank"""
    block_start: Any
    """int64 (blocks, P + 1): in `operations`"""
    tape: Any
    """int32 (L,)"""
    tape_slot: Any
    """int64 (L + 1,): number of messages on the tape before each place"""
    part: Any
    """int8 (L,)"""
    timestamp_places: Any
    """int64 (K,): places on the tape, ascending,"""
    timestamps: Any
    """float64 (K, P): … and the times at which ranks reach them"""
    left: Any
    """int32 (L,): number of ranks that have left each place"""
    ranks: Any
    """RANK (P,)"""
    ready: Any
    """int32 (P,), stack: ranks that can continue"""
    request_start: Any
    """int64 (P + 1,): in `requests`"""
    requests: Any
    """int32: open requests of each rank: twice the message, plus 1 for a receive;
    −1: done"""
    ring: Any
    """int32 (a power of two,): message in each slot in use; −1: none yet"""
    messages: Any
    """MESSAGE (M,)"""
    free: Any
    """int32 (M,), stack"""
    event_time: Any
    """float64 (M + P,), heap"""
    event: Any
    """int32 (M + P,): a message whose bytes begin to flow, or −1 − a rank that continues"""
    pair_start: Any
    """int64 (pairs + 1,): bundles of each pair of terminals"""
    bundles: Any
    """BUNDLE (B,)"""
    finishes: Any
    """int32 (B,), heap by `finish`"""
    crossings: Any
    """CROSSING (C,)"""
    resources: Any
    """RESOURCE (R,)"""
    members: Any
    """MEMBER (C,): bundles at each resource"""
    changed: Any
    """int32 (B,)"""
    freed: Any
    """int32 (C,): resources with room from bundles that have left"""
    affected_bundles: Any
    """int32 (B,), scratch: bundles in a computation of shares"""
    affected_resources: Any
    """int32 (R,), scratch: resources in it"""
    level: Any
    """float64 (R,), heap, scratch: share that a resource has to give"""
    at_level: Any
    """int32 (R,)"""
    sent_bytes: Any
    """float64 (B, 3): by part of the tape"""
    sent: Any
    """int64 (B, 3): messages"""


_INT32, _INT64, _FLOAT64 = np.zeros(1, np.int32), np.zeros(1, np.int64), np.zeros(1)

FLOW = typeof(
    FlowState(
        ints=_INT64,
        reals=_FLOAT64,
        operations=np.zeros(1, OPERATION),
        block_start=np.zeros((1, 1), np.int64),
        tape=_INT32,
        tape_slot=_INT64,
        part=np.zeros(1, np.int8),
        timestamp_places=_INT64,
        timestamps=np.zeros((1, 1)),
        left=_INT32,
        ranks=np.zeros(1, RANK),
        ready=_INT32,
        request_start=_INT64,
        requests=_INT32,
        ring=_INT32,
        messages=np.zeros(1, MESSAGE),
        free=_INT32,
        event_time=_FLOAT64,
        event=_INT32,
        pair_start=_INT64,
        bundles=np.zeros(1, BUNDLE),
        finishes=_INT32,
        crossings=np.zeros(1, CROSSING),
        resources=np.zeros(1, RESOURCE),
        members=np.zeros(1, MEMBER),
        changed=_INT32,
        freed=_INT32,
        affected_bundles=_INT32,
        affected_resources=_INT32,
        level=_FLOAT64,
        at_level=_INT32,
        sent_bytes=np.zeros((1, 1)),
        sent=np.zeros((1, 1), np.int64),
    )
)
"""The type of `flow` in compiled functions: that of this example."""


@inline
def mix(word):
    """Return a hash of a word (SplitMix64)."""
    z = np.uint64(word) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
