"""Search of all states that packets of a hop-by-hop algorithm can reach.

For each pair of switches (or terminals):

1. Call inject for all outcomes of its draws: the first states (`_inject_packets`).
2. Take the states in the order in which they were found. Call hop for all outcomes of its draws
   (`_expand_state`), and check each answer (`_is_valid`).
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
    FIRST,
    allocate_guards,
    changed_cell,
    fill_out,
    kept_cell,
)
from routelab.deadlock.kernels.packet_states import (
    ALL_GUARDED,
    AT_CHANNEL,
    AT_CLASS,
    AT_HOPS,
    AT_PHASE,
    AT_SWITCH,
    CALLED_AGAIN,
    CANDIDATES,
    CHOICES,
    CLASSES,
    DEAD_END,
    ESCAPES_ONLY,
    GUARDED_SHARE,
    KEEPS_CELL,
    KEEPS_STATE,
    MAX_ANSWERS,
    MAX_CALLS_PER_STATE,
    MAX_HOPS,
    MAX_STATES_OF_ALL,
    MAX_STATES_OF_PAIR,
    N_CALLS,
    N_PAIRS,
    N_SAMPLED,
    N_STATES,
    N_UNFINISHED,
    NO_ESCAPE,
    NO_VALUE,
    NOT_REPEATABLE,
    ON_QUEUES,
    OTHER_DRAWS,
    PHASES,
    QUEUE_CONTENTS,
    RANDOM_WORDS,
    SEVERAL_ROUTES,
    STATE_COLUMNS,
    SWITCHES,
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
        Hash table of the states: pair and state of each slot.
    earlier_escapes : uint64 array, shape (states, words)
        Set of escapes that a packet in the state may still hold: it took no escape since.
    guards, repeated, leftover : Guards
        Memory of calls, of their repetition with another filling, and of calls that find what
        earlier ones left there.
    packets, candidates : int32 arrays
        The packet that functions write to, and the answer of a call: channel, class and penalty.
        Both are parts of `guards`.
    packet_before : int32 array
        The packet's columns before the call.
    state : int32 array, shape (STATE_COLUMNS,)
    answers : uint64 array
        Hashes of the answers in a state.
    random, script
        Random word, and outcomes of the draws of a call.
    location : int64 array, shape (5,)
        Switch, channel and class of the state at hand; channel of its first candidate; its number
        over all pairs.
    has_changed : int64 array, shape (1,)
        1 if the earlier escapes of a state that was expanded before have grown.
    is_full : int64 array, shape (1,)
        1 if the pair has too many states.
    """

    states: Any
    slots: Any
    earlier_escapes: Any
    guards: Any
    repeated: Any
    leftover: Any
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
def _is_valid(task, findings, scratch, count):
    """Return whether an answer fulfils the contract; record violations."""
    limits, candidates, packet = task.limits, scratch.candidates, scratch.packets[0]
    problems, packet_before, location = findings.problems, scratch.packet_before, scratch.location
    is_valid = True
    # 1. The packet's row. A call writes to WAYPOINT and STATE only, and a new waypoint must exist.
    for column in range(PACKET_COLUMNS):
        is_writable = column == WAYPOINT or STATE <= column < STATE + STATES
        if not is_writable and packet[column] != packet_before[column]:
            record_problem(problems[WRITES], packet_before, location, column)
            is_valid = False
    if packet[WAYPOINT] != packet_before[WAYPOINT] and not _apply_waypoint(task, packet, location):
        record_problem(
            problems[WRONG_WAYPOINT], packet_before, location, np.int64(packet[WAYPOINT])
        )
        is_valid = False
    # 2. The number of candidates. With another number, the rows of the answer mean nothing.
    if count < 0 or count > limits[CANDIDATES]:
        record_problem(problems[WRONG_COUNT], packet_before, location, count)
        return False
    if count == 0:
        record_problem(problems[DEAD_END], packet_before, location, location[2])
        return False
    # 3. Each candidate.
    for i in range(count):
        channel, vc, penalty = (
            np.int64(candidates[i, 0]),
            np.int64(candidates[i, 1]),
            np.int64(candidates[i, 2]),
        )
        exists = 0 <= channel < len(task.channels)
        if not exists or task.channels[channel, 0] != location[0]:
            record_problem(problems[WRONG_CHANNEL], packet_before, location, channel)
            is_valid = False
        if not 0 <= vc < limits[CLASSES]:
            record_problem(problems[WRONG_CLASS], packet_before, location, vc)
            is_valid = False
        if penalty < 0:
            record_problem(problems[WRONG_PENALTY], packet_before, location, penalty)
            is_valid = False
    return is_valid


