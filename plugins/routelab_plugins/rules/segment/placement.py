"""Where restrictions go: on one switch inside each segment, on one end of a unitary segment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routelab.api import RoutingGraph, Topology
from routelab.api.topology import BoolArray
from routelab.toolkit.irregular import Turn, affordable_evaluations, turn_graph, unevenness

from .search import Segment


class Placement:
    """Restrictions of the segments of a network: pairs of opposite turns that are prohibited.

    A turn ``(a, b, c)`` leads from switch a over switch b to switch c.

    Parameters
    ----------
    segments : sequence of Segment
        In the order in which they were found.
    num_switches : int

    Attributes
    ----------
    options : list of lists of lists of Turn
        ``options[segment][choice]``: the turns that a choice prohibits, and with each its opposite.
        A segment of switches 4, 7, 8, 5 may prohibit 4-7-8 or 7-8-5. No choice is at the start of a
        subnet: a packet that a bridge brings there could otherwise go round a cycle and back over
        the bridge.
    chosen : list of int
        Number of the choice that each segment has made.
    """

    def __init__(self, segments: Sequence[Segment], num_switches: int) -> None:
        # neighbours of each switch over links of earlier segments
        earlier_neighbours: list[list[int]] = [[] for _ in range(num_switches)]
        self.options: list[list[list[Turn]]] = []
        for segment in segments:
            path = segment.switches
            options: list[list[Turn]] = []
            if segment.kind == "unitary":
                # The segment is one link between two switches of earlier segments. Prohibited are,
                # at one end of it, all turns between this link and earlier ones.
                for end, other_end in (path, path[::-1]):
                    if end != segment.start:  # never where the subnet starts, see `options`
                        neighbours = earlier_neighbours[end]
                        options.append([(neighbour, end, other_end) for neighbour in neighbours])
            else:
                # the turn over one switch inside the segment
                options += [[turn] for turn in zip(path, path[1:], path[2:], strict=False)]
            self.options.append(options)
            for source, target in segment.links:
                earlier_neighbours[source].append(target)
                earlier_neighbours[target].append(source)
        self.chosen = [0] * len(segments)

    def choose(self, position: str) -> None:
        """Restrict each segment at its first, middle or last inner switch; updates `chosen`.

        A unitary segment has no inner switch: there the end with fewer turns to prohibit is chosen.

        Parameters
        ----------
        position : {"first", "middle", "end"}
        """
        for segment, options in enumerate(self.options):
            num_turns = [len(option) for option in options]
            # Each end of a unitary segment has at least two earlier links, because it lies inside
            # an earlier segment. So its options have several turns, and all others have one.
            if max(num_turns) > 1:
                self.chosen[segment] = num_turns.index(min(num_turns))
            else:
                last = len(options) - 1
                self.chosen[segment] = {"first": 0, "middle": last // 2, "end": last}[position]

    @property
    def restrictions(self) -> list[Turn]:
        """One turn of each prohibited pair of opposite turns."""
        chosen = zip(self.options, self.chosen, strict=True)
        return [turn for options, choice in chosen for turn in options[choice]]

    @property
    def turns(self) -> list[Turn]:
        """All prohibited turns, in both directions."""
        return _both_ways(self.restrictions)

    def even_out(self, loads: RestrictedLoads) -> None:
        """Move restrictions, one segment after the other, while this evens out the loads.

        Updates `chosen`. Each move that leaves less unevenness stays; others are taken back. The
        search ends after a round over all segments in which no move stayed, or when `loads` allows
        no more comparisons.
        """
        least_unevenness = loads.prohibit_only(self.turns)
        comparisons_left = loads.max_comparisons
        improved = True
        while improved:
            improved = False
            for segment, options in enumerate(self.options):
                for new_choice in range(len(options)):
                    # read here, because a better choice may have replaced it a moment ago
                    old_choice = self.chosen[segment]
                    if new_choice == old_choice:
                        continue
                    if not comparisons_left:
                        return
                    comparisons_left -= 1
                    self.chosen[segment] = new_choice
                    unevenness = loads.move(options[old_choice], options[new_choice])
                    if unevenness < least_unevenness:
                        least_unevenness, improved = unevenness, True
                    else:
                        self.chosen[segment] = old_choice
                        loads.move_back(options[old_choice], options[new_choice])


class RestrictedLoads:
    """Compare sets of prohibited turns by how evenly they let the channels of a network be loaded.

    The graph with all turns is built once; a set of prohibited turns blocks edges in it. The
    *unevenness* is the sum of the squares of all channel loads relative to capacities, over
    shortest legal routes: less is better.

    Attributes
    ----------
    max_comparisons : int
        Number of sets that a search may compare in reasonable time.
    """

    def __init__(self, topology: Topology) -> None:
        self._graph = turn_graph(topology, (), turn_set="", merge=False)
        self._edges = _edges_by_turn(self._graph)
        self._blocked: BoolArray = np.zeros(self._graph.num_edges, dtype=np.bool_)
        self.max_comparisons = affordable_evaluations(self._graph)

    def prohibit_only(self, turns: Sequence[Turn]) -> float:
        """Prohibit these turns and no others; return the unevenness."""
        self._blocked[:] = False
        self._set_blocked(turns, blocked=True)
        return unevenness(self._graph, self._blocked)

    def move(self, old: Sequence[Turn], new: Sequence[Turn]) -> float:
        """Free the `old` turns, prohibit the `new` ones, with opposites; return the unevenness."""
        self._set_blocked(_both_ways(old), blocked=False)
        self._set_blocked(_both_ways(new), blocked=True)
        return unevenness(self._graph, self._blocked)

    def move_back(self, old: Sequence[Turn], new: Sequence[Turn]) -> None:
        """Undo `move` with the same arguments."""
        self._set_blocked(_both_ways(new), blocked=False)
        self._set_blocked(_both_ways(old), blocked=True)

    def _set_blocked(self, turns: Sequence[Turn], *, blocked: bool) -> None:
        for turn in turns:
            self._blocked[self._edges[turn]] = blocked


def _both_ways(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns and their opposites."""
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
