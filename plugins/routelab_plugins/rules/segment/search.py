"""Search for segments: `compute_segments` and `find` of the paper's Figure 2, without its gaps.

A segment is a path of links through switches that no earlier segment has, between two switches of
earlier segments, or a cycle through the switch that a subnet starts with. Bridges lie in none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from routelab.toolkit.irregular.subnets import Subnet


@dataclass(frozen=True)
class Segment:
    """A path or cycle of links.

    Attributes
    ----------
    switches : tuple of int
        From end to end. The ends belong to earlier segments or are the subnet's start; two
        switches are a unitary segment, which is a link only.
    start : int
        First switch of the subnet.
    """

    switches: tuple[int, ...]
    start: int

    @property
    def kind(self) -> str:
        """Return starting, regular or unitary."""
        if len(self.switches) == 2:
            return "unitary"
        closed = self.switches[0] == self.switches[-1] == self.start
        return "starting" if closed else "regular"

    @property
    def links(self) -> Iterator[tuple[int, int]]:
        """Yield the links, each as two switches in the order of the segment."""
        yield from zip(self.switches, self.switches[1:], strict=False)


class SegmentSearch:
    """The search of one subnet.

    Parameters
    ----------
    subnet : Subnet
    neighbours : sequence of sequences of int
        Of all switches of the network.
    """

    def __init__(self, subnet: Subnet, neighbours: Sequence[Sequence[int]]) -> None:
        self._start = subnet.start
        self._free_neighbours: dict[int, list[int]] = {
            switch: [end for end in neighbours[switch] if end in subnet.switches]
            for switch in subnet.switches
        }
        """Neighbours of each switch over links that no segment has."""
        self._visited: dict[int, None] = {subnet.start: None}
        """Switches of segments, in the order of their visit."""

    def greedy(self) -> Iterator[Segment]:
        """Yield segments as Figure 2 finds them: depth first, links in ascending order."""
        # switches join `_visited` and `waiting` as segments are found
        waiting = deque(self._visited)
        while waiting:
            switch = waiting[0]
            if not self._free_neighbours[switch]:
                waiting.popleft()
                continue
            path = self._descend(switch, self._free_neighbours[switch][0])
            waiting.extend(path[1:-1])
            yield self._add_segment(path)

    def shortest(self) -> Iterator[Segment]:
        """Yield the shortest of all possible segments, again and again.

        A link between visited switches comes first, then switches next to two of them, in the
        order in which they became so; longer segments are searched for.
        """
        new_switches = [self._start]
        unitary: deque[tuple[int, int]] = deque()
        """Links between two visited switches; a segment may have taken one meanwhile."""
        two_links: deque[int] = deque()
        """Switches with links to two visited ones; one may be visited meanwhile."""
        visited_neighbours: dict[int, int] = {}
        while True:
            # 1. What the switches of the last segment add to both lists. A switch is listed when
            #    it gets its second visited neighbour, so that lists never have to be searched.
            for switch in new_switches:
                for neighbour in self._free_neighbours[switch]:
                    if neighbour in self._visited:
                        unitary.append((neighbour, switch))
                        continue
                    count = visited_neighbours[neighbour] = visited_neighbours.get(neighbour, 0) + 1
                    if count == 2:
                        two_links.append(neighbour)
            # 2. A segment of one link, of two, or of more.
            path: list[int] = []
            while unitary and not path:
                source, target = unitary.popleft()
                path = [source, target] if target in self._free_neighbours[source] else []
            while two_links and not path:
                middle = two_links.popleft()
                if middle not in self._visited:
                    ends = [s for s in self._visited if s in self._free_neighbours[middle]][:2]
                    path = [ends[0], middle, ends[1]]
            if not path:
                path = self._shortest_long_segment()
            if not path:
                return
            new_switches = path[1:-1]
            yield self._add_segment(path)

    def _add_segment(self, path: list[int]) -> Segment:
        """Mark the switches and links of a segment as used, and return it."""
        segment = Segment(tuple(path), self._start)
        self._visited.update(dict.fromkeys(path))
        for source, target in segment.links:
            self._free_neighbours[source].remove(target)
            self._free_neighbours[target].remove(source)
        return segment

    def _descend(self, start: int, first: int) -> list[int]:
        """Return a path over the link from `start` to `first` that ends at a visited switch.

        A depth-first search. It succeeds, because no link of a subnet is a bridge. A dead end is
        never tried again: each of its links leads to a switch of the path or to another dead end.
        """
        path = [start, first]
        tried: set[int] = set()
        untried: list[Iterator[int]] = []  # neighbours of each switch of the path but `start`
        while path[-1] not in self._visited:
            switch = path[-1]
            if switch not in tried:
                tried.add(switch)
                untried.append(iter(self._free_neighbours[switch]))
            neighbour = next(
                (end for end in untried[-1] if end != path[-2] and end not in tried), -1
            )
            if neighbour >= 0:
                path.append(neighbour)
            else:
                path.pop()
                untried.pop()
        return path

    def _shortest_long_segment(self) -> list[int]:
        """Return the first of the shortest segments of three links or more, by switches.

        A breadth-first search from all visited switches. Two branches of the search that start with
        different links meet in the middle of a segment. Empty if there is none.
        """
        depth = dict.fromkeys(self._visited, 0)
        # the first link of the branch that reached a switch, from a visited switch on
        branch: dict[int, tuple[int, int]] = {}
        predecessor: dict[int, int] = {}
        shortest: list[int] = []
        queue = deque(switch for switch in self._visited if self._free_neighbours[switch])
        while queue:
            switch = queue.popleft()
            # 1. No later meeting makes a shorter segment: depths only grow.
            if shortest and 2 * depth[switch] + 2 >= len(shortest):
                break
            for neighbour in self._free_neighbours[switch]:
                own_link = branch.get(switch, (switch, neighbour))
                # 2. A switch that no branch has reached continues this one.
                if neighbour not in depth:
                    depth[neighbour] = depth[switch] + 1
                    branch[neighbour] = own_link
                    predecessor[neighbour] = switch
                    queue.append(neighbour)
                    continue
                # 3. Another branch has reached it: both together are a segment. The same branch, or
                #    its own first link in the other direction, makes none.
                other_link = branch.get(neighbour, (neighbour, switch))
                num_switches = depth[switch] + depth[neighbour] + 2
                same_branch = other_link in (own_link, own_link[::-1])
                if same_branch or (shortest and num_switches >= len(shortest)):
                    continue
                shortest = [
                    *_walk_up(switch, predecessor)[::-1],
                    *_walk_up(neighbour, predecessor),
                ]
        return shortest


def _walk_up(switch: int, predecessor: dict[int, int]) -> list[int]:
    """Return the switches from one that a search reached back to where the search began."""
    path = [switch]
    while path[-1] in predecessor:
        path.append(predecessor[path[-1]])
    return path


def find_segments(
    subnets: Sequence[Subnet], neighbours: Sequence[Sequence[int]], order: str
) -> list[Segment]:
    """Return the segments of all subnets in the order in which they are found.

    Parameters
    ----------
    subnets : sequence of Subnet
    neighbours : sequence of sequences of int
    order : {"greedy", "shortest"}
    """
    segments: list[Segment] = []
    for subnet in subnets:
        search = SegmentSearch(subnet, neighbours)
        segments += search.greedy() if order == "greedy" else search.shortest()
    return segments