@helper()
def _apply_waypoint(task, packet, location):
    """Apply the waypoint that hop has set or removed; return whether hop may do so."""
    waypoint = packet[WAYPOINT]
    target = waypoint if waypoint >= 0 else packet[DESTINATION]
    if task.limits[PHASES] < 2 or packet[PHASE] != 0 or target == location[0]:
        return False
    if not -1 <= waypoint < task.limits[SWITCHES]:
        return False
    packet[TARGET] = target
    return True


@helper()
def _add_injected_state(task, findings, scratch, ends, pair, count):
    """Add the state in which a packet enters after inject; return the number of states."""
    packet, limits, problems = scratch.packets[0], task.limits, findings.problems
    packet_before, location = scratch.packet_before, scratch.location
    if scratch.script[0, 1] == SKIPPED:
        return count
    for column in range(PACKET_COLUMNS):
        is_writable = column == WAYPOINT or STATE <= column < STATE + STATES
        if not is_writable and packet[column] != packet_before[column]:
            record_problem(problems[WRITES], packet_before, location, column)
            packet[column] = packet_before[column]
    if packet[WAYPOINT] != -1:
        if limits[PHASES] < 2 or not 0 <= packet[WAYPOINT] < limits[SWITCHES]:
            record_problem(
                problems[WRONG_WAYPOINT], packet_before, location, np.int64(packet[WAYPOINT])
            )
            return count
        packet[TARGET] = packet[WAYPOINT]
    # integers of NumPy: Numba compiles a function once more for integers of Python
    arrival = np.int64(ends[0]), np.int64(-1), np.int64(-1)
    keeps_state = limits[KEEPS_STATE] != 0
    fill_arrival_state(scratch.state, packet, arrival, np.int64(0), keeps_state)
    number = find_or_add_state(scratch.state, scratch.states, scratch.slots, count, pair)
    if number < 0:
        scratch.is_full[0] = 1
    elif number == count:
        count += 1
        clear_set(scratch.earlier_escapes[number])
    return count


@helper()
def _is_guarded(findings):
    """Count a call, and return whether it is in the sample that is guarded."""
    findings.numbers[N_CALLS] += 1
    number = findings.numbers[N_CALLS]
    return number <= ALL_GUARDED or number % GUARDED_SHARE == 0


@helper()
def _check_cells(task, findings, scratch, count):
    """Record cells that a call and its repetition must not have changed.

    `count` is the number of candidates; a call of inject has none.
    """
    problems, packet_before, location = findings.problems, scratch.packet_before, scratch.location
    guards, most = scratch.guards, task.limits[CANDIDATES]
    cell = changed_cell(guards, most)
    if cell >= 0:
        record_problem(problems[WRITES_ELSEWHERE], packet_before, location, cell)
        fill_out(guards, most, len(guards.out))
    cell = kept_cell(guards, scratch.repeated, count, most)
    if cell >= 0:
        record_problem(problems[KEEPS_CELL], packet_before, location, cell)


@helper()
def _inject(hop, inject, task, guards, packet_before, queues, word):
    """Call inject for a packet."""
    copy_row(guards.rows[1], packet_before)
    inject(task.tables, task.reals, guards.packets, 0, queues, hop, word, guards.out)


