"""Memory layout of the packet engine: rows of integers, most of which fit into one cache line.

A hop touches few lines: the rows of the packet's queue, of its next queue, of the channel between
them, and of the packet; slots only if packets queue. Queues are numbered by switch and port, so
that a cycle walks through memory in one direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from routelab.kernels import hops


def _row_type(**columns: int) -> np.dtype[Any]:
    """Return the type of a row of int32 fields, from the column number of each field.

    The size is a power of two, so that no row lies in two cache lines (of 64 bytes).
    """
    num_columns = max(columns.values()) + 1
    return np.dtype(
        {
            "names": list(columns),
            "formats": [np.int32] * len(columns),
            "offsets": [4 * column for column in columns.values()],
            "itemsize": 4 * (1 << (num_columns - 1).bit_length()),
        }
    )


def _packed_row_type(*names: str) -> np.dtype[Any]:
    """Return the type of a row of int32 fields in columns 0, 1, ..."""
    return _row_type(**{name: column for column, name in enumerate(names)})


QUEUE = np.dtype(
    [
        # The packet at the front: its only candidate, or the one that was chosen last. (Several
        # candidates are in `candidates`.)
        ("out_port", np.int32),
        ("first_queue", np.int32),
        ("vc_request", np.int16),
        ("num_candidates", np.uint8),  # of the packet at the front; 0: not routed yet
        ("wait_state", np.uint8),  # NOT_WAITING, IN_WAITING_LIST or STALLED
        ("front", np.int16),  # index of the unit that leaves next, in the ring of slots
        ("count", np.int16),  # units in the buffer and on their way to it
        ("packet", np.int32),  # of the unit that leaves next,
        ("ready", np.int32),  # … when it may
        ("port", np.int32),
        ("_7", np.int32),
    ]
)
"""A virtual channel's buffer, at the receiving end of a channel."""

NOT_WAITING, IN_WAITING_LIST, STALLED = range(3)
"""Wait states of a queue. NOT_WAITING: scheduled in a cycle, or empty. IN_WAITING_LIST: waits for
room in one virtual channel, in the list of that queue (`first_waiter`). STALLED: waits for one of
several; a bit in `stalled`."""

MAX_CANDIDATES = 255
"""Largest number of candidates of a packet."""

SENDER = _packed_row_type(
    "switch",  # where the channel begins; −1 − terminal for an injection
    "first_waiter",  # first in the list of queues that wait for room in this one; −1: none
)
"""Who sends to a queue, as credits need it: so they do not touch the rows of queues and ports."""

QUEUE_EXTRA = _packed_row_type(
    "next_waiter",  # the next queue in the list that begins with `first_waiter`; −1: none
    "units_sent",  # units of the packet at the front that have left (wormhole)
    "holder",  # 1 + the queue whose packet holds this virtual channel (wormhole); 0: none;
    # negative: free from the cycle with this absolute value on
)
"""Columns of a queue that are rarely used."""

UNLIMITED_SLACK = 1 << 30
"""Slack of a channel behind FIFOs: packets cross the switch whether it is busy or not."""

MOST_UNITS = 32767
"""Largest number of units in a buffer."""

EJECTION = -1
"""`first_queue` of a candidate that ejects the packet to its terminal: there is no next queue."""

NEED_MASK, BODY_BIT, ESCAPE_BIT, VCS_SHIFT = 3, 4, 8, 4
"""Layout of `vc_request`, the virtual channels that a packet asks for:

    bits 0, 1    units of room that it needs in one of them: 2 to enter a ring under bubble
    bit 2        body flits: the packet holds the virtual channel already (wormhole)
    bit 3        the candidate is an escape
    bits 4 …     number of consecutive virtual channels, any of which may be taken
"""

HOP_CHANNEL, HOP_CLASS, HOP_PENALTY = range(3)
"""Columns of `hop_out`, into which hop writes candidates."""

FIRST_VC, VC_COUNT, UNDER_BUBBLE = range(3)
"""Columns of `classes`: first virtual channel, number of them, 1 if under bubble flow control."""

ROOM = _packed_row_type("capacity", "credits")
"""Columns of a queue for routing functions (see `hops`); rows of waiting flits follow."""

FIFO = _packed_row_type(
    "credits",  # units that the buffer behind the channel has room for
    "front",  # index of the unit that leaves next, in the ring of `fifo_slots`
    "count",  # units that wait for the channel
    "packet",  # of the unit that leaves next
)
"""The FIFO of a virtual channel at its output, numbered as the buffer behind the channel."""

