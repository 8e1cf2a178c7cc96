"""Memory layout of the packet engine: rows of integers, most of them one cache line each.

A hop touches few lines: the rows of the packet's queue, of its next queue, of the channel between
them, and of the packet; slots only if packets queue. Queues are numbered by switch and port, so
that a cycle walks through memory in one direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from routelab.kernels import hops as of


def _row(**fields: int) -> np.dtype[Any]:
    """Return the type of a row of named integers at given places (in 32 bits)."""
    size = max(fields.values()) + 1
    return np.dtype(
        {
            "names": list(fields),
            "formats": [np.int32] * len(fields),
            "offsets": [4 * place for place in fields.values()],
            "itemsize": 4 * (1 << (size - 1).bit_length()),
        }
    )


def _fields(*names: str) -> np.dtype[Any]:
    return _row(**{name: place for place, name in enumerate(names)})


QUEUE = np.dtype(
    [
        ("out", np.int32),  # the candidate of the packet at the front, if it has one: port,
        ("first", np.int32),  # … first queue,
        ("kind", np.int16),  # … kind. Several are in `candidates`
        ("choices", np.uint8),  # candidates of the packet at the front; 0: not routed yet
        ("waiting", np.uint8),  # 0: scheduled or empty; 1: in a list; 2: among the stalled
        ("front", np.int16),  # place of the unit that leaves next, in the ring of slots
        ("count", np.int16),  # units in the buffer and on their way to it
        ("packet", np.int32),  # of the unit that leaves next,
        ("ready", np.int32),  # … when it may
        ("port", np.int32),
        ("_7", np.int32),
    ]
)
"""A virtual channel's buffer, at the far end of a channel."""

MOST_CHOICES = 255
"""Largest number of candidates of a packet."""

SENDER = _fields(
    "switch",  # where the channel begins; of a terminal's way in, −1 − terminal
    "wait_first",  # the first of its queues that wait for room in this one; −1: none
)
"""Who sends to a queue, as credits need it: so they do not touch the rows of queues and ports."""

QUEUE_MORE = _fields(
    "wait_next",  # this one's place in another's list
    "sent",  # units of the packet at the front that have left (wormhole)
    "holder",  # 1 + the queue whose packet holds this virtual channel (wormhole); 0: none;
    # negative: free from the cycle with this absolute value on
)
"""Columns of a queue that are rarely used."""

ALWAYS = 1 << 30
"""Slack of a channel behind FIFOs: packets cross the switch whether it is busy or not."""

MOST_UNITS = 32767
"""Largest number of units in a buffer."""

LEAVES = -1
"""First queue of a candidate without a queue: the packet leaves the network."""

# A candidate's kind: units of room needed, marks, and from bit 4 on its number of virtual channels.
NEED, BODY, ESCAPES, NUM_VCS = 3, 4, 8, 4

ROOM = _fields("capacity", "credits")
"""Columns of a queue for routing functions (see `hops`); rows of waiting flits follow."""

FIFO = _fields(
    "credits",  # units that the buffer behind the channel has room for
    "front",  # place of the unit that leaves next, in the ring of `fifo_slots`
    "count",  # units that wait for the channel
    "packet",  # of the unit that leaves next
)
"""The FIFO of a virtual channel at its output, numbered as the buffer behind the channel."""

WATCH = np.dtype(
    [
        ("near", np.uint64),  # bits of the candidates with the least penalty; 0: not stalled yet,
        ("far", np.uint64),  # … and of the others
        ("most", np.int32),  # units above which a near candidate cannot be the best
        ("gap", np.int32),  # least penalty of the others, beyond that of the near ones
        ("lowest", np.int32),  # penalty of the near ones
        ("_7", np.int32),
    ]
)
"""What a stalled queue waits for."""

NO_LIMIT = (1 << 31) - 1
"""`most` of a stalled queue that waits for room only."""

LINK = np.dtype(
    [
        ("able", np.uint64),  # bits of the virtual channels with a waiting unit and a credit
        ("sending", np.int32),  # the queue whose unit is on its way out of the FIFO; −1: none
        ("turn", np.int32),  # virtual channel that comes first in the round
    ]
)
"""A channel that takes units from FIFOs, at its sender."""

SLOT = _fields("packet", "ready")
"""A unit in a buffer behind the front one, and the cycle from which it may leave."""

CANDIDATE = _fields("out", "first", "kind", "penalty")

OUTPUT = _fields(
    "free_at",  # when the channel is idle again
    "slack",  # cycles of work that may queue for it
    "busy",  # cycles that a unit takes on it
    "delay",  # from a unit's departure to its earliest departure at the next switch
    "hold",  # cycles that a unit on its way to this channel occupies the port it came in by
    "turn",  # input port of the switch that comes first in the round
    "choice",  # the best proposal, if it is for this channel
    "taken_until",  # when a unit can be sent to its queue again
)
"""A channel, or a terminal's injection or ejection, at its sender."""