@helper()
def _inject_packets(hop, inject, task, findings, scratch, ends, pair):
    """Find all states in which packets of a pair enter; return their number."""
    source, limits = ends[0], task.limits
    random, guards, repeated = scratch.random, scratch.guards, scratch.repeated
    problems, packet_before, location = findings.problems, scratch.packet_before, scratch.location
    location[0], location[1], location[2] = source, -1, -1
    location[4] = findings.numbers[N_STATES]
    count, calls, script, most = np.int64(0), 0, scratch.script, limits[CANDIDATES]
    reset_draws(script)
    fill_packet(packet_before, ends)
    while True:
        # all outcomes of draws, with each content of the queues in turn
        calls += 1
        queues = task.queue_contents[calls % limits[QUEUE_CONTENTS]]
        word = RandomWord(np.uint64(0), np.uint64(script.ctypes.data))
        is_guarded = _is_guarded(findings)
        fill_out(guards, FIRST, most)
        _inject(hop, inject, task, guards, packet_before, queues, word)
        if is_guarded and changed_cell(guards, FIRST) >= 0:
            script[0, 0], script[0, 1] = 0, 0
            fill_out(repeated, FIRST, most)
            _inject(hop, inject, task, repeated, packet_before, queues, word)
            _check_cells(task, findings, scratch, FIRST)
        count = _add_injected_state(task, findings, scratch, ends, pair, count)
        if script[0, 1] == TOO_MANY or calls == MAX_CALLS_PER_STATE:
            record_problem(problems[TOO_MANY_DRAWS], packet_before, location, NO_VALUE)
            break
        if not next_draws(script):
            break
    num_enumerated = count
    findings.numbers[N_SAMPLED] += RANDOM_WORDS * limits[QUEUE_CONTENTS] if limits[CHOICES] else 0
    # without choices all injections are equal
    for k in range(RANDOM_WORDS * limits[QUEUE_CONTENTS] if limits[CHOICES] else 0):
        random[0] = word_after(random[0])
        queues = task.queue_contents[k % limits[QUEUE_CONTENTS]]
        word = RandomWord(random[0], np.uint64(0))
        _inject(hop, inject, task, scratch.leftover, packet_before, queues, word)
        fill_out(guards, FIRST, most)
        _inject(hop, inject, task, guards, packet_before, queues, word)
        if not _equal_packets(scratch):
            record_problem(problems[NOT_REPEATABLE], packet_before, location, NO_VALUE)
        count = _add_injected_state(task, findings, scratch, ends, pair, count)
    if count > num_enumerated:
        record_problem(problems[OTHER_DRAWS], packet_before, location, NO_VALUE)
    if count > 1:
        record_problem(problems[SEVERAL_ROUTES], packet_before, location, NO_VALUE)
    return count


@helper()
def _equal_packets(scratch):
    """Return whether a call leaves the same packet whatever it found in its memory."""
    is_equal = True
    for column in range(PACKET_COLUMNS):
        is_equal &= scratch.leftover.rows[1, column] == scratch.guards.rows[1, column]
    return is_equal


