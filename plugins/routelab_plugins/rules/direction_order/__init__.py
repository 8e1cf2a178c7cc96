"""Direction-order routing on tori and meshes.

All hops in one direction come before those in the next, +X+Y…−X−Y…, and no dimension is used both
ways: Scott and Thorson, *The Cray T3E Network: Adaptive Routing in a High Performance 3D Torus*,
Hot Interconnects IV, 1996. Deadlock-free between rings; inside a ring it takes bubble flow control.
"""

from __future__ import annotations

from typing_extensions import override

from routelab.api import Capabilities, RoutingGraph, RulesPlugin, Topology
from routelab.toolkit import (
    DirectionAutomaton,
    add_ordered_moves,
    full_grid,
    graph_from_automaton,
    torus_directions,
)
from routelab_plugins import works


class DirectionOrder(RulesPlugin):
    """Hops in ascending order of directions, in one direction of each dimension at most."""

    name = "direction-order"
    summary = "Directions in the order +X+Y…−X−Y…, no dimension in both directions"
    citations = (works.SCOTT1996("direction-order routing with direction bits"),)
    capabilities = Capabilities(families=("torus", "mesh"), flow_control="bubble")

    def supports(self, topology: Topology) -> str | None:
        """Require the direction labels of a torus or mesh."""
        return torus_directions(topology).reason

    @override
    def routing_graph(self, topology: Topology) -> RoutingGraph:
        # Direction bits remember which dimensions a packet has crossed in the positive direction,
        # to forbid the negative one. On a whole torus or mesh no shortest route uses both, so that
        # bits would only add states; without them the graph holds for shortest routes only.
        is_whole = full_grid(topology) is not None
        automaton = DirectionAutomaton()
        begin = automaton.state("begin")
        n = len(topology.directions) // 2
        # by last direction, and (with bits) the dimensions that were crossed positively before it
        # and whose negative direction is yet to come
        states = add_ordered_moves(automaton, n, bits=not is_whole)
        none_crossed: frozenset[int] = frozenset()
        for d in range(2 * n):
            automaton.move(begin, d, states[d, none_crossed])
        return graph_from_automaton(
            topology, automaton, turn_set="direction-order", minimal_only=is_whole
        )
