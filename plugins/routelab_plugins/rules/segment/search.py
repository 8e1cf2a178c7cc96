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
    """The search for the segments of one subnet: `greedy` or `shortest`, once.

    A switch is *visited* if a segment has it, and the subnet's start always is. A link is *free* if
    no segment has it.

    Parameters
    ----------
    subnet : Subnet
    neighbours : sequence of sequences of int
        Neighbours of each switch of the network.
    """

    def __init__(self, subnet: Subnet, neighbours: Sequence[Sequence[int]]) -> None:
        self._start = subnet.start
        self._free_neighbours: dict[int, list[int]] = {
            switch: [end for end in neighbours[switch] if end in subnet.switches]
            for switch in subnet.switches
        }
        """Neighbours of each switch over free links."""
        self._visited: dict[int, None] = {subnet.start: None}
        """Visited switches, in the order of their visit."""

    def greedy(self) -> Iterator[Segment]:
        """Yield segments as the paper's Figure 2 finds them: depth first, neighbours in order."""
        # Visited switches that may have free links. The first of them starts segments until all of
        # its links are used; the inner switches of each segment join the queue.
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
        """Yield segments, each of them a shortest one that is possible after those before it.

        One link joins two visited switches; two links lead over a switch with two visited
        neighbours. Links come first, then pairs of links, each in the order in which they became
        possible. A longer segment is searched for when there is neither.
        """
        new_switches = [self._start]
        links: deque[tuple[int, int]] = deque()
        """Links between visited switches. When its turn comes, a link may no longer be free."""
        middles: deque[int] = deque()
        """Switches with two visited neighbours. When its turn comes, a switch may be visited."""
        num_visited_neighbours: dict[int, int] = {}
        while True:
            # 1. Add what the inner switches of the last segment make possible. A switch is added
            #    when its second neighbour is visited, and not again at the third.
            for switch in new_switches:
                for neighbour in self._free_neighbours[switch]:
                    if neighbour in self._visited:
                        links.append((neighbour, switch))
                        continue
                    count = num_visited_neighbours.get(neighbour, 0) + 1
                    num_visited_neighbours[neighbour] = count
                    if count == 2:
                        middles.append(neighbour)
            # 2. A segment of one link, of two, or of more.
            path: list[int] = []
            while links and not path:
                source, target = links.popleft()
                path = [source, target] if target in self._free_neighbours[source] else []
            while middles and not path:
                middle = middles.popleft()
                if middle not in self._visited:
                    ends = [s for s in self._visited if s in self._free_neighbours[middle]]
                    path = [ends[0], middle, ends[1]]
            if not path:
                path = self._shortest_long_segment()
            if not path:
                return
            new_switches = path[1:-1]
            yield self._add_segment(path)

    def _add_segment(self, path: list[int]) -> Segment:
        """Mark the switches of a path as visited and its links as used; return it as a segment."""
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
        # for each switch of the path but `start`, its neighbours that were not looked at
        remaining: list[Iterator[int]] = []
        while path[-1] not in self._visited:
            switch = path[-1]
            if switch not in tried:  # else the search is back from a dead end behind the switch
                tried.add(switch)
                remaining.append(iter(self._free_neighbours[switch]))
            # Not straight back: from `first`, the same link would end the path at `start`.
            previous = path[-2]
            neighbour = next(
                (end for end in remaining[-1] if end != previous and end not in tried), -1
            )
            if neighbour >= 0:
                path.append(neighbour)
            else:
                path.pop()
                remaining.pop()
        return path

    def _shortest_long_segment(self) -> list[int]:
        """Return the switches of a shortest segment of three links or more; empty if none exists.

        A breadth-first search from all visited switches. A *branch* of it begins with a link that
        leaves a visited switch. Two branches meet in the middle of a segment.
        """
        depth = dict.fromkeys(self._visited, 0)
        # the first link of the branch that reached a switch
        branch: dict[int, tuple[int, int]] = {}
        predecessor: dict[int, int] = {}
        shortest: list[int] = []
        queue = deque(switch for switch in self._visited if self._free_neighbours[switch])
        while queue:
            switch = queue.popleft()
            # 1. Branches that meet over a link between depths a and b make a segment of a + b + 2
            #    switches. From here on, neither depth is less than this one: none gets shorter.
            if shortest and 2 * depth[switch] + 2 >= len(shortest):
                break
            for neighbour in self._free_neighbours[switch]:
                # a visited switch is in no branch: the link to the neighbour begins one
                own_branch = branch.get(switch, (switch, neighbour))
                # 2. A switch that no branch has reached continues this one.
                if neighbour not in depth:
                    depth[neighbour] = depth[switch] + 1
                    branch[neighbour] = own_branch
                    predecessor[neighbour] = switch
                    queue.append(neighbour)
                    continue
                # 3. Another branch has reached it: both together are a segment. Two switches of the
                #    same branch make none, nor does a first link, seen from its other end.
                other_branch = branch.get(neighbour, (neighbour, switch))
                num_switches = depth[switch] + depth[neighbour] + 2
                same_branch = other_branch in (own_branch, own_branch[::-1])
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