INPUT = _fields(
    "free_at",  # when the port can be read again
    "switch",
    "channel",  # the topology's number; of a terminal's way in, −1 − terminal
    "ring_next",  # the next port along its complete ring; −1: no ring
    "from_",  # switch where the channel begins; −1: a terminal
    "credit_delay",
    "turn",  # virtual channel that comes first in the round
    "queue",  # its first
)
"""A channel, or a terminal's injection, at the switch that it enters."""

PACKET = _row(
    source=of.SOURCE,
    target=of.TARGET,
    destination=of.DESTINATION,
    waypoint=of.WAYPOINT,
    phase=of.PHASE,
    hops=of.HOPS,
    terminal=of.SOURCE_TERMINAL,
    born=7,  # cycle of generation
    drop=of.TARGET_TERMINAL,
    entered=13,  # cycle of injection
    message=14,
    sequence=15,
)
"""A packet; the columns between are those of routelab.kernels.hops."""

TERMINAL = _fields(
    "due",  # when the next message is generated; −1: never
    "left",  # packets of the current message that have not entered,
    "target",  # … the terminal that it goes to,
    "sequence",  # … its next packet,
    "message",  # … its row,
    "born",  # … when it was generated
    "number",  # messages begun
    "port",  # the way in
    "switch",
    "packet",  # the packet that enters,
    "units",  # … its units that have not entered (wormhole),
    "queue",  # … and its queue
    "sent",  # packets that have entered
    "owed",  # number of entries after which the next message has room; 0: it has room
    "waits",  # 1: the next credit of the way in wakes the terminal
    "_15",
)

WORK = np.dtype(
    [
        ("queue", np.int32),
        ("port", np.int32),
        ("packet", np.int32),
        ("least", np.int32),  # the least cost when candidates were ranked in this cycle,
        ("cheapest", np.uint64),  # … and the bits of those that had it; 0: there are more than 64
    ]
)
"""A queue that is examined in this cycle, with its input port and front packet; queue −1:
finished."""

PROPOSAL = _fields("entry", "next_queue", "out", "rank")
"""Proposal of an input port: its row of `active`, the next queue, the output, the rank."""

MESSAGE = _fields("born", "arrived", "expected", "_3")

# Rows of counts by terminal (8 columns, int64).
GENERATED, INJECTED, EJECTED, DELIVERED, BY_SOURCE, BY_TARGET, RECEIVED, FINISHED = range(8)

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
    FRESH_PACKET,
    FREE_PACKETS,
    FRESH_MESSAGE,
    FREE_MESSAGES,
    DONE_MESSAGES,
    LOST,
    TOTALS,
) = range(18)
"""LOST: 1 + a packet with more hops than the algorithm claims, or −1 − one without a candidate;
0: none."""

# settings (int64)
(
    S_VCS,
    S_CAPACITY,
    S_CLASSES,
    S_UNITS,
    S_UNIT_FLITS,
    S_SPEEDUP,
    S_PRIORITY,
    S_WHEEL_MASK,
    S_EJECT_DELAY,
    S_OCCUPANCY,
    S_MAX_HOPS,
    S_MESSAGE_PACKETS,
    S_CLOSED,
    S_IN_ORDER,
    S_QUEUE_LIMIT,
    S_SOURCE_MASK,
    S_TO_SELF,
    S_EJECTIONS,
    S_MAX_CANDIDATES,
    S_FAR,
    S_PHASES,
    S_RANKING,
    S_AGAIN,
    S_KEEPS_STATE,
    S_WAITING,
    S_FIFO,
    S_FIXED,
    S_TIES,
    S_ESCAPE_WAIT,
    S_FOLLOWS,
    S_CHECKS,
    S_ONE_VC,
    SETTINGS,
) = range(33)
"""S_FAR: 1 if the data of cycles exceed the caches near the processor. S_WAITING: row of `public`
with the flits that wait for channel 0; −1: none. S_FIFO: units of a FIFO at an output; 0: none.
S_FIXED: whether candidates never change. S_TIES: random word for the choice among equal ones.
S_ESCAPE_WAIT: cycles after which a packet may take an escape instead of its best candidate.
S_FOLLOWS: 1 if packets follow the paths of a route table, which needs no call of hop. S_CHECKS: 0
if no candidate needs a check: `RouteTable` has checked its paths, and nothing sets waypoints.
S_ONE_VC: 1 if every class has one virtual channel. S_EJECTIONS: the first
row of `outputs` that is an ejection."""

ROOM_NOW, BEST, BEST_OR_ESCAPE = range(3)
"""Rankings of candidates, S_RANKING."""

ONCE, CALL_AGAIN, RANK_AGAIN, RANK_ON_CHANGE = range(4)
"""What is repeated while a packet waits, S_AGAIN: nothing; the call of hop, and the choice, in
every cycle; the choice of the best candidate in every cycle; the same only if it may have another
result. The results of the last two are equal."""

PREFERRED = -(1 << 30)
"""Penalty of the best candidate if all other candidates are escapes."""

PATIENCE = 1000
"""Cycles after which a packet with changing candidates counts as waiting permanently."""

MOST_ESCAPE_WAIT = PATIENCE // 2
"""Largest S_ESCAPE_WAIT: a packet that may still escape does not wait permanently."""

ROUND_ROBIN, RANDOM, AGE = range(3)

HOP_BINS = 1024
