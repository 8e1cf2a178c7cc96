"""Hop-by-hop programs for tests: one compiled function, all candidates from a list."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import numpy as np
from numba import njit

from routelab.api import HopProgram, Topology, pack_tables
from routelab.kernels.hops import (
    ESCAPE,
    PHASE,
    STATE,
    TARGET,
    TARGET_TERMINAL,
    WAYPOINT,
    channel_packets,
    class_flits,
    hop_kernel,
    pick,
    table,
    waiting_flits,
)

Candidates = list[tuple[int, int, int]]  # (channel, class, penalty)
Answers = Callable[[int, int, int], list[Candidates]]
"""From switch, target and class (−1 at injection) to the answers of which one is drawn."""


Steps = Callable[[int, int, int, int, int], list[tuple[int, int, Candidates]]]
"""From switch, target, phase, STATE and class to answers: waypoint to set, STATE, candidates."""
KEEP = -2
"""Instead of a waypoint: leave it as it is."""
OWN_STATES = 3


@njit
def low_bit(random):
    """Read a random word itself: 1 for one word in 2^40, else 0."""
    return np.int64(random.word % np.uint64(1 << 40) == np.uint64(7))


@njit
def is_drawn_by_numpy(probability):
    """Draw without the random word of the call."""
    return np.random.random() < probability  # noqa: NPY002


@hop_kernel
def listed(tables, packets, packet, queues, switch, channel, vc, random, out):
    """One of the answers of (switch, target, class), at random."""
    size, classes = tables[table(tables, 0)], tables[table(tables, 0) + 1]
    state = (switch * size + packets[packet, TARGET]) * (classes + 1) + vc + 1
    first, last = tables[table(tables, 1) + state], tables[table(tables, 1) + state + 1]
    answer = first + pick(random, last - first)
    begin, end = tables[table(tables, 2) + answer], tables[table(tables, 2) + answer + 1]
    for k in range(begin, end):
        for column in range(3):
            out[k - begin, column] = tables[table(tables, 3) + 3 * k + column]
    return end - begin


def program_of(topology: Topology, answers: Answers, classes: int, **more) -> HopProgram:
    """A program from a function that gives the answers of every state."""
    states, starts, rows = [0], [0], []
    for switch in range(topology.num_switches):
        for target in range(topology.num_switches):
            for vc in range(-1, classes):
                for answer in answers(switch, target, vc) if switch != target else []:
                    rows += answer
                    starts.append(len(rows))
                states.append(len(starts) - 1)
    tables = pack_tables(topology, [topology.num_switches, classes], states, starts, rows or [0])
    more = {"candidates": 8, "max_hops": 12} | more
    return HopProgram(listed, tables, classes, **more)


def distances(topology: Topology) -> list[list[int]]:
    """Hops between switches, by Floyd and Warshall."""
    size = range(topology.num_switches)
    hops = [[0 if s == t else 10**6 for t in size] for s in size]
    for a, b in zip(
        topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True
    ):
        hops[a][b] = min(hops[a][b], 1)
    for k in size:
        for s in size:
            for t in size:
                hops[s][t] = min(hops[s][t], hops[s][k] + hops[k][t])
    return hops


def nearer(topology: Topology) -> Callable[[int, int], list[int]]:
    """From switch and target to the channels that come nearer."""
    hops = distances(topology)
    ends = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    return lambda s, t: [c for c, (a, b) in enumerate(ends) if a == s and hops[b][t] < hops[s][t]]


def random_program(topology: Topology, seed: int) -> HopProgram:
    """Shortest ways on classes at random; some classes are escapes, some under bubble."""
    rng = random.Random(seed)
    ways = nearer(topology)
    classes = rng.randint(1, 3)
    escapes = [vc for vc in range(classes) if rng.random() < 0.6]
    # classes that never sink, or hardly ever, make acyclic graphs; the rest cyclic ones
    sinks = rng.random() * rng.randint(0, 1)
    forgets = rng.random() < 0.3
    narrow = rng.random() < 0.5

    def answer(switch: int, target: int, vc: int) -> Candidates:
        candidates = ways(switch, target)
        if narrow:
            candidates = candidates[:1]
        chosen = rng.sample(candidates, rng.randint(1, len(candidates)))
        offered = []
        for channel in chosen:
            low = 0 if rng.random() < sinks else max(vc, 0)
            kind = rng.randint(low, classes - 1)
            offered.append((channel, kind, ESCAPE if kind in escapes and rng.random() < 0.8 else 0))
        if escapes and not (forgets and rng.random() < 0.05):
            offered.append((candidates[0], rng.choice(escapes), ESCAPE))
        return offered

    def answers(switch: int, target: int, vc: int) -> list[Candidates]:
        if not ways(switch, target):
            return []
        return [answer(switch, target, vc) for _ in range(rng.randint(1, 3))]

    bubble = tuple(vc for vc in range(classes) if rng.random() < 0.5)
    return program_of(topology, answers, classes, bubble=bubble)


@hop_kernel
def steered(tables, packets, packet, queues, switch, channel, vc, random, out):
    """One of the answers of (switch, target, phase, STATE, class): steers the packet, too."""
    size, classes = tables[table(tables, 0)], tables[table(tables, 0) + 1]
    state = (switch * size + packets[packet, TARGET]) * 2 + packets[packet, PHASE]
    state = (state * 3 + packets[packet, STATE]) * (classes + 1) + vc + 1
    first, last = tables[table(tables, 1) + state], tables[table(tables, 1) + state + 1]
    answer = first + pick(random, last - first)
    begin, end = tables[table(tables, 2) + answer], tables[table(tables, 2) + answer + 1]
    for k in range(begin, end):
        for column in range(3):
            out[k - begin, column] = tables[table(tables, 3) + 3 * k + column]
    waypoint = tables[table(tables, 4) + 2 * answer]
    if waypoint > -2:
        packets[packet, WAYPOINT] = waypoint
    packets[packet, STATE] = tables[table(tables, 4) + 2 * answer + 1]
    return end - begin


def steered_program(topology: Topology, steps: Steps, classes: int, **more) -> HopProgram:
    """A program from a function that gives the answers of every state, with two phases."""
    states, starts, rows, turns = [0], [0], [], []
    size = range(topology.num_switches)
    for switch, target, phase, own, vc in product(
        size, size, range(2), range(OWN_STATES), range(-1, classes)
    ):
        for waypoint, after, answer in (
            steps(switch, target, phase, own, vc) if switch != target else []
        ):
            rows += answer
            starts.append(len(rows))
            turns.append((waypoint, after))
        states.append(len(starts) - 1)
    tables = pack_tables(
        topology, [topology.num_switches, classes], states, starts, rows or [0], turns or [0]
    )
    more = {"candidates": 8, "max_hops": 30, "phases": 2} | more
    return HopProgram(steered, tables, classes, **more)


def random_steered_program(topology: Topology, seed: int) -> HopProgram:
    """Shortest ways by waypoints that are set and changed on the way, some asked again and again.

    STATE counts how often the waypoint was set in this phase.
    """
    rng = random.Random(seed)
    ways = nearer(topology)
    classes = rng.randint(1, 2)
    sinks = rng.random() * rng.randint(0, 1)
    escapes = [vc for vc in range(classes) if rng.random() < 0.6]
    turns = rng.choice((0.0, 0.1, 0.4))

    def step(switch: int, target: int, phase: int, own: int, vc: int):
        waypoint, head, after = KEEP, target, own
        if phase == 0 and own < OWN_STATES - 1 and rng.random() < turns:
            others = [other for other in range(topology.num_switches) if other != switch]
            waypoint = head = rng.choice(others)
            after = own + 1
        candidates = ways(switch, head)
        offered = []
        for channel in rng.sample(candidates, rng.randint(1, min(2, len(candidates)))):
            kind = rng.randint(0 if rng.random() < sinks else max(vc, 0), classes - 1)
            offered.append((channel, kind, ESCAPE if kind in escapes and rng.random() < 0.8 else 0))
        if escapes:
            offered.append((candidates[0], rng.choice(escapes), ESCAPE))
        return waypoint, after, offered

    def steps(switch: int, target: int, phase: int, own: int, vc: int):
        return [step(switch, target, phase, own, vc) for _ in range(rng.randint(1, 2))]

    bubble = tuple(vc for vc in range(2 * classes) if rng.random() < 0.5)
    return steered_program(
        topology,
        steps,
        classes,
        bubble=bubble,
        again=rng.random() < 0.5,
        keeps_state=rng.random() < 0.5,
        ranking=rng.choice(("room", "best", "best-or-escape")),
    )


@hop_kernel
def by_parity(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Clockwise round a ring for even terminals, the other way for odd ones.

    Channels are those of a ring of both directions: clockwise s, back size + s. A dateline for
    even terminals, and for odd ones if the tables say so.
    """
    size, datelines = tables[table(tables, 0)], tables[table(tables, 0) + 1]
    odd = packets[packet, TARGET_TERMINAL] % 2
    last = switch == (0 if odd else size - 1)
    out[0, 0] = odd * size + switch
    out[0, 1] = 1 if (datelines > odd) and (vc == 1 or last) else 0
    out[0, 2] = 0
    return 1


