"""Memory layout of the flow engine: rows of messages, ranks, bundles and resources.

The *tape* is the order in which every rank runs the blocks of the program, for example 0 0 1: block
0 twice, then block 1. A *slot* is the number of a message in the whole run: those of the first
block on the tape come first.

Flows share a *resource*: a directed channel, a terminal's injection or ejection, its memory. A
*bundle* is all messages that flow between the same two terminals on the same path: they always get
the same share, so they are one flow with a count. A bundle's *bottleneck* is the full resource that
limits its rate. A bundle *crosses* the resources of its path; it is a *member* of each of them
while it has messages. ``crossings`` lists resources by bundle, ``members`` lists bundles by
resource, and each names its row in the other list, so that a bundle is removed in a few steps.
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
        ("peer", np.int32),  # rank; for WAIT, index of an open request, −1: all of them
        ("pair", np.int32),  # pair of terminals of a send
        ("message_number", np.int32),  # of a send or receive: number of the message in the block
    ]
)

RANK = np.dtype(
    [
        ("clock", np.float64),  # the rank's time, which may be ahead of the events
        ("next_operation", np.int64),  # row in `operations`
        ("end_operation", np.int64),  # row behind the last operation of the rank in its block
        ("tape_index", np.int64),  # index on the tape of its block; −1 before the first one
        ("first_slot", np.int64),  # slot of the block's first message
        ("num_awaited", np.int32),  # requests without which it cannot continue
        ("num_open", np.int32),  # requests that it has not waited for so far
        ("next_timestamp", np.int32),  # index in `timestamp_indices`
        ("_pad", np.int32),
    ]
)

MESSAGE = np.dtype(
    [
        ("bytes", np.float64),
        ("ready_time", np.float64),  # at which the first of its two ends was ready
        ("served_at_end", np.float64),  # value of its bundle's `served` at which it ends
        ("source", np.int32),  # ranks
        ("target", np.int32),
        ("bundle", np.int32),
        ("state", np.int32),  # set of the bits below
        ("previous", np.int32),  # neighbours in the bundle's list by `served_at_end`; −1: none
        ("following", np.int32),
        ("slot", np.int64),
    ]
)

# Bits of a message's state. An end *releases* a message when it no longer needs the row.
(
    SEND_POSTED,
    RECEIVE_POSTED,
    ARRIVED,  # with all its bytes
    SENDER_WAITS,
    RECEIVER_WAITS,
    SENDER_RELEASED,
    RECEIVER_RELEASED,
) = (1, 2, 4, 8, 16, 32, 64)

BUNDLE = np.dtype(
    [
        ("served", np.float64),  # bytes to each message since the bundle was empty, until
        ("served_at", np.float64),  # … this time
        ("rate", np.float64),  # bytes per second of each message
        ("new_rate", np.float64),  # scratch of a computation; −1: none yet
        ("finish_time", np.float64),  # when the first message ends
        ("latency", np.float64),  # seconds
        ("cumulative_share", np.float64),  # of the pair's messages on its paths up to this one
        ("first_crossing", np.int64),  # row in `crossings`
        ("num_crossings", np.int32),
        ("num_messages", np.int32),
        ("head", np.int32),  # the message that ends next
        ("tail", np.int32),  # the message that ends last
        ("bottleneck", np.int32),  # resource; −1: none
        ("new_bottleneck", np.int32),  # scratch of a computation
        ("epoch", np.int32),  # number of the last computation that recomputed its rate
        ("changed", np.int32),  # 1: its messages have changed since then
        ("heap_index", np.int32),  # in `finish_heap`; −1: not in it
        ("_pad", np.int32),
    ]
)

CROSSING = np.dtype([("resource", np.int32), ("member_index", np.int32)])
"""A resource on a bundle's path, and the bundle's index among the members of this resource."""

MEMBER = np.dtype([("bundle", np.int32), ("crossing", np.int32)])
"""A bundle at a resource, and the row of `crossings` for the two."""

RESOURCE = np.dtype(
    [
        ("capacity", np.float64),  # bytes per second
        # During a computation of shares, a bundle is *affected* or keeps its rate.
        ("free_capacity", np.float64),  # scratch: what is not given to any bundle yet
        ("fastest_fixed", np.float64),  # scratch: largest rate of a bundle that keeps its rate
        ("fastest_affected", np.float64),  # scratch: largest new rate
        ("first_member", np.int64),  # row in `members`
        ("num_members", np.int32),  # bundles with messages
        ("num_bottlenecked", np.int32),  # bundles whose bottleneck it is
        ("unfilled_messages", np.int32),  # scratch: messages of affected bundles without new rate
        ("fixed_bottlenecked", np.int32),  # scratch: those of `num_bottlenecked` that are fixed
        ("epoch", np.int32),  # number of the last computation that it took part in
        ("all_affected_epoch", np.int32),  # … and of the last in which all its bundles did
    ]
)

# Indices of settings (S_...) and counts in `ints` (int64)
(
    S_RANKS,
    S_HANDSHAKE,
    S_RECOMPUTE_ALL,
    S_SEED,
    NUM_FREE,
    NUM_READY,
    NUM_EVENTS,
    NUM_FINISHES,
    NUM_CHANGED,
    NUM_FREED,
    EPOCH,
    FIRST_UNFINISHED,
    NUM_ENDED,
    TIME_STEPS,
    SHARE_COMPUTATIONS,
    COMPUTED_SHARES,
    INTS,
) = range(17)
"""S_HANDSHAKE: 1 if messages above `EAGER_BYTES` wait for one more latency; S_RECOMPUTE_ALL: 1 if
every change recomputes the shares of all flows. Numbers of used entries: NUM_FREE of
`free_messages`, NUM_READY of `ready_ranks`, NUM_EVENTS of `event`, NUM_FINISHES of `finish_heap`,
NUM_CHANGED of `changed_bundles`, NUM_FREED of `freed_resources`. EPOCH: number of the computation
of shares; FIRST_UNFINISHED: first index on the tape that some rank has not left; NUM_ENDED: ranks
at the end of the tape. Statistics: TIME_STEPS: different times of events; SHARE_COMPUTATIONS:
computations of shares; COMPUTED_SHARES: affected bundles in all fillings of them."""

# Indices in `reals` (float64)
NOW, STEP_END, OVERHEAD, EAGER_BYTES, REALS = range(5)
"""STEP_END: events up to this time belong to the current time step."""

# Reasons for a stop of the engine
FINISHED, STUCK, PAUSED, FULL_MESSAGES, FULL_RING = range(5)

OUTSIDE, TIMED, REPEATED, PHASES = range(4)
"""Phases of the tape whose messages are counted separately, and their number. REPEATED: timed
rounds that also stand for those that are not simulated."""

BURST = 32
"""Largest number of operations that a rank does in one call of `run_rank`. Each can take one free
row of `messages`, so a rank only runs if so many are free."""

NEVER = np.inf

LOCAL_TRIES = 4
"""Number of fillings of a computation of shares with a few more bundles each, before it takes all
bundles that a change can reach."""

TOLERANCE = 1e-12
"""Relative difference below which times, and shares, count as equal."""


class FlowState(NamedTuple):
    """All arrays; P ranks, L blocks on the tape, B bundles, R resources, C crossings, M messages.

    Stacks and heaps are longer than their content; `ints` has the numbers of used entries.
    """

    ints: Any
    """int64 (INTS,)"""
    reals: Any
    """float64 (REALS,)"""
    operations: Any
    """OPERATION: those of a block together, by rank"""
    block_start: Any
    """int64 (blocks, P + 1): rank r's rows of block b in `operations` are
    ``block_start[b, r]:block_start[b, r + 1]``"""
    tape: Any
    """int32 (L,): numbers of blocks"""
    first_slot: Any
    """int64 (L + 1,): slot of the first message of each index on the tape"""
    phase: Any
    """int8 (L,): OUTSIDE, TIMED or REPEATED"""
    timestamp_indices: Any
    """int64 (K,): ascending indices on the tape,"""
    timestamps: Any
    """float64 (K, P): … and the times at which ranks reach them"""
    num_ranks_past: Any
    """int32 (L,): number of ranks that have left each index on the tape"""
    ranks: Any
    """RANK (P,)"""
    ready_ranks: Any
    """int32 (P,), stack: ranks that can continue"""
    request_start: Any
    """int64 (P + 1,): rows of each rank in `requests`"""
    requests: Any
    """int32: open requests of each rank: twice the message, plus 1 for a receive; −1: complete"""
    ring: Any
    """int32 (a power of two,): ``ring[slot % len(ring)]`` is the message in `messages` of which
    one end is posted; −1: none or both"""
    messages: Any
    """MESSAGE (M,)"""
    free_messages: Any
    """int32 (M,), stack: unused rows of `messages`"""
    event_time: Any
    """float64 (M + P,), heap"""
    event: Any
    """int32 (M + P,): a message whose bytes begin to flow, or −1 − r: rank r continues"""
    pair_start: Any
    """int64 (pairs + 1,): bundles of each pair of terminals"""
    bundles: Any
    """BUNDLE (B,)"""
    finish_heap: Any
    """int32 (B,), heap of bundles by `finish_time`"""
    crossings: Any
    """CROSSING (C,): those of a bundle together"""
    resources: Any
    """RESOURCE (R,)"""
    members: Any
    """MEMBER (C,): bundles with messages at each resource"""
    changed_bundles: Any
    """int32 (B,), stack: bundles whose messages have changed since the last computation"""
    freed_resources: Any
    """int32 (C,), stack: bottlenecks that a bundle has left since the last computation"""
    affected_bundles: Any
    """int32 (B,), scratch: bundles in a computation of shares"""
    affected_resources: Any
    """int32 (R,), scratch: resources in it"""
    share_heap: Any
    """float64 (R,), heap, scratch: share that a resource can give to each message"""
    share_resource: Any
    """int32 (R,): resource of each entry of `share_heap`"""
    sent_bytes: Any
    """float64 (B, PHASES)"""
    sent_messages: Any
    """int64 (B, PHASES)"""


_INT32, _INT64, _FLOAT64 = np.zeros(1, np.int32), np.zeros(1, np.int64), np.zeros(1)

FLOW = typeof(
    FlowState(
        ints=_INT64,
        reals=_FLOAT64,
        operations=np.zeros(1, OPERATION),
        block_start=np.zeros((1, 1), np.int64),
        tape=_INT32,
        first_slot=_INT64,
        phase=np.zeros(1, np.int8),
        timestamp_indices=_INT64,
        timestamps=np.zeros((1, 1)),
        num_ranks_past=_INT32,
        ranks=np.zeros(1, RANK),
        ready_ranks=_INT32,
        request_start=_INT64,
        requests=_INT32,
        ring=_INT32,
        messages=np.zeros(1, MESSAGE),
        free_messages=_INT32,
        event_time=_FLOAT64,
        event=_INT32,
        pair_start=_INT64,
        bundles=np.zeros(1, BUNDLE),
        finish_heap=_INT32,
        crossings=np.zeros(1, CROSSING),
        resources=np.zeros(1, RESOURCE),
        members=np.zeros(1, MEMBER),
        changed_bundles=_INT32,
        freed_resources=_INT32,
        affected_bundles=_INT32,
        affected_resources=_INT32,
        share_heap=_FLOAT64,
        share_resource=_INT32,
        sent_bytes=np.zeros((1, 1)),
        sent_messages=np.zeros((1, 1), np.int64),
    )
)
"""Numba's type of `flow`, which depends on the types of the arrays and not on their lengths."""


@inline
def split_mix_64(word):
    """Return the hash of a 64-bit word that the generator SplitMix64 uses for its output."""
    z = np.uint64(word) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
