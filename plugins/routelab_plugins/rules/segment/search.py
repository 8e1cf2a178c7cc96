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
        self._open: dict[int, list[int]] = {
            switch: [end for end in neighbours[switch] if end in subnet.switches]
            for switch in subnet.switches
        }
        """Neighbours over links that no segment has."""
        self._visited: dict[int, None] = {subnet.start: None}
        """Switches of segments, in the order of their visit."""

    def greedy(self) -> Iterator[Segment]:
        """Yield segments as Figure 2 finds them: depth first, links in ascending order."""
        # `_visited` grows while it is read
        waiting = deque(self._visited)
        while waiting:
            switch = waiting[0]
            if not self._open[switch]:
                waiting.popleft()
                continue
            path = [switch, self._open[switch][0]]
            self._descend(path)
            waiting.extend(path[1:-1])
            yield self._take(path)

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
                for neighbour in self._open[switch]:
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
                path = [source, target] if target in self._open[source] else []
            while two_links and not path:
                middle = two_links.popleft()
                if middle not in self._visited:
                    ends = [s for s in self._visited if s in self._open[middle]][:2]
                    path = [ends[0], middle, ends[1]]
            if not path:
                path = self._search()
            if not path:
                return
            new_switches = path[1:-1]
            yield self._take(path)

    def _take(self, path: list[int]) -> Segment:
        segment = Segment(tuple(path), self._start)
        self._visited.update(dict.fromkeys(path))
        for source, target in segment.links:
            self._open[source].remove(target)
            self._open[target].remove(source)
        return segment

    def _descend(self, path: list[int]) -> None:
        """Extend a path of one link depth first until it meets a visited switch.

        As no link is a bridge, there is a way. A switch that was tried in vain stays so while the
        path grows: each of its links leads to a switch of the path or to another such switch.
        """
        tried: set[int] = set()
        links: list[Iterator[int]] = []
        while path[-1] not in self._visited:
            switch = path[-1]
            if switch not in tried:
                tried.add(switch)
                links.append(iter(self._open[switch]))
            neighbour = next((o for o in links[-1] if o != path[-2] and o not in tried), -1)
            if neighbour >= 0:
                path.append(neighbour)
            else:
                path.pop()
                links.pop()

    def _search(self) -> list[int]:
        """Return the first of the shortest segments by a breadth-first search from all switches.

        Two branches of the search that start with different links meet in the middle of a segment.
        """
        depth = dict.fromkeys(self._visited, 0)
        branch: dict[int, tuple[int, int]] = {}
        before: dict[int, int] = {}
        shortest: list[int] = []
        queue = deque(switch for switch in self._visited if self._open[switch])
        while queue:
            switch = queue.popleft()
            # 1. No later meeting makes a shorter segment: depths only grow.
            if shortest and 2 * depth[switch] + 2 >= len(shortest):
                break
            for neighbour in self._open[switch]:
                via = branch.get(switch, (switch, neighbour))
                # 2. A switch that no branch has reached continues this one.
                if neighbour not in depth:
                    depth[neighbour] = depth[switch] + 1
                    branch[neighbour] = via
                    before[neighbour] = switch
                    queue.append(neighbour)
                    continue
                # 3. Another branch has reached it: both together are a segment. The way back over
                #    the first link of the same branch is none.
                back = branch.get(neighbour, (neighbour, switch))
                length = depth[switch] + depth[neighbour] + 2
                if back == via or back == via[::-1] or (shortest and length >= len(shortest)):
                    continue
                shortest = [*_walk_up(switch, before)[::-1], *_walk_up(neighbour, before)]
        return shortest


def _walk_up(switch: int, before: dict[int, int]) -> list[int]:
    """Return the switches from one that a search reached back to where the search began."""
    path = [switch]
    while path[-1] in before:
        path.append(before[path[-1]])
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
