"""Reachability in compressed sparse rows."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def reachable(edge_start, edge_target, roots):
    """Mark the vertices of a directed graph that a path from a root leads to; roots count.

    Parameters
    ----------
    edge_start : int array, shape (V + 1,)
        Vertex v has the edges ``edge_start[v]`` to ``edge_start[v + 1] - 1``.
    edge_target : int32 array, shape (E,)
    roots : int32 array
        Vertices.

    Returns
    -------
    is_reached : bool array, shape (V,)
    """
    is_reached = np.zeros(len(edge_start) - 1, np.bool_)
    stack = np.empty(len(is_reached), np.int32)
    top = 0
    for root in roots:
        if not is_reached[root]:
            is_reached[root] = True
            stack[top] = root
            top += 1
    while top:
        top -= 1
        v = stack[top]
        for e in range(edge_start[v], edge_start[v + 1]):
            w = edge_target[e]
            if not is_reached[w]:
                is_reached[w] = True
                stack[top] = w
                top += 1
    return is_reached
