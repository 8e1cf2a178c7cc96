"""FX: cycles broken at different switches in each direction.

Sancho, Robles, Duato, *A Flexible Routing Scheme for Networks of Workstations*, ISHPC 2000, LNCS
1940, pages 260–267. Only the abstract was available. It says that cycles are broken at different
nodes for each direction. Mejía, Flich and Duato describe it in *Segment-Based Routing*, 2005,
section 1: FX numbers the switches by a depth-first tree, and prohibits single turns by these
numbers. The two directions of a cycle are broken at different switches.

This plugin is our reading of that description. In a depth-first tree every other link joins a
switch y to a switch u above it, and closes a cycle with the tree's links between them. Up*/down* by
preorder numbers breaks both directions of the cycle at y: the turn from u over y to its parent, and
the opposite one. Here the opposite turn, from the parent over y to u, becomes legal, and that
direction is broken at u: no turn from y over u down into the branch of y. Links are taken from the
last y to the first; where the change would close another cycle, the link stays as it was.
``breaks=together`` never changes anything, which is up*/down* by preorder numbers.

No cycle of dependencies: there is none under up*/down*, and every change is checked. Every pair has
a route, because a change concerns links outside the tree only: up and down the tree stays legal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from routelab.api import (
    Capabilities,
    Parameters,
    RoutingGraph,
    RulesPlugin,
    Topology,
    parameter,
)
from routelab.toolkit.irregular import (
    ROOTS,
    TURN_COLUMNS,
    Turn,
    neighbours_of,
    one_way_channel,
    root_of,
    turn_graph,
)
from routelab.toolkit.irregular.trees import preorder_from
from routelab_plugins import works


class FxParameters(Parameters):
    """Root of the tree, and where cycles are broken."""

    root: str = parameter("center", description=f"Root of the depth-first tree: {ROOTS}")
    breaks: Literal["apart", "together"] = parameter(
        "apart",
        description="Where the two directions of a cycle are broken: at different switches if "
        "possible, or at its lower end (up*/down* by preorder numbers)",
    )


class Fx(RulesPlugin):
    """Each direction of a cycle broken at another switch."""

    name = "fx"
    summary = "Breaks the directions of a cycle at different switches of a depth-first tree (FX)"
    citations = (
        works.SANCHO2000FX("FX; our reading of descriptions"),
        works.MEJIA2005("description of FX (section 1)"),
    )
    capabilities = Capabilities(minimal=False, flow_control="plain", max_switches=512)
    columns = TURN_COLUMNS
    Parameters = FxParameters

    def supports(self, topology: Topology) -> str | None:
        """Require links in both directions, and not too many switches."""
        limit = self.capabilities.max_switches
        if limit is not None and topology.num_switches > limit:
            return f"the network has {topology.num_switches} switches, more than {limit}"
        return one_way_channel(topology)

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Build the automaton of legal routes; see `routelab.toolkit.irregular.turn_graph`."""
        neighbours = neighbours_of(topology)
        tree = DepthFirstTree(neighbours, root_of(topology, self.parameters.root, self.name))
        prohibited = tree.prohibited_turns(apart=self.parameters.breaks == "apart")
        return turn_graph(topology, prohibited, turn_set=f"fx/{self.parameters.breaks}")


class DepthFirstTree:
    """A depth-first tree of the network, whose preorder numbers decide which turns FX prohibits.

    A turn ``(x, y, z)`` leads from switch x over switch y to switch z.

    Parameters
    ----------
    neighbours : sequence of sequences of int
        Neighbours of each switch; the search tries them in this order.
    root : int
    """

    def __init__(self, neighbours: Sequence[Sequence[int]], root: int) -> None:
        self._neighbours = neighbours
        self._number, self._parent = preorder_from([list(ends) for ends in neighbours], root)

    def prohibited_turns(self, apart: bool) -> set[Turn]:
        """Return the prohibited turns; O(L T) for L links and T turns if `apart`.

        Parameters
        ----------
        apart : bool
            Break the two directions of a cycle at different switches where that is possible.
        """
        number = self._number
        # 1. Up*/down*: no turn at a switch between two switches with lower numbers.
        prohibited = {
            (x, y, z)
            for y, adjacent in enumerate(self._neighbours)
            for x in adjacent
            for z in adjacent
            if x != z and number[x] < number[y] and number[z] < number[y]
        }
        if not apart:
            return prohibited
        # 2. A link from y up to u outside the tree closes a cycle with the tree, which leads from u
        #    down the branch of y to y's parent and y, and back to u. Packets that go round in this
        #    direction turn at y (parent, y, u), then at u down into the branch. So far the turn at
        #    y is prohibited. Free it, and prohibit the turns at u instead. If other turns still
        #    lead back from (y, u) to (parent, y), that would close a cycle: leave all as it was.
        for y in sorted(range(len(number)), key=number.__getitem__, reverse=True):
            parent = self._parent[y]
            for u in sorted(self._upper_ends(y), key=number.__getitem__):
                into_branch = self._turns_into_branch(y, u) - prohibited
                prohibited |= into_branch
                # the freed turn leads from channel (parent, y) to channel (y, u)
                if self._reaches(prohibited, (y, u), (parent, y)):
                    prohibited -= into_branch
                else:
                    prohibited.remove((parent, y, u))
        return prohibited

    def _upper_ends(self, y: int) -> list[int]:
        """Return the upper ends of the links that lead up from switch `y` outside the tree."""
        number = self._number
        return [u for u in self._neighbours[y] if number[u] < number[y] and u != self._parent[y]]

    def _turns_into_branch(self, y: int, u: int) -> set[Turn]:
        """Return the turns from switch `y` over `u` down into that branch of `u` which has `y`."""
        branch = self._child_towards(y, u)
        # A neighbour with a larger number is below u: a depth-first tree has no links across.
        below = [w for w in self._neighbours[u] if self._number[w] > self._number[u]]
        return {(y, u, w) for w in below if w != y and self._child_towards(w, u) == branch}

    def _child_towards(self, below: int, above: int) -> int:
        """Return the child of switch `above` whose branch contains switch `below`."""
        while self._parent[below] != above:
            below = self._parent[below]
        return below

    def _reaches(
        self, prohibited: set[Turn], first: tuple[int, int], last: tuple[int, int]
    ) -> bool:
        """Whether turns that are not prohibited lead from channel `first` to channel `last`.

        Channels are pairs (source, target) of switches.
        """
        reached, stack = {first}, [first]
        while stack:
            x, y = stack.pop()
            for z in self._neighbours[y]:
                channel = (y, z)
                if z == x or channel in reached or (x, y, z) in prohibited:
                    continue
                if channel == last:
                    return True
                reached.add(channel)
                stack.append(channel)
        return False