WATCH = np.dtype(
    [
        ("low_penalty_bits", np.uint64),  # candidates of the least penalty; 0: not stalled yet,
        ("high_penalty_bits", np.uint64),  # … and all others
        ("max_units", np.int32),  # a candidate of the least penalty with more units is not the best
        ("penalty_gap", np.int32),  # from the least penalty to the second least
        ("least_penalty", np.int32),
        ("_7", np.int32),
    ]
)
"""What a stalled queue waits for. A candidate's bit is a hash of its port and class (`_watch_bit`).
Another candidate may have the same bit: a queue may wake for nothing, but never misses a change."""

NO_LIMIT = (1 << 31) - 1
"""`max_units` of a stalled queue that waits for room only."""

LINK = np.dtype(
    [
        ("ready_vcs", np.uint64),  # bits of the virtual channels with a waiting unit and a credit
        ("sending_queue", np.int32),  # the queue to which a unit leaves its FIFO now; −1: none
        ("round_start", np.int32),  # virtual channel that comes first in round-robin order
    ]
)
"""A channel that takes units from FIFOs, at its sender."""

SLOT = _packed_row_type("packet", "ready")
"""A unit in a buffer behind the front one, and the cycle from which it may leave."""

CANDIDATE = _packed_row_type("out_port", "first_queue", "vc_request", "penalty")
"""A candidate: output port, first queue, `vc_request` (see NEED_MASK), and penalty in units."""

OUTPUT = _packed_row_type(
    "free_at",  # when the channel is idle again
    "slack",  # cycles of work that may queue for it
    "unit_cycles",  # cycles that a unit takes on it
    "delay",  # from a unit's departure to its earliest departure at the next switch
    "crossing_cycles",  # cycles that a unit for this channel occupies its input port
    "round_start",  # input port of the switch that comes first in round-robin order
    "best_proposal",  # row of `proposals`; invalid if that row is not for this output
    "crossing_until",  # when the crossbar can send to this output again
)
"""A channel, or a terminal's injection or ejection, at its sender."""

INPUT = _packed_row_type(
    "free_at",  # when the port can be read again
    "switch",
    "channel",  # the topology's number; −1 − terminal for an injection
    "ring_next",  # the next port along its complete ring; −1: no ring
    "upstream_switch",  # switch where the channel begins; −1: a terminal
    "credit_delay",
    "round_start",  # queue of the port that comes first in round-robin order
    "first_queue",  # the queue of its virtual channel 0
)
"""A channel, or a terminal's injection, at the switch that it enters."""

PACKET = _row_type(
    source=hops.SOURCE,
    target=hops.TARGET,
    destination=hops.DESTINATION,
    waypoint=hops.WAYPOINT,
    phase=hops.PHASE,
    hops=hops.HOPS,
    source_terminal=hops.SOURCE_TERMINAL,
    generated_at=7,
    target_terminal=hops.TARGET_TERMINAL,
    injected_at=13,
    message=14,
    sequence=15,
)
"""A packet; columns 8 to 11 are STATE of routelab.kernels.hops. `message` is a row of `messages`;
`sequence` numbers the packets of a message from 0."""

TERMINAL = _packed_row_type(
    "due",  # when the next message is generated; −1: never
    # the current message:
    "packets_left",  # packets that are not injected yet,
    "target",  # … the terminal that it goes to,
    "sequence",  # … the number of its next packet, from 0,
    "message",  # … its row of `messages`,
    "generated_at",  # … the cycle of its generation
    "num_messages",  # messages begun
    "port",  # of the injection
    "switch",
    "packet",  # the packet that is being injected,
    "units_left",  # … its units that are not injected yet,
    "queue",  # … and the queue that it enters
    "packets_sent",  # packets injected so far
    "room_after",  # value of `packets_sent` at which the source queue has room for the next
    # message; 0: it has room
    "waits_for_credit",  # 1: the next credit of the injection wakes the terminal
    "_15",
)

ACTIVE_QUEUE = np.dtype(
    [
        ("queue", np.int32),
        ("port", np.int32),
        ("packet", np.int32),
        ("least_cost", np.int32),  # of the candidates, when they were ranked in this cycle,
        ("cheapest", np.uint64),  # … and the bits of those that had it; 0: there are more than 64
    ]
)
"""A queue that is examined in this cycle, with its input port and front packet; queue −1:
finished."""

PROPOSAL = _packed_row_type("entry", "next_queue", "out_port", "rank")
"""Proposal of an input port: its row of `active`, the next queue, the output, the rank."""

MESSAGE = _packed_row_type(
    "generated_at",
    "arrived",  # number of packets that have arrived
    "expected",  # `sequence` of the first packet that is not delivered yet, for in-order delivery
    "_3",
)

(
    GENERATED,  # flits
    INJECTED,  # flits
    EJECTED,  # flits, by destination
    DELIVERED,  # packets that have arrived, by source
    LATENCY_BY_SOURCE,  # sum over these packets
    LATENCY_BY_TARGET,  # sum over the packets of a destination,
    RECEIVED,  # … and their number
    LAST_ARRIVAL,  # cycle; −1: none yet
) = range(8)
"""Columns of `by_terminal` (int64)."""