@helper()
def _add_earlier_escape(scratch, number, successor, escape):
    """Add an escape that a packet takes in state `number` to the earlier ones of `successor`."""
    bit = np.uint64(1) << np.uint64(escape % 64)
    if not scratch.earlier_escapes[successor, escape // 64] & bit:
        scratch.earlier_escapes[successor, escape // 64] |= bit
        if successor < number:
            scratch.has_changed[0] = 1


@helper()
def _pass_earlier_escapes_on(scratch, number, successor):
    """Add the earlier escapes of a state to those of a following state."""
    earlier_escapes = scratch.earlier_escapes
    if add_to_set(earlier_escapes[successor], earlier_escapes[number]) and successor < number:
        scratch.has_changed[0] = 1


@helper()
def _add_dependencies(task, findings, scratch, pair, number, count, num_candidates):
    """Add the dependencies of an answer, and the states that it leads to.

    Returns the new number of states of the pair.
    """
    packet, candidates, limits = scratch.packets[0], scratch.candidates, task.limits
    problems, packet_before, location = findings.problems, scratch.packet_before, scratch.location
    state, classes = scratch.states[number], limits[PHASES] * limits[CLASSES]
    held = state[AT_CHANNEL] * classes + state[AT_CLASS] if state[AT_CHANNEL] >= 0 else -1
    indirect = scratch.earlier_escapes.shape[1] > 0
    has_escape = False
    for i in range(num_candidates):
        channel, vc = candidates[i, 0], candidates[i, 1] + state[AT_PHASE] * limits[CLASSES]
        # 1. The candidate, a resource that the packet may wait for.
        escape = candidates[i, 2] >= ESCAPE
        has_escape |= escape
        resource = channel * classes + vc
        findings.used[0, resource] = True
        if channel != candidates[0, 0]:
            record_problem(problems[SEVERAL_ROUTES], packet_before, location, NO_VALUE)
        findings.used[1, resource] |= escape
        # 2. Dependencies on it: of the held resource, and in the extended graph of earlier escapes.
        if held >= 0 and (escape or limits[ESCAPES_ONLY] == 0):
            bit = task.channels[channel, 2] * classes + vc
            findings.dependencies[held, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
        if escape and indirect and task.escape_of[resource] >= 0:
            add_to_set(
                findings.extended_dependencies[task.escape_of[resource]],
                scratch.earlier_escapes[number],
            )
        # 3. The state that the packet reaches over it.
        hops = state[AT_HOPS] + 1
        if hops > limits[MAX_HOPS]:
            record_problem(problems[TOO_LONG], packet_before, location, hops)
            continue
        arrival = (np.int64(task.channels[channel, 1]), np.int64(channel), np.int64(vc))
        if fill_arrival_state(scratch.state, packet, arrival, hops, limits[KEEPS_STATE] != 0):
            findings.longest[pair] = max(findings.longest[pair], hops)
            continue
        successor = find_or_add_state(scratch.state, scratch.states, scratch.slots, count, pair)
        if successor < 0:
            scratch.is_full[0] = 1
            continue
        if successor == count:
            count += 1
            clear_set(scratch.earlier_escapes[successor])
        # 4. The escapes that the packet may still hold there.
        if indirect:
            if task.escape_of[resource] >= 0:
                _add_earlier_escape(scratch, number, successor, np.int64(task.escape_of[resource]))
            if not escape:
                _pass_earlier_escapes_on(scratch, number, successor)
    if limits[CALLED_AGAIN]:
        # 5. Hop may be called again before the packet moves.
        fill_waiting_state(scratch.state, state, packet)
        successor = find_or_add_state(scratch.state, scratch.states, scratch.slots, count, pair)
        if successor < 0:
            scratch.is_full[0] = 1
        else:
            if successor == count:
                count += 1
                clear_set(scratch.earlier_escapes[successor])
            _pass_earlier_escapes_on(scratch, number, successor)
    if not has_escape:
        record_problem(problems[NO_ESCAPE], packet_before, location, NO_VALUE)
    return count


@helper(forceinline=True)
def _call(hop, task, guards, packet_before, queues, position, word):
    """Call hop for a packet at a position: switch, channel and class."""
    switch, channel, vc = position
    copy_row(guards.rows[1], packet_before)
    packets, out = guards.packets, guards.out
    return hop(task.tables, packets, 0, queues, switch, channel, vc, word, out)


@helper()
def _expand_state(hop, task, findings, scratch, ends, pair, number, count):
    """Compute the candidates in a state for all outcomes of draws; follow each distinct answer.

    Returns the new number of states of the pair.
    """
    state, packet = scratch.states[number], scratch.packets[0]
    problems, packet_before, location = findings.problems, scratch.packet_before, scratch.location
    answers, candidates = scratch.answers, scratch.candidates
    leftover, repeated = scratch.leftover, scratch.repeated
    random, script, guards = scratch.random, scratch.script, scratch.guards
    queue_contents, limits, most = task.queue_contents, task.limits, task.limits[CANDIDATES]
    # 1. The packet as it stands at the front of its buffer.
    restore_packet(packet_before, ends, state)
    location[0], location[1] = state[AT_SWITCH], state[AT_CHANNEL]
    location[2], location[3] = state[AT_CLASS], -1
    location[4] = findings.numbers[N_STATES] + number
    switch, channel = np.int64(state[AT_SWITCH]), np.int64(state[AT_CHANNEL])
    vc = np.int64(state[AT_CLASS] - state[AT_PHASE] * task.limits[CLASSES])
    if vc < 0:
        # a new phase begins as an injection
        channel, vc = -1, -1
    position = switch, channel, vc
    num_answers = np.int64(0)
    for content in range(limits[QUEUE_CONTENTS]):
        # 2. All outcomes of draws: each new answer adds dependencies and states.
        queues = queue_contents[content]
        reset_draws(script)
        calls, answers_before = 0, num_answers
        while True:
            calls += 1
            word = RandomWord(np.uint64(0), np.uint64(script.ctypes.data))
            is_guarded = _is_guarded(findings)
            if is_guarded:
                fill_out(guards, FIRST, most)
            num_candidates = _call(hop, task, guards, packet_before, queues, position, word)
            first_row = min(max(num_candidates, 0), most)
            if is_guarded and changed_cell(guards, first_row) >= 0:
                script[0, 0], script[0, 1] = 0, 0
                fill_out(repeated, FIRST, most)
                count_again = _call(hop, task, repeated, packet_before, queues, position, word)
                _check_cells(task, findings, scratch, first_row)
                if hash_answer(repeated.out, count_again, repeated.rows[1]) != hash_answer(
                    candidates, num_candidates, packet
                ):
                    record_problem(problems[NOT_REPEATABLE], packet_before, location, vc)
            if (
                script[0, 1] == TOO_MANY
                or calls == MAX_CALLS_PER_STATE
                or num_answers == MAX_ANSWERS
            ):
                record_problem(problems[TOO_MANY_DRAWS], packet_before, location, vc)
                break
            if script[0, 1] != SKIPPED:
                answer = hash_answer(candidates, num_candidates, packet)
                if not _is_known(answers, num_answers, answer):
                    answers[num_answers] = answer
                    num_answers += 1
                    if _is_valid(task, findings, scratch, num_candidates):
                        if location[3] >= 0 and location[3] != candidates[0, 0]:
                            record_problem(
                                problems[SEVERAL_ROUTES], packet_before, location, NO_VALUE
                            )
                        location[3] = candidates[0, 0]
                        count = _add_dependencies(
                            task, findings, scratch, pair, number, count, num_candidates
                        )
            if not next_draws(script):
                break
        if content > 0 and num_answers > answers_before:
            record_problem(problems[ON_QUEUES], packet_before, location, vc)
        # 3. Random words: the answers must be known, and the same for the same word, whatever
        #    earlier calls have left in the memory of the call.
        findings.numbers[N_SAMPLED] += RANDOM_WORDS
        for _ in range(RANDOM_WORDS):
            random[0] = word_after(random[0])
            word = RandomWord(random[0], np.uint64(0))
            num_candidates = _call(hop, task, leftover, packet_before, queues, position, word)
            answer = hash_answer(leftover.out, num_candidates, leftover.rows[1])
            if not _is_known(answers, num_answers, answer):
                record_problem(problems[OTHER_DRAWS], packet_before, location, vc)
            fill_out(guards, FIRST, most)
            repeated_count = _call(hop, task, guards, packet_before, queues, position, word)
            if (
                repeated_count != num_candidates
                or hash_answer(candidates, repeated_count, packet) != answer
            ):
                record_problem(problems[NOT_REPEATABLE], packet_before, location, vc)
    return count


@helper()
def _is_known(answers, num_answers, answer):
    """Return whether an answer is among the first ones."""
    is_known = False
    for i in range(num_answers):
        is_known |= answers[i] == answer
    return is_known


@helper()
def _answer_queries(findings, pair):
    """Note a pair as the cause of the queried dependencies that it is the first to have."""
    is_extended = findings.extended_dependencies.shape[0] > 0
    bits = findings.extended_dependencies if is_extended else findings.dependencies
    for k in range(len(findings.queries)):
        query = findings.queries[k]
        word = bits[query[0], query[1] // 64] >> np.uint64(query[1] % 64)
        if query[2] < 0 and word & np.uint64(1):
            query[2] = pair


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
    return 0


def explore(hop, inject, task, pairs, findings):
    """Find every state that packets of some pairs reach, for all outcomes of all draws.

    Every content of the queues must give the same answers, penalties apart: programs decide by
    queues with `either`. So must random words. If hop is called again while a packet waits, the
    packet after the call is a state, too.

    Parameters
    ----------
    hop, inject : compiled functions
    task : SearchInput
    pairs : int32 array, shape (N, 4)
        Source and destination switch, different and connected, and a terminal at each.
    findings : Findings
        Updated.
    """
    limits, numbers = task.limits, findings.numbers
    size = 2
    while size < 2 * limits[MAX_STATES_OF_PAIR]:
        size *= 2
    guards = allocate_guards(limits[CANDIDATES], len(task.channels), np.int64(0))
    scratch = _Scratch(
        states=np.empty((limits[MAX_STATES_OF_PAIR], STATE_COLUMNS), np.int32),
        slots=np.full((size, 2), -1, np.int64),
        earlier_escapes=np.empty(
            (limits[MAX_STATES_OF_PAIR], findings.extended_dependencies.shape[1]), np.uint64
        ),
        guards=guards,
        repeated=allocate_guards(limits[CANDIDATES], len(task.channels), np.int64(1)),
        leftover=allocate_guards(limits[CANDIDATES], len(task.channels), np.int64(0)),
        packets=guards.packets,
        candidates=guards.out,
        packet_before=np.empty(PACKET_COLUMNS, np.int32),
        state=np.empty(STATE_COLUMNS, np.int32),
        answers=np.empty(MAX_ANSWERS, np.uint64),
        random=np.empty(1, np.uint64),
        script=np.zeros((SCRIPT_ROWS, 2), np.int32),
        location=np.zeros(5, np.int64),
        has_changed=np.ones(1, np.int64),
        is_full=np.zeros(1, np.int64),
    )
    for pair in range(len(pairs)):
        if numbers[N_STATES] > limits[MAX_STATES_OF_ALL]:
            return
        # 1. The states of packets at injection. Words begin anew for each pair, so that they do not
        #    depend on how many the pairs before have used.
        ends = pairs[pair]
        scratch.random[0] = np.uint64(2026 + numbers[N_PAIRS])
        scratch.is_full[0] = 0
        count = _inject_packets(hop, inject, task, findings, scratch, ends, pair)
        # 2. Expand states; new ones are put behind. Escapes on the way to a state may become more
        #    after it was expanded: then all of them are expanded again, until nothing changes.
        scratch.has_changed[0] = 1
        while scratch.has_changed[0]:
            scratch.has_changed[0] = 0
            number = np.int64(0)
            while number < count:
                count = _expand_state(hop, task, findings, scratch, ends, pair, number, count)
                number += 1
        numbers[N_STATES] += count
        numbers[N_PAIRS] += 1
        numbers[N_UNFINISHED] += scratch.is_full[0]
        _answer_queries(findings, pair)
