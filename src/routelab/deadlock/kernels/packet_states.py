"""Reachable states of packets of hop-by-hop algorithms, and their dependencies.

A *resource* is a class of virtual channels of a channel, numbered ``channel * classes + class``
with the classes of all phases. A *state* is a packet at the front of a buffer: its switch, the
resource that it came over, and every column of its row that routing functions may read.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.deadlock.kernels.guards import C_PENALTY
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
"""Calls of which each is repeated in other memory; of later ones, one in `GUARDED_SHARE`."""
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
    CELL_WITH_MEMORY,
) = range(16)
NUM_PROBLEMS = 16
# Columns of `Findings.problems`: the first state with the problem, then how many there are.
(
    P_SOURCE,
    P_DESTINATION,
    P_SWITCH,
    P_CHANNEL,
    P_VALUE,  # class, column or number that is wrong
    P_SOURCE_TERMINAL,
    P_TARGET_TERMINAL,
    P_COUNT,
    P_STATE,  # number of the state that was counted last, so that each is counted once
) = range(9)
PROBLEM_COLUMNS = 9
NO_VALUE = np.int64(-1)
"""In `P_VALUE`, of a problem without a value."""

# Entries of `SearchInput.settings`.
(
    S_PHASES,  # 1, or 2 with waypoints
    S_CLASSES,  # classes of virtual channels of one phase
    S_CANDIDATES,  # largest number of candidates of a call
    S_MAX_HOPS,  # a packet with more hops is a problem, and not followed further
    S_MAX_STATES_OF_PAIR,
    S_MAX_STATES,  # states of all pairs at which the search stops
    S_SWITCHES,  # switches of the network
    S_INJECT_CHOOSES,  # 1: the program has an inject function, so injections may differ
    S_KEEPS_STATE,  # 1: STATE survives the waypoint
    S_CALLED_AGAIN,  # 1: hop is called again while a packet waits
    S_ESCAPES_ONLY,  # 1: dependencies on escape candidates only
    S_QUEUE_CONTENTS,  # how many of `SearchInput.queue_contents` to try
) = range(12)
NUM_SETTINGS = 12

# Entries of `Findings.numbers`.
(
    N_STATES,  # states of all pairs
    N_PAIRS,  # pairs that were examined
    N_UNFINISHED,  # those of them with too many states
    N_SAMPLED,  # calls with random words
    N_CALLS,  # calls for all outcomes of draws
) = range(5)
NUMBERS = 5

# Columns of a state: where the packet is, the resource that it came over, and columns of its row.
AT_SWITCH, AT_CHANNEL, AT_CLASS, AT_TARGET, AT_WAYPOINT, AT_PHASE, AT_HOPS, AT_STATE = range(8)
STATE_COLUMNS = AT_STATE + STATES
# Entries of a location, the state that problems are recorded for: `AT_SWITCH`, `AT_CHANNEL`,
# `AT_CLASS`, then the channel of its first candidate (−1 before one is known), and its number over
# all pairs.
FIRST_CHANNEL, STATE_NUMBER = 3, 4
LOCATION_ENTRIES = 5

# Columns of `routelab.deadlock.dependency_graph.channel_ports`.
FROM_SWITCH, TO_SWITCH, PORT = range(3)
# Columns of `Findings.queries`.
Q_ROW, Q_BIT, Q_CAUSE = range(3)
# Columns of a script (`RandomWord`): row 0 is about the call, row k about its k-th draw.
NUM_DRAWS, MARK = 0, 1
NUM_OUTCOMES, OUTCOME = 0, 1
# Columns of a slot of the hash table of states.
SLOT_PAIR, SLOT_STATE = 0, 1

# Rows of `Findings.used`.
AS_CANDIDATE, AS_ESCAPE = 0, 1

_NOT_SET = -77
"""In columns of a packet that have no meaning."""
# Hashes are like FNV-1a, but of 32 bits at a time.
_HASH_PRIME = np.uint64(1099511628211)
_HASH_START = np.uint64(1469598103934665603)


class SearchInput(NamedTuple):
    """Input of a search.

    Attributes
    ----------
    tables : int32 array
        First argument of hop and inject: the tables of the program, then the engine block (see
        `routelab.api.RunTables`).
    reals : float64 array
        Second argument of inject: the real numbers of the program (`HopProgram.reals`).
    channels : int32 array, shape (C, 3)
        Source and target of each channel, and its port: see `FROM_SWITCH`.
    escape_row : int32 array, shape (R,)
        Row of each resource in `Findings.extended_dependencies`, −1 for other resources.
    queue_contents : int32 array, shape (contents, rows, QUEUE_COLUMNS)
        Possible contents of all queues: empty, full, then any others. Each has the rows of
        `RunTables.queues`.
    settings : int64 array, shape (NUM_SETTINGS,)
        Properties of the program and limits of the search, see `S_PHASES`.
    """

    tables: NDArray[np.int32]
    reals: NDArray[np.float64]
    channels: NDArray[np.int32]
    escape_row: NDArray[np.int32]
    queue_contents: NDArray[np.int32]
    settings: NDArray[np.int64]


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
        Row `AS_CANDIDATE`: resources that are candidates. `AS_ESCAPE`: escape candidates.
    problems : int64 array, shape (NUM_PROBLEMS, PROBLEM_COLUMNS)
        First example of each (−1: none), and how many states have it.
    longest : int32 array, shape (N,)
        Largest number of hops of a pair's walks; −1 if none ends.
    numbers : int64 array, shape (NUMBERS,)
    queries : int64 array, shape (K, 3)
        Dependencies whose cause is sought: `Q_ROW` and `Q_BIT` of `extended_dependencies`, or of
        `dependencies` if that has no rows; and as `Q_CAUSE` the first pair that causes it, −1 until
        one is found.
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
    """Fill a packet's row before injection.

    `ends` is a row of the pairs: source, destination, source terminal, target terminal.
    """
    for i in range(PACKET_COLUMNS):
        packet[i] = _NOT_SET
    packet[SOURCE], packet[DESTINATION], packet[TARGET] = ends[0], ends[1], ends[1]
    packet[SOURCE_TERMINAL], packet[TARGET_TERMINAL] = ends[2], ends[3]
    packet[WAYPOINT], packet[PHASE], packet[HOPS] = -1, 0, 0
    for i in range(STATES):
        packet[STATE + i] = 0


@helper()
def record_problem(problem, packet, location, value):
    """Count a state that has a problem; keep the first as an example.

    `problem` is a row of `Findings.problems`, updated. `location` is that of the state (see
    `FIRST_CHANNEL`), `value` is what is wrong.
    """
    # A state may have the problem in several answers, but counts once: numbers of states ascend,
    # and P_STATE is that of the last state that was counted.
    if problem[P_STATE] < location[STATE_NUMBER]:
        problem[P_COUNT] += 1
        problem[P_STATE] = location[STATE_NUMBER]
    if problem[P_SOURCE] < 0:
        problem[P_SOURCE] = packet[SOURCE]
        problem[P_DESTINATION] = packet[DESTINATION]
        problem[P_SWITCH] = location[AT_SWITCH]
        problem[P_CHANNEL] = location[AT_CHANNEL]
        problem[P_VALUE] = value
        problem[P_SOURCE_TERMINAL] = packet[SOURCE_TERMINAL]
        problem[P_TARGET_TERMINAL] = packet[TARGET_TERMINAL]


@helper()
def reset_draws(script):
    """Set all outcomes of draws to the first one."""
    for i in range(len(script)):
        script[i, NUM_OUTCOMES], script[i, OUTCOME] = 0, 0


@helper()
def next_draws(script):
    """Set the outcomes that the draws of the next call shall have; return False after the last.

    `script` has the draws that the last call made, with their outcomes. The last of them changes
    first, because which draws follow depends on the outcomes before them. For two draws of 2
    outcomes the order is (0, 0), (0, 1), (1, 0), (1, 1).
    """
    draw = np.int64(script[0, NUM_DRAWS])
    # the next call counts its draws from 0, and has no mark yet
    script[0, NUM_DRAWS], script[0, MARK] = 0, 0
    while draw > 0:
        script[draw, OUTCOME] += 1
        if script[draw, OUTCOME] < script[draw, NUM_OUTCOMES]:
            return True
        script[draw, OUTCOME] = 0
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
    """Fill `state` for a packet that reaches a switch; return whether that is its destination.

    `arrival`: the switch, and the channel and class of all phases that it came over; −1 at
    injection.
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
        # It is at its waypoint, where phase 1 begins. The waypoint may be the destination.
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
def find_or_add_state(state, states, slots, num_states, pair):
    """Return the index of a state; a new one gets index `num_states`. −1: there is no room.

    Parameters
    ----------
    state : int32 array, shape (STATE_COLUMNS,)
    states, slots : arrays
        States of the pair and their hash table; see `_Scratch` of `state_search`. Updated.
    num_states : int
        Number of states of the pair so far.
    pair : int
        Index of the pair. Slots that earlier pairs wrote count as free, so the table need not be
        emptied for each pair.
    """
    key = _HASH_START
    for i in range(STATE_COLUMNS):
        # through 32 bits, so that a negative number does not set all upper bits
        key = (key ^ np.uint64(np.uint32(state[i]))) * _HASH_PRIME
    # The number of slots is a power of two. The lower bits of a product do not depend on the upper
    # bits of its factors, so the upper bits are mixed in.
    mask = len(slots) - 1
    slot = np.int64((key ^ (key >> np.uint64(29))) & np.uint64(mask))
    while slots[slot, SLOT_PAIR] == pair:
        state_index = slots[slot, SLOT_STATE]
        is_equal = True
        for i in range(STATE_COLUMNS):
            is_equal &= states[state_index, i] == state[i]
        if is_equal:
            return state_index
        slot = (slot + 1) & mask
    if num_states == len(states):
        return -1
    slots[slot, SLOT_PAIR], slots[slot, SLOT_STATE] = pair, num_states
    for i in range(STATE_COLUMNS):
        states[num_states, i] = state[i]
    return num_states


