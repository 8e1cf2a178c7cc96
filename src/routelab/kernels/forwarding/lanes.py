"""Dependency graphs of virtual lanes, each of which stays acyclic.

A *lane* is a virtual channel in the words of InfiniBand: every route stays in one lane, so each
lane has a dependency graph of its own. Its vertices are channels, and its edges the turns that
routes in the lane take. A tree adds the turns that it needs; when the last tree that uses a turn
gives it up, the turn can be removed.
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
def escape_lane_graphs(fabric, escape, lane, count):
    """Return the graphs of lanes that hold the turns of the escape routes only.

    Parameters
    ----------
    fabric : Fabric
    escape : int32 array, shape (T, S)
        Trees, those of each lane inside one spanning tree.
    lane : int64 array, shape (T,)
    count : int
        Number of lanes.

    Returns
    -------
    lanes : LaneGraphs
    """
    channels = len(fabric.source)
    _, turn_target = list_turns(fabric)
    edges = list_edges(fabric.turn_start, turn_target)
    empty = empty_graph(channels, len(turn_target))
    graphs = Acyclic(
        np.zeros((count, len(turn_target)), np.uint8),
        np.empty((count, channels), np.int32),
        np.empty((count, channels), np.int32),
        np.empty((count, channels), np.int64),
        np.empty((count, channels), np.int32),
        np.empty((count, channels), np.int32),
        np.zeros((count, 1), np.int64),
    )
    graphs.position[:] = empty.position
    graphs.vertex[:] = empty.vertex
    graphs.mark[:] = empty.mark
    lanes = LaneGraphs(edges, graphs, np.zeros((count, len(turn_target)), np.int32))
    # no turn closes a cycle, because those of a lane lie inside a spanning tree
    for t in range(len(escape)):
        graph = lane_graph(lanes, lane[t])
        steps = escape[t]
        for u in range(len(steps)):
            e = next_turn(fabric, steps, u)
            if e >= 0 and graph.state[e] == UNKNOWN:
                add_edge(edges, graph, steps[u], e)
                lanes.users[lane[t], e] = 1
    return lanes


@helper()
def lane_graph(lanes, number):
    """Return the graph of one lane."""
    g = lanes.graphs
    return Acyclic(
        g.state[number],
        g.position[number],
        g.vertex[number],
        g.mark[number],
        g.descendants[number],
        g.ancestors[number],
        g.searches[number],
    )


@helper()
def remove_unused_turns(lanes):
    """Remove turns that no tree uses; forbidden ones may be tried again without them."""
    for number in range(len(lanes.users)):
        users, state = lanes.users[number], lanes.graphs.state[number]
        for e in range(len(users)):
            if users[e] == 0:
                state[e] = UNKNOWN


@helper()
def next_turn(fabric, steps, u):
    """Return the turn of the route of u behind its next channel; −1 if there is none."""
    c = steps[u]
    if c < 0 or steps[fabric.target[c]] < 0:
        return np.int64(-1)
    return fabric.turn_start[c] + fabric.port[steps[fabric.target[c]]]
