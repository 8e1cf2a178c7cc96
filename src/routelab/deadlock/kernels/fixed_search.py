"""Search of the states of programs whose candidates are fixed (`HopProgram.fixed`).

States of such programs are few: a *leg* is a source, a target and a phase, and a state of a leg is
a switch and the class that a packet arrived over. Legs are examined one after the other with the
same scratch, so memory grows with the resources and not with the states.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types

from routelab.deadlock.kernels.legs import (
    CHANGES,
    CHANNEL,
    CLASS,
    COUNT,
    DEAD_END,
    F_CHANNEL,
    F_CLASS,
    F_COUNT,
    F_SOURCE,
    F_SWITCH,
    F_TARGET,
    F_VALUE,
    L_ALL,
    L_BY_SWITCH,
    L_CALLS,
    L_CANDIDATES,
    L_CLASSES,
    L_ESCAPES,
    L_PHASES,
    N_BROKEN,
    N_CALLS,
    N_CYCLIC,
    N_LEGS,
    N_LOOSE,
    N_READS_SOURCE,
    N_VERIFIED,
    NO_ESCAPE,
    ON_CHANNEL,
    ON_DESTINATION,
    ON_HOPS,
    ON_QUEUES,
    ON_RANDOM,
    ON_STATE,
    PENALTY,
    SHORT,
    UNFIXED,
    WRITES,
    LegFindings,
    LegInput,
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

_SPARE = 64
"""Rows that a function may write beyond its number of candidates without damage to memory."""

_EVERY = 255
"""One of so many states and one is verified; a division would take as long as half a call."""


class _Leg(NamedTuple):
    """Scratch: states of a leg, by number; `order` lists them. One call of hop.

    `ahead` and `over` are the states that follow and the resources that lead there; a state of −1
    is the target. If states are switches, there are no resources.
    """

    stamp: Any
    order: Any
    sorted: Any
    vc: Any
    came: Any
    fan: Any
    ahead: Any
    over: Any
    before: Any
    depth: Any
    mask: Any
    masks: Any
    dead: Any
    packets: Any
    waypoint: Any
    out: Any
    other: Any
    random: Any


@njit(_nrt=False)
def _record(faults, kind, packet, switch, channel, vc, value):
    """Count a fault; keep the first example."""
    fault = faults[kind]
    fault[F_COUNT] += 1
    if fault[F_COUNT] == 1:
        fault[F_SOURCE], fault[F_TARGET] = packet[SOURCE], packet[TARGET]
        fault[F_SWITCH], fault[F_CHANNEL], fault[F_CLASS] = switch, channel, vc
        fault[F_VALUE] = value


@njit(_nrt=False)
def _break(findings, kind, packet, switch, channel, vc, value):
    """Record a fault that ends the search."""
    _record(findings.faults, kind, packet, switch, channel, vc, value)
    findings.numbers[N_BROKEN] = 1


@njit(_nrt=False)
def _fill(row, leg, waypoint):
    """Fill the packet's row for a leg."""
    for column in range(PACKET_COLUMNS):
        row[column] = 0
    row[SOURCE], row[TARGET], row[DESTINATION] = leg[0], leg[1], leg[1]
    row[PHASE], row[WAYPOINT] = leg[2], waypoint


@njit(_nrt=False, forceinline=True)
def _no_choice():
    """Return a random word without a script: candidates that are fixed do not depend on it."""
    return RandomWord(np.uint64(0), np.uint64(0))


@njit(_nrt=False)
def _same(out, count, other, again):
    """Return whether two answers are equal."""
    if count != again:
        return False
    for i in range(count):
        for j in range(3):
            if out[i, j] != other[i, j]:
                return False
    return True


