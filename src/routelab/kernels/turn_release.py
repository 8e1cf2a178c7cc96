"""Prohibited turns that can become legal without closing a cycle."""

from routelab.kernels.forwarding.acyclic import add_edge, empty_graph, list_edges
from routelab.kernels.jit import jit


@jit
def release_turns(start, target, legal):
    """Make prohibited turns legal, in ascending order, unless they close a cycle.

    Each turn that becomes legal gives routes more freedom and keeps them free of deadlock.

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
    graph = empty_graph(len(start) - 1, len(target))
    # First all legal turns, which must be acyclic together; then each prohibited turn.
    for is_legal in (True, False):
        for v in range(len(start) - 1):
            for e in range(start[v], start[v + 1]):
                if legal[e] != is_legal or graph.state[e]:
                    continue
                if add_edge(edges, graph, v, e):
                    legal[e] = True
                elif is_legal:
                    return False
    return True
