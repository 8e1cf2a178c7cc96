"""Routes of HyperX and Dragonfly routings and of escape subnetworks, from their definitions."""

from __future__ import annotations

from itertools import pairwise

from hop_cases import distances

from routelab.api import Topology

Place = tuple[int, ...]


def places(topology: Topology) -> list[Place]:
    """Coordinates of all switches."""
    return [tuple(row) for row in topology.coordinates.tolist()]


def links(topology: Topology) -> set[tuple[int, int]]:
    """All ordered pairs of switches with a channel from one to the other."""
    return set(zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True))


def differing(a: Place, b: Place) -> list[int]:
    """Coordinates in which two places differ."""
    return [d for d, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]


def dimwar_hops(topology: Topology, here: int, target: int, last: int | None) -> dict[int, int]:
    """Switches that DimWAR offers, with the class of the hop; `last` is the switch before."""
    place = places(topology)
    dimension = differing(place[here], place[target])[0]
    derouted = last is not None and differing(place[last], place[here]) == [dimension]
    offered = {}
    for there in range(topology.num_switches):
        if differing(place[here], place[there]) == [dimension]:
            minimal = place[there][dimension] == place[target][dimension]
            if minimal or not derouted:
                offered[there] = int(derouted)
    return offered


def omni_hops(topology: Topology, here: int, target: int, may_deroute: bool) -> set[int]:
    """Switches that differ from the current one in one coordinate that is not yet the target's."""
    place = places(topology)
    wrong = differing(place[here], place[target])
    offered = set()
    for a, there in links(topology):
        if a == here:
            (dimension,) = differing(place[here], place[there])
            minimal = place[there][dimension] == place[target][dimension]
            if dimension in wrong and (minimal or may_deroute):
                offered.add(there)
    return offered


def hierarchical_routes(topology: Topology, source: int, target: int) -> set[tuple[int, ...]]:
    """All routes local, global, local over a direct link of the two groups.

    A source with such a link takes no local hop before it.
    """
    joined, place = links(topology), places(topology)
    start, end = place[source][0], place[target][0]
    if start == end:
        return {(source, target)}
    direct = [(a, b) for a, b in joined if (place[a][0], place[b][0]) == (start, end)]
    own = [(a, b) for a, b in direct if a == source]
    routes = set()
    for a, b in own or direct:
        stops = [source, a, b, target]
        routes.add((source, *(y for x, y in pairwise(stops) if x != y)))
    return routes


class EscapeRoutes:
    """Up*/down* distances over levels, and the escapes that they allow, with shortcuts."""

    def __init__(self, topology: Topology) -> None:
        self.hops = distances(topology)
        self.joined = links(topology)
        size = range(topology.num_switches)
        sums = [sum(self.hops[s]) for s in size]
        self.level = self.hops[sums.index(min(sums))]

    def up_down(self, source: int, target: int) -> int:
        """Hops of the shortest route that goes up, then down, by trying all, the shortest first."""
        front, seen, steps = {(source, True)}, set(), 0
        while target not in {switch for switch, _ in front}:
            seen |= front
            following = set()
            for switch, climbs in front:
                for a, b in self.joined:
                    step = self.level[b] - self.level[a]
                    if a == switch and (step == 1 or (step == -1 and climbs)):
                        following.add((b, step == -1))
            front, steps = following - seen, steps + 1
        return steps

    def is_below(self, top: int, switch: int) -> bool:
        """Whether a route leads down from one switch to another, or they are the same."""
        if top == switch:
            return True
        return any(
            a == top and self.level[b] > self.level[a] and self.is_below(b, switch)
            for a, b in self.joined
        )

    def offered(self, here: int, target: int, across: bool) -> set[int]:
        """Switches of all escapes; `across`: the last hop was an escape inside a level."""
        switches = set()
        for a, b in self.joined:
            if a != here or self.up_down(b, target) >= self.up_down(here, target):
                continue
            step = self.level[b] - self.level[a]
            if step < 0 or (step == 0 and not across) or (step > 0 and self.is_below(b, target)):
                switches.add(b)
        return switches
