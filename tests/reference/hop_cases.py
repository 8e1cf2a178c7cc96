"""Hop-by-hop programs for tests: one compiled function, all candidates from a list."""

from __future__ import annotations

import random
from collections.abc import Callable

from routelab.api import HopProgram, Topology, pack_tables
from routelab.kernels.hops import ESCAPE, TARGET, hop_kernel, pick, table

Candidates = list[tuple[int, int, int]]  # (channel, class, penalty)
Answers = Callable[[int, int, int], list[Candidates]]
"""From switch, target and class (−1 at injection) to the answers of which one is drawn."""


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
        found = []
        for channel in chosen:
            low = 0 if rng.random() < sinks else max(vc, 0)
            kind = rng.randint(low, classes - 1)
            found.append((channel, kind, ESCAPE if kind in escapes and rng.random() < 0.8 else 0))
        if escapes and not (forgets and rng.random() < 0.05):
            found.append((candidates[0], rng.choice(escapes), ESCAPE))
        return found

    def answers(switch: int, target: int, vc: int) -> list[Candidates]:
        if not ways(switch, target):
            return []
        return [answer(switch, target, vc) for _ in range(rng.randint(1, 3))]

    bubble = tuple(vc for vc in range(classes) if rng.random() < 0.5)
    return program_of(topology, answers, classes, bubble=bubble)