NEXT_GENERATION, NUM_GENERATED = range(2)
"""Columns of `counted`."""

# totals (int64); a reset clears those up to IN_NETWORK.
(
    SUM_EJECTED_PACKETS,
    SUM_LATENCY,
    SUM_NETWORK,
    SUM_MESSAGE_LATENCY,
    SUM_IN_ORDER,
    MAX_LATENCY,
    MAX_NETWORK,
    MAX_MESSAGE,
    MAX_IN_ORDER,
    ESCAPE_HOPS,
    IN_NETWORK,
    NEXT_NEW_PACKET,
    NUM_FREE_PACKETS,
    NEXT_NEW_MESSAGE,
    NUM_FREE_MESSAGES,
    DONE_MESSAGES,
    FAILED_PACKET,
    TOTALS,
) = range(18)
"""NEXT_NEW_PACKET: first row of `packets` that was never used; the rows that are free again are the
first NUM_FREE_PACKETS of the stack `free_packets`. The same for messages. FAILED_PACKET: 1 + a
packet with more hops than the algorithm claims, or −1 − one without a valid candidate; 0: none."""

# settings (int64)
(
    S_VCS,
    S_CAPACITY,
    S_PHASE_CLASSES,
    S_UNITS_PER_PACKET,
    S_UNIT_FLITS,
    S_SPEEDUP,
    S_PRIORITY,
    S_WHEEL_MASK,
    S_EJECT_DELAY,
    S_BY_OCCUPANCY,
    S_MAX_HOPS,
    S_MESSAGE_PACKETS,
    S_CLOSED_LOOP,
    S_IN_ORDER,
    S_QUEUE_LIMIT,
    S_SOURCE_MASK,
    S_TO_SELF,
    S_FIRST_EJECTION,
    S_MAX_CANDIDATES,
    S_PREFETCH,
    S_PHASES,
    S_RANKING,
    S_REPEAT,
    S_KEEPS_STATE,
    S_WAITING_ROW,
    S_FIFO_UNITS,
    S_FIXED_CANDIDATES,
    S_TIE_SEED,
    S_ESCAPE_WAIT,
    S_TABLE_ROUTED,
    S_CHECK_CANDIDATES,
    S_ONE_VC_CLASSES,
    SETTINGS,
) = range(33)
"""S_PREFETCH: 1 if the data of cycles exceed the caches near the processor. S_WAITING_ROW: row of
`visible_queues` with the flits that wait for channel 0; −1: none. S_FIFO_UNITS: units of a FIFO at
an output; 0: none. S_PHASE_CLASSES: classes of virtual channels of one phase.
S_FIXED_CANDIDATES: 1 if candidates never change. S_TIE_SEED: random word for the choice among equal
ones. S_ESCAPE_WAIT: cycles after which a packet may take an escape instead of its best candidate.
S_TABLE_ROUTED: 1 if packets follow the paths of a route table, which needs no call of hop.
S_CHECK_CANDIDATES: 0 if no candidate needs a check: `RouteTable` has checked its paths, and nothing
sets waypoints. S_ONE_VC_CLASSES: 1 if every class has one virtual channel. S_FIRST_EJECTION: the
first row of `outputs` that is an ejection. S_SOURCE_MASK, S_WHEEL_MASK: rows of a timing wheel − 1,
so that ``cycle & mask`` is the row of a cycle."""

ROOM_NOW, BEST, BEST_OR_ESCAPE = range(3)
"""Rankings of candidates, S_RANKING."""

ROUTE_ONCE, ROUTE_EACH_CYCLE, RANK_EACH_CYCLE, RANK_ON_CHANGE = range(4)
"""What is repeated while a packet waits, S_REPEAT:

    ROUTE_ONCE          nothing
    ROUTE_EACH_CYCLE    the call of hop, and the choice among its candidates, in every cycle
    RANK_EACH_CYCLE     the choice of the best candidate in every cycle
    RANK_ON_CHANGE      the same only if it may have another result; the results are equal
"""

PREFERRED_PENALTY = -(1 << 30)
"""Penalty of the best candidate if all other candidates are escapes."""

PATIENCE = 1000
"""Cycles after which a packet that chooses again while it waits may count as stuck."""

MOST_ESCAPE_WAIT = PATIENCE // 2
"""Largest S_ESCAPE_WAIT: a packet that may still escape does not count as stuck."""

ROUND_ROBIN, RANDOM, AGE = range(3)
"""Arbitration policies, S_PRIORITY."""

HOP_BINS = 1024
"""Length of `hops`: packets by number of hops. The last bin also has all packets with more."""
