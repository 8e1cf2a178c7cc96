"""Search of the states of programs whose candidates are fixed (`HopProgram.fixed`).

For each leg (source, target, phase):

1. Breadth-first search from the source, or in phase 1 from every waypoint (`_search_leg`). A state
   is a switch and the class that a packet arrived over, −1 at injection; its number is
   ``switch * (classes + 1) + class + 1``. Its successors are the states behind its candidates
   (`_expand_state`).
2. Sort the states topologically; if that is impossible, packets may return to a state
   (`_sort_topologically`).
3. Find the longest walk of the leg in that order (`_measure_walks`).
4. Add the leg's part of the channel dependency graph: a packet that holds the resource which leads
   to a state may wait for the candidates of that state (`_add_dependencies`).

If every hop uses the class after that of the hop before, a state is a switch alone, with the number
of the switch (`_expand_switch`), and step 4 is not needed: the class is the rank.

The declaration is verified by calls with other queues, random words, hops and so on, in memory that
holds other numbers beside the packet (`_verify_fixed`). Legs use the same scratch one after the
other, so memory grows with the resources and not with the states. A class is called `vc`, as in
hop: nothing here is about single virtual channels.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types

from routelab.deadlock.kernels.guards import (
    C_CHANNEL,
    C_CLASS,
    C_PENALTY,
    FIRST_ROW,
    PACKET,
    allocate_guards,
    draw_filling,
    fill_out,
    find_cell_with_memory,
    find_changed_cell,
)
from routelab.deadlock.kernels.legs import (
    CELL_WITH_MEMORY,
    DEAD_END,
    F_CHANNEL,
    F_CLASS,
    F_COUNT,
    F_SOURCE,
    F_SWITCH,
    F_TARGET,
    F_VALUE,
    LEG_PHASE,
    LEG_ROW,
    LEG_SOURCE,
    LEG_TARGET,
    MISSING_CLASS,
    N_BROKEN,
    N_CALLS,
    N_CYCLIC,
    N_LEGS,
    N_NOT_ASCENDING,
    N_READS_SOURCE,
    N_VERIFIED,
    NO_ESCAPE,
    NOT_FIXED,
    ON_ANSWER,
    ON_CHANNEL,
    ON_DESTINATION,
    ON_HOPS,
    ON_MEMORY,
    ON_QUEUES,
    ON_RANDOM,
    ON_SOURCE,
    ON_STATE,
    S_BY_SWITCH,
    S_CANDIDATES,
    S_CLASSES,
    S_ESCAPES_ONLY,
    S_FULLY_VERIFIED_CALLS,
    S_MAX_CALLS,
    S_PHASES,
    WRITES,
    WRITES_ELSEWHERE,
    WRONG_CHANNEL,
    WRONG_CLASS,
    WRONG_COUNT,
    WRONG_PENALTY,
    LegFindings,
    LegInput,
)
from routelab.deadlock.kernels.packet_states import (
    AS_CANDIDATE,
    AS_ESCAPE,
    FROM_SWITCH,
    PORT,
    Q_BIT,
    Q_CAUSE,
    Q_ROW,
    TO_SWITCH,
    copy_row,
)
from routelab.kernels.bits import u
from routelab.kernels.hops import (
    DESTINATION,
    ESCAPE,
    HOP,
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
    RandomWord,
    word_after,
)
from routelab.kernels.jit import helper, inline

_VERIFY_MASK = 255
"""Of 256 states one is verified; a division would take as long as half a call."""


class _Scratch(NamedTuple):
    """Memory of a search. Entry (or row) n of an array is about state n, unless another is named.

    The states are those of the leg that is searched at the moment.

    Attributes
    ----------
    reached_by : int32 array
        Leg that last reached the state.
    queue : int32 array
        States of the leg in the order of the breadth-first search.
    topological_order : int32 array
        States, each behind all that lead to it.
    arrival_class, arrival_channel : int32 array
        Resource over which the search first reached the state, −1 at injection.
    out_degree, in_degree : int32 array
        Successors and predecessors of the state.
    successors, successor_resources : int32 array, shape (states, candidates)
        States that follow, −1 for the target, and the resources that lead there. If states are
        switches, there are no resources.
    depth : int32 array
        Hops of the longest walk to the state; at the end of phase 1, from the state to the target.
    hop_counts : uint64 array
        Bit n: some walk of n hops leads to the switch.
    candidate_bits : uint64 array, shape (states, words)
        Candidates of the state as bits, like a row of `LegFindings.dependencies`.
    dead_end_leg : int32 array
        By switch: the last leg of which it is a dead end.
    guards : Guards
        Memory of the calls of hop, which find there what earlier ones left, and filling 0 where
        none wrote.
    repeat_guards, other_guards : Guards
        Memory of the calls that verify, with drawn fillings and with filling 1.
    packets, candidates
        The packet and the answer; parts of `guards`.
    waypoint : int32 array, shape (1,)
        Waypoint of the packets of the leg; −1 in phase 0.
    random : uint64 array, shape (1,)
        Random word of the last call that verifies.
    """

    reached_by: Any
    queue: Any
    topological_order: Any
    arrival_class: Any
    arrival_channel: Any
    out_degree: Any
    successors: Any
    successor_resources: Any
    in_degree: Any
    depth: Any
    hop_counts: Any
    candidate_bits: Any
    dead_end_leg: Any
    guards: Any
    repeat_guards: Any
    other_guards: Any
    packets: Any
    candidates: Any
    waypoint: Any
    random: Any


@helper(_nrt=False)
def _record_fault(faults, fault_kind, packet, switch, channel, vc, value):
    """Count a fault; keep the first example."""
    fault = faults[fault_kind]
    fault[F_COUNT] += 1
    if fault[F_COUNT] == 1:
        fault[F_SOURCE], fault[F_TARGET] = packet[SOURCE], packet[TARGET]
        fault[F_SWITCH], fault[F_CHANNEL], fault[F_CLASS] = switch, channel, vc
        fault[F_VALUE] = value


@helper(_nrt=False)
def _record_fatal_fault(findings, fault_kind, packet, switch, channel, vc, value):
    """Record a fault that ends the search."""
    _record_fault(findings.faults, fault_kind, packet, switch, channel, vc, value)
    findings.numbers[N_BROKEN] = 1


@helper(_nrt=False)
def _fill_packet(packet, leg, waypoint):
    """Fill the packet's row for a leg.

    A packet on its way to a waypoint has another DESTINATION than TARGET. Here both are the leg's
    target, because fixed candidates do not depend on DESTINATION.
    """
    for column in range(PACKET_COLUMNS):
        packet[column] = 0
    packet[SOURCE], packet[TARGET] = leg[LEG_SOURCE], leg[LEG_TARGET]
    packet[DESTINATION] = leg[LEG_TARGET]
    packet[PHASE], packet[WAYPOINT] = leg[LEG_PHASE], waypoint


@inline
def _no_random_word():
    """Return a random word without a script: candidates that are fixed do not depend on it."""
    return RandomWord(np.uint64(0), np.uint64(0))


@helper(_nrt=False)
def _equal_answers(candidates, count, repeated, repeated_count):
    """Return whether two answers have equal candidates: channels, classes and penalties."""
    if count != repeated_count:
        return False
    for i in range(count):
        for column in range(3):
            if candidates[i, column] != repeated[i, column]:
                return False
    return True


@helper(_nrt=False)
def _call_guarded(hop, task, guards, arguments):
    """Call hop with the packet of guards; return the number of candidates, which `out` has."""
    queues, switch, channel, vc, word = arguments
    return hop(task.tables, guards.packets, PACKET, queues, switch, channel, vc, word, guards.out)


@helper(_nrt=False)
def _record_cell_faults(task, findings, scratch, first_row, state):
    """Record a cell that a call must not write to, and one that depends on what it held before.

    The last calls in `repeat_guards` and `other_guards` had the same arguments. `first_row` is the
    first row of `out` behind their answers. `state` is a switch, and the channel and class that the
    packet came over.
    """
    switch, channel, vc = state
    packet, guards = scratch.packets[0], scratch.repeat_guards
    max_candidates = task.settings[S_CANDIDATES]
    cell = find_changed_cell(guards, max_candidates)
    if cell >= 0:
        _record_fatal_fault(findings, WRITES_ELSEWHERE, packet, switch, channel, vc, cell)
    cell = find_cell_with_memory(guards, scratch.other_guards, first_row, max_candidates)
    if cell >= 0:
        _record_fatal_fault(findings, CELL_WITH_MEMORY, packet, switch, channel, vc, cell)


@helper(_nrt=False)
def _verify_fixed(hop, task, findings, scratch, leg, switch, channel, vc, count):
    """Repeat a call of hop with each change that must not matter; record those that do.

    The first call has written `count` candidates to `scratch.candidates`. The changes are
    `ON_MEMORY` to `ON_SOURCE`, one at a time. The last one, another source in phase 1, may matter:
    it sets `N_READS_SOURCE`, and then there is one leg for each source. All of these calls find a
    drawn filling in memory, which the first call did not.
    """
    guards, random, settings = scratch.repeat_guards, scratch.random, task.settings
    packet, max_candidates = guards.rows[1], settings[S_CANDIDATES]
    contents, numbers = task.queue_contents, findings.numbers
    numbers[N_VERIFIED] += 1
    num_verified = numbers[N_VERIFIED]
    draw_filling(guards, len(task.channels), num_verified)
    waypoint = scratch.waypoint[0]
    for change in range(ON_SOURCE + 1):
        # 1. The arguments of the first call with one change. What it changes to depends on the
        #    number of verified states, so that all values are tried in the course of a search.
        random[0] = word_after(random[0])
        queues, word, arrival_channel = contents[0], np.uint64(0), channel
        _fill_packet(packet, leg, waypoint)
        if change in (ON_MEMORY, ON_ANSWER):
            # the arguments stay; step 2 changes what other rows and `out` hold before the call
            pass
        elif change == ON_QUEUES:
            # any content but 0, which the first call had
            queues = contents[1 + num_verified % (len(contents) - 1)]
        elif change == ON_RANDOM:
            word = random[0]
        elif change == ON_HOPS:
            packet[HOPS] = 1 + num_verified % 7
            packet[SOURCE_TERMINAL], packet[TARGET_TERMINAL] = 1, 1
        elif change == ON_STATE:
            for i in range(STATES):
                packet[STATE + i] = 1 + (num_verified + i) % 3
        elif change == ON_CHANNEL:
            if channel >= 0:
                arrival_channel = np.int64(task.entering_channels[switch, num_verified % 2])
        elif settings[S_PHASES] < 2:
            # The other changes need waypoints: without them, DESTINATION is always the leg's
            # target, and every leg has its own source.
            break
        elif change == ON_DESTINATION:
            # In phase 0, the leg's target is now a waypoint and no longer the destination. In phase
            # 1, the packet has come from another waypoint.
            other_switch = task.waypoints[num_verified % len(task.waypoints)]
            if leg[LEG_PHASE] == 0:
                packet[WAYPOINT], packet[DESTINATION] = leg[LEG_TARGET], other_switch
            else:
                packet[WAYPOINT] = other_switch
        elif leg[LEG_PHASE] == 1:
            packet[SOURCE] = task.waypoints[num_verified % len(task.waypoints)]
        # 2. The call. If it leaves something outside its answer, a third call in other memory shows
        #    whether that follows from the arguments. For `ON_ANSWER`, `out` keeps the answer of the
        #    call before, so only cells behind the rows of candidates still hold the filling.
        # for the third call: the packet as it is before the second one, which may write to it
        copy_row(scratch.other_guards.rows[1], packet)
        if change != ON_ANSWER:
            fill_out(guards, FIRST_ROW, max_candidates)
        arguments = queues, switch, arrival_channel, vc, RandomWord(word, np.uint64(0))
        repeated_count = _call_guarded(hop, task, guards, arguments)
        # the first row that should hold the filling; the count may be wrong
        first_row = (
            max_candidates if change == ON_ANSWER else min(max(repeated_count, 0), max_candidates)
        )
        if find_changed_cell(guards, first_row) >= 0:
            fill_out(scratch.other_guards, FIRST_ROW, max_candidates)
            _call_guarded(hop, task, scratch.other_guards, arguments)
            _record_cell_faults(task, findings, scratch, first_row, (switch, channel, vc))
        # 3. The answer must be the same.
        if not _equal_answers(scratch.candidates, count, guards.out, repeated_count):
            if change == ON_SOURCE:
                numbers[N_READS_SOURCE] = 1
            else:
                original = scratch.packets[0]
                _record_fatal_fault(findings, NOT_FIXED, original, switch, channel, vc, change)


@inline
def _call_hop(hop, task, findings, scratch, leg, switch, channel, vc):
    """Write the candidates in a state to `scratch.candidates`; return their number.

    Returns −1 if the answer breaks the contract, and records that. A class that is too high does
    not break it: `_expand_state` records it as missing.
    """
    # 1. The call, with the row of a packet that has just come. An earlier call may have written to
    #    its STATE columns.
    packet, candidates, settings = scratch.packets[0], scratch.candidates, task.settings
    for column in range(STATE, STATE + STATES):
        packet[column] = 0
    count = hop(
        task.tables,
        scratch.guards.packets,
        PACKET,
        task.queue_contents[0],
        switch,
        channel,
        vc,
        _no_random_word(),
        candidates,
    )
    # 2. Verify the declaration of fixed candidates, and that the call has not written to the
    #    packet: after each of the first calls, later after one in 256, because it takes many calls.
    calls = findings.numbers[N_CALLS]
    findings.numbers[N_CALLS] += 1
    if calls < settings[S_FULLY_VERIFIED_CALLS] or calls & _VERIFY_MASK == 0:
        for column in range(STATE, STATE + STATES):
            if packet[column] != 0:
                _record_fatal_fault(findings, WRITES, packet, switch, channel, vc, column)
        if (
            packet[SOURCE] != leg[LEG_SOURCE]
            or packet[TARGET] != leg[LEG_TARGET]
            or packet[WAYPOINT] != scratch.waypoint[0]
        ):
            # whichever of the three has changed, the message names WAYPOINT
            _record_fatal_fault(findings, WRITES, packet, switch, channel, vc, np.int64(WAYPOINT))
        if 0 <= count <= settings[S_CANDIDATES]:
            _verify_fixed(hop, task, findings, scratch, leg, switch, channel, vc, count)
    # 3. The answer. The search follows it, so a wrong channel ends it.
    if count < 0 or count > settings[S_CANDIDATES]:
        _record_fatal_fault(findings, WRONG_COUNT, packet, switch, channel, vc, count)
        return -1
    for i in range(count):
        next_channel, next_class, penalty = (
            np.int64(candidates[i, C_CHANNEL]),
            np.int64(candidates[i, C_CLASS]),
            np.int64(candidates[i, C_PENALTY]),
        )
        if (
            not 0 <= next_channel < len(task.channels)
            or task.channels[next_channel, FROM_SWITCH] != switch
        ):
            _record_fatal_fault(findings, WRONG_CHANNEL, packet, switch, channel, vc, next_channel)
            return -1
        if next_class < 0:
            _record_fatal_fault(findings, WRONG_CLASS, packet, switch, channel, vc, next_class)
            return -1
        if penalty < 0:
            _record_fatal_fault(findings, WRONG_PENALTY, packet, switch, channel, vc, penalty)
            return -1
    return count


@inline
def _add_state(scratch, leg_number, queue_end, state, vc, channel):
    """Add a state that a leg has not reached before; return the new end of the queue.

    `vc` and `channel`: the resource that the packet came over, −1 at injection.
    """
    scratch.reached_by[state] = leg_number
    scratch.queue[queue_end] = state
    scratch.arrival_class[state], scratch.arrival_channel[state] = vc, channel
    scratch.out_degree[state], scratch.in_degree[state], scratch.depth[state] = 0, 0, 0
    for word in range(scratch.candidate_bits.shape[1]):
        scratch.candidate_bits[state, word] = np.uint64(0)
    return queue_end + 1


@inline
def _expand_state(hop, task, findings, scratch, leg, leg_number, state, queue_end):
    """Find the states that follow a state, and add new ones to the queue; return its new end."""
    settings, candidates = task.settings, scratch.candidates
    faults, numbers = findings.faults, findings.numbers
    classes = settings[S_CLASSES]
    all_classes, first_class = classes * settings[S_PHASES], classes * leg[LEG_PHASE]
    switch = np.int64(state // (classes + 1))
    vc, channel = np.int64(scratch.arrival_class[state]), np.int64(scratch.arrival_channel[state])
    # 1. The candidates, which are resources of the next hop.
    count = _call_hop(hop, task, findings, scratch, leg, switch, channel, vc)
    # A dead end is a switch: states of several classes there count once for each leg.
    if count == 0 and scratch.dead_end_leg[switch] != leg_number:
        scratch.dead_end_leg[switch] = leg_number
        _record_fault(faults, DEAD_END, scratch.packets[0], switch, channel, vc, np.int64(0))
    out_degree, missing_class, has_escape = 0, np.int64(-1), False
    for i in range(count):
        next_channel, next_class = (
            np.int64(candidates[i, C_CHANNEL]),
            np.int64(candidates[i, C_CLASS]),
        )
        # at injection vc is −1, so an ascending walk begins on class 0
        if next_class != vc + 1:
            numbers[N_NOT_ASCENDING] = 1
        if next_class >= classes:
            missing_class = max(missing_class, next_class)
            continue
        # 2. The candidate as a resource that packets in this state wait for.
        is_escape = candidates[i, C_PENALTY] >= ESCAPE
        has_escape |= is_escape
        resource = next_channel * all_classes + first_class + next_class
        scratch.successor_resources[state, out_degree] = resource
        findings.used[AS_CANDIDATE, resource] = True
        findings.used[AS_ESCAPE, resource] |= is_escape
        if is_escape or settings[S_ESCAPES_ONLY] == 0:
            bit = task.channels[next_channel, PORT] * all_classes + first_class + next_class
            scratch.candidate_bits[state, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
        # 3. The state of the packet behind that hop; −1 at the target, where the leg ends.
        next_switch = np.int64(task.channels[next_channel, TO_SWITCH])
        successor = (
            next_switch * (classes + 1) + next_class + 1 if next_switch != leg[LEG_TARGET] else -1
        )
        scratch.successors[state, out_degree] = successor
        out_degree += 1
        if successor >= 0:
            if scratch.reached_by[successor] != leg_number:
                queue_end = _add_state(
                    scratch, leg_number, queue_end, successor, next_class, next_channel
                )
            scratch.in_degree[successor] += 1
    scratch.out_degree[state] = out_degree
    # 4. Properties of the state: missing classes, and whether it has an escape. A candidate of a
    #    missing class might have been one.
    if missing_class >= 0:
        _record_fault(faults, MISSING_CLASS, scratch.packets[0], switch, channel, vc, missing_class)
    if count > 0 and missing_class < 0 and not has_escape:
        _record_fault(faults, NO_ESCAPE, scratch.packets[0], switch, channel, vc, np.int64(0))
    return queue_end


@inline
def _expand_switch(hop, task, findings, scratch, leg, leg_number, switch, queue_end):
    """Find the switches that follow a switch, and add new ones to the queue; return its new end.

    If some hop does not use the next class, set `N_NOT_ASCENDING`, and the search stops. The loop
    has no branches: they would be mispredicted, which takes longer than all else.
    """
    settings, numbers = task.settings, findings.numbers
    candidates, packet = scratch.candidates, scratch.packets[0]
    vc, channel = np.int64(scratch.arrival_class[switch]), np.int64(scratch.arrival_channel[switch])
    numbers[N_CALLS] += 1
    count = hop(
        task.tables,
        scratch.guards.packets,
        PACKET,
        task.queue_contents[0],
        switch,
        channel,
        vc,
        _no_random_word(),
        candidates,
    )
    scratch.depth[switch], scratch.out_degree[switch] = 0, 0
    if count <= 0 or count > settings[S_CANDIDATES]:
        if count != 0:
            # the search by classes, which follows, reports the wrong count
            numbers[N_NOT_ASCENDING] = 1
        else:
            _record_fault(findings.faults, DEAD_END, packet, switch, channel, vc, np.int64(0))
        return queue_end
    if numbers[N_CALLS] & _VERIFY_MASK == 0:
        _verify_fixed(hop, task, findings, scratch, leg, switch, channel, vc, count)
    # Routes longer than there are classes are followed, too: candidates do not depend on the class.
    # Their packets arrive on the last class but one, so that the next class exists.
    next_class = min(vc + 1, settings[S_CLASSES] - 2)
    is_ascending, end = True, u(queue_end)
    channels, num_channels = task.channels, u(len(task.channels))
    # An already reached switch is written behind the end of the queue, too, but the end does not
    # move then.
    for k in range(u(count)):
        # Unsigned, so that one comparison suffices: a negative number becomes a large one. For a
        # channel that does not exist, read channel 0: `is_ascending` becomes False anyway.
        next_channel = u(candidates[k, u(C_CHANNEL)])
        exists = next_channel < num_channels
        next_channel = next_channel if exists else u(0)
        next_switch = u(channels[next_channel, u(TO_SWITCH)])
        is_ascending &= exists & (channels[next_channel, u(FROM_SWITCH)] == switch)
        is_ascending &= (candidates[k, u(C_CLASS)] == vc + 1) & (candidates[k, u(C_PENALTY)] >= 0)
        scratch.successors[u(switch), k] = next_switch
        is_new = scratch.reached_by[next_switch] != leg_number
        scratch.reached_by[next_switch] = leg_number
        scratch.queue[end] = next_switch
        scratch.arrival_class[next_switch] = (
            next_class if is_new else scratch.arrival_class[next_switch]
        )
        scratch.arrival_channel[next_switch] = (
            next_channel if is_new else scratch.arrival_channel[next_switch]
        )
        scratch.in_degree[next_switch] = (0 if is_new else scratch.in_degree[next_switch]) + 1
        end += u(is_new)
    queue_end = np.int64(end)
    scratch.out_degree[switch] = count
    if not is_ascending:
        numbers[N_NOT_ASCENDING] = 1
    return queue_end


@inline
def _sort_topologically(scratch, queue_end):
    """Sort the states topologically by Kahn's algorithm; return the number of sorted states.

    States on a cycle, and those behind them, are missing. The depth of a state is the number of
    hops of the longest walk to it.
    """
    in_degree, depth, order = scratch.in_degree, scratch.depth, scratch.topological_order
    order_end = u(0)
    for k in range(queue_end):
        state = scratch.queue[u(k)]
        # Without a branch, which would be mispredicted: a state that is not ready is written, too,
        # but the end stays, and the next state replaces it.
        order[order_end] = state
        order_end += u(in_degree[u(state)] == 0)
    head = u(0)
    while head < order_end:
        state = u(order[head])
        head += u(1)
        next_depth = depth[state] + 1
        for k in range(u(scratch.out_degree[state])):
            successor = scratch.successors[state, k]
            if successor >= 0:
                successor_index = u(successor)
                depth[successor_index] = max(depth[successor_index], next_depth)
                in_degree[successor_index] -= 1
                order[order_end] = successor
                order_end += u(in_degree[successor_index] == 0)
    return np.int64(order_end)


@helper(_nrt=False)
def _verify_longest_walks(hop, task, findings, scratch, num_sorted):
    """Call hop with the class of the longest walk to a switch, for one switch in 16.

    A search by switches calls hop once for a switch, with the class of the walk that it found
    first. That suffices if candidates do not depend on the class, apart from the next class itself.
    If they do, set `N_NOT_ASCENDING`.
    """
    classes, numbers, candidates = task.settings[S_CLASSES], findings.numbers, scratch.candidates
    for k in range(numbers[N_CALLS] % 16, num_sorted, 16):
        switch = np.int64(scratch.topological_order[k])
        # After n hops a packet came over class n − 1. The last class but one is the highest, as in
        # `_expand_switch`, so that the next class exists.
        vc = np.int64(min(scratch.depth[switch] - 1, classes - 2))
        # Nothing to compare: it is the class of the first call, or there are no candidates.
        if vc <= scratch.arrival_class[switch] or scratch.out_degree[switch] == 0:
            continue
        numbers[N_VERIFIED] += 1
        channel, queues = np.int64(scratch.arrival_channel[switch]), task.queue_contents[0]
        count = hop(
            task.tables,
            scratch.guards.packets,
            PACKET,
            queues,
            switch,
            channel,
            vc,
            _no_random_word(),
            candidates,
        )
        if count != scratch.out_degree[switch]:
            numbers[N_NOT_ASCENDING] = 1
            continue
        for i in range(count):
            exists = 0 <= candidates[i, C_CHANNEL] < len(task.channels)
            next_switch = task.channels[candidates[i, C_CHANNEL], TO_SWITCH] if exists else -1
            if next_switch != scratch.successors[switch, i] or candidates[i, C_CLASS] != vc + 1:
                numbers[N_NOT_ASCENDING] = 1


@helper(_nrt=False)
def _measure_walks(task, findings, scratch, leg_number, leg, num_sorted):
    """Compute the longest walks of a leg from the sorted states.

    If states are switches, also record those at which all classes are used up.
    """
    # 1. The longest walk of the leg. The target need not be a state, so one hop is added behind a
    #    state with successors.
    depth, longest = scratch.depth, 0
    for k in range(num_sorted):
        state = scratch.topological_order[k]
        if scratch.out_degree[state] > 0:
            longest = max(longest, depth[state] + 1)
        else:
            longest = max(longest, depth[state])
    findings.longest[leg_number] = longest
    # 2. In a search by switches: record those that some packet reaches after as many hops as there
    #    are classes. For each switch, bit n of `hop_counts` says that some walk has n hops.
    if task.settings[S_BY_SWITCH] != 0 and longest > task.settings[S_CLASSES]:
        classes = task.settings[S_CLASSES]
        for k in range(num_sorted):
            scratch.hop_counts[scratch.topological_order[k]] = np.uint64(0)
        for k in range(num_sorted):
            state = scratch.topological_order[k]
            if scratch.arrival_channel[state] < 0:
                # walks begin here: 0 hops
                scratch.hop_counts[state] |= np.uint64(1)
            # a packet that has made `classes` hops needs class `classes` next, which is missing
            hop_counts = scratch.hop_counts[state]
            if (hop_counts >> np.uint64(classes)) & np.uint64(1) and scratch.out_degree[state] > 0:
                packet = scratch.packets[0]
                switch, channel = np.int64(state), np.int64(-1)
                _record_fault(
                    findings.faults, MISSING_CLASS, packet, switch, channel, classes - 1, classes
                )
            for i in range(scratch.out_degree[state]):
                successor = scratch.successors[state, i]
                if successor >= 0:
                    scratch.hop_counts[successor] |= hop_counts << np.uint64(1)
    if leg[LEG_PHASE] == 0:
        return
    # 3. In phase 1: the longest walk from each waypoint, backwards from the target. The depth from
    #    the waypoints is no longer needed, so `depth` holds the hops to the target now.
    for k in range(num_sorted - 1, -1, -1):
        state, remaining = scratch.topological_order[k], 0
        for i in range(scratch.out_degree[state]):
            successor = scratch.successors[state, i]
            remaining = max(remaining, 1 if successor < 0 else depth[successor] + 1)
        depth[state] = remaining
    # Walks begin in the first state of a waypoint, that of a packet at injection. Legs of several
    # sources have the same row, so it keeps the longest of their walks.
    states_per_switch = 1 if task.settings[S_BY_SWITCH] != 0 else task.settings[S_CLASSES] + 1
    for index in range(len(task.waypoints)):
        if task.waypoints[index] != leg[LEG_TARGET]:
            walk = depth[task.waypoints[index] * states_per_switch]
            findings.longest_from_waypoint[leg[LEG_ROW], index] = max(
                findings.longest_from_waypoint[leg[LEG_ROW], index], walk
            )


@helper(_nrt=False)
def _add_dependencies(task, findings, scratch, leg_number, leg, queue_end):
    """Add the dependencies of a leg to the graph, and note the queries that it answers.

    A packet that holds the resource which leads to a state may wait for the candidates there. At a
    waypoint these are the candidates of phase 1: `FixedStates.dependency_edges` joins the last
    resources of phase 0 (`into_waypoint`) and the first ones of phase 1 (`from_waypoint`).
    """
    words = scratch.candidate_bits.shape[1]
    # 1. Dependencies of the resources that lead out of each state.
    for k in range(queue_end):
        state = scratch.queue[k]
        for i in range(scratch.out_degree[state]):
            resource = scratch.successor_resources[state, i]
            successor = scratch.successors[state, i]
            if successor >= 0:
                for word in range(words):
                    findings.dependencies[resource, word] |= scratch.candidate_bits[successor, word]
            elif leg[LEG_PHASE] == 0:
                # it leads to the target, which may be a waypoint
                findings.into_waypoint[resource] = True
        # a packet that begins phase 1 came over no channel of this leg
        if leg[LEG_PHASE] == 1 and scratch.arrival_channel[state] < 0:
            switch = state // (task.settings[S_CLASSES] + 1)
            for word in range(words):
                findings.from_waypoint[switch, word] |= scratch.candidate_bits[state, word]
    # 2. This leg is the cause of each queried dependency that the graph did not have before.
    for k in range(len(findings.queries)):
        query = findings.queries[k]
        if query[Q_CAUSE] < 0:
            bits = findings.dependencies[query[Q_ROW], query[Q_BIT] // 64] >> np.uint64(
                query[Q_BIT] % 64
            )
            if bits & np.uint64(1):
                query[Q_CAUSE] = leg_number


@helper(_nrt=False)
def _search_leg(hop, task, findings, scratch, leg, leg_number):
    """Find all states of a leg, its longest walks and its dependencies.

    `leg` is a row of the legs (`LEG_SOURCE`), `leg_number` its index.
    """
    settings, numbers = task.settings, findings.numbers
    by_switch = settings[S_BY_SWITCH] != 0
    states_per_switch = 1 if by_switch else settings[S_CLASSES] + 1
    # 1. The first states: packets at injection (−1 as class and channel) at the source, or in phase
    #    1 at every waypoint. All of these have the same row, with any waypoint in it: candidates do
    #    not depend on that.
    scratch.waypoint[0] = task.waypoints[0] if leg[LEG_PHASE] == 1 else -1
    _fill_packet(scratch.packets[0], leg, scratch.waypoint[0])
    queue_end, no_class, no_channel = np.int64(0), np.int64(-1), np.int64(-1)
    if leg[LEG_PHASE] == 0:
        first_state = leg[LEG_SOURCE] * states_per_switch
        queue_end = _add_state(scratch, leg_number, queue_end, first_state, no_class, no_channel)
    else:
        for waypoint in task.waypoints:
            if waypoint != leg[LEG_TARGET]:
                first_state = waypoint * states_per_switch
                queue_end = _add_state(
                    scratch, leg_number, queue_end, first_state, no_class, no_channel
                )
    if by_switch:
        # The target is marked as reached, so that it never enters the queue and no candidates are
        # computed there. But its predecessors are counted.
        target = leg[LEG_TARGET]
        scratch.reached_by[target] = leg_number
        scratch.in_degree[target], scratch.out_degree[target], scratch.depth[target] = 0, 0, 0
    # 2. Breadth-first search, until there is a fault, or a search by classes is needed instead.
    queue_head = 0
    while (
        queue_head < queue_end
        and numbers[N_BROKEN] == 0
        and not (by_switch and numbers[N_NOT_ASCENDING])
    ):
        state = scratch.queue[queue_head]
        if by_switch:
            # the number of a state is that of its switch
            state = np.int64(state)
            queue_end = _expand_switch(
                hop, task, findings, scratch, leg, leg_number, state, queue_end
            )
        else:
            queue_end = _expand_state(
                hop, task, findings, scratch, leg, leg_number, state, queue_end
            )
        queue_head += 1
    # 3. Topological order. It lacks states on a cycle. If states are switches, it includes the
    #    target, which is not in the queue.
    reaches_target = by_switch and scratch.in_degree[leg[LEG_TARGET]] > 0
    num_sorted = _sort_topologically(scratch, queue_end)
    if num_sorted < queue_end + np.int64(reaches_target):
        numbers[N_CYCLIC] = 1
    # 4. Longest walks and dependencies.
    _measure_walks(task, findings, scratch, leg_number, leg, num_sorted)
    if by_switch:
        _verify_longest_walks(hop, task, findings, scratch, num_sorted)
    if findings.dependencies.shape[1] > 0:
        _add_dependencies(task, findings, scratch, leg_number, leg, queue_end)


_INT32 = types.Array(types.int32, 1, "C")
_INT64 = types.Array(types.int64, 1, "C")
_BITS = types.Array(types.uint64, 2, "C")
_ROWS = types.Array(types.int32, 2, "C")
_TASK = types.NamedTuple(
    (_INT32, _ROWS, _ROWS, _INT32, types.Array(types.int32, 3, "C"), _INT64),
    LegInput,
)
_FINDINGS = types.NamedTuple(
    (
        _BITS,
        types.Array(types.bool_, 2, "C"),
        types.Array(types.bool_, 1, "C"),
        _BITS,
        types.Array(types.int64, 2, "C"),
        _INT32,
        _ROWS,
        _INT64,
        types.Array(types.int64, 2, "C"),
    ),
    LegFindings,
)


@cache
def compile_legs() -> Any:
    """Compile `explore_legs` at the first call, once for all algorithms."""
    signature = types.void(types.FunctionType(HOP), _TASK, _ROWS, _FINDINGS)
    return njit(signature, cache=True, nogil=True, no_cfunc_wrapper=True)(explore_legs)


def explore_legs(hop, task, legs, findings):
    """Find every state that packets of some legs reach.

    Stops when there are more states than `S_MAX_CALLS`, and at the first fault other than dead ends
    and missing classes or escapes. A search by switches also stops when it finds a hop that does
    not use the next class, or a cycle: then its states are not those of the program.

    Parameters
    ----------
    hop : compiled function
    task : LegInput
    legs : int32 array, shape (N, 4)
        Columns: source, target, phase and row (`LEG_SOURCE` and so on). A leg of phase 0 begins at
        its source, one of phase 1 at every waypoint.
    findings : LegFindings
        Updated.
    """
    settings, numbers = task.settings, findings.numbers
    by_switch = settings[S_BY_SWITCH] != 0
    switches = len(task.entering_channels)
    states_per_switch = 1 if by_switch else settings[S_CLASSES] + 1
    size = switches * states_per_switch
    max_candidates, channels = settings[S_CANDIDATES], len(task.channels)
    guards = allocate_guards(max_candidates, channels, np.int64(0))
    # The queue and the order have one more entry, because their loops write behind the end.
    scratch = _Scratch(
        reached_by=np.full(size, -1, np.int32),
        queue=np.empty(size + 1, np.int32),
        topological_order=np.empty(size + 1, np.int32),
        arrival_class=np.empty(size, np.int32),
        arrival_channel=np.empty(size, np.int32),
        out_degree=np.empty(size, np.int32),
        successors=np.empty((size, settings[S_CANDIDATES]), np.int32),
        successor_resources=np.empty((size, settings[S_CANDIDATES]), np.int32),
        in_degree=np.empty(size, np.int32),
        depth=np.empty(size, np.int32),
        hop_counts=np.empty(size, np.uint64),
        candidate_bits=np.zeros((size, findings.dependencies.shape[1]), np.uint64),
        dead_end_leg=np.full(switches, -1, np.int32),
        guards=guards,
        repeat_guards=allocate_guards(max_candidates, channels, np.int64(0)),
        other_guards=allocate_guards(max_candidates, channels, np.int64(1)),
        packets=guards.packets,
        candidates=guards.out,
        waypoint=np.zeros(1, np.int32),
        random=np.full(1, 2026, np.uint64),
    )
    for leg_number in range(len(legs)):
        leg = legs[leg_number]
        _search_leg(hop, task, findings, scratch, leg, leg_number)
        numbers[N_LEGS] += 1
        stop = by_switch and (numbers[N_NOT_ASCENDING] != 0 or numbers[N_CYCLIC] != 0)
        if stop or numbers[N_BROKEN] != 0 or numbers[N_CALLS] > settings[S_MAX_CALLS]:
            return
