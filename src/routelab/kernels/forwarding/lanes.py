"""Dependencies of several virtual lanes, each of which stays acyclic, and who uses them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.forwarding.acyclic import (
    UNKNOWN,
    Acyclic,
    Edges,
    add_edge,
    list_edges,
    no_edges,
)
from routelab.kernels.jit import helper, jit


class Lanes(NamedTuple):
    """Dependencies of L lanes (C channels, D turns).

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
def lanes_of_escapes(fabric, escape, lane, count):
    """Return lanes whose dependencies are those of the escape routes.

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
    lanes : Lanes
    """
    channels = len(fabric.source)
    following = np.empty(fabric.turn_start[-1], np.int32)
    for c in range(channels):
        v = fabric.target[c]
        for i in range(fabric.out_start[v], fabric.out_start[v + 1]):
            d = fabric.out_channel[i]
            following[fabric.turn_start[c] + fabric.place[d]] = d
    edges = list_edges(fabric.turn_start, following)
    one = no_edges(channels, len(following))
    graphs = Acyclic(
        np.zeros((count, len(following)), np.uint8),
        np.empty((count, channels), np.int32),
        np.empty((count, channels), np.int32),
        np.empty((count, channels), np.int64),
        np.empty((count, channels), np.int32),
        np.empty((count, channels), np.int32),
        np.zeros((count, 1), np.int64),
    )
    graphs.place[:] = one.place
    graphs.vertex[:] = one.vertex
    graphs.mark[:] = one.mark
    lanes = Lanes(edges, graphs, np.zeros((count, len(following)), np.int32))
    for t in range(len(escape)):
        graph = graph_of_lane(lanes, lane[t])
        steps = escape[t]
        for u in range(len(steps)):
            e = turn_of_route(fabric, steps, u)
            if e >= 0 and graph.state[e] == UNKNOWN:
                add_edge(edges, graph, steps[u], e)
                lanes.users[lane[t], e] = 1
    return lanes


@helper()
def graph_of_lane(lanes, number):
    """Return the graph of one lane."""
    g = lanes.graphs
    return Acyclic(
        g.state[number],
        g.place[number],
        g.vertex[number],
        g.mark[number],
        g.ahead[number],
        g.behind[number],
        g.searches[number],
    )


@helper()
def forget_unused(lanes):
    """Remove unused dependencies, and forget which ones closed a cycle with them."""
    for number in range(len(lanes.users)):
        users, state = lanes.users[number], lanes.graphs.state[number]
        for e in range(len(users)):
            if users[e] == 0:
                state[e] = UNKNOWN


@helper()
def turn_of_route(fabric, steps, u):
    """Return the turn of the route of u behind its next channel; −1 if there is none."""
    c = steps[u]
    if c < 0 or steps[fabric.target[c]] < 0:
        return np.int64(-1)
    return fabric.turn_start[c] + fabric.place[steps[fabric.target[c]]]
