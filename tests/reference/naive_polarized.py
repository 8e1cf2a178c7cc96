"""Polarized routes by enumeration, from the definition in words."""

from __future__ import annotations

from functools import cache

from hop_cases import distances

from routelab.api import Topology


class PolarizedRoutes:
    """All routes that the rules of Camarero et al. (2022, Table 1) allow on a network."""

    def __init__(self, topology: Topology) -> None:
        self.hops = distances(topology)
        self.neighbors = [
            sorted({int(b) for a, b in zip(*ends(topology), strict=True) if a == switch})
            for switch in range(topology.num_switches)
        ]
        self.longest = cache(self._longest)

    def gain(self, source: int, target: int, here: int, there: int) -> int:
        """Growth of the weight D(c, s) - D(c, t) over a hop."""
        weight = [self.hops[c][source] - self.hops[c][target] for c in (here, there)]
        return weight[1] - weight[0]

    def allowed(self, source: int, target: int, here: int) -> list[int]:
        """Switches that a packet may go to."""
        switches = []
        for there in self.neighbors[here]:
            gain = self.gain(source, target, here, there)
            departs = self.hops[there][source] > self.hops[here][source]
            approaches = self.hops[there][target] < self.hops[here][target]
            nearer_source = self.hops[here][source] < self.hops[here][target]
            # with an equal weight: away from both near the source, towards both elsewhere
            if gain > 0 or (
                gain == 0 and ((departs and nearer_source) or (approaches and not nearer_source))
            ):
                switches.append(there)
        return switches

    def reachable(self, source: int, target: int) -> set[int]:
        """Switches that some packet from source to target can come to."""
        seen, todo = {source}, [source]
        while todo:
            here = todo.pop()
            if here != target:
                new = set(self.allowed(source, target, here)) - seen
                seen |= new
                todo += new
        return seen

    def dead_ends(self, source: int, target: int) -> int:
        """Number of reachable switches where no hop is allowed."""
        return sum(
            c != target and not self.allowed(source, target, c)
            for c in self.reachable(source, target)
        )

    def _longest(self, source: int, target: int, here: int) -> int:
        if here == target:
            return 0
        onward = [self.longest(source, target, c) for c in self.allowed(source, target, here)]
        return 1 + max(onward, default=-(10**6))


def ends(topology: Topology) -> tuple[list[int], list[int]]:
    """Both ends of all channels."""
    return topology.channel_source.tolist(), topology.channel_target.tolist()
