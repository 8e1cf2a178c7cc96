"""Input and results of a search of programs whose candidates are fixed."""

from typing import Any, NamedTuple

import numpy as np

# Rows of `LegFindings.faults`. As integers of NumPy: Numba compiles a function once more for each
# integer of Python that it is called with.
(
    DEAD_END,
    MISSING_CLASS,
    WRONG_CHANNEL,
    WRONG_CLASS,
    WRONG_COUNT,
    WRONG_PENALTY,
    NO_ESCAPE,
    WRITES,
    NOT_FIXED,
    WRITES_ELSEWHERE,
    CELL_WITH_MEMORY,
) = map(np.int64, range(11))
NUM_FAULTS = 11
# Columns of `LegFindings.faults`: the number of states with the fault, then the packet and state of
# the first one, and a value that is wrong there.
F_COUNT, F_SOURCE, F_TARGET, F_SWITCH, F_CHANNEL, F_CLASS, F_VALUE = range(7)
FAULT_COLUMNS = 7

# Changes of a call that must not change its candidates; the value of the fault `NOT_FIXED`.
(
    ON_MEMORY,  # what the other packets' rows and `out` hold
    ON_ANSWER,  # the same, with the answer of the call before in `out`
    ON_QUEUES,
    ON_RANDOM,
    ON_HOPS,
    ON_STATE,
    ON_CHANNEL,
    ON_DESTINATION,
) = range(8)
ON_SOURCE = 8
"""A last change, to the source in phase 1. It may matter, see `N_READS_SOURCE`."""

# Columns of the legs.
(
    LEG_SOURCE,  # switch where packets begin; in phase 1 the source that their rows name
    LEG_TARGET,
    LEG_PHASE,
    LEG_ROW,  # in phase 1: row of `LegFindings.longest_from_waypoint`
) = range(4)

# Entries of `LegInput.settings`.
(
    S_PHASES,  # 1, or 2 with waypoints
    S_CLASSES,  # classes of virtual channels of one phase
    S_CANDIDATES,  # largest number of candidates of a call
    S_MAX_CALLS,  # largest number of states to examine
    S_BY_SWITCH,  # 1: states are switches, for programs that use class n for the n-th hop
    S_ESCAPES_ONLY,  # 1: dependencies on escape candidates only
    S_FULLY_VERIFIED_CALLS,  # states of which each is verified; of later ones, a sample
) = range(7)
NUM_SETTINGS = 7

# Entries of `LegFindings.numbers`.
(
    N_CALLS,  # states that were examined
    N_LEGS,  # legs that were examined
    N_VERIFIED,  # states that were verified
    N_NOT_ASCENDING,  # 1: some hop does not use the class behind that of the hop before
    N_CYCLIC,  # 1: packets may come to a state again
    N_READS_SOURCE,  # 1: candidates of phase 1 depend on the source
    N_BROKEN,  # 1: a fault that ends the search
) = range(7)
NUMBERS = 7


class LegInput(NamedTuple):
    """Input of a search; S switches, C channels, E switches with terminals.

    Attributes
    ----------
    tables : int32 array
        First argument of hop (`routelab.api.RunTables`).
    channels : int32 array, shape (C, 3)
        Source, target and port of each channel, see
        `routelab.deadlock.kernels.packet_states.FROM_SWITCH`.
    entering_channels : int32 array, shape (S, 2)
        Two channels that enter each switch; the same twice if there is only one, −1 if none.
    waypoints : int32 array
        Switches where legs of phase 1 begin.
    queue_contents : int32 array, shape (contents, rows, QUEUE_COLUMNS)
        Possible contents of all queues: empty, then any others.
    settings : int64 array, shape (NUM_SETTINGS,)
    """

    tables: Any
    channels: Any
    entering_channels: Any
    waypoints: Any
    queue_contents: Any
    settings: Any


class LegFindings(NamedTuple):
    """Results of a search, all updated; R resources of all phases, N legs, W waypoints.

    Attributes
    ----------
    dependencies : uint64 array, shape (R, words)
        Bit ``port * classes + class`` of row r: a packet that came over r may wait for that
        resource of the next switch. With 0 words, no dependencies are collected.
    used : bool array, shape (2, R)
        Row `AS_CANDIDATE`: resources that are candidates. `AS_ESCAPE`: escape candidates. A search
        by switches does not set them.
    into_waypoint : bool array, shape (R,)
        Resources of phase 0 over which packets reach a target.
    from_waypoint : uint64 array, shape (S, words)
        Candidates of packets that begin phase 1, by switch; bits as in `dependencies`.
    faults : int64 array, shape (NUM_FAULTS, FAULT_COLUMNS)
    longest : int32 array, shape (N,)
        Hops of the longest walk of each leg.
    longest_from_waypoint : int32 array, shape (E, W)
        Hops of the longest walk to each target from each waypoint, in phase 1.
    numbers : int64 array, shape (NUMBERS,)
    queries : int64 array, shape (K, 3)
        Dependencies whose cause is sought: `Q_ROW` and `Q_BIT` of `dependencies`, and as `Q_CAUSE`
        the first leg that causes it, −1 until one is found.
    """

    dependencies: Any
    used: Any
    into_waypoint: Any
    from_waypoint: Any
    faults: Any
    longest: Any
    longest_from_waypoint: Any
    numbers: Any
    queries: Any
