"""Reachable states of packets of hop-by-hop algorithms, and their dependencies.

A *resource* is a class of virtual channels of a channel, numbered ``channel * classes + class``
with the classes of all phases. A *state* is a packet at the front of a buffer: its switch, the
resource that it came over, and every column of its row that routing functions may read.
"""

from typing import Any, NamedTuple

import numpy as np

from routelab.kernels.hops import (
    DESTINATION,
    ESCAPE,
    HOPS,
    PACKET_COLUMNS,
    PHASE,
    SOURCE,
    SOURCE_TERMINAL,
    STATE,
    STATES,
    TARGET,
    TARGET_TERMINAL,
    WAYPOINT,
)
from routelab.kernels.jit import helper

MAX_ANSWERS = 1024
"""Largest number of different answers in a state."""
MAX_CALLS_PER_STATE = 100_000
"""Largest number of outcomes of the draws of a call that are tried."""
RANDOM_WORDS = 2
"""Calls with random words per state and content of the queues, whose answers must be known."""

ALL_GUARDED = 20_000
"""Calls of which each is guarded; of later ones, one in `GUARDED_SHARE`."""
GUARDED_SHARE = 17
"""Prime, so that every outcome of a draw with many outcomes has its turn."""

# Rows of `Findings.problems`.
(
    DEAD_END,
    WRONG_CHANNEL,
    WRONG_CLASS,
    WRONG_COUNT,
    WRONG_PENALTY,
    WRITES,
    WRONG_WAYPOINT,
    TOO_LONG,
    NOT_REPEATABLE,
    NO_ESCAPE,
    SEVERAL_ROUTES,
    TOO_MANY_DRAWS,
    ON_QUEUES,
    OTHER_DRAWS,
    WRITES_ELSEWHERE,
    KEEPS_CELL,
) = range(16)
PROBLEMS = 16
# Columns: an example, the number of states, and the last of them.
(
    P_SOURCE,
    P_DESTINATION,
    P_SWITCH,
    P_CHANNEL,
    P_VALUE,  # class, column or number that is wrong
    P_SOURCE_TERMINAL,
    P_TARGET_TERMINAL,
    P_COUNT,
    P_STATE,
) = range(9)
PROBLEM_COLUMNS = 9
NO_VALUE = np.int64(-1)
"""Of a problem without a value."""

# Entries of `SearchInput.limits`.
(
    PHASES,
    CLASSES,
    CANDIDATES,
    MAX_HOPS,
    MAX_STATES_OF_PAIR,
    MAX_STATES_OF_ALL,
    SWITCHES,
    CHOICES,
    KEEPS_STATE,
    CALLED_AGAIN,
    ESCAPES_ONLY,
    QUEUE_CONTENTS,
) = range(12)
LIMITS = 12

# Entries of `Findings.numbers`.
(
    N_STATES,  # states of all pairs
    N_PAIRS,  # pairs that were examined
    N_UNFINISHED,  # those of them with too many states
    N_SAMPLED,  # calls with random words
    N_CALLS,  # calls for all outcomes of draws
) = range(5)
NUMBERS = 5

AT_SWITCH, AT_CHANNEL, AT_CLASS, AT_TARGET, AT_WAYPOINT, AT_PHASE, AT_HOPS, AT_STATE = range(8)
STATE_COLUMNS = AT_STATE + STATES
_MARK = -77
_PRIME = np.uint64(1099511628211)
_SEED = np.uint64(1469598103934665603)