@njit(_nrt=False)
def _verify(hop, task, findings, search, leg, switch, channel, vc, count):
    """Call hop again with changes that must not matter; record those that do."""
    row, random, limits = search.packets[0], search.random, task.limits
    tables, packets, other = task.tables, search.packets, search.other
    pictures, numbers = task.pictures, findings.numbers
    numbers[N_VERIFIED] += 1
    number = numbers[N_VERIFIED]
    waypoint = search.waypoint[0]
    for change in range(CHANGES + 1):
        random[0] = word_after(random[0])
        queues, word, over = pictures[0], np.uint64(0), channel
        _fill(row, leg, waypoint)
        if change == ON_QUEUES:
            queues = pictures[1 + number % (len(pictures) - 1)]
        elif change == ON_RANDOM:
            word = random[0]
        elif change == ON_HOPS:
            row[HOPS] = 1 + number % 7
            row[SOURCE_TERMINAL], row[TARGET_TERMINAL] = 1, 1
        elif change == ON_STATE:
            for i in range(STATES):
                row[STATE + i] = 1 + (number + i) % 3
        elif change == ON_CHANNEL:
            if channel >= 0:
                over = np.int64(task.entries[switch, number % 2])
        elif limits[L_PHASES] < 2:
            break
        elif change == ON_DESTINATION:
            another_end = task.roots[number % len(task.roots)]
            if leg[2] == 0:
                row[WAYPOINT], row[DESTINATION] = leg[1], another_end
            else:
                row[WAYPOINT] = another_end
        elif leg[2] == 1:
            row[SOURCE] = task.roots[number % len(task.roots)]
        again = hop(
            tables, packets, 0, queues, switch, over, vc, RandomWord(word, np.uint64(0)), other
        )
        if not _same(search.out, count, other, again):
            if change == CHANGES:
                numbers[N_READS_SOURCE] = 1
            else:
                _fill(row, leg, waypoint)
                _break(findings, UNFIXED, row, switch, channel, vc, change)
    _fill(row, leg, waypoint)


@njit(_nrt=False, forceinline=True)
def _ask(hop, task, findings, search, leg, switch, channel, vc):
    """Compute the candidates in a state; return their number, −1 if one is invalid.

    A class that is too high is no fault here; see `_examine`.
    """
    row, out, limits = search.packets[0], search.out, task.limits
    for column in range(STATE, STATE + STATES):
        row[column] = 0
    count = hop(
        task.tables, search.packets, 0, task.pictures[0], switch, channel, vc, _no_choice(), out
    )
    calls = findings.numbers[N_CALLS]
    findings.numbers[N_CALLS] += 1
    if calls < limits[L_ALL] or calls & _EVERY == 0:
        for column in range(STATE, STATE + STATES):
            if row[column] != 0:
                _break(findings, WRITES, row, switch, channel, vc, column)
        if row[SOURCE] != leg[0] or row[TARGET] != leg[1] or row[WAYPOINT] != search.waypoint[0]:
            _break(findings, WRITES, row, switch, channel, vc, WAYPOINT)
        if 0 <= count <= limits[L_CANDIDATES]:
            _verify(hop, task, findings, search, leg, switch, channel, vc, count)
    if count < 0 or count > limits[L_CANDIDATES]:
        _break(findings, COUNT, row, switch, channel, vc, count)
        return -1
    for i in range(count):
        onward = out[i, 0]
        if not 0 <= onward < len(task.channels) or task.channels[onward, 0] != switch:
            _break(findings, CHANNEL, row, switch, channel, vc, onward)
            return -1
        if out[i, 1] < 0:
            _break(findings, CLASS, row, switch, channel, vc, out[i, 1])
            return -1
        if out[i, 2] < 0:
            _break(findings, PENALTY, row, switch, channel, vc, out[i, 2])
            return -1
    return count


@njit(_nrt=False, forceinline=True)
def _enter(search, stamp, tail, state, vc, channel):
    """Add a state that a leg has not reached before; return the number of states."""
    search.stamp[state] = stamp
    search.order[tail] = state
    search.vc[state], search.came[state] = vc, channel
    search.fan[state], search.before[state], search.depth[state] = 0, 0, 0
    for word in range(search.masks.shape[1]):
        search.masks[state, word] = np.uint64(0)
    return tail + 1


