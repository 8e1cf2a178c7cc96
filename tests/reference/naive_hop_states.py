"""Naive twin of the checker of hop-by-hop programs: sets, recursion and networkx."""

from __future__ import annotations

from collections import defaultdict

import networkx as nx
import numpy as np
from naive_deadlock import ring_successors

from routelab.api import HopProgram, Topology, run_tables
from routelab.kernels import hops as abi

Resource = tuple[int, int]


class NaiveStates:
    """Every state of every pair, asked with random words only."""

    def __init__(self, program: HopProgram, topology: Topology, words: int = 60) -> None:
        self.program, self.topology = program, topology
        rng = np.random.default_rng(7)
        self.words = rng.integers(2**64, size=words, dtype=np.uint64)
        self.tables = run_tables(program, topology, 8, capacity=1).tables
        self.packets = np.zeros((1, abi.PACKET_COLUMNS), np.int32)
        self.out = np.zeros((program.candidates, 3), np.int32)
        self.queues = np.zeros((topology.num_channels * 8, abi.QUEUE_COLUMNS), np.int32)
        self.answers: dict[tuple, set[tuple]] = {}
        self.ways: dict[tuple, list[tuple]] = defaultdict(list)
        for source in topology.endpoints.tolist():
            for target in topology.endpoints.tolist():
                if source != target:
                    self.visit((source, target, source, None, 0))

    def visit(self, state: tuple) -> None:
        if state in self.answers:
            return
        source, target, switch, came, hops = state
        assert hops < 20
        self.answers[state] = set()
        for word in self.words:
            row = self.packets[0]
            row[:] = 0
            row[[abi.SOURCE, abi.TARGET, abi.DESTINATION, abi.WAYPOINT]] = (
                source,
                target,
                target,
                -1,
            )
            row[abi.HOPS] = hops
            where = (-1, -1) if came is None else came
            count = self.program.hop(
                self.tables, self.packets, 0, self.queues, switch, *where, word, self.out
            )
            self.answers[state].add(tuple(map(tuple, self.out[:count].tolist())))
        for answer in self.answers[state]:
            for channel, vc, penalty in answer:
                there = int(self.topology.channel_target[channel])
                after = (source, target, there, (channel, vc), hops + 1)
                escape = penalty >= abi.ESCAPE
                self.ways[state].append(((channel, vc), escape, after))
                if there != target:
                    self.visit(after)

    def dependencies(self) -> set[tuple[Resource, Resource]]:
        return {
            (state[3], way[0]) for state in self.answers if state[3] for way in self.ways[state]
        }

    def escapes(self) -> set[Resource]:
        return {way[0] for ways in self.ways.values() for way in ways if way[1]}

    def always_an_escape(self) -> bool:
        return all(
            any(penalty >= abi.ESCAPE for _, _, penalty in answer)
            for answers in self.answers.values()
            for answer in answers
        )

    def cut_through(self) -> set[tuple[Resource, Resource]]:
        found = self.escapes()
        return {
            (state[3], way[0])
            for state in self.answers
            for way in self.ways[state]
            if state[3] in found and way[1]
        }

    def wormhole(self) -> set[tuple[Resource, Resource]]:
        """From every state with an escape behind it: all walks without an escape from there."""
        found, edges = self.escapes(), set()
        for state in self.answers:
            if state[3] not in found:
                continue
            seen, waiting = {state}, [state]
            while waiting:
                for resource, escape, after in self.ways[waiting.pop()]:
                    if escape:
                        edges.add((state[3], resource))
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
