"""The Angara hardware's rules by brute force, from the words of the paper.

A route is a list of channels. It is legal if it can be read as a first step, a run of standard
hops and a last step, in any way. Nothing of the routing graph is used.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import networkx as nx

from routelab.api import Topology


class Hardware:
    """A network as the hardware sees it: directions 0..2n-1, positive ones first."""

    def __init__(self, topology: Topology, turns: set[tuple[int, int]] | None = None) -> None:
        self.topology = topology
        self.n = len(topology.directions) // 2
        self.direction = topology.channel_direction.tolist()
        self.source = topology.channel_source.tolist()
        self.target = topology.channel_target.tolist()
        self.turns = turns or set()
        self.leaving: dict[int, list[int]] = {s: [] for s in range(topology.num_switches)}
        for channel, switch in enumerate(self.source):
            self.leaving[switch].append(channel)

    def standard(self, route: list[int]) -> bool:
        """Direction order and direction bits."""
        used = [self.direction[c] for c in route]
        in_order = all(a <= b for a, b in pairwise(used))
        return in_order and not any(d + self.n in used for d in used)

    def legal(self, route: list[int]) -> bool:
        """Readable as [first step] + standard hops + [last step]."""
        return any(
            self._fits(route[:first], route[first : len(route) - last], route[len(route) - last :])
            for first in (0, 1)
            for last in (0, 1)
            if first + last <= len(route)
        )

    def _fits(self, first: list[int], middle: list[int], last: list[int]) -> bool:
        if not middle:
            return not last  # the first step alone; a lone last step is a standard hop as well
        if first:
            a, b = self.direction[first[0]], self.direction[middle[0]]
            if a >= self.n or a == b or (a > b and (first[0], middle[0]) not in self.turns):
                return False
        if last:
            a, b = self.direction[middle[-1]], self.direction[last[0]]
            if b < self.n or a == b or (a > b and (middle[-1], last[0]) not in self.turns):
                return False
        return self.standard(middle)

    def shortest(self, source: int, limit: int) -> dict[int, list[list[int]]]:
        """All shortest legal routes to every switch, in the order of their channels.

        Every beginning of a legal route is legal, so routes grow hop by hop.
        """
        by_switch: dict[int, list[list[int]]] = {source: [[]]}
        walks: list[list[int]] = [[]]
        for _ in range(limit):
            grown = []
            for walk in walks:
                here = self.target[walk[-1]] if walk else source
                grown += [w for c in self.leaving[here] if self.legal(w := [*walk, c])]
            walks = grown
            reached: dict[int, list[list[int]]] = {}
            for walk in walks:
                reached.setdefault(self.target[walk[-1]], []).append(walk)
            for switch, routes in reached.items():
                by_switch.setdefault(switch, sorted(routes))
        return by_switch

    # --- safe turns -----------------------------------------------------------------------

    def _in_order_turns(self) -> list[tuple[int, int]]:
        return [
            (a, b)
            for a in range(len(self.source))
            for b in self.leaving[self.target[a]]
            if self.direction[a] <= self.direction[b] != self.direction[a] + self.n
        ]

    def _candidates(self) -> list[tuple[int, int]]:
        """Order-violating turns between two positive or two negative directions."""
        return [
            (a, b)
            for a in range(len(self.source))
            for b in self.leaving[self.target[a]]
            if self.direction[a] > self.direction[b]
            and (self.direction[a] < self.n) == (self.direction[b] < self.n)
        ]

    def theorem2(self) -> set[tuple[int, int]]:
        """Turns whose own direction no walk from their target uses, one after the other."""
        graph = nx.DiGraph(self._in_order_turns())
        graph.add_nodes_from(range(len(self.source)))
        admitted = set()
        for a, b in self._candidates():
            after = nx.descendants(graph, b) | {b}
            if self.direction[a] not in {self.direction[c] for c in after}:
                graph.add_edge(a, b)
                admitted.add((a, b))
        return admitted

    def exact(self) -> set[tuple[int, int]]:
        """Turns whose target's ring does not reach their own ring, one after the other."""
        ring = self.topology.channel_ring.tolist()

        @cache
        def part(channel: int) -> tuple[str, int]:
            return ("ring", ring[channel]) if ring[channel] >= 0 else ("channel", channel)

        graph = nx.DiGraph((part(a), part(b)) for a, b in self._in_order_turns())
        graph.add_nodes_from(part(c) for c in range(len(self.source)))
        admitted = set()
        for a, b in self._candidates():
            if not nx.has_path(graph, part(b), part(a)):
                graph.add_edge(part(a), part(b))
                admitted.add((a, b))
        return admitted
