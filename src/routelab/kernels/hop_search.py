"""The walk through all states that packets of a hop-by-hop algorithm can come to."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types

from routelab.kernels.hop_states import (
    ANY,
    AS_ESCAPE,
    AT_CHANNEL,
    AT_CLASS,
    AT_HOPS,
    AT_PHASE,
    AT_SWITCH,
    DEAD_END,
    INJECT_WORDS,
    LATER_AS_ESCAPE,
    NO_ESCAPE,
    OWN_RANDOM,
    ROUNDS,
    SEVERAL_WAYS,
    STATE_COLUMNS,
    TOO_LONG,
    TOO_MANY_STATES,
    WORDS,
    WRITES,
    WRONG_CHANNEL,
    WRONG_CLASS,
    WRONG_COUNT,
    WRONG_PENALTY,
    WRONG_WAYPOINT,
    Findings,
    Task,
    arrive,
    blank,
    copy,
    digest,
    forget,
    join,
    note,
    number_of,
    restore,
    wait_later,
    word_of,
)
from routelab.kernels.hops import (
    ESCAPE,
    HOP,
    INJECT,
    PACKET_COLUMNS,
    STATE,
    STATES,
    TARGET,
    WAYPOINT,
    another,
    inject_kernel,
)

_SPARE = 64
"""Rows that a function may write beyond those that it claims before memory is harmed."""


class _Search(NamedTuple):
    """Scratch: states of a pair, their hash table, what was taken before each, one call."""

    states: Any
    slots: Any
    past: Any
    packets: Any
    before: Any
    state: Any
    out: Any
    answers: Any
    random: Any
    place: Any


@njit
def _sound(task, findings, search, count):
    """Whether an answer keeps the contract; what does not is noted."""
    limits, out, row = task.limits, search.out, search.packets[1]
    problems, before, place = findings.problems, search.before, search.place
    sound = True
    for column in range(PACKET_COLUMNS):
        own = STATE <= column < STATE + STATES
        if not own and row[column] != before[column]:
            note(problems[WRITES], before, place, column)
            sound = False
    if count < 0 or count > limits[2]:
        note(problems[WRONG_COUNT], before, place, count)
        return False
    if count == 0:
        note(problems[DEAD_END], before, place, place[2])
        return False
    for i in range(count):
        channel = out[i, 0]
        leaves = 0 <= channel < len(task.channel_source)
        if not leaves or task.channel_source[channel] != place[0]:
            note(problems[WRONG_CHANNEL], before, place, channel)
            sound = False
        if not 0 <= out[i, 1] < limits[1]:
            note(problems[WRONG_CLASS], before, place, out[i, 1])
            sound = False
        if out[i, 2] < 0:
            note(problems[WRONG_PENALTY], before, place, out[i, 2])
            sound = False
    return sound


@njit
def _inject(hop, inject, task, findings, search, ends, pair):
    """All states in which packets of a pair enter; how many there are."""
    source, destination = ends
    row, random = search.packets[1], search.random
    problems, before, place = findings.problems, search.before, search.place
    place[0], place[1], place[2] = source, -1, -1
    count = 0
    # without choices one injection tells all
    for k in range(INJECT_WORDS if task.limits[7] else 1):
        random[0] = another(random[0])
        blank(before, source, destination)
        copy(row, before)
        queues = task.pictures[k % len(task.pictures)]
        word = word_of(k, INJECT_WORDS, random[0])
        inject(task.tables, task.reals, search.packets, 1, queues, hop, word, search.out)
        for column in range(PACKET_COLUMNS):
            own = column == WAYPOINT or STATE <= column < STATE + STATES
            if not own and row[column] != before[column]:
                note(problems[WRITES], before, place, column)
                row[column] = before[column]
        if row[WAYPOINT] != -1:
            if task.limits[0] < 2 or not 0 <= row[WAYPOINT] < task.limits[6]:
                note(problems[WRONG_WAYPOINT], before, place, row[WAYPOINT])
                continue
            row[TARGET] = row[WAYPOINT]
        arrive(search.state, row, source, -1, -1, 0)
        number = number_of(search.state, search.states, search.slots, count, pair)
        if number == count:
            count += 1
            forget(search.past[number])
        elif number < 0:
            note(problems[TOO_MANY_STATES], before, place, count)
    if count > 1:
        note(problems[SEVERAL_WAYS], before, place, -1)
    return count


@njit
def _follow(task, findings, search, pair, number, count, answered):
    """Note what an answer makes a packet wait for, and the states that it leads to.

    Returns the number of states of the pair now.
    """
    row, out, limits = search.packets[1], search.out, task.limits
    problems, before, place = findings.problems, search.before, search.place
    here, classes = search.states[number], limits[0] * limits[1]
    arrival = here[AT_CHANNEL] * classes + here[AT_CLASS] if here[AT_CHANNEL] >= 0 else -1
    indirect = search.past.shape[1] > 0
    may_escape = False
    for i in range(answered):
        channel, vc = out[i, 0], out[i, 1] + here[AT_PHASE] * limits[1]
        escape = out[i, 2] >= ESCAPE
        may_escape |= escape
        b = channel * classes + vc
        findings.used[0, b] = True
        if channel != out[0, 0]:
            note(problems[SEVERAL_WAYS], before, place, -1)
        if arrival >= 0 and findings.dependencies[ANY, arrival, b] < 0:
            findings.dependencies[ANY, arrival, b] = pair
        if escape:
            findings.used[1, b] = True
            if arrival >= 0 and findings.dependencies[AS_ESCAPE, arrival, b] < 0:
                findings.dependencies[AS_ESCAPE, arrival, b] = pair
            if indirect:
                wait_later(findings.dependencies, search.past[number], b, pair)
        hops = here[AT_HOPS] + 1
        if hops > limits[3]:
            note(problems[TOO_LONG], before, place, hops)
            continue
        if arrive(search.state, row, task.channel_target[channel], channel, vc, hops):
            findings.longest[pair] = max(findings.longest[pair], hops)
            continue
        after = number_of(search.state, search.states, search.slots, count, pair)
        if after < 0:
            note(problems[TOO_MANY_STATES], before, place, count)
            continue
        if after == count:
            count += 1
            forget(search.past[after])
        if indirect:
            search.past[after, b // 64] |= np.uint64(1) << np.uint64(b % 64)
            if not escape:
                join(search.past[after], search.past[number])
    if not may_escape:
        note(problems[NO_ESCAPE], before, place, -1)
    return count


@njit
def _ask(hop, task, findings, search, ends, pair, number, count):
    """Ask for the candidates in a state with many words; follow each distinct answer.

    Returns the number of states of the pair now.
    """
    here, row = search.states[number], search.packets[1]
    problems, before, place = findings.problems, search.before, search.place
    answers, random, out, packets = search.answers, search.random, search.out, search.packets
    tables, pictures = task.tables, task.pictures
    restore(before, ends[0], ends[1], here)
    place[0], place[1] = here[AT_SWITCH], here[AT_CHANNEL]
    place[2], place[3] = here[AT_CLASS], -1
    switch, channel = np.int64(here[AT_SWITCH]), np.int64(here[AT_CHANNEL])
    vc = np.int64(here[AT_CLASS] - here[AT_PHASE] * task.limits[1])
    if vc < 0:
        # in a new phase as at injection
        channel, vc = -1, -1
    known = 0
    for k in range(WORDS * ROUNDS):
        random[0] = another(random[0])
        word = word_of(k % WORDS, WORDS, random[0])
        # empty, full, and one of the others
        picture = min(k // WORDS, 2)
        queues = pictures[picture + number % (len(pictures) - 2) * (picture == 2)]
        copy(row, before)
        answered = hop(tables, packets, 1, queues, switch, channel, vc, word, out)
        answer = digest(out, answered, row)
        if k % WORDS == 0:
            copy(row, before)
            told = hop(tables, packets, 1, queues, switch, channel, vc, word, out)
            if told != answered or digest(out, told, row) != answer:
                note(problems[OWN_RANDOM], before, place, vc)
                continue
        new = True
        for i in range(known):
            new &= answers[i] != answer
        if not new:
            continue
        answers[known] = answer
        known += 1
        if not _sound(task, findings, search, answered):
            continue
        if place[3] >= 0 and place[3] != out[0, 0]:
            note(problems[SEVERAL_WAYS], before, place, -1)
        place[3] = out[0, 0]
        count = _follow(task, findings, search, pair, number, count, answered)
    return count


_INT32 = types.Array(types.int32, 1, "C")
_TASK = types.NamedTuple(
    (
        _INT32,
        types.Array(types.float64, 1, "C"),
        _INT32,
        _INT32,
        types.Array(types.int32, 3, "C"),
        types.Array(types.int64, 1, "C"),
    ),
    Task,
)
_FINDINGS = types.NamedTuple(
    (
        types.Array(types.int32, 3, "C"),
        types.Array(types.bool_, 2, "C"),
        types.Array(types.int64, 2, "C"),
        _INT32,
        types.Array(types.int64, 1, "C"),
    ),
    Findings,
)


@cache
def compiled() -> tuple[Any, Any]:
    """`explore` and an inject function that chooses nothing, compiled when first asked for.

    `explore` has one signature, so that functions are called through pointers and no algorithm
    makes it compile again.
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
    """Every state that packets of some pairs come to, whatever the random words say.

    Injections are asked with `INJECT_WORDS` words, states with `WORDS` times `ROUNDS`. Evenly
    spaced words meet every outcome of a first `pick` among so many; what depends on further draws
    or on queues is sampled, with other lower bits and queues in every state.

    Parameters
    ----------
    hop, inject : compiled functions
    task : Task
    pairs : int32 array, shape (N, 2)
        Source and destination switch, different ones, between which there is a way.
    findings : Findings
        Changed.
    """
    limits = task.limits
    size = 2
    while size < 2 * limits[4]:
        size *= 2
    resources = findings.dependencies.shape[1]
    words = (resources + 63) // 64 if len(findings.dependencies) > LATER_AS_ESCAPE else 0
    search = _Search(
        states=np.empty((limits[4], STATE_COLUMNS), np.int32),
        slots=np.full((size, 2), -1, np.int64),
        past=np.zeros((limits[4], words), np.uint64),
        packets=np.zeros((3, PACKET_COLUMNS), np.int32),
        before=np.empty(PACKET_COLUMNS, np.int32),
        state=np.empty(STATE_COLUMNS, np.int32),
        out=np.zeros((limits[2] + _SPARE, 3), np.int32),
        answers=np.empty(WORDS * ROUNDS, np.uint64),
        random=np.full(1, 2026, np.uint64),
        place=np.zeros(4, np.int64),
    )
    for pair in range(len(pairs)):
        ends = (np.int64(pairs[pair, 0]), np.int64(pairs[pair, 1]))
        count = _inject(hop, inject, task, findings, search, ends, pair)
        done = 0
        while done < count:
            count = _ask(hop, task, findings, search, ends, pair, done, count)
            done += 1
        findings.seen[0] += done
        if findings.seen[0] > limits[5]:
            note(findings.problems[TOO_MANY_STATES], search.before, search.place, 0)
            return