@helper()
def hash_answer(candidates, num_candidates, packet):
    """Return a hash of a call's answer: its candidates, and the packet's columns.

    Answers with equal hashes count as the same. A penalty decides which candidate a packet takes,
    but the checker follows all candidates. So two penalties are the same here if both make an
    escape, or neither.
    """
    key = _HASH_START ^ np.uint64(num_candidates)
    # a function that breaks the contract may return more candidates than there are rows
    for i in range(min(num_candidates, len(candidates))):
        for j in range(2):  # channel and class
            key = (key ^ np.uint64(np.uint32(candidates[i, j]))) * _HASH_PRIME
        # a negative penalty is a fault, and must not be hidden by an answer without it
        kind = 2 if candidates[i, C_PENALTY] < 0 else np.int64(candidates[i, C_PENALTY] >= ESCAPE)
        key = (key ^ np.uint64(kind)) * _HASH_PRIME
    for j in range(PACKET_COLUMNS):
        key = (key ^ np.uint64(np.uint32(packet[j]))) * _HASH_PRIME
    return key


@helper()
def clear_set(bits):
    """Empty a set."""
    for word in range(len(bits)):
        bits[word] = np.uint64(0)


@helper()
def add_to_set(bits, added_bits):
    """Add a set to another; return whether that makes it larger."""
    grows = False
    for word in range(len(bits)):
        grows |= (added_bits[word] & ~bits[word]) != np.uint64(0)
        bits[word] |= added_bits[word]
    return grows
