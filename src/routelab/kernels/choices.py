"""Lists and counts of distinct shortest legal routes from some switches."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import helper, jit


class ChoiceArrays(NamedTuple):
    """Routes of the classes' representatives (Q classes, P endpoints); all read-only.

    Row ``q * P + j`` of `length`, `routes` and `first_hop` describes the routes from the
    representative of class q to endpoint j: their hops (−1: no route), their number, and the index
    of the first one's hops; the others follow, in the order of the graph's edges. ``sampled`` marks
    rows with more routes than are listed.
    """

    length: NDArray[np.int32]
    routes: NDArray[np.int32]
    first_hop: NDArray[np.int64]
    hops: NDArray[np.int32]
    sampled: NDArray[np.bool_]


@helper()
def _grow(array, needed):
    """Return the array with room for at least `needed` entries."""
    if needed <= len(array):
        return array
    larger = np.empty(max(needed, 2 * len(array)), array.dtype)
    # a copy by slices would compile a message about shapes that differ, and all that it prints
    for k in range(len(array)):
        larger[k] = array[k]
    return larger


@helper()
def _levels_from(graph, root, level, queue, ways, parent):
    """Count the shortest paths from a vertex to every other by breadth-first search.

    Returns the number of reached vertices, which `queue` lists in ascending order of level. A
    vertex's `parent` is a vertex one level before, an edge from there, and the edge's channel.
    """
    parent_vertex, parent_edge, parent_channel = parent
    level[:] = -1
    level[root] = 0
    ways[root] = 1.0
    queue[0] = root
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for e in range(graph.edge_start[u], graph.edge_start[u + 1]):
            v = graph.edge_target[e]
            if level[v] < 0:
                level[v] = level[u] + 1
                ways[v] = 0.0
                parent_vertex[v] = u
                parent_edge[v] = e
                parent_channel[v] = graph.edge_channel[e]
                queue[tail] = v
                tail += 1
            if level[v] == level[u] + 1:
                ways[v] += ways[u]
    return tail


@helper()
def _sort_rows(rows, count, width, spare):
    """Sort the first `count` rows lexicographically by insertion."""
    for i in range(1, count):
        for d in range(width):
            spare[d] = rows[i, d]
        k = i
        while k > 0:
            differs = 0
            for d in range(width):
                differs = rows[k - 1, d] - spare[d]
                if differs != 0:
                    break
            if differs <= 0:
                break
            for d in range(width):
                rows[k, d] = rows[k - 1, d]
            k -= 1
        for d in range(width):
            rows[k, d] = spare[d]


@helper()
def _walk_back_all(
    in_start, in_edge, edge_source, level, ways, parent, vertex, rows, num_routes, scratch
):
    """Append all shortest paths from the root to `vertex` as rows of edges; return their number."""
    length = level[vertex]
    place, at = scratch
    parent_vertex, parent_edge, _ = parent
    depth = length
    at[depth] = vertex
    place[depth] = in_start[vertex]
    while depth <= length:
        v = at[depth]
        if place[depth] == in_start[v + 1]:
            depth += 1
            continue
        e = in_edge[place[depth]]
        place[depth] += 1
        u = edge_source[e]
        if level[u] != depth - 1:
            continue
        rows[num_routes, depth - 1] = e
        if ways[u] == 1:
            # the rest of the path is unique
            for d in range(depth - 2, -1, -1):
                rows[num_routes, d] = parent_edge[u]
                u = parent_vertex[u]
            # the next row shares the unchanged edges
            for d in range(1, length):
                rows[num_routes + 1, d] = rows[num_routes, d]
            num_routes += 1
            continue
        depth -= 1
        at[depth] = u
        place[depth] = in_start[u]
    return num_routes


@helper()
def _walk_back_one(graph, level, ways, vertex, pick, row):
    """Write path number `pick` (0 … ways − 1) from the root to `vertex` as a row of edges."""
    v = vertex
    while level[v] > 0:
        for i in range(graph.in_start[v], graph.in_start[v + 1]):
            e = graph.in_edge[i]
            u = graph.edge_source[e]
            if level[u] != level[v] - 1:
                continue
            if pick < ways[u]:
                row[level[u]] = e
                v = u
                break
            pick -= ways[u]


@jit
def list_routes(graph, roots, endpoints, most):
    """List the distinct shortest legal routes from some switches to all endpoints.

    Parameters
    ----------
    graph : GraphArrays
        Deterministic, so that no physical route is listed twice.
    roots : int32 array, shape (Q,)
        Switches.
    endpoints : int32 array, shape (P,)
    most : int
        Largest number of listed routes of a pair; of more, `most` evenly spaced ones are listed,
        in the order of the walk back from the target.

    Returns
    -------
    ChoiceArrays
        ``hops`` is longer than its used part.
    """
    size, ends = len(graph.vertex_switch), len(endpoints)
    switches = len(graph.begin)
    edge_source, edge_channel = graph.edge_source, graph.edge_channel
    in_start, in_edge = graph.in_start, graph.in_edge
    length = np.full(len(roots) * ends, -1, np.int32)
    count = np.zeros(len(roots) * ends, np.int32)
    first_hop = np.zeros(len(roots) * ends, np.int64)
    sampled = np.zeros(len(roots) * ends, np.bool_)
    hops = np.empty(ends * 4 + 64, np.int32)
    used = 0
    level, queue = np.empty(size, np.int32), np.empty(size, np.int32)
    ways = np.empty(size, np.float64)
    parent_vertex, parent_edge = np.empty(size, np.int32), np.empty(size, np.int32)
    parent_channel = np.empty(size, np.int32)
    parent = parent_vertex, parent_edge, parent_channel
    # accepting vertices at their switch's shortest distance, as linked lists
    nearest = np.empty(switches, np.int32)
    head, next_vertex = np.empty(switches, np.int32), np.empty(size, np.int32)
    rows = np.empty((most + 1, 64), np.int32)
    scratch = np.empty(65, np.int32), np.empty(65, np.int32)
    for q in range(len(roots)):
        # 1. The shortest paths to all vertices, and where those to each switch end.
        reached = _levels_from(graph, graph.begin[roots[q]], level, queue, ways, parent)
        head[:] = -1
        for k in range(reached):
            v = queue[k]
            if not graph.accepting[v]:
                continue
            s = graph.vertex_switch[v]
            if head[s] < 0:
                nearest[s] = level[v]
            if level[v] == nearest[s]:
                next_vertex[v] = head[s]
                head[s] = v
        if level[queue[reached - 1]] > rows.shape[1]:
            deepest = level[queue[reached - 1]]
            rows = np.empty((most + 1, deepest), np.int32)
            scratch = np.empty(deepest + 1, np.int32), np.empty(deepest + 1, np.int32)
        if q == 1:
            # the routes of the other roots need about as much room as those of the first
            hops = _grow(hops, used * len(roots) + used * len(roots) // 16)
        for j in range(ends):
            # 2. The number of routes to an endpoint.
            s = endpoints[j]
            if head[s] < 0:
                continue
            p = q * ends + j
            hop_count = nearest[s]
            length[p] = hop_count
            first_hop[p] = used
            total = 0.0
            v = head[s]
            while v >= 0:
                total += ways[v]
                v = next_vertex[v]
            if hop_count == 0:
                count[p] = 1
                continue
            # 3. A single route can be read off the parents.
            if total == 1:
                if used + hop_count > len(hops):
                    hops = _grow(hops, used + hop_count)
                used += hop_count
                v = head[s]
                for d in range(1, hop_count + 1):
                    hops[used - d] = parent_channel[v]
                    v = parent_vertex[v]
                count[p] = 1
                continue
            # 4. All routes as rows of edges, or evenly spaced ones of too many.
            sampled[p] = total > most
            routes = 0
            v = head[s]
            if total <= most:
                while v >= 0:
                    routes = _walk_back_all(
                        in_start,
                        in_edge,
                        edge_source,
                        level,
                        ways,
                        parent,
                        v,
                        rows,
                        routes,
                        scratch,
                    )
                    v = next_vertex[v]
            else:
                before = 0.0
                while v >= 0:
                    while routes < most:
                        pick = np.floor((routes + 0.5) * total / most) - before
                        if pick >= ways[v]:
                            break
                        _walk_back_one(graph, level, ways, v, pick, rows[routes])
                        routes += 1
                    before += ways[v]
                    v = next_vertex[v]
            # 5. Their channels, in the order of the graph's edges from the root.
            if routes > 1:
                _sort_rows(rows, routes, hop_count, scratch[0])
            if used + routes * hop_count > len(hops):
                hops = _grow(hops, used + routes * hop_count)
            for r in range(routes):
                for d in range(hop_count):
                    hops[used] = edge_channel[rows[r, d]]
                    used += 1
            count[p] = routes
    return ChoiceArrays(length, count, first_hop, hops[:used], sampled)


@jit
def count_routes_from(graph, roots, endpoints):
    """Count the shortest legal routes from some switches to all endpoints, and their hops.

    Parameters
    ----------
    graph : GraphArrays
        Deterministic: then paths are physical routes and nothing is counted twice.
    roots : int32 array, shape (Q,)
        Switches.
    endpoints : int32 array, shape (P,)

    Returns
    -------
    counts : float64 array, shape (Q, P)
        Exact up to 2^53; 0 for no route.
    lengths : int32 array, shape (Q, P)
        Hops; −1 for no route.
    """
    size, ends = len(graph.vertex_switch), len(endpoints)
    counts = np.zeros((len(roots), ends), np.float64)
    lengths = np.full((len(roots), ends), -1, np.int32)
    level, queue = np.empty(size, np.int32), np.empty(size, np.int32)
    ways = np.empty(size, np.float64)
    parent = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    endpoint_of = np.full(len(graph.begin), -1, np.int32)
    for j in range(ends):
        endpoint_of[endpoints[j]] = j
    for q in range(len(roots)):
        reached = _levels_from(graph, graph.begin[roots[q]], level, queue, ways, parent)
        for k in range(reached):
            v = queue[k]
            j = endpoint_of[graph.vertex_switch[v]]
            if j < 0 or not graph.accepting[v]:
                continue
            if lengths[q, j] < 0:
                lengths[q, j] = level[v]
            if lengths[q, j] == level[v]:
                counts[q, j] += ways[v]
    return counts, lengths
