"""Check whether routes are paths of a routing graph."""

import numpy as np

from routelab.kernels.jit import jit


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
            v = np.int64(graph.begin[sources[p // num_destinations]])
            for h in range(path_start[k], path_start[k + 1]):
                next_vertex = np.int64(-1)
                for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
                    if graph.edge_channel[e] == hop_channel[h]:
                        next_vertex = graph.edge_target[e]
                        break
                if next_vertex < 0:
                    return k
                v = next_vertex
            if not graph.accepting[v]:
                return k
    return -1