def parity_program(topology: Topology, datelines: int, **more) -> HopProgram:
    """Packets to even terminals go clockwise; `datelines`: 1 for even ones only, 2 for all."""
    tables = pack_tables(topology, [topology.num_switches, datelines])
    return HopProgram(by_parity, tables, 2, max_hops=topology.num_switches, **more)


@hop_kernel
def by_queues(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Clockwise round a ring with a dateline, which is forgotten when the queues look like that."""
    size, when = tables[table(tables, 0)], tables[table(tables, 0) + 1]
    behind = (switch + size - 1) % size
    near = class_flits(tables, queues, switch, 0, 0)
    forgets = False
    if when == 1:
        forgets = channel_packets(tables, queues, switch) > 0
    elif when == 2:
        forgets = near > class_flits(tables, queues, switch, 0, 1) + 3
    elif when == 3:
        forgets = near > class_flits(tables, queues, behind, 0, 0) + 3
    elif when == 4:
        forgets = waiting_flits(tables, queues, switch) > waiting_flits(tables, queues, behind)
    out[0, 0] = switch
    out[0, 1] = 1 if not forgets and (vc == 1 or switch == size - 1) else 0
    out[0, 2] = 0
    return 1


def by_queues_program(topology: Topology, when: int) -> HopProgram:
    """A program that forgets its dateline: never, or if a channel is taken, or class 0 is fuller
    than class 1, or a channel is fuller than the one before it, or more waits for it."""
    tables = pack_tables(topology, [topology.num_switches, when])
    return HopProgram(by_queues, tables, 2, max_hops=topology.num_switches, waiting=when == 4)