class SearchInput(NamedTuple):
    """Input of a search.

    Attributes
    ----------
    tables : int32 array
    reals : float64 array
    channels : int32 array, shape (C, 3)
        Source and target of each channel, and its place among those that leave its source.
    escape_of : int32 array, shape (R,)
        Row of each resource in `Findings.extended_dependencies`, −1 for other resources.
    queue_contents : int32 array, shape (P, Q, QUEUE_COLUMNS)
        Possible contents of all queues: empty, full, then any others.
    limits : int64 array, shape (LIMITS,)
        Phases, classes of a phase, candidates, most hops, most states of a pair, most states in
        total, switches; then 1 or 0: whether inject makes choices, whether STATE survives the
        waypoint, whether hop is called again while a packet waits, and whether only dependencies
        on escape candidates are collected; then the number of `queue_contents` to try.
    """

    tables: Any
    reals: Any
    channels: Any
    escape_of: Any
    queue_contents: Any
    limits: Any


class Findings(NamedTuple):
    """Results of a search, all updated; R resources, E escapes, N pairs of switches or terminals.

    Attributes
    ----------
    dependencies : uint64 array, shape (R, words)
        Bit ``port * classes + class`` of row r, with the classes of all phases: a packet that came
        over r may wait for that resource of the next switch.
    extended_dependencies : uint64 array, shape (E, words)
        Bit a of row b: a packet that came over escape a may wait for escape b, directly or later,
        but before it takes an escape candidate. Without rows, this is not collected.
    used : bool array, shape (2, R)
        Resources that are candidates, and that are escape candidates.
    problems : int64 array, shape (PROBLEMS, PROBLEM_COLUMNS)
        First example of each (−1: none), and how many states have it.
    longest : int32 array, shape (N,)
        Largest number of hops of a pair's walks; −1 if none ends.
    numbers : int64 array, shape (NUMBERS,)
    queries : int64 array, shape (K, 3)
        Dependencies whose cause is sought: row and bit of `extended_dependencies`, or of
        `dependencies`; then the first pair that causes it, or −1.
    """

    dependencies: Any
    extended_dependencies: Any
    used: Any
    problems: Any
    longest: Any
    numbers: Any
    queries: Any


@helper()
def copy_row(target, values):
    """Overwrite a row, in a loop, which compiles ten times as fast as a slice."""
    for i in range(len(target)):
        target[i] = values[i]


@helper()
def fill_packet(packet, ends):
    """Fill a packet's row before injection; columns that functions must not read get a mark.

    `ends` is a row of the pairs: source, destination, source terminal, target terminal.
    """
    for i in range(PACKET_COLUMNS):
        packet[i] = _MARK
    packet[SOURCE], packet[DESTINATION], packet[TARGET] = ends[0], ends[1], ends[1]
    packet[SOURCE_TERMINAL], packet[TARGET_TERMINAL] = ends[2], ends[3]
    packet[WAYPOINT], packet[PHASE], packet[HOPS] = -1, 0, 0
    for i in range(STATES):
        packet[STATE + i] = 0


@helper()
def record_problem(problem, packet, location, value):
    """Count a problem by states; keep the first example: the packet, its state, and a value."""
    if problem[P_STATE] < location[4]:
        problem[P_COUNT] += 1
        problem[P_STATE] = location[4]
    if problem[P_SOURCE] < 0:
        problem[P_SOURCE] = packet[SOURCE]
        problem[P_DESTINATION] = packet[DESTINATION]
        problem[P_SWITCH] = location[0]
        problem[P_CHANNEL] = location[1]
        problem[P_VALUE] = value
        problem[P_SOURCE_TERMINAL] = packet[SOURCE_TERMINAL]
        problem[P_TARGET_TERMINAL] = packet[TARGET_TERMINAL]


@helper()
def reset_draws(script):
    """Set all outcomes of draws to the first one."""
    for i in range(len(script)):
        script[i, 0], script[i, 1] = 0, 0


@helper()
def next_draws(script):
    """Set the next outcomes of the draws of the last call; return whether there are any.

    The last draw changes first: which draws follow depends on the outcomes before them.
    """
    draw = np.int64(script[0, 0])
    script[0, 0], script[0, 1] = 0, 0
    while draw > 0:
        script[draw, 1] += 1
        if script[draw, 1] < script[draw, 0]:
            return True
        script[draw, 1] = 0
        draw -= 1
    return False


