"""Naive twin of the checker of hop-by-hop programs: sets, recursion and networkx."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import networkx as nx
import numpy as np
from naive_deadlock import ring_successors

from routelab.api import HopProgram, Topology, needed_classes, run_tables
from routelab.kernels import hops as abi

Resource = tuple[int, int]


def own_of(row: np.ndarray) -> tuple[int, ...]:
    """The algorithm's own columns."""
    return tuple(row[abi.STATE : abi.STATE + abi.STATES].tolist())


class State(NamedTuple):
    """A packet at the front of a buffer, or one that enters."""

    ends: tuple[int, int, int, int]  # source, destination, and their terminals
    switch: int
    came: Resource | None
    hops: int
    target: int
    waypoint: int
    phase: int
    own: tuple[int, ...]


class NaiveStates:
    """Every state of every pair, asked with random words only."""

    def __init__(self, program: HopProgram, topology: Topology, words: int = 60) -> None:
        self.program, self.topology = program, topology
        rng = np.random.default_rng(7)
        self.words = rng.integers(2**64, size=words, dtype=np.uint64)
        run = run_tables(program, topology, needed_classes(program), capacity=1)
        self.tables, self.queues = run.tables, run.queues
        self.packets = np.zeros((1, abi.PACKET_COLUMNS), np.int32)
        self.out = np.zeros((program.candidates, 3), np.int32)
        self.answers: dict[State, set[tuple]] = {}
        self.ways: dict[State, list[tuple[Resource | None, bool, State]]] = defaultdict(list)
        for ends in self.pairs():
            for state in self.entries(ends):
                self.visit(state)

    def pairs(self) -> list[tuple[int, int, int, int]]:
        at = self.topology.terminal_switch.tolist()
        pairs = [
            (at[a], at[b], a, b) for a in range(len(at)) for b in range(len(at)) if at[a] != at[b]
        ]
        if self.program.by_terminal:
            return pairs
        return list(
            {(source, target): (source, target, a, b) for source, target, a, b in pairs}.values()
        )

    def entries(self, ends: tuple[int, int, int, int]) -> set[State]:
        """The states in which packets of a pair enter."""
        source, target = ends[:2]
        states = set()
        for word in map(abi.RandomWord, self.words):
            row = self.fill(State(ends, source, None, 0, target, -1, 0, (0, 0, 0, 0)))
            if self.program.inject is not None:
                reals = self.program.reals.copy()
                shared = (self.tables, reals, self.packets, 0, self.queues)
                self.program.inject(*shared, self.program.hop, word, self.out)
            waypoint = int(row[abi.WAYPOINT])
            head = target if waypoint < 0 else waypoint
            states.add(self.landed(State(ends, source, None, 0, head, waypoint, 0, own_of(row))))
        return states

    def fill(self, state: State) -> np.ndarray:
        row = self.packets[0]
        row[:] = 0
        row[[abi.SOURCE, abi.DESTINATION, abi.SOURCE_TERMINAL, abi.TARGET_TERMINAL]] = state.ends
        row[[abi.TARGET, abi.WAYPOINT]] = state.target, state.waypoint
        row[[abi.PHASE, abi.HOPS]] = state.phase, state.hops
        row[abi.STATE : abi.STATE + abi.STATES] = state.own
        return row

    def landed(self, state: State) -> State:
        """The same packet, in phase 1 if it has come to its waypoint."""
        if state.phase or state.waypoint != state.switch:
            return state
        own = state.own if self.program.keeps_state else (0, 0, 0, 0)
        return state._replace(phase=1, target=state.ends[1], own=own)

    def visit(self, state: State) -> None:
        if state in self.answers or state.switch == state.target:
            return
        assert state.hops < 40
        self.answers[state] = set()
        shift = state.phase * self.program.vc_classes
        for word in map(abi.RandomWord, self.words):
            row = self.fill(state)
            came = (-1, -1)
            if state.came is not None and state.came[1] >= shift:
                came = (state.came[0], state.came[1] - shift)
            count = self.program.hop(
                self.tables, self.packets, 0, self.queues, state.switch, *came, word, self.out
            )
            rows = tuple(map(tuple, self.out[:count].tolist()))
            self.answers[state].add((rows, int(row[abi.WAYPOINT]), own_of(row)))
        for rows, waypoint, own in self.answers[state]:
            target = state.target
            if waypoint != state.waypoint:
                target = state.ends[1] if waypoint < 0 else waypoint
            answered = state._replace(target=target, waypoint=waypoint, own=own)
            for channel, vc, penalty in rows:
                there = int(self.topology.channel_target[channel])
                resource = (channel, vc + shift)
                after = answered._replace(switch=there, came=resource, hops=state.hops + 1)
                after = self.landed(after)
                self.ways[state].append((resource, penalty >= abi.ESCAPE, after))
                self.visit(after)
            if self.program.again:
                # it may wait, and be asked again
                self.ways[state].append((None, False, answered))
                self.visit(answered)

    def dependencies(self) -> set[tuple[Resource, Resource]]:
        return {
            (state.came, way[0])
            for state in self.answers
            for way in self.ways[state]
            if state.came and way[0]
        }

    def escapes(self) -> set[Resource]:
        return {way[0] for ways in self.ways.values() for way in ways if way[1]}

    def always_an_escape(self) -> bool:
        return all(
            any(penalty >= abi.ESCAPE for _, _, penalty in rows)
            for answers in self.answers.values()
            for rows, _, _ in answers
        )

    def cut_through(self) -> set[tuple[Resource, Resource]]:
        escapes = self.escapes()
        return {
            (state.came, way[0])
            for state in self.answers
            for way in self.ways[state]
            if state.came in escapes and way[1]
        }

    def wormhole(self) -> set[tuple[Resource, Resource]]:
        """From every state with an escape behind it: all walks without an escape from there."""
        escapes, edges = self.escapes(), set()
        for state in self.answers:
            if state.came not in escapes:
                continue
            seen, waiting = {state}, [state]
            while waiting:
                for resource, escape, after in self.ways[waiting.pop()]:
                    if escape:
                        edges.add((state.came, resource))
                    elif after not in seen:
                        seen.add(after)
                        waiting.append(after)
        return edges

    def holds(self, edges: set[tuple[Resource, Resource]]) -> bool:
        """Whether every cyclic component is inside one complete ring on one class of bubble."""
        after = ring_successors(self.topology)
        graph = nx.DiGraph(edges)
        for component in nx.strongly_connected_components(graph):
            first = min(component)
            if len(component) == 1 and not graph.has_edge(first, first):
                continue
            ring, here = set(), first
            while here[0] in after and here[1] in self.program.bubble and here not in ring:
                ring.add(here)
                here = (after[here[0]], here[1])
            if here != first or not component <= ring:
                return False
        return True