@njit(_nrt=False, forceinline=True)
def _examine(hop, task, findings, search, leg, stamp, state, tail):
    """Find the states that follow a state; return the number of states of the leg."""
    limits, out, faults, numbers = task.limits, search.out, findings.faults, findings.numbers
    classes = limits[L_CLASSES]
    total, shift = classes * limits[L_PHASES], classes * leg[2]
    switch = np.int64(state // (classes + 1))
    vc, channel = np.int64(search.vc[state]), np.int64(search.came[state])
    count = _ask(hop, task, findings, search, leg, switch, channel, vc)
    if count == 0 and search.dead[switch] != stamp:
        search.dead[switch] = stamp
        _record(faults, DEAD_END, search.packets[0], switch, channel, vc, 0)
    fan, short, may_escape = 0, -1, False
    for i in range(count):
        onward, name = np.int64(out[i, 0]), np.int64(out[i, 1])
        if name != vc + 1:
            numbers[N_LOOSE] = 1
        if name >= classes:
            short = max(short, name)
            continue
        escape = out[i, 2] >= ESCAPE
        may_escape |= escape
        resource = onward * total + shift + name
        search.over[state, fan] = resource
        findings.used[0, resource] = True
        findings.used[1, resource] |= escape
        if escape or limits[L_ESCAPES] == 0:
            bit = task.channels[onward, 2] * total + shift + name
            search.masks[state, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
        there = np.int64(task.channels[onward, 1])
        after = there * (classes + 1) + name + 1 if there != leg[1] else -1
        search.ahead[state, fan] = after
        fan += 1
        if after >= 0:
            if search.stamp[after] != stamp:
                tail = _enter(search, stamp, tail, after, name, onward)
            search.before[after] += 1
    search.fan[state] = fan
    if short >= 0:
        _record(faults, SHORT, search.packets[0], switch, channel, vc, short)
    if count > 0 and short < 0 and not may_escape:
        _record(faults, NO_ESCAPE, search.packets[0], switch, channel, vc, 0)
    return tail


@njit(_nrt=False, forceinline=True)
def _examine_switch(hop, task, findings, search, leg, stamp, switch, tail):
    """Do the same for a state that is a switch; stop the search if that does not suffice.

    Branches would be mispredicted, which takes longer than all else.
    """
    limits, out, row, numbers = task.limits, search.out, search.packets[0], findings.numbers
    vc, channel = np.int64(search.vc[switch]), np.int64(search.came[switch])
    numbers[N_CALLS] += 1
    count = hop(
        task.tables, search.packets, 0, task.pictures[0], switch, channel, vc, _no_choice(), out
    )
    search.depth[switch], search.fan[switch] = 0, 0
    if count <= 0 or count > limits[L_CANDIDATES]:
        if count != 0:
            numbers[N_LOOSE] = 1
        else:
            _record(findings.faults, DEAD_END, row, switch, channel, vc, 0)
        return tail
    if numbers[N_CALLS] & _EVERY == 0:
        _verify(hop, task, findings, search, leg, switch, channel, vc, count)
    # routes longer than there are classes are followed, too: candidates do not depend on the class
    name = min(vc + 1, limits[L_CLASSES] - 2)
    regular, last = True, u(tail)
    channels, size = task.channels, u(len(task.channels))
    for k in range(u(count)):
        # a negative number becomes a large one
        onward = u(out[k, u(0)])
        exists = onward < size
        onward = onward if exists else u(0)
        there = u(channels[onward, u(1)])
        regular &= exists & (channels[onward, u(0)] == switch)
        regular &= (out[k, u(1)] == vc + 1) & (out[k, u(2)] >= 0)
        search.ahead[u(switch), k] = there
        new = search.stamp[there] != stamp
        search.stamp[there] = stamp
        search.order[last] = there
        search.vc[there] = name if new else search.vc[there]
        search.came[there] = onward if new else search.came[there]
        search.before[there] = (0 if new else search.before[there]) + 1
        last += u(new)
    tail = np.int64(last)
    search.fan[switch] = count
    if not regular:
        numbers[N_LOOSE] = 1
    return tail


@njit(_nrt=False, forceinline=True)
def _sort(search, tail):
    """List the states so that each is behind all that lead to it; return how many are listed.

    States that lead to themselves, and those behind them, are missing. The depth of a state is the
    number of hops of the longest walk to it.
    """
    before, depth, ordered = search.before, search.depth, search.sorted
    done = u(0)
    for k in range(tail):
        state = search.order[u(k)]
        ordered[done] = state
        done += u(before[u(state)] == 0)
    head = u(0)
    while head < done:
        state = u(ordered[head])
        head += u(1)
        deeper = depth[state] + 1
        for k in range(u(search.fan[state])):
            following = search.ahead[state, k]
            if following >= 0:
                after = u(following)
                depth[after] = max(depth[after], deeper)
                before[after] -= 1
                # without a branch, which would be mispredicted
                ordered[done] = following
                done += u(before[after] == 0)
    return np.int64(done)


@njit(_nrt=False)
def _repeat(hop, task, findings, search, leg, done):
    """Compare some candidates with those after the longest walk to the same switch."""
    classes, numbers, out = task.limits[L_CLASSES], findings.numbers, search.out
    for k in range(numbers[N_CALLS] % 16, done, 16):
        switch = np.int64(search.sorted[k])
        vc = np.int64(min(search.depth[switch] - 1, classes - 2))
        if vc <= search.vc[switch] or search.fan[switch] == 0:
            continue
        numbers[N_VERIFIED] += 1
        channel, queues = np.int64(search.came[switch]), task.pictures[0]
        count = hop(task.tables, search.packets, 0, queues, switch, channel, vc, _no_choice(), out)
        if count != search.fan[switch]:
            numbers[N_LOOSE] = 1
            continue
        for i in range(count):
            exists = 0 <= out[i, 0] < len(task.channels)
            there = task.channels[out[i, 0], 1] if exists else -1
            if there != search.ahead[switch, i] or out[i, 1] != vc + 1:
                numbers[N_LOOSE] = 1


@njit(_nrt=False)
def _measure_walks(task, findings, search, stamp, leg, done):
    """Compute the longest walks of a leg from the sorted states.

    If states are switches, also count those at which all classes are used up.
    """
    depth, longest = search.depth, 0
    for k in range(done):
        state = search.sorted[k]
        if search.fan[state] > 0:
            longest = max(longest, depth[state] + 1)
        else:
            longest = max(longest, depth[state])
    findings.longest[stamp] = longest
    if task.limits[L_BY_SWITCH] != 0 and longest > task.limits[L_CLASSES]:
        classes = task.limits[L_CLASSES]
        for k in range(done):
            search.mask[search.sorted[k]] = np.uint64(0)
        for k in range(done):
            state = search.sorted[k]
            if search.came[state] < 0:
                search.mask[state] |= np.uint64(1)
            reached = search.mask[state]
            if (reached >> np.uint64(classes)) & np.uint64(1) and search.fan[state] > 0:
                row = search.packets[0]
                _record(findings.faults, SHORT, row, state, -1, classes - 1, classes)
            for i in range(search.fan[state]):
                after = search.ahead[state, i]
                if after >= 0:
                    search.mask[after] |= reached << np.uint64(1)
    if leg[2] == 0:
        return
    # from each root: the walk that remains
    for k in range(done - 1, -1, -1):
        state, rest = search.sorted[k], 0
        for i in range(search.fan[state]):
            after = search.ahead[state, i]
            rest = max(rest, 1 if after < 0 else depth[after] + 1)
        depth[state] = rest
    width = 1 if task.limits[L_BY_SWITCH] != 0 else task.limits[L_CLASSES] + 1
    for r in range(len(task.roots)):
        if task.roots[r] != leg[1]:
            tail = depth[task.roots[r] * width]
            findings.tails[leg[3], r] = max(findings.tails[leg[3], r], tail)


@njit(_nrt=False)
def _collect(task, findings, search, stamp, leg, tail):
    """Add the dependencies of a leg."""
    words = search.masks.shape[1]
    for k in range(tail):
        state = search.order[k]
        for i in range(search.fan[state]):
            resource, after = search.over[state, i], search.ahead[state, i]
            if after >= 0:
                for word in range(words):
                    findings.rows[resource, word] |= search.masks[after, word]
            elif leg[2] == 0:
                findings.last[resource] = True
        if leg[2] == 1 and search.came[state] < 0:
            switch = state // (task.limits[L_CLASSES] + 1)
            for word in range(words):
                findings.first[switch, word] |= search.masks[state, word]
    for k in range(len(findings.wanted)):
        wanted = findings.wanted[k]
        if wanted[2] < 0:
            bits = findings.rows[wanted[0], wanted[1] // 64] >> np.uint64(wanted[1] % 64)
            if bits & np.uint64(1):
                wanted[2] = stamp


@njit(_nrt=False)
def _search_leg(hop, task, findings, search, leg, stamp):
    """Find all states of a leg, and what follows from them."""
    limits, numbers = task.limits, findings.numbers
    by_switch = limits[L_BY_SWITCH] != 0
    width = 1 if by_switch else limits[L_CLASSES] + 1
    search.waypoint[0] = task.roots[0] if leg[2] == 1 else -1
    _fill(search.packets[0], leg, search.waypoint[0])
    tail = 0
    if leg[2] == 0:
        tail = _enter(search, stamp, tail, leg[0] * width, -1, -1)
    else:
        for root in task.roots:
            if root != leg[1]:
                tail = _enter(search, stamp, tail, root * width, -1, -1)
    if by_switch:
        # the target, at which nothing is examined
        search.stamp[leg[1]], search.before[leg[1]], search.fan[leg[1]] = stamp, 0, 0
        search.depth[leg[1]] = 0
    head = 0
    while head < tail and numbers[N_BROKEN] == 0 and not (by_switch and numbers[N_LOOSE]):
        state = search.order[head]
        if by_switch:
            state = np.int64(state)
            tail = _examine_switch(hop, task, findings, search, leg, stamp, state, tail)
        else:
            tail = _examine(hop, task, findings, search, leg, stamp, state, tail)
        head += 1
    arrives = by_switch and search.before[leg[1]] > 0
    done = _sort(search, tail)
    if done < tail + np.int64(arrives):
        numbers[N_CYCLIC] = 1
    _measure_walks(task, findings, search, stamp, leg, done)
    if by_switch:
        _repeat(hop, task, findings, search, leg, done)
    if findings.rows.shape[1] > 0:
        _collect(task, findings, search, stamp, leg, tail)


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
    return njit(signature, cache=True, nogil=True)(explore_legs)


def explore_legs(hop, task, legs, findings):
    """Find every state that packets of some legs reach.

    Stops when `limits` are exceeded, or when the states of a search by switches are not those of
    the program. Also stops at the first fault other than dead ends and missing classes or escapes.

    Parameters
    ----------
    hop : compiled function
    task : LegInput
    legs : int32 array, shape (N, 4)
        Source, target and phase; in phase 1, the row of `LegFindings.tails`. Phase 0 begins at
        the source, phase 1 at every root.
    findings : LegFindings
        Updated.
    """
    limits, numbers = task.limits, findings.numbers
    by_switch = limits[L_BY_SWITCH] != 0
    switches = len(task.entries)
    width = 1 if by_switch else limits[L_CLASSES] + 1
    size = switches * width
    search = _Leg(
        stamp=np.full(size, -1, np.int32),
        order=np.empty(size + 1, np.int32),
        sorted=np.empty(size + 1, np.int32),
        vc=np.empty(size, np.int32),
        came=np.empty(size, np.int32),
        fan=np.empty(size, np.int32),
        ahead=np.empty((size, limits[L_CANDIDATES]), np.int32),
        over=np.empty((size, limits[L_CANDIDATES]), np.int32),
        before=np.empty(size, np.int32),
        depth=np.empty(size, np.int32),
        mask=np.empty(size, np.uint64),
        masks=np.zeros((size, findings.rows.shape[1]), np.uint64),
        dead=np.full(switches, -1, np.int32),
        packets=np.zeros((1, PACKET_COLUMNS), np.int32),
        waypoint=np.zeros(1, np.int32),
        out=np.zeros((limits[L_CANDIDATES] + _SPARE, 3), np.int32),
        other=np.zeros((limits[L_CANDIDATES] + _SPARE, 3), np.int32),
        random=np.full(1, 2026, np.uint64),
    )
    for stamp in range(len(legs)):
        leg = legs[stamp]
        _search_leg(hop, task, findings, search, leg, stamp)
        numbers[N_LEGS] += 1
        stop = by_switch and (numbers[N_LOOSE] != 0 or numbers[N_CYCLIC] != 0)
        if stop or numbers[N_BROKEN] != 0 or numbers[N_CALLS] > limits[L_CALLS]:
            return
