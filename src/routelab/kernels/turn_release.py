"""Prohibited turns that can become legal without closing a cycle."""

from routelab.kernels.forwarding.acyclic import add_edge, list_edges, no_edges
from routelab.kernels.jit import jit


@jit
def release_turns(start, target, legal):
    """Make prohibited turns legal, in ascending order, unless they close a cycle.

    Parameters
    ----------
    start : int64 array, shape (R + 1,)
    target : int32 array, shape (D,)
        The graph of all turns: a vertex for each directed link, and an edge for each turn.
    legal : bool array, shape (D,)
        Turns that are legal already; changed.

    Returns
    -------
    bool
        False if the legal turns have a cycle already.
    """
    edges = list_edges(start, target)
    graph = no_edges(len(start) - 1, len(target))
    for wanted in (True, False):
        for v in range(len(start) - 1):
            for e in range(start[v], start[v + 1]):
                if legal[e] != wanted or graph.state[e]:
                    continue
                if add_edge(edges, graph, v, e):
                    legal[e] = True
                elif wanted:
                    return False
    return True
