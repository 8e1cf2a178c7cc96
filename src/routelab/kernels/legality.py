"""Follow routes through a routing graph."""

import numpy as np

from routelab.kernels.jit import inline, jit


@inline
def next_vertex(graph, v, channel):
    """Return the vertex that a hop from v over a channel leads to; −1 if the hop is illegal.

    In a deterministic graph at most one edge of a vertex uses the channel.
    """
    target = np.int64(-1)
    for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
        if graph.edge_channel[e] == channel:
            target = np.int64(graph.edge_target[e])
            break
    return target


@jit
def first_illegal_path(graph, pair_start, path_start, hop_channel, sources, num_destinations):
    """Find the first path of a table that is illegal in a deterministic graph; −1 if none.

    Parameters
    ----------
    graph : GraphArrays
    pair_start, path_start, hop_channel
        As in `routelab.api.RouteTable`.
    sources : int32 array, shape (P,)
        Switches.
    num_destinations : int
    """
    for p in range(len(pair_start) - 1):
        for k in range(pair_start[p], pair_start[p + 1]):
            # pair p = i * num_destinations + j is from source i to destination j
            v = np.int64(graph.begin[sources[p // num_destinations]])
            for h in range(path_start[k], path_start[k + 1]):
                v = next_vertex(graph, v, hop_channel[h])
                if v < 0:
                    return k
            if not graph.accepting[v]:
                return k
    return -1


@jit
def prescribed_channels(
    graph, vertex_vc, pair_start, path_start, hop_channel, sources, num_destinations
):
    """Return the virtual channel of each hop of legal routes; int16, shape (H,).

    Parameters
    ----------
    graph : GraphArrays
        Deterministic.
    vertex_vc : int16 array, shape (V,)
        Virtual channel of the hops that lead to each vertex.
    pair_start, path_start, hop_channel, sources, num_destinations
        As for `first_illegal_path`. Illegal hops, and those behind them on a path, get 0.
    """
    hop_vc = np.zeros(len(hop_channel), np.int16)
    for p in range(len(pair_start) - 1):
        for k in range(pair_start[p], pair_start[p + 1]):
            v = np.int64(graph.begin[sources[p // num_destinations]])
            for h in range(path_start[k], path_start[k + 1]):
                v = next_vertex(graph, v, hop_channel[h])
                if v < 0:
                    break
                hop_vc[h] = vertex_vc[v]
    return hop_vc