@helper()
def restore_packet(packet, ends, state):
    """Fill a packet's row from a state."""
    fill_packet(packet, ends)
    packet[TARGET], packet[WAYPOINT] = state[AT_TARGET], state[AT_WAYPOINT]
    packet[PHASE], packet[HOPS] = state[AT_PHASE], state[AT_HOPS]
    for i in range(STATES):
        packet[STATE + i] = state[AT_STATE + i]


@helper()
def fill_arrival_state(state, packet, arrival, hops, keeps_state):
    """Fill the state of a packet that reaches a switch; return whether it leaves there.

    `arrival`: switch, channel and class of all phases that it came over.
    """
    switch, channel, vc = arrival
    state[AT_SWITCH], state[AT_CHANNEL], state[AT_CLASS] = switch, channel, vc
    state[AT_TARGET], state[AT_WAYPOINT] = packet[TARGET], packet[WAYPOINT]
    state[AT_PHASE], state[AT_HOPS] = packet[PHASE], hops
    for i in range(STATES):
        state[AT_STATE + i] = packet[STATE + i]
    if switch != packet[TARGET]:
        return False
    if packet[PHASE] == 0 and packet[WAYPOINT] >= 0:
        state[AT_PHASE], state[AT_TARGET] = 1, packet[DESTINATION]
        for i in range(0 if keeps_state else STATES):
            state[AT_STATE + i] = 0
    return switch == state[AT_TARGET]


@helper()
def fill_waiting_state(state, state_before, packet):
    """Fill the state of a packet that stays, with the columns that hop has written."""
    copy_row(state, state_before)
    state[AT_TARGET], state[AT_WAYPOINT] = packet[TARGET], packet[WAYPOINT]
    for i in range(STATES):
        state[AT_STATE + i] = packet[STATE + i]


@helper()
def find_or_add_state(state, states, slots, count, stamp):
    """Return a state's number, `count` if it is new and was added, −1 without room."""
    key = _SEED
    for i in range(STATE_COLUMNS):
        key = (key ^ np.uint64(np.uint32(state[i]))) * _PRIME
    mask = len(slots) - 1
    slot = np.int64((key ^ (key >> np.uint64(29))) & np.uint64(mask))
    while slots[slot, 0] == stamp:
        number = slots[slot, 1]
        is_equal = True
        for i in range(STATE_COLUMNS):
            is_equal &= states[number, i] == state[i]
        if is_equal:
            return number
        slot = (slot + 1) & mask
    if count == len(states):
        return -1
    slots[slot, 0], slots[slot, 1] = stamp, count
    for i in range(STATE_COLUMNS):
        states[count, i] = state[i]
    return count


@helper()
def hash_answer(candidates, count, packet):
    """Return a hash of a call's answer: candidates without penalties, and the packet's columns."""
    key = _SEED ^ np.uint64(count)
    for i in range(min(count, len(candidates))):
        for j in range(2):
            key = (key ^ np.uint64(np.uint32(candidates[i, j]))) * _PRIME
        # penalties decide which candidate is taken, and the checker follows all of them
        kind = 2 if candidates[i, 2] < 0 else np.int64(candidates[i, 2] >= ESCAPE)
        key = (key ^ np.uint64(kind)) * _PRIME
    for j in range(PACKET_COLUMNS):
        key = (key ^ np.uint64(np.uint32(packet[j]))) * _PRIME
    return key


@helper()
def clear_set(bits):
    """Empty a set."""
    for w in range(len(bits)):
        bits[w] = np.uint64(0)


@helper()
def add_to_set(bits, added_bits):
    """Add a set to another; return whether that makes it larger."""
    grows = False
    for w in range(len(bits)):
        grows |= (added_bits[w] & ~bits[w]) != np.uint64(0)
        bits[w] |= added_bits[w]
    return grows
