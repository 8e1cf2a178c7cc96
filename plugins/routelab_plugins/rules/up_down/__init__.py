"""Up*/down* routing on any network.

Schroeder et al., *Autonet: A High-Speed, Self-Configuring Local Area Network Using Point-to-Point
Links*, IEEE JSAC 9(8), 1991, doi 10.1109/49.105178. A spanning tree puts the switches into an
order; a route goes up (towards the root) first and down afterwards, never up again. Dependencies
follow that order, so one virtual channel is enough.

The order is (level, index) in a breadth-first tree, as in Autonet, or the preorder number in a
depth-first tree. The latter is by Sancho and Robles, *Improving the Up*/Down* Routing Scheme for
Networks of Workstations*, Euro-Par 2000, doi 10.1007/3-540-44520-X_123. Neighbours are tried in the
order of their index; that paper's heuristics for the order are not used.

With `vcs` = K a route may go up and down K times, each time on the next virtual channel. Put all
channels in the order *up, farthest from the root first, then down* and write it K times: a route is
legal if it is a subsequence of this word, so that no cycle of dependencies exists. Descending
Layers (Koibuchi et al., ICPP 2003) lead paths through several layers of virtual channels in this
way, to make fewer detours; LASH-TOR (Skeie et al., ICPADS 2004) changes the layer where a given
route breaks the order of the present one. As rules, all such routes are open to any selection, and
the bounds of rules hold for them.

Two virtual channels keep every shortest distance of a whole torus. A switch's level is the sum of
its distances from the root in each ring, and a hop goes up if it lowers one of them. (In an odd
ring two switches are farthest; the hop between them has the sense of their index.) A shortest way
in a ring passes the root's place or the far side, but not both, which are half a ring apart: it
goes up and then down, or down and then up. Take the hops of all rings together: first those that go
up before any down, then all that go down, then those that go up behind a far side. So a shortest
route of every pair goes up, down and up. In sparse random networks distances grow by some per cent.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    Parameters,
    RoutingGraph,
    RulesPlugin,
    Topology,
    parameter,
)
from routelab.api.topology import Int64Array
from routelab.toolkit.irregular import (
    ROOTS_AND_BEST,
    affordable_evaluations,
    best_root,
    neighbours_of,
    root_of,
    unevenness,
)
from routelab.toolkit.irregular.trees import levels_from, preorder_from
from routelab_plugins import works


class UpDownParameters(Parameters):
    """Kind and root of the tree, and virtual channels."""

    tree: Literal["bfs", "dfs"] = parameter(
        "bfs",
        description="Spanning tree: breadth first (up: towards the smaller level, then index), or "
        "depth first (up: towards the smaller preorder number)",
    )
    vcs: int = parameter(
        1, ge=1, le=16, description="Virtual channels: how often a route may go up and down"
    )
    root: str = parameter("center", description=f"Root of the tree: {ROOTS_AND_BEST}")


class UpDown(RulesPlugin):
    """Routes that go up first, then down, as often as there are virtual channels."""

    name = "up-down"
    summary = (
        "Up towards the root of a spanning tree, then down, once per virtual channel (up*/down*)"
    )
    citations = (
        works.SCHROEDER1991("up*/down* rule"),
        works.SANCHO2000("depth-first trees"),
        works.KOIBUCHI2003("paths through several layers"),
        works.SKEIE2004("routes that change virtual channels where they break the order"),
    )
    capabilities = Capabilities(minimal=False, flow_control="plain", virtual_channels=None)
    Parameters = UpDownParameters

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Build the automaton of legal routes: two states per switch and virtual channel.

        Every connected part of the network gets a tree; the chosen root serves its own part.
        """
        return _graph_from(topology, self.order(topology), self.parameters.vcs)

    def order(self, topology: Topology) -> Int64Array:
        """Return the position of each switch in the tree's order: a hop to an earlier one goes up.

        The root is the first switch of its connected part. With ``root=best`` it is the root of
        those tried whose channel loads are the most even.

        Returns
        -------
        int64 array, shape (S,)
        """
        root: str = self.parameters.root
        if root != "best" or topology.num_switches == 0:
            return self._order_from(topology, root_of(topology, root, self.name))

        vcs = self.parameters.vcs

        def unevenness_of(root: int) -> float:
            return unevenness(_graph_from(topology, self._order_from(topology, root), vcs))

        # How many roots can be tried depends on the size of a graph, and the graphs of all orders
        # have about the same size. So the order of this one, by index, does not matter.
        sample_graph = _graph_from(topology, np.arange(topology.num_switches), vcs)
        max_roots = affordable_evaluations(sample_graph)
        return self._order_from(topology, best_root(topology, unevenness_of, max_roots))

    def _order_from(self, topology: Topology, root: int) -> Int64Array:
        """Return the position of each switch in the order of the tree from a root; see `order`."""
        if self.parameters.tree == "dfs":
            number, _ = preorder_from(neighbours_of(topology), root)
            return np.array(number, dtype=np.int64)
        level = levels_from(topology, root)
        position = np.empty(topology.num_switches, dtype=np.int64)
        switches = np.arange(topology.num_switches)
        # by level, then index: `lexsort` takes the last key first
        position[np.lexsort((switches, level))] = switches
        return position


def _graph_from(topology: Topology, order: Int64Array, vcs: int = 1) -> RoutingGraph:
    """Return the graph of the routes that go up, then down, `vcs` times in all.

    A hop goes up if it leads to a switch at an earlier position in `order`, shape (S,).
    """
    num_switches = topology.num_switches
    switches = np.arange(num_switches)
    source, target = topology.channel_source, topology.channel_target
    down = (order[target] > order[source]).astype(np.int64)
    # Phases: 0 up, 1 down, 2 up again on the next virtual channel, and so on. Vertex
    # phase * num_switches + u holds the packets at switch u in that phase. A hop up in an odd
    # phase, or down in an even one, begins the next phase: phase + down is odd then. Such a hop is
    # illegal in the last phase.
    phases = np.arange(2 * vcs)
    next_phase = phases[:, None] + (phases[:, None] + down) % 2
    phase, channel = np.nonzero(next_phase < 2 * vcs)
    return RoutingGraph.create(
        topology,
        vertex_switch=np.tile(switches, 2 * vcs),
        accepting=np.ones(2 * vcs * num_switches, dtype=np.bool_),
        begin=switches,
        edge_source=phase * num_switches + source[channel],
        edge_target=next_phase[phase, channel] * num_switches + target[channel],
        edge_channel=channel,
        turn_set="up-down",
        vertex_vc=np.repeat(phases // 2, num_switches) if vcs > 1 else None,
    )
