"""Where restrictions go: on one switch inside each segment, on one end of a unitary segment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routelab.api import RoutingGraph, Topology
from routelab.api.topology import BoolArray
from routelab.toolkit.irregular import Turn, affordable, turn_graph, unevenness

from .search import Segment


class Placement:
    """Restrictions of the segments of a network.

    Parameters
    ----------
    segments : sequence of Segment
        In the order in which they were found.
    count : int
        Number of switches.

    Attributes
    ----------
    options : list of lists of lists of Turn
        Of each segment, every choice of its restrictions. A restriction prohibits a turn and the
        opposite one. No choice is at the start of a subnet: a packet that a bridge brings there
        could otherwise go round a cycle and back over the bridge.
    chosen : list of int
        Number of the choice of each segment.
    """

    def __init__(self, segments: Sequence[Segment], count: int) -> None:
        earlier: list[list[int]] = [[] for _ in range(count)]
        self.options: list[list[list[Turn]]] = []
        for segment in segments:
            path = segment.switches
            if segment.kind == "unitary":
                # no turn between the link and an earlier one at this end
                self.options.append(
                    [
                        [(before, end, peer) for before in earlier[end]]
                        for end, peer in (path, path[::-1])
                        if end != segment.start
                    ]
                )
            else:
                self.options.append(
                    [[turn] for turn in zip(path, path[1:], path[2:], strict=False)]
                )
            for source, target in segment.links:
                earlier[source].append(target)
                earlier[target].append(source)
        self.chosen = [0] * len(segments)

    def choose(self, where: str) -> None:
        """Choose by position: the first, middle or last switch inside each segment.

        Of a unitary segment's ends the one with fewer restrictions is chosen.
        """
        for number, options in enumerate(self.options):
            sizes = [len(option) for option in options]
            if max(sizes) > 1:
                self.chosen[number] = sizes.index(min(sizes))
            else:
                last = len(options) - 1
                self.chosen[number] = {"first": 0, "middle": last // 2, "end": last}[where]

    @property
    def restrictions(self) -> list[Turn]:
        """Prohibited pairs of turns, each as one of the two."""
        chosen = zip(self.options, self.chosen, strict=True)
        return [turn for options, choice in chosen for turn in options[choice]]

    @property
    def turns(self) -> list[Turn]:
        """All prohibited turns."""
        return _both_ways(self.restrictions)

    def improve(self, loads: RestrictedLoads) -> None:
        """Move restrictions, one segment after the other, while this evens out the loads."""
        least = loads.unevenness(self.turns)
        steps_left = loads.most_compared
        moved = True
        while moved:
            moved = False
            for number, options in enumerate(self.options):
                for choice in range(len(options)):
                    before = self.chosen[number]
                    if choice == before:
                        continue
                    if not steps_left:
                        return
                    steps_left -= 1
                    self.chosen[number] = choice
                    unevenness = loads.move(options[before], options[choice])
                    if unevenness < least:
                        least, moved = unevenness, True
                    else:
                        self.chosen[number] = before
                        loads.move_back(options[before], options[choice])


class RestrictedLoads:
    """Loads of one network under sets of restrictions, to compare how even they are.

    See `routelab.toolkit.irregular.unevenness`.

    Attributes
    ----------
    most_compared : int
        How many sets of restrictions may be compared.
    """

    def __init__(self, topology: Topology) -> None:
        self._graph = turn_graph(topology, (), turn_set="", merge=False)
        self._edges = _edges_by_turn(self._graph)
        self._blocked: BoolArray = np.zeros(self._graph.num_edges, dtype=np.bool_)
        self.most_compared = affordable(self._graph)

    def unevenness(self, turns: Sequence[Turn]) -> float:
        """Return the unevenness without these turns."""
        self._blocked[:] = False
        self._mark(turns, True)
        return unevenness(self._graph, self._blocked)

    def move(self, old: Sequence[Turn], new: Sequence[Turn]) -> float:
        """Return the unevenness after one segment's restrictions were replaced."""
        self._mark(_both_ways(old), False)
        self._mark(_both_ways(new), True)
        return unevenness(self._graph, self._blocked)

    def move_back(self, old: Sequence[Turn], new: Sequence[Turn]) -> None:
        """Undo `move`."""
        self._mark(_both_ways(new), False)
        self._mark(_both_ways(old), True)

    def _mark(self, turns: Sequence[Turn], value: bool) -> None:
        for turn in turns:
            self._blocked[self._edges[turn]] = value


def _both_ways(turns: Sequence[Turn]) -> list[Turn]:
    return [*turns, *((c, b, a) for a, b, c in turns)]


def _edges_by_turn(graph: RoutingGraph) -> dict[Turn, list[int]]:
    """Return the edges over which each turn is made, several for parallel cables."""
    topology = graph.topology
    came_by = graph.edge_source - topology.num_switches
    turning = np.flatnonzero(came_by >= 0)
    before, after = came_by[turning], graph.edge_channel[turning]
    edges: dict[Turn, list[int]] = {}
    ends = zip(
        topology.channel_source[before].tolist(),
        topology.channel_target[before].tolist(),
        topology.channel_target[after].tolist(),
        turning.tolist(),
        strict=True,
    )
    for a, b, c, edge in ends:
        edges.setdefault((a, b, c), []).append(edge)
    return edges
