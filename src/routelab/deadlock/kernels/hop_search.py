"""Search of all states that packets of a hop-by-hop algorithm can reach."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types

from routelab.deadlock.kernels.hop_states import (
    AGAIN,
    AT_CHANNEL,
    AT_CLASS,
    AT_HOPS,
    AT_PHASE,
    AT_SWITCH,
    CANDIDATES,
    CHOICES,
    CLASSES,
    DEAD_END,
    ESCAPES_ONLY,
    KEEPS_STATE,
    MOST_ANSWERS,
    MOST_CALLS,
    MOST_HOPS,
    MOST_OF_A_PAIR,
    MOST_STATES,
    N_PAIRS,
    N_SAMPLED,
    N_STATES,
    N_UNFINISHED,
    NO_ESCAPE,
    ON_QUEUES,
    OTHER_DRAWS,
    OWN_RANDOM,
    PHASES,
    PICTURES,
    SEVERAL_WAYS,
    STATE_COLUMNS,
    SWITCHES,
    TOO_LONG,
    TOO_MANY_DRAWS,
    WORDS,
    WRITES,
    WRONG_CHANNEL,
    WRONG_CLASS,
    WRONG_COUNT,
    WRONG_PENALTY,
    WRONG_WAYPOINT,
    Findings,
    SearchInput,
    advance,
    arrive,
    begin_script,
    blank,
    copy,
    digest,
    forget,
    join,
    record_problem,
    restore,
    state_number,
    wait,
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

_SPARE = 64
"""Rows that a function may write beyond its number of candidates without damage to memory."""


class _Search(NamedTuple):
    """Scratch: states of a pair, their hash table, their previous escapes, one call.

    `grown` is 1 if the previous escapes of an explored state have increased, `full` is 1 if there
    are too many states.
    """

    states: Any
    slots: Any
    past: Any
    packets: Any
    before: Any
    state: Any
    out: Any
    answers: Any
    random: Any
    script: Any
    place: Any
    grown: Any
    full: Any


@njit
def _is_valid(task, findings, search, count):
    """Return whether an answer fulfils the contract; record violations."""
    limits, out, row = task.limits, search.out, search.packets[0]
    problems, before, place = findings.problems, search.before, search.place
    sound = True
    for column in range(PACKET_COLUMNS):
        own = column == WAYPOINT or STATE <= column < STATE + STATES
        if not own and row[column] != before[column]:
            record_problem(problems[WRITES], before, place, column)
            sound = False
    if row[WAYPOINT] != before[WAYPOINT] and not _redirect(task, row, place):
        record_problem(problems[WRONG_WAYPOINT], before, place, row[WAYPOINT])
        sound = False
    if count < 0 or count > limits[CANDIDATES]:
        record_problem(problems[WRONG_COUNT], before, place, count)
        return False
    if count == 0:
        record_problem(problems[DEAD_END], before, place, place[2])
        return False
    for i in range(count):
        channel = out[i, 0]
        leaves = 0 <= channel < len(task.channels)
        if not leaves or task.channels[channel, 0] != place[0]:
            record_problem(problems[WRONG_CHANNEL], before, place, channel)
            sound = False
        if not 0 <= out[i, 1] < limits[CLASSES]:
            record_problem(problems[WRONG_CLASS], before, place, out[i, 1])
            sound = False
        if out[i, 2] < 0:
            record_problem(problems[WRONG_PENALTY], before, place, out[i, 2])
            sound = False
    return sound


@njit
def _redirect(task, row, place):
    """Apply the waypoint that hop has set or removed; return whether hop may do so."""
    waypoint = row[WAYPOINT]
    target = waypoint if waypoint >= 0 else row[DESTINATION]
    if task.limits[PHASES] < 2 or row[PHASE] != 0 or target == place[0]:
        return False
    if not -1 <= waypoint < task.limits[SWITCHES]:
        return False
    row[TARGET] = target
    return True


@njit
def _enter(task, findings, search, ends, pair, count):
    """Add the state in which a packet enters after inject; return the number of states."""
    row, before, place, limits = search.packets[0], search.before, search.place, task.limits
    problems = findings.problems
    if search.script[0, 1] == SKIPPED:
        return count
    for column in range(PACKET_COLUMNS):
        own = column == WAYPOINT or STATE <= column < STATE + STATES
        if not own and row[column] != before[column]:
            record_problem(problems[WRITES], before, place, column)
            row[column] = before[column]
    if row[WAYPOINT] != -1:
        if limits[PHASES] < 2 or not 0 <= row[WAYPOINT] < limits[SWITCHES]:
            record_problem(problems[WRONG_WAYPOINT], before, place, row[WAYPOINT])
            return count
        row[TARGET] = row[WAYPOINT]
    arrive(search.state, row, (ends[0], -1, -1), 0, limits[KEEPS_STATE] != 0)
    number = state_number(search.state, search.states, search.slots, count, pair)
    if number < 0:
        search.full[0] = 1
    elif number == count:
        count += 1
        forget(search.past[number])
    return count


@njit
def _inject(hop, inject, task, findings, search, ends, pair):
    """Find all states in which packets of a pair enter; return their number."""
    source, limits = ends[0], task.limits
    row, random = search.packets[0], search.random
    problems, before, place = findings.problems, search.before, search.place
    place[0], place[1], place[2] = source, -1, -1
    place[4] = findings.numbers[N_STATES]
    count, calls, script = 0, 0, search.script
    begin_script(script)
    while True:
        # all outcomes of draws, with each content of the queues in turn
        calls += 1
        queues = task.pictures[calls % limits[PICTURES]]
        blank(before, ends)
        copy(row, before)
        word = RandomWord(np.uint64(0), np.uint64(script.ctypes.data))
        inject(task.tables, task.reals, search.packets, 0, queues, hop, word, search.out)
        count = _enter(task, findings, search, ends, pair, count)
        if script[0, 1] == TOO_MANY or calls == MOST_CALLS:
            record_problem(problems[TOO_MANY_DRAWS], before, place, -1)
            break
        if not advance(script):
            break
    known = count
    findings.numbers[N_SAMPLED] += WORDS * limits[PICTURES] if limits[CHOICES] else 0
    # without choices all injections are equal
    for k in range(WORDS * limits[PICTURES] if limits[CHOICES] else 0):
        random[0] = word_after(random[0])
        copy(row, before)
        queues = task.pictures[k % limits[PICTURES]]
        word = RandomWord(random[0], np.uint64(0))
        inject(task.tables, task.reals, search.packets, 0, queues, hop, word, search.out)
        count = _enter(task, findings, search, ends, pair, count)
    if count > known:
        record_problem(problems[OTHER_DRAWS], before, place, -1)
    if count > 1:
        record_problem(problems[SEVERAL_WAYS], before, place, -1)
    return count


@njit
def _leave_behind(search, number, after, escape):
    """Add an escape to the previous ones of the state `after`, which follows `number`."""
    bit = np.uint64(1) << np.uint64(escape % 64)
    if not search.past[after, escape // 64] & bit:
        search.past[after, escape // 64] |= bit
        if after < number:
            search.grown[0] = 1


@njit
def _inherit(search, number, after):
    """Add the previous escapes of a state to those of a following state."""
    if join(search.past[after], search.past[number]) and after < number:
        search.grown[0] = 1


@njit
def _follow(task, findings, search, pair, number, count, answered):
    """Record the dependencies of an answer, and the states that it leads to.

    Returns the new number of states of the pair.
    """
    row, out, limits = search.packets[0], search.out, task.limits
    problems, before, place = findings.problems, search.before, search.place
    here, classes = search.states[number], limits[PHASES] * limits[CLASSES]
    arrival = here[AT_CHANNEL] * classes + here[AT_CLASS] if here[AT_CHANNEL] >= 0 else -1
    indirect = search.past.shape[1] > 0
    may_escape = False
    for i in range(answered):
        channel, vc = out[i, 0], out[i, 1] + here[AT_PHASE] * limits[CLASSES]
        escape = out[i, 2] >= ESCAPE
        may_escape |= escape
        b = channel * classes + vc
        findings.used[0, b] = True
        if channel != out[0, 0]:
            record_problem(problems[SEVERAL_WAYS], before, place, -1)
        findings.used[1, b] |= escape
        if arrival >= 0 and (escape or limits[ESCAPES_ONLY] == 0):
            bit = task.channels[channel, 2] * classes + vc
            findings.rows[arrival, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
        if escape and indirect and task.escape_of[b] >= 0:
            join(findings.earlier[task.escape_of[b]], search.past[number])
        hops = here[AT_HOPS] + 1
        if hops > limits[MOST_HOPS]:
            record_problem(problems[TOO_LONG], before, place, hops)
            continue
        there = (np.int64(task.channels[channel, 1]), np.int64(channel), np.int64(vc))
        if arrive(search.state, row, there, hops, limits[KEEPS_STATE] != 0):
            findings.longest[pair] = max(findings.longest[pair], hops)
            continue
        after = state_number(search.state, search.states, search.slots, count, pair)
        if after < 0:
            search.full[0] = 1
            continue
        if after == count:
            count += 1
            forget(search.past[after])
        if indirect:
            if task.escape_of[b] >= 0:
                _leave_behind(search, number, after, np.int64(task.escape_of[b]))
            if not escape:
                _inherit(search, number, after)
    if limits[AGAIN]:
        # hop may be called again before it moves
        wait(search.state, here, row)
        after = state_number(search.state, search.states, search.slots, count, pair)
        if after < 0:
            search.full[0] = 1
        else:
            if after == count:
                count += 1
                forget(search.past[after])
            _inherit(search, number, after)
    if not may_escape:
        record_problem(problems[NO_ESCAPE], before, place, -1)
    return count


@njit
def _ask(hop, task, findings, search, ends, pair, number, count):
    """Compute the candidates in a state for all outcomes of draws; follow each distinct answer.

    Returns the new number of states of the pair.
    """
    here, row = search.states[number], search.packets[0]
    problems, before, place = findings.problems, search.before, search.place
    answers, random, out, packets = search.answers, search.random, search.out, search.packets
    tables, pictures, limits = task.tables, task.pictures, task.limits
    script = search.script
    restore(before, ends, here)
    place[0], place[1] = here[AT_SWITCH], here[AT_CHANNEL]
    place[2], place[3] = here[AT_CLASS], -1
    place[4] = findings.numbers[N_STATES] + number
    switch, channel = np.int64(here[AT_SWITCH]), np.int64(here[AT_CHANNEL])
    vc = np.int64(here[AT_CLASS] - here[AT_PHASE] * task.limits[CLASSES])
    if vc < 0:
        # a new phase begins as an injection
        channel, vc = -1, -1
    known = 0
    for picture in range(limits[PICTURES]):
        queues = pictures[picture]
        begin_script(script)
        calls, before_picture = 0, known
        while True:
            calls += 1
            copy(row, before)
            word = RandomWord(np.uint64(0), np.uint64(script.ctypes.data))
            answered = hop(tables, packets, 0, queues, switch, channel, vc, word, out)
            if script[0, 1] == TOO_MANY or calls == MOST_CALLS or known == MOST_ANSWERS:
                record_problem(problems[TOO_MANY_DRAWS], before, place, vc)
                break
            if script[0, 1] != SKIPPED:
                answer = digest(out, answered, row)
                if not _is_known(answers, known, answer):
                    answers[known] = answer
                    known += 1
                    if _is_valid(task, findings, search, answered):
                        if place[3] >= 0 and place[3] != out[0, 0]:
                            record_problem(problems[SEVERAL_WAYS], before, place, -1)
                        place[3] = out[0, 0]
                        count = _follow(task, findings, search, pair, number, count, answered)
            if not advance(script):
                break
        if picture > 0 and known > before_picture:
            record_problem(problems[ON_QUEUES], before, place, vc)
        findings.numbers[N_SAMPLED] += WORDS
        for _ in range(WORDS):
            random[0] = word_after(random[0])
            copy(row, before)
            word = RandomWord(random[0], np.uint64(0))
            answered = hop(tables, packets, 0, queues, switch, channel, vc, word, out)
            answer = digest(out, answered, row)
            if not _is_known(answers, known, answer):
                record_problem(problems[OTHER_DRAWS], before, place, vc)
            copy(row, before)
            repeated = hop(tables, packets, 0, queues, switch, channel, vc, word, out)
            if repeated != answered or digest(out, repeated, row) != answer:
                record_problem(problems[OWN_RANDOM], before, place, vc)
    return count


@njit
def _is_known(answers, known, answer):
    """Return whether an answer is among the first ones."""
    found = False
    for i in range(known):
        found |= answers[i] == answer
    return found


@njit
def _find_wanted(findings, pair):
    """Note a pair as the cause of the wanted dependencies that it is the first to have."""
    bits = findings.earlier if findings.earlier.shape[0] > 0 else findings.rows
    for k in range(len(findings.wanted)):
        wanted = findings.wanted[k]
        word = bits[wanted[0], wanted[1] // 64] >> np.uint64(wanted[1] % 64)
        if wanted[2] < 0 and word & np.uint64(1):
            wanted[2] = pair


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
    return njit(signature, cache=True, nogil=True)(explore), inject_kernel(_choose_nothing)


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
    while size < 2 * limits[MOST_OF_A_PAIR]:
        size *= 2
    search = _Search(
        states=np.empty((limits[MOST_OF_A_PAIR], STATE_COLUMNS), np.int32),
        slots=np.full((size, 2), -1, np.int64),
        past=np.empty((limits[MOST_OF_A_PAIR], findings.earlier.shape[1]), np.uint64),
        packets=np.zeros((1, PACKET_COLUMNS), np.int32),
        before=np.empty(PACKET_COLUMNS, np.int32),
        state=np.empty(STATE_COLUMNS, np.int32),
        out=np.zeros((limits[CANDIDATES] + _SPARE, 3), np.int32),
        answers=np.empty(MOST_ANSWERS, np.uint64),
        random=np.empty(1, np.uint64),
        script=np.zeros((SCRIPT_ROWS, 2), np.int32),
        place=np.zeros(5, np.int64),
        grown=np.ones(1, np.int64),
        full=np.zeros(1, np.int64),
    )
    for pair in range(len(pairs)):
        if numbers[N_STATES] > limits[MOST_STATES]:
            return
        ends = pairs[pair]
        search.random[0] = np.uint64(2026 + numbers[N_PAIRS])
        search.full[0] = 0
        count = _inject(hop, inject, task, findings, search, ends, pair)
        search.grown[0] = 1
        while search.grown[0]:
            search.grown[0] = 0
            done = 0
            while done < count:
                count = _ask(hop, task, findings, search, ends, pair, done, count)
                done += 1
        numbers[N_STATES] += count
        numbers[N_PAIRS] += 1
        numbers[N_UNFINISHED] += search.full[0]
        _find_wanted(findings, pair)
