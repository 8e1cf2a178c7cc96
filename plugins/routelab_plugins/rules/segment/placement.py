"""Where restrictions go: on one switch inside each segment, on one end of a unitary segment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routelab.api import RoutingGraph, Topology
from routelab.api.topology import BoolArray
from routelab.toolkit.irregular import Turn, affordable_evaluations, turn_graph, unevenness

from .search import Segment


class Placement:
    """Restrictions of the segments of a network.

    Parameters
    ----------
    segments : sequence of Segment
        In the order in which they were found.
    num_switches : int

    Attributes
    ----------
    options : list of lists of lists of Turn
        ``options[segment][choice]``: the turns to prohibit, in both directions. A segment of
        switches 4, 7, 8, 5 may prohibit 4-7-8 or 7-8-5. No choice is at the start of a subnet: a
        packet that a bridge brings there could otherwise go round a cycle and back over the bridge.
    chosen : list of int
        Number of each segment's choice.
    """

    def __init__(self, segments: Sequence[Segment], num_switches: int) -> None:
        earlier_neighbours: list[list[int]] = [[] for _ in range(num_switches)]
        self.options: list[list[list[Turn]]] = []
        for segment in segments:
            path = segment.switches
            if segment.kind == "unitary":
                # all turns between the link and an earlier one at this end
                self.options.append(
                    [
                        [(neighbour, end, peer) for neighbour in earlier_neighbours[end]]
                        for end, peer in (path, path[::-1])
                        if end != segment.start
                    ]
                )
            else:
                self.options.append(
                    [[turn] for turn in zip(path, path[1:], path[2:], strict=False)]
                )
            for source, target in segment.links:
                earlier_neighbours[source].append(target)
                earlier_neighbours[target].append(source)
        self.chosen = [0] * len(segments)

    def choose(self, where: str) -> None:
        """Choose by position: the first, middle or last switch inside each segment.

        Of a unitary segment's ends the one with fewer restrictions is chosen.
        """
        for number, options in enumerate(self.options):
            num_turns = [len(option) for option in options]
            # only an end of a unitary segment takes several turns
            if max(num_turns) > 1:
                self.chosen[number] = num_turns.index(min(num_turns))
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
        least_unevenness = loads.unevenness(self.turns)
        comparisons_left = loads.max_comparisons
        moved = True
        while moved:
            moved = False
            for number, options in enumerate(self.options):
                for new_choice in range(len(options)):
                    old_choice = self.chosen[number]
                    if new_choice == old_choice:
                        continue
                    if not comparisons_left:
                        return
                    comparisons_left -= 1
                    self.chosen[number] = new_choice
                    unevenness = loads.move(options[old_choice], options[new_choice])
                    if unevenness < least_unevenness:
                        least_unevenness, moved = unevenness, True
                    else:
                        self.chosen[number] = old_choice
                        loads.move_back(options[old_choice], options[new_choice])


class RestrictedLoads:
    """Loads of one network under sets of restrictions, to compare how even they are.

    Keeps the graph of all turns, and blocks the edges of the prohibited ones. Less unevenness (see
    `routelab.toolkit.irregular.unevenness`) is better.

    Attributes
    ----------
    max_comparisons : int
        Number of sets of restrictions that may be compared.
    """

    def __init__(self, topology: Topology) -> None:
        self._graph = turn_graph(topology, (), turn_set="", merge=False)
        self._edges = _edges_by_turn(self._graph)
        self._blocked: BoolArray = np.zeros(self._graph.num_edges, dtype=np.bool_)
        self.max_comparisons = affordable_evaluations(self._graph)

    def unevenness(self, turns: Sequence[Turn]) -> float:
        """Return the unevenness without these turns."""
        self._blocked[:] = False
        self._set_blocked(turns, True)
        return unevenness(self._graph, self._blocked)

    def move(self, old: Sequence[Turn], new: Sequence[Turn]) -> float:
        """Replace one segment's restrictions, and return the unevenness."""
        self._set_blocked(_both_ways(old), False)
        self._set_blocked(_both_ways(new), True)
        return unevenness(self._graph, self._blocked)

    def move_back(self, old: Sequence[Turn], new: Sequence[Turn]) -> None:
        """Undo `move`."""
        self._set_blocked(_both_ways(new), False)
        self._set_blocked(_both_ways(old), True)

    def _set_blocked(self, turns: Sequence[Turn], value: bool) -> None:
        for turn in turns:
            self._blocked[self._edges[turn]] = value


def _both_ways(turns: Sequence[Turn]) -> list[Turn]:
    """Return turns and their opposites."""
    return [*turns, *((c, b, a) for a, b, c in turns)]


def _edges_by_turn(graph: RoutingGraph) -> dict[Turn, list[int]]:
    """Return the edges over which each turn is made, several for parallel cables."""
    topology = graph.topology
    # A vertex below S is a switch at which packets begin; vertex S + c holds those that came over
    # channel c, so its edges are turns.
    arrival_channel = graph.edge_source - topology.num_switches
    turning = np.flatnonzero(arrival_channel >= 0)
    before, after = arrival_channel[turning], graph.edge_channel[turning]
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
