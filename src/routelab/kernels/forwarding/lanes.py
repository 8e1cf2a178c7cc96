"""Dependency graphs of virtual lanes, each of which stays acyclic.

A *lane* is a virtual channel in the words of InfiniBand: every route stays in one lane, so each
lane has a dependency graph of its own. Its vertices are channels, and its edges the turns that
routes in the lane take. A tree adds the turns that it needs; when the last tree that uses a turn
gives it up, the turn can be removed. A switch u of a tree forwards over channel ``steps[u]``; −1 at
the root and where no route exists.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.forwarding.acyclic import (
    UNKNOWN,
    Acyclic,
    Edges,
    add_edge,
    empty_graph,
    list_edges,
)
from routelab.kernels.forwarding.trees import list_turns
from routelab.kernels.jit import helper, jit


class LaneGraphs(NamedTuple):
    """Dependency graphs of L lanes (C channels, D turns).

    Attributes
    ----------
    edges : Edges
        All turns; read-only.
    graphs : Acyclic
        With a row for each lane in every array; changes.
    users : int32 array, shape (L, D)
        Trees that use each turn; all escape routes of a lane count as one tree. Changes.
    """

    edges: Edges
    graphs: Acyclic
    users: NDArray[np.int32]


@jit
def escape_lane_graphs(fabric, escape, lane, num_lanes):
    """Return the graphs of lanes that hold the turns of the escape routes only.

    Nue begins with them: whatever its trees add later, the escape routes close no cycle.

    Parameters
    ----------
    fabric : Fabric
    escape : int32 array, shape (T, S)
        Trees, those of each lane inside one spanning tree.
    lane : int64 array, shape (T,)
        Lane of each destination.
    num_lanes : int

    Returns
    -------
    lanes : LaneGraphs
    """
    channels = len(fabric.source)
    _, turn_target = list_turns(fabric)
    edges = list_edges(fabric.turn_start, turn_target)
    empty = empty_graph(channels, len(turn_target))
    graphs = Acyclic(
        state=np.zeros((num_lanes, len(turn_target)), np.uint8),
        position=np.empty((num_lanes, channels), np.int32),
        vertex=np.empty((num_lanes, channels), np.int32),
        mark=np.empty((num_lanes, channels), np.int64),
        descendants=np.empty((num_lanes, channels), np.int32),
        ancestors=np.empty((num_lanes, channels), np.int32),
        searches=np.zeros((num_lanes, 1), np.int64),
    )
    graphs.position[:] = empty.position
    graphs.vertex[:] = empty.vertex
    graphs.mark[:] = empty.mark
    lanes = LaneGraphs(edges, graphs, np.zeros((num_lanes, len(turn_target)), np.int32))
    # no turn closes a cycle, because those of a lane lie inside a spanning tree
    for t in range(len(escape)):
        graph = lane_graph(lanes, lane[t])
        steps = escape[t]
        for u in range(len(steps)):
            turn = next_turn(fabric, steps, u)
            if turn >= 0 and graph.state[turn] == UNKNOWN:
                add_edge(edges, graph, steps[u], turn)
                # Not the number of routes: 1 keeps the turn in the graph for ever, because trees
                # only give up what they have added.
                lanes.users[lane[t], turn] = 1
    return lanes


@helper()
def lane_graph(lanes, lane):
    """Return the graph of one lane, as views: what is added to it is added to `lanes`."""
    graphs = lanes.graphs
    return Acyclic(
        graphs.state[lane],
        graphs.position[lane],
        graphs.vertex[lane],
        graphs.mark[lane],
        graphs.descendants[lane],
        graphs.ancestors[lane],
        graphs.searches[lane],
    )


@helper()
def remove_unused_turns(lanes):
    """Remove turns that no tree uses from the graphs, and forget which turns were forbidden.

    A forbidden turn has no users, either. Without the removed turns it may close no cycle any more.
    """
    for lane in range(len(lanes.users)):
        users, state = lanes.users[lane], lanes.graphs.state[lane]
        for turn in range(len(users)):
            if users[turn] == 0:
                state[turn] = UNKNOWN


@helper()
def next_turn(fabric, steps, u):
    """Return the turn that packets of switch u take at the next switch; −1 if none."""
    c = steps[u]
    if c < 0 or steps[fabric.target[c]] < 0:
        return np.int64(-1)
    return fabric.turn_start[c] + fabric.port[steps[fabric.target[c]]]
