"""Search of all states that packets of a hop-by-hop algorithm can reach.

For each pair of switches (or terminals):

1. Call inject for all outcomes of its draws: the first states (`_inject_packets`).
2. Take the states in the order in which they were found. Call hop for all outcomes of its draws
   (`_expand_state`), and check each answer (`_accept_answer`). A sample of the calls of inject and
   hop is repeated in memory that holds other numbers beside the packet: the answers must be equal.
3. Each candidate of an answer is a dependency of the resource that the packet holds, and leads to a
   state, which may be new (`_add_dependencies`).
4. For Duato's extended graph (wormhole switching), each state has the escapes that a packet may
   still hold there (`earlier_escapes`). Repeat steps 2 and 3 until these sets no longer grow.
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
from routelab.deadlock.kernels.packet_states import (
    ALL_GUARDED,
    AS_CANDIDATE,
    AS_ESCAPE,
    AT_CHANNEL,
    AT_CLASS,
    AT_HOPS,
    AT_PHASE,
    AT_SWITCH,
    CELL_WITH_MEMORY,
    DEAD_END,
    FIRST_CHANNEL,
    FROM_SWITCH,
    GUARDED_SHARE,
    LOCATION_ENTRIES,
    MARK,
    MAX_ANSWERS,
    MAX_CALLS_PER_STATE,
    N_CALLS,
    N_PAIRS,
    N_SAMPLED,
    N_STATES,
    N_UNFINISHED,
    NO_ESCAPE,
    NO_VALUE,
    NOT_REPEATABLE,
    NUM_DRAWS,
    ON_QUEUES,
    OTHER_DRAWS,
    PORT,
    Q_BIT,
    Q_CAUSE,
    Q_ROW,
    RANDOM_WORDS,
    S_CALLED_AGAIN,
    S_CANDIDATES,
    S_CLASSES,
    S_ESCAPES_ONLY,
    S_INJECT_CHOOSES,
    S_KEEPS_STATE,
    S_MAX_HOPS,
    S_MAX_STATES,
    S_MAX_STATES_OF_PAIR,
    S_PHASES,
    S_QUEUE_CONTENTS,
    S_SWITCHES,
    SEVERAL_ROUTES,
    STATE_COLUMNS,
    STATE_NUMBER,
    TO_SWITCH,
    TOO_LONG,
    TOO_MANY_DRAWS,
    WRITES,
    WRITES_ELSEWHERE,
    WRONG_CHANNEL,
    WRONG_CLASS,
    WRONG_COUNT,
    WRONG_PENALTY,
    WRONG_WAYPOINT,
    Findings,
    SearchInput,
    add_to_set,
    clear_set,
    copy_row,
    fill_arrival_state,
    fill_packet,
    fill_waiting_state,
    find_or_add_state,
    hash_answer,
    next_draws,
    record_problem,
    reset_draws,
    restore_packet,
)
from routelab.kernels.hops import (
    DESTINATION,
    ESCAPE,
    HOP,
    INJECT,
    PACKET_COLUMNS,
    PHASE,
    SCRIPT_ROWS,
    SKIPPED,
    STATE,
    STATES,
    TARGET,
    TOO_MANY,
    WAYPOINT,
    RandomWord,
    inject_kernel,
    word_after,
)
from routelab.kernels.jit import helper


class _Scratch(NamedTuple):
    """Memory of a search.

    Attributes
    ----------
    states : int32 array, shape (states, STATE_COLUMNS)
        States of the pair, in the order in which they were found.
    slots : int64 array, shape (slots, 2)
        Hash table of the states: `SLOT_PAIR` that wrote to the slot last, and its `SLOT_STATE`.
    earlier_escapes : uint64 array, shape (states, words)
        Set of escapes that a packet in the state may still hold: it took no escape since.
    guards : Guards
        Memory of calls, with filling 0.
    repeat_guards : Guards
        Memory of their repetition, with drawn fillings.
    uncleared_guards : Guards
        Memory of calls that find what earlier ones left there, and filling 1 where none wrote.
    packets, candidates : int32 arrays
        The packet that functions write to, and the answer of a call: channel, class and penalty.
        Both are parts of `guards`.
    packet_before : int32 array
        The packet's columns before the call.
    state : int32 array, shape (STATE_COLUMNS,)
        A state to look up or to add.
    answers : uint64 array
        Hashes of the answers in a state.
    random : uint64 array, shape (1,)
        The last random word.
    script : int32 array, shape (SCRIPT_ROWS, 2)
        Outcomes of the draws of a call, see `NUM_DRAWS`. Calls read it by its address.
    location : int64 array, shape (LOCATION_ENTRIES,)
        The state whose candidates are computed, see `FIRST_CHANNEL`.
    has_changed : int64 array, shape (1,)
        1 if the earlier escapes of a state that was expanded before have grown.
    is_full : int64 array, shape (1,)
        1 if the pair has too many states.
    """

    states: Any
    slots: Any
    earlier_escapes: Any
    guards: Any
    repeat_guards: Any
    uncleared_guards: Any
    packets: Any
    candidates: Any
    packet_before: Any
    state: Any
    answers: Any
    random: Any
    script: Any
    location: Any
    has_changed: Any
    is_full: Any


@helper()
def _accept_answer(task, findings, scratch, num_candidates):
    """Return whether an answer of hop fulfils the contract; record violations.

    If hop has set a waypoint, also set the packet's TARGET to it, as the packet engine does.
    """
    settings, candidates, packet = task.settings, scratch.candidates, scratch.packets[0]
    problems, packet_before, location = findings.problems, scratch.packet_before, scratch.location
    is_valid = True
    # 1. The packet's row. A call writes to WAYPOINT and STATE only, and a new waypoint must exist.
    for column in range(PACKET_COLUMNS):
        is_writable = column == WAYPOINT or STATE <= column < STATE + STATES
        if not is_writable and packet[column] != packet_before[column]:
            record_problem(problems[WRITES], packet_before, location, column)
            is_valid = False
    if packet[WAYPOINT] != packet_before[WAYPOINT] and not _aim_at_waypoint(task, packet, location):
        record_problem(
            problems[WRONG_WAYPOINT], packet_before, location, np.int64(packet[WAYPOINT])
        )
        is_valid = False
    # 2. The number of candidates. If it is wrong, the rows of the answer mean nothing.
    if num_candidates < 0 or num_candidates > settings[S_CANDIDATES]:
        record_problem(problems[WRONG_COUNT], packet_before, location, num_candidates)
        return False
    if num_candidates == 0:
        record_problem(problems[DEAD_END], packet_before, location, location[AT_CLASS])
        return False
    # 3. Each candidate.
    for i in range(num_candidates):
        channel, vc, penalty = (
            np.int64(candidates[i, C_CHANNEL]),
            np.int64(candidates[i, C_CLASS]),
            np.int64(candidates[i, C_PENALTY]),
        )
        exists = 0 <= channel < len(task.channels)
        if not exists or task.channels[channel, FROM_SWITCH] != location[AT_SWITCH]:
            record_problem(problems[WRONG_CHANNEL], packet_before, location, channel)
            is_valid = False
        if not 0 <= vc < settings[S_CLASSES]:
            record_problem(problems[WRONG_CLASS], packet_before, location, vc)
            is_valid = False
        if penalty < 0:
            record_problem(problems[WRONG_PENALTY], packet_before, location, penalty)
            is_valid = False
    return is_valid


@helper()
def _aim_at_waypoint(task, packet, location):
    """Set TARGET to the waypoint that hop has just set, or to the destination if hop removed it.

    Returns False, and sets nothing, if hop must not do so.
    """
    waypoint = packet[WAYPOINT]
    target = waypoint if waypoint >= 0 else packet[DESTINATION]
    # waypoints need two phases, are chosen in the first one, and are not where the packet is
    if task.settings[S_PHASES] < 2 or packet[PHASE] != 0 or target == location[AT_SWITCH]:
        return False
    if not -1 <= waypoint < task.settings[S_SWITCHES]:
        return False
    packet[TARGET] = target
    return True


@helper()
def _add_injected_state(task, findings, scratch, ends, pair, num_states):
    """Add the state in which a packet enters after a call of inject, if it is new.

    Faults of inject are recorded. `num_states` is the number of states of the pair so far; returns
    the new number.
    """
    packet, settings, problems = scratch.packets[0], task.settings, findings.problems
    packet_before, location = scratch.packet_before, scratch.location
    if scratch.script[0, MARK] == SKIPPED:
        # an outcome that inject has rejected, to draw once more
        return num_states
    for column in range(PACKET_COLUMNS):
        is_writable = column == WAYPOINT or STATE <= column < STATE + STATES
        if not is_writable and packet[column] != packet_before[column]:
            record_problem(problems[WRITES], packet_before, location, column)
            # so that the search goes on with a packet that exists
            packet[column] = packet_before[column]
    if packet[WAYPOINT] != -1:
        if settings[S_PHASES] < 2 or not 0 <= packet[WAYPOINT] < settings[S_SWITCHES]:
            record_problem(
                problems[WRONG_WAYPOINT], packet_before, location, np.int64(packet[WAYPOINT])
            )
            return num_states
        packet[TARGET] = packet[WAYPOINT]
    # At the source; −1 as channel and class, because it is at injection. Integers of NumPy: Numba
    # compiles a function once more for integers of Python.
    arrival = np.int64(ends[0]), np.int64(-1), np.int64(-1)
    keeps_state = settings[S_KEEPS_STATE] != 0
    fill_arrival_state(scratch.state, packet, arrival, np.int64(0), keeps_state)
    state_index = find_or_add_state(scratch.state, scratch.states, scratch.slots, num_states, pair)
    if state_index < 0:
        scratch.is_full[0] = 1
    elif state_index == num_states:
        num_states += 1
        clear_set(scratch.earlier_escapes[state_index])
    return num_states


@helper()
def _count_call(findings):
    """Count a call, and return whether it is in the sample that is repeated in other memory."""
    findings.numbers[N_CALLS] += 1
    number = findings.numbers[N_CALLS]
    return number <= ALL_GUARDED or number % GUARDED_SHARE == 0


@helper()
def _record_cell_faults(task, findings, scratch, first_row):
    """Record a cell that a call must not write to, and one that depends on what it held before.

    The calls are those in `guards` and `repeat_guards`; `first_row` is the first behind their
    answer. A call of inject has no answer.
    """
    problems, packet_before, location = findings.problems, scratch.packet_before, scratch.location
    guards, max_candidates = scratch.guards, task.settings[S_CANDIDATES]
    cell = find_changed_cell(guards, max_candidates)
    if cell >= 0:
        record_problem(problems[WRITES_ELSEWHERE], packet_before, location, cell)
        # so that the next calls are not blamed
        fill_out(guards, max_candidates, len(guards.out))
    cell = find_cell_with_memory(guards, scratch.repeat_guards, first_row, max_candidates)
    if cell >= 0:
        record_problem(problems[CELL_WITH_MEMORY], packet_before, location, cell)


@helper()
def _call_inject(hop, inject, task, guards, packet_before, queues, word):
    """Call inject for a packet in the memory of guards."""
    copy_row(guards.rows[1], packet_before)
    inject(task.tables, task.reals, guards.packets, PACKET, queues, hop, word, guards.out)


@helper()
def _inject_packets(hop, inject, task, findings, scratch, ends, pair):
    """Find all states in which packets of a pair enter; return their number.

    `ends` is the row of the pair: source, destination, and a terminal at each.
    """
    source, settings = ends[0], task.settings
    random, guards, repeated = scratch.random, scratch.guards, scratch.repeat_guards
    problems, packet_before, location = findings.problems, scratch.packet_before, scratch.location
    location[AT_SWITCH], location[AT_CHANNEL], location[AT_CLASS] = source, -1, -1
    location[STATE_NUMBER] = findings.numbers[N_STATES]
    num_states, calls = np.int64(0), 0
    script, max_candidates = scratch.script, settings[S_CANDIDATES]
    reset_draws(script)
    fill_packet(packet_before, ends)
    draw_filling(repeated, len(task.channels), findings.numbers[N_PAIRS])
    # 1. All outcomes of draws, with each content of the queues in turn. A sample of the calls is
    #    repeated in other memory, and must leave an equal packet there.
    while True:
        calls += 1
        queues = task.queue_contents[calls % settings[S_QUEUE_CONTENTS]]
        word = RandomWord(np.uint64(0), np.uint64(script.ctypes.data))
        is_guarded = _count_call(findings)
        fill_out(guards, FIRST_ROW, max_candidates)
        _call_inject(hop, inject, task, guards, packet_before, queues, word)
        if is_guarded:
            # the repetition draws the same outcomes
            script[0, NUM_DRAWS], script[0, MARK] = 0, 0
            fill_out(repeated, FIRST_ROW, max_candidates)
            _call_inject(hop, inject, task, repeated, packet_before, queues, word)
            if find_changed_cell(guards, FIRST_ROW) >= 0:
                _record_cell_faults(task, findings, scratch, FIRST_ROW)
            if not _are_equal_packets(guards, repeated):
                record_problem(problems[NOT_REPEATABLE], packet_before, location, NO_VALUE)
        num_states = _add_injected_state(task, findings, scratch, ends, pair, num_states)
        if script[0, MARK] == TOO_MANY or calls == MAX_CALLS_PER_STATE:
            record_problem(problems[TOO_MANY_DRAWS], packet_before, location, NO_VALUE)
            break
        if not next_draws(script):
            break
    # 2. Random words, with each content: they must lead to states that step 1 has found. Without an
    #    inject function all injections are equal.
    num_enumerated = num_states
    num_samples = RANDOM_WORDS * settings[S_QUEUE_CONTENTS] if settings[S_INJECT_CHOOSES] else 0
    findings.numbers[N_SAMPLED] += num_samples
    for k in range(num_samples):
        random[0] = word_after(random[0])
        queues = task.queue_contents[k % settings[S_QUEUE_CONTENTS]]
        word = RandomWord(random[0], np.uint64(0))
        _call_inject(hop, inject, task, scratch.uncleared_guards, packet_before, queues, word)
        fill_out(guards, FIRST_ROW, max_candidates)
        _call_inject(hop, inject, task, guards, packet_before, queues, word)
        if not _are_equal_packets(guards, scratch.uncleared_guards):
            record_problem(problems[NOT_REPEATABLE], packet_before, location, NO_VALUE)
        num_states = _add_injected_state(task, findings, scratch, ends, pair, num_states)
    if num_states > num_enumerated:
        record_problem(problems[OTHER_DRAWS], packet_before, location, NO_VALUE)
    if num_states > 1:
        record_problem(problems[SEVERAL_ROUTES], packet_before, location, NO_VALUE)
    return num_states


@helper()
def _are_equal_packets(first, second):
    """Return whether equal calls of inject in the memory of two guards have left equal packets."""
    is_equal = True
    for column in range(PACKET_COLUMNS):
        is_equal &= first.rows[1, column] == second.rows[1, column]
    return is_equal


@helper()
def _add_earlier_escape(scratch, state_index, successor, escape):
    """Add an escape that a packet takes in a state to the earlier escapes of its `successor`.

    `escape` is its row in `Findings.extended_dependencies`.
    """
    bit = np.uint64(1) << np.uint64(escape % 64)
    if not scratch.earlier_escapes[successor, escape // 64] & bit:
        scratch.earlier_escapes[successor, escape // 64] |= bit
        # a successor with a lower index was expanded before, without this escape
        if successor < state_index:
            scratch.has_changed[0] = 1


@helper()
def _pass_earlier_escapes_on(scratch, state_index, successor):
    """Add the earlier escapes of a state to those of its `successor`."""
    earlier_escapes = scratch.earlier_escapes
    has_grown = add_to_set(earlier_escapes[successor], earlier_escapes[state_index])
    # a successor with a lower index was expanded before, without these escapes
    if has_grown and successor < state_index:
        scratch.has_changed[0] = 1


@helper()
def _add_dependencies(task, findings, scratch, pair, state_index, num_states, num_candidates):
    """Add the dependencies of an answer in a state, and the states that it leads to.

    The answer is in `scratch.candidates`, `state_index` is the index of the state in
    `scratch.states`. `num_states` is the number of states of the pair so far; returns the new
    number.
    """
    packet, candidates, settings = scratch.packets[0], scratch.candidates, task.settings
    problems, packet_before, location = findings.problems, scratch.packet_before, scratch.location
    state, classes = scratch.states[state_index], settings[S_PHASES] * settings[S_CLASSES]
    # the resource that the packet came over; at injection it holds none
    held_resource = state[AT_CHANNEL] * classes + state[AT_CLASS] if state[AT_CHANNEL] >= 0 else -1
    is_extended = scratch.earlier_escapes.shape[1] > 0
    has_escape = False
    for i in range(num_candidates):
        channel = candidates[i, C_CHANNEL]
        vc = candidates[i, C_CLASS] + state[AT_PHASE] * settings[S_CLASSES]
        # 1. The candidate, a resource that the packet may wait for.
        is_escape = candidates[i, C_PENALTY] >= ESCAPE
        has_escape |= is_escape
        resource = channel * classes + vc
        findings.used[AS_CANDIDATE, resource] = True
        findings.used[AS_ESCAPE, resource] |= is_escape
        # candidates over two channels are two routes; two classes of one channel are not
        if channel != candidates[0, C_CHANNEL]:
            record_problem(problems[SEVERAL_ROUTES], packet_before, location, NO_VALUE)
        # 2. Dependencies on it: of the held resource, and in the extended graph of earlier escapes.
        if held_resource >= 0 and (is_escape or settings[S_ESCAPES_ONLY] == 0):
            bit = task.channels[channel, PORT] * classes + vc
            findings.dependencies[held_resource, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
        # An escape that this search is the first to find has no row: `explore_states` then gives it
        # one and searches again.
        if is_escape and is_extended and task.escape_row[resource] >= 0:
            add_to_set(
                findings.extended_dependencies[task.escape_row[resource]],
                scratch.earlier_escapes[state_index],
            )
        # 3. The state that the packet reaches over it; none at its destination.
        hops = state[AT_HOPS] + 1
        if hops > settings[S_MAX_HOPS]:
            record_problem(problems[TOO_LONG], packet_before, location, hops)
            continue
        arrival = (np.int64(task.channels[channel, TO_SWITCH]), np.int64(channel), np.int64(vc))
        if fill_arrival_state(scratch.state, packet, arrival, hops, settings[S_KEEPS_STATE] != 0):
            findings.longest[pair] = max(findings.longest[pair], hops)
            continue
        successor = find_or_add_state(
            scratch.state, scratch.states, scratch.slots, num_states, pair
        )
        if successor < 0:
            scratch.is_full[0] = 1
            continue
        if successor == num_states:
            num_states += 1
            clear_set(scratch.earlier_escapes[successor])
        # 4. The escapes that the packet may still hold there: this resource, if it is an escape of
        #    any packet, and earlier ones unless this packet takes it as an escape.
        if is_extended:
            if task.escape_row[resource] >= 0:
                _add_earlier_escape(
                    scratch, state_index, successor, np.int64(task.escape_row[resource])
                )
            if not is_escape:
                _pass_earlier_escapes_on(scratch, state_index, successor)
    if settings[S_CALLED_AGAIN]:
        # 5. Hop may be called again before the packet moves, and finds what this call has written
        #    to the packet. The packet still holds the same escapes then.
        fill_waiting_state(scratch.state, state, packet)
        successor = find_or_add_state(
            scratch.state, scratch.states, scratch.slots, num_states, pair
        )
        if successor < 0:
            scratch.is_full[0] = 1
        else:
            if successor == num_states:
                num_states += 1
                clear_set(scratch.earlier_escapes[successor])
            _pass_earlier_escapes_on(scratch, state_index, successor)
    if not has_escape:
        record_problem(problems[NO_ESCAPE], packet_before, location, NO_VALUE)
    return num_states


@helper(forceinline=True)
def _call_hop(hop, task, guards, packet_before, queues, position, word):
    """Call hop for a packet in the memory of guards; return the number of candidates.

    `position`: the packet's switch, and the channel and class that it came over, −1 at injection.
    """
    switch, channel, vc = position
    copy_row(guards.rows[1], packet_before)
    packets, out = guards.packets, guards.out
    return hop(task.tables, packets, PACKET, queues, switch, channel, vc, word, out)


@helper()
def _expand_state(hop, task, findings, scratch, ends, pair, state_index, num_states):
    """Compute the candidates in a state for all outcomes of draws; follow each new answer.

    `state_index` is the index of the state in `scratch.states`, `ends` the row of the pair: source,
    destination, and a terminal at each. `num_states` is the number of states of the pair so far;
    returns the new number.
    """
    state, packet = scratch.states[state_index], scratch.packets[0]
    problems, packet_before, location = findings.problems, scratch.packet_before, scratch.location
    answers, candidates = scratch.answers, scratch.candidates
    uncleared, repeated = scratch.uncleared_guards, scratch.repeat_guards
    random, script, guards = scratch.random, scratch.script, scratch.guards
    queue_contents, settings = task.queue_contents, task.settings
    max_candidates = settings[S_CANDIDATES]
    # 1. The packet as it stands at the front of its buffer.
    restore_packet(packet_before, ends, state)
    location[AT_SWITCH], location[AT_CHANNEL] = state[AT_SWITCH], state[AT_CHANNEL]
    location[AT_CLASS], location[FIRST_CHANNEL] = state[AT_CLASS], -1
    location[STATE_NUMBER] = findings.numbers[N_STATES] + state_index
    switch, channel = np.int64(state[AT_SWITCH]), np.int64(state[AT_CHANNEL])
    # AT_CLASS counts the classes of all phases; hop gets the class within the packet's phase.
    vc = np.int64(state[AT_CLASS] - state[AT_PHASE] * task.settings[S_CLASSES])
    if vc < 0:
        # At injection; or at the waypoint, which the packet reached on a class of phase 0: phase 1
        # begins as an injection.
        channel, vc = -1, -1
    position = switch, channel, vc
    num_answers = np.int64(0)
    draw_filling(repeated, len(task.channels), location[STATE_NUMBER])
    for content in range(settings[S_QUEUE_CONTENTS]):
        # 2. All outcomes of draws: each new answer adds dependencies and states. A sample of the
        #    calls is repeated in other memory, and must give the same answer there. `packet` and
        #    `candidates` are parts of `guards`, so calls there write to them.
        queues = queue_contents[content]
        reset_draws(script)
        calls, num_answers_before = 0, num_answers
        while True:
            calls += 1
            word = RandomWord(np.uint64(0), np.uint64(script.ctypes.data))
            is_guarded = _count_call(findings)
            if is_guarded:
                fill_out(guards, FIRST_ROW, max_candidates)
            num_candidates = _call_hop(hop, task, guards, packet_before, queues, position, word)
            answer = hash_answer(candidates, num_candidates, packet)
            if is_guarded:
                # the repetition draws the same outcomes
                script[0, NUM_DRAWS], script[0, MARK] = 0, 0
                fill_out(repeated, FIRST_ROW, max_candidates)
                repeated_count = _call_hop(
                    hop, task, repeated, packet_before, queues, position, word
                )
                # the first row behind the answer, whose count may be wrong
                first_row = min(max(num_candidates, 0), max_candidates)
                if find_changed_cell(guards, first_row) >= 0:
                    _record_cell_faults(task, findings, scratch, first_row)
                if hash_answer(repeated.out, repeated_count, repeated.rows[1]) != answer:
                    record_problem(problems[NOT_REPEATABLE], packet_before, location, vc)
            if (
                script[0, MARK] == TOO_MANY
                or calls == MAX_CALLS_PER_STATE
                or num_answers == MAX_ANSWERS
            ):
                record_problem(problems[TOO_MANY_DRAWS], packet_before, location, vc)
                break
            # SKIPPED: hop has rejected this outcome, to draw once more
            if script[0, MARK] != SKIPPED and not _is_known(answers, num_answers, answer):
                answers[num_answers] = answer
                num_answers += 1
                if _accept_answer(task, findings, scratch, num_candidates):
                    # an earlier answer in this state had another first channel
                    if (
                        location[FIRST_CHANNEL] >= 0
                        and location[FIRST_CHANNEL] != candidates[0, C_CHANNEL]
                    ):
                        record_problem(problems[SEVERAL_ROUTES], packet_before, location, NO_VALUE)
                    location[FIRST_CHANNEL] = candidates[0, C_CHANNEL]
                    num_states = _add_dependencies(
                        task, findings, scratch, pair, state_index, num_states, num_candidates
                    )
            if not next_draws(script):
                break
        # content 0 has shown all answers that other contents may give
        if content > 0 and num_answers > num_answers_before:
            record_problem(problems[ON_QUEUES], packet_before, location, vc)
        # 3. Random words: the answers must be known, and the same for the same word, whatever
        #    earlier calls have left in the memory of the call.
        findings.numbers[N_SAMPLED] += RANDOM_WORDS
        for _ in range(RANDOM_WORDS):
            random[0] = word_after(random[0])
            word = RandomWord(random[0], np.uint64(0))
            num_candidates = _call_hop(hop, task, uncleared, packet_before, queues, position, word)
            answer = hash_answer(uncleared.out, num_candidates, uncleared.rows[1])
            if not _is_known(answers, num_answers, answer):
                record_problem(problems[OTHER_DRAWS], packet_before, location, vc)
            fill_out(guards, FIRST_ROW, max_candidates)
            repeated_count = _call_hop(hop, task, guards, packet_before, queues, position, word)
            if (
                repeated_count != num_candidates
                or hash_answer(candidates, repeated_count, packet) != answer
            ):
                record_problem(problems[NOT_REPEATABLE], packet_before, location, vc)
    return num_states


@helper()
def _is_known(answers, num_answers, answer):
    """Return whether the hash of an answer is among the first `num_answers`."""
    is_known = False
    for i in range(num_answers):
        is_known |= answers[i] == answer
    return is_known


@helper()
def _answer_queries(findings, pair):
    """Write the index of a pair to the queries of dependencies that it is the first to have.

    The pair has just been searched, so a queried bit that is set without a cause is due to it.
    """
    is_extended = findings.extended_dependencies.shape[0] > 0
    rows = findings.extended_dependencies if is_extended else findings.dependencies
    for k in range(len(findings.queries)):
        query = findings.queries[k]
        shifted_word = rows[query[Q_ROW], query[Q_BIT] // 64] >> np.uint64(query[Q_BIT] % 64)
        if query[Q_CAUSE] < 0 and shifted_word & np.uint64(1):
            query[Q_CAUSE] = pair


_INT32 = types.Array(types.int32, 1, "C")
_TASK = types.NamedTuple(
    (
        _INT32,
        types.Array(types.float64, 1, "C"),
        types.Array(types.int32, 2, "C"),
        _INT32,
        types.Array(types.int32, 3, "C"),
        types.Array(types.int64, 1, "C"),
    ),
    SearchInput,
)
_FINDINGS = types.NamedTuple(
    (
        types.Array(types.uint64, 2, "C"),
        types.Array(types.uint64, 2, "C"),
        types.Array(types.bool_, 2, "C"),
        types.Array(types.int64, 2, "C"),
        _INT32,
        types.Array(types.int64, 1, "C"),
        types.Array(types.int64, 2, "C"),
    ),
    Findings,
)


@cache
def compile_search() -> tuple[Any, Any]:
    """Compile `explore` and an inject function without choices, at the first call.

    `explore` has one signature: it calls functions through pointers, so that it is compiled once
    for all algorithms.
    """
    signature = types.void(
        types.FunctionType(HOP),
        types.FunctionType(INJECT),
        _TASK,
        types.Array(types.int32, 2, "C"),
        _FINDINGS,
    )
    options = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
    return njit(signature, **options)(explore), inject_kernel(_choose_nothing)


def _choose_nothing(tables, reals, packets, packet, queues, hop, random, out):
    """Leave the packet as it is: the inject function of programs that have none."""
    return 0


def explore(hop, inject, task, pairs, findings):
    """Find every state that packets of some pairs reach, for all outcomes of all draws.

    Programs decide by queues with `either`, whose two outcomes are tried like those of a draw. So
    every content of the queues must give the same answers, penalties apart, and so must random
    words. If hop is called again while a packet waits, the packet after the call is a state, too.

    Parameters
    ----------
    hop, inject : compiled functions
    task : SearchInput
    pairs : int32 array, shape (N, 4)
        Source and destination switch, different and connected, and a terminal at each.
    findings : Findings
        Updated.
    """
    settings, numbers = task.settings, findings.numbers
    # At least twice as many slots as states, so that a search for a slot ends, and soon. A power of
    # two, as `find_or_add_state` needs.
    num_slots = 2
    while num_slots < 2 * settings[S_MAX_STATES_OF_PAIR]:
        num_slots *= 2
    guards = allocate_guards(settings[S_CANDIDATES], len(task.channels), np.int64(0))
    scratch = _Scratch(
        states=np.empty((settings[S_MAX_STATES_OF_PAIR], STATE_COLUMNS), np.int32),
        slots=np.full((num_slots, 2), -1, np.int64),
        earlier_escapes=np.empty(
            (settings[S_MAX_STATES_OF_PAIR], findings.extended_dependencies.shape[1]), np.uint64
        ),
        guards=guards,
        repeat_guards=allocate_guards(settings[S_CANDIDATES], len(task.channels), np.int64(1)),
        uncleared_guards=allocate_guards(settings[S_CANDIDATES], len(task.channels), np.int64(1)),
        packets=guards.packets,
        candidates=guards.out,
        packet_before=np.empty(PACKET_COLUMNS, np.int32),
        state=np.empty(STATE_COLUMNS, np.int32),
        answers=np.empty(MAX_ANSWERS, np.uint64),
        random=np.empty(1, np.uint64),
        script=np.zeros((SCRIPT_ROWS, 2), np.int32),
        location=np.zeros(LOCATION_ENTRIES, np.int64),
        has_changed=np.ones(1, np.int64),
        is_full=np.zeros(1, np.int64),
    )
    for pair in range(len(pairs)):
        if numbers[N_STATES] > settings[S_MAX_STATES]:
            return
        # 1. The states of packets at injection. Words begin anew for each pair, so that they do not
        #    depend on how many the pairs before have used.
        ends = pairs[pair]
        scratch.random[0] = np.uint64(2026 + numbers[N_PAIRS])
        scratch.is_full[0] = 0
        num_states = _inject_packets(hop, inject, task, findings, scratch, ends, pair)
        # 2. Expand states; new ones are put behind. The set of earlier escapes of a state may grow
        #    after the state was expanded. Then expand all states once more, until no set grows.
        scratch.has_changed[0] = 1
        while scratch.has_changed[0]:
            scratch.has_changed[0] = 0
            state_index = np.int64(0)
            while state_index < num_states:
                num_states = _expand_state(
                    hop, task, findings, scratch, ends, pair, state_index, num_states
                )
                state_index += 1
        numbers[N_STATES] += num_states
        numbers[N_PAIRS] += 1
        numbers[N_UNFINISHED] += scratch.is_full[0]
        _answer_queries(findings, pair)
