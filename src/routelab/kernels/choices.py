"""Lists and counts of distinct shortest legal routes from some switches."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import helper, jit


class ChoiceArrays(NamedTuple):
    """Routes of the classes' representatives (Q classes, P endpoints); all read-only.

    Sources that translations of the network map to each other form a class. Only the routes of one
    source of each class, its representative, are stored. Row ``q * P + j`` is about the routes from
    the representative of class q to endpoint j::

        length[row]      hops of every route, as all are shortest ones; −1: no route
        routes[row]      number of routes
        first_hop[row]   index in `hops` of the first hop of the first route
        hops             channels, route after route: 3 routes of 2 hops are 6 channels
        sampled[row]     whether the pair has more routes than are listed

    The routes of a row are in the order of the graph's edges.
    """

    length: NDArray[np.int32]
    routes: NDArray[np.int32]
    first_hop: NDArray[np.int64]
    hops: NDArray[np.int32]
    sampled: NDArray[np.bool_]


@helper()
def _grow(array, needed):
    """Return the array, or a longer copy if it has fewer than `needed` entries."""
    if needed <= len(array):
        return array
    # at least twice as long, so that growing entry by entry copies each only a few times
    larger = np.empty(max(needed, 2 * len(array)), array.dtype)
    # A loop, because for a copy by slices Numba also compiles the error for unequal shapes, with
    # the code that formats its text.
    for k in range(len(array)):
        larger[k] = array[k]
    return larger


@helper()
def _count_shortest_paths(graph, root, level, queue, num_paths, parent):
    """Count the shortest paths from a vertex to every other by breadth-first search.

    Overwrites these arrays, all by vertex except `queue`::

        level        hops from the root; −1: unreachable
        num_paths    number of shortest paths from the root
        parent       three arrays about the last hop of the first of these paths: the vertex before
                     it, its edge, and its channel
        queue        in its first entries the reached vertices, ascending by level

    Returns the number of reached vertices.
    """
    parent_vertex, parent_edge, parent_channel = parent
    level[:] = -1
    level[root] = 0
    num_paths[root] = 1.0
    queue[0] = root
    next_in_queue, reached = 0, 1
    while next_in_queue < reached:
        u = queue[next_in_queue]
        next_in_queue += 1
        for e in range(graph.edge_start[u], graph.edge_start[u + 1]):
            v = graph.edge_target[e]
            if level[v] < 0:
                level[v] = level[u] + 1
                num_paths[v] = 0.0
                parent_vertex[v] = u
                parent_edge[v] = e
                parent_channel[v] = graph.edge_channel[e]
                queue[reached] = v
                reached += 1
            if level[v] == level[u] + 1:
                num_paths[v] += num_paths[u]
    return reached


@helper()
def _sort_rows(rows, count, width, inserted):
    """Sort the first `count` rows by their first `width` columns, by insertion.

    `inserted` is memory for a row.
    """
    for i in range(1, count):
        for column in range(width):
            inserted[column] = rows[i, column]
        # Shift greater rows down by one, until the row before the gap is not greater.
        position = i
        while position > 0:
            # the first column in which the rows differ decides
            difference = 0
            for column in range(width):
                difference = rows[position - 1, column] - inserted[column]
                if difference != 0:
                    break
            if difference <= 0:
                break
            for column in range(width):
                rows[position, column] = rows[position - 1, column]
            position -= 1
        for column in range(width):
            rows[position, column] = inserted[column]


@helper()
def _walk_back_all(
    in_start, in_edge, edge_source, level, num_paths, parent, last_vertex, rows, num_routes, scratch
):
    """Append all shortest paths from the root to a vertex as rows of edges to `num_routes` rows.

    Return the new number of rows. `rows` must have one row more than that, and `scratch` is memory
    for two numbers of each level.
    """
    length = level[last_vertex]
    # by level: index in `in_edge` of the entering edge to try next, and vertex of the path at hand
    next_edge, vertex_at = scratch
    parent_vertex, parent_edge, _ = parent
    # A depth-first search from the vertex back to the root. `depth` is the level of the vertex
    # whose entering edges are tried: edge `depth - 1` of a row enters it.
    depth = length
    vertex_at[depth] = last_vertex
    next_edge[depth] = in_start[last_vertex]
    while depth <= length:
        v = vertex_at[depth]
        if next_edge[depth] == in_start[v + 1]:
            depth += 1
            continue
        e = in_edge[next_edge[depth]]
        next_edge[depth] += 1
        u = edge_source[e]
        if level[u] != depth - 1:
            continue
        rows[num_routes, depth - 1] = e
        if num_paths[u] == 1:
            # Only one path leads to u: follow the parents instead of trying each edge.
            for hop in range(depth - 2, -1, -1):
                rows[num_routes, hop] = parent_edge[u]
                u = parent_vertex[u]
            # The next path shares its last hops with this one, and the search will write only the
            # edges before them. So its row begins as a copy, but for edge 0, which every path
            # writes.
            for hop in range(1, length):
                rows[num_routes + 1, hop] = rows[num_routes, hop]
            num_routes += 1
            continue
        depth -= 1
        vertex_at[depth] = u
        next_edge[depth] = in_start[u]
    return num_routes


@helper()
def _walk_back_one(graph, level, num_paths, last_vertex, path_number, row):
    """Write one shortest path from the root to a vertex as a row of edges.

    Paths are numbered from 0: by their last edge, then by the one before, and so on. So paths that
    are evenly spaced among too many can be written without listing the others.
    """
    v = last_vertex
    while level[v] > 0:
        for i in range(graph.in_start[v], graph.in_start[v + 1]):
            e = graph.in_edge[i]
            u = graph.edge_source[e]
            if level[u] != level[v] - 1:
                continue
            # The paths over e have the next `num_paths[u]` numbers.
            if path_number < num_paths[u]:
                row[level[u]] = e
                v = u
                break
            path_number -= num_paths[u]


@jit
def list_routes(graph, roots, endpoints, max_routes):
    """List the distinct shortest legal routes from some switches to all endpoints.

    Parameters
    ----------
    graph : GraphArrays
        Deterministic, so that no physical route is listed twice.
    roots : int32 array, shape (Q,)
        Switches.
    endpoints : int32 array, shape (P,)
    max_routes : int
        Largest number of listed routes of a pair. Of more, `max_routes` are listed, evenly spaced
        in the order of the walk back from the target.

    Returns
    -------
    ChoiceArrays
        ``hops`` is a view of a longer array.

    Notes
    -----
    For each root: (1) count the shortest paths to all vertices. Then for each endpoint: (2) add up
    the numbers of paths to the vertices where its routes end. (3) Append the channels of a single
    route to ``hops``; or (4) list several routes as rows of edges, and (5) append their channels.
    """
    num_vertices, num_endpoints = len(graph.vertex_switch), len(endpoints)
    num_switches = len(graph.begin)
    edge_source, edge_channel = graph.edge_source, graph.edge_channel
    in_start, in_edge = graph.in_start, graph.in_edge
    length = np.full(len(roots) * num_endpoints, -1, np.int32)
    num_routes = np.zeros(len(roots) * num_endpoints, np.int32)
    first_hop = np.zeros(len(roots) * num_endpoints, np.int64)
    sampled = np.zeros(len(roots) * num_endpoints, np.bool_)
    hops = np.empty(num_endpoints * 4 + 64, np.int32)
    hops_end = 0
    level, queue = np.empty(num_vertices, np.int32), np.empty(num_vertices, np.int32)
    num_paths = np.empty(num_vertices, np.float64)
    parent_vertex, parent_edge = np.empty(num_vertices, np.int32), np.empty(num_vertices, np.int32)
    parent_channel = np.empty(num_vertices, np.int32)
    parent = parent_vertex, parent_edge, parent_channel
    # For each switch, a linked list of the accepting vertices where its shortest routes end. All of
    # them are at the level `switch_level`. If the routes to switch s end at the vertices 4 and 9:
    #
    #     first_vertex[s] = 9, next_vertex[9] = 4, next_vertex[4] = −1
    switch_level = np.empty(num_switches, np.int32)
    first_vertex, next_vertex = np.empty(num_switches, np.int32), np.empty(num_vertices, np.int32)
    # Rows of 64 hops are enough for most networks. Longer ones are made when a route needs them.
    # One row more than routes, because `_walk_back_all` prepares the row behind its last one.
    rows = np.empty((max_routes + 1, 64), np.int32)
    scratch = np.empty(65, np.int32), np.empty(65, np.int32)
    for q in range(len(roots)):
        # 1. The shortest paths to all vertices, and where those to each switch end.
        reached = _count_shortest_paths(
            graph, graph.begin[roots[q]], level, queue, num_paths, parent
        )
        first_vertex[:] = -1
        for k in range(reached):
            vertex = queue[k]
            if not graph.accepting[vertex]:
                continue
            s = graph.vertex_switch[vertex]
            # The queue ascends by level, so the first vertex of a switch has its least level.
            if first_vertex[s] < 0:
                switch_level[s] = level[vertex]
            if level[vertex] == switch_level[s]:
                next_vertex[vertex] = first_vertex[s]
                first_vertex[s] = vertex
        if level[queue[reached - 1]] > rows.shape[1]:
            deepest = level[queue[reached - 1]]
            rows = np.empty((max_routes + 1, deepest), np.int32)
            scratch = np.empty(deepest + 1, np.int32), np.empty(deepest + 1, np.int32)
        if q == 1:
            # The routes of the first root have filled `hops_end` entries, and those of each other
            # root need about as much room. So make room for all of them now; 1/16 more often saves
            # a copy.
            hops = _grow(hops, hops_end * len(roots) + hops_end * len(roots) // 16)
        for j in range(num_endpoints):
            # 2. The number of routes to an endpoint: those to all its vertices in the list. Without
            #    any, the row keeps length −1 and no route.
            s = endpoints[j]
            if first_vertex[s] < 0:
                continue
            row = q * num_endpoints + j
            hop_count = switch_level[s]
            length[row] = hop_count
            first_hop[row] = hops_end
            total_routes = 0.0
            vertex = first_vertex[s]
            while vertex >= 0:
                total_routes += num_paths[vertex]
                vertex = next_vertex[vertex]
            if hop_count == 0:
                num_routes[row] = 1
                continue
            # 3. A single route can be read off the parents.
            if total_routes == 1:
                if hops_end + hop_count > len(hops):
                    hops = _grow(hops, hops_end + hop_count)
                hops_end += hop_count
                vertex = first_vertex[s]
                for d in range(1, hop_count + 1):
                    hops[hops_end - d] = parent_channel[vertex]
                    vertex = parent_vertex[vertex]
                num_routes[row] = 1
                continue
            # 4. All routes as rows of edges, or evenly spaced ones of too many.
            sampled[row] = total_routes > max_routes
            num_listed = 0
            vertex = first_vertex[s]
            if total_routes <= max_routes:
                while vertex >= 0:
                    num_listed = _walk_back_all(
                        in_start,
                        in_edge,
                        edge_source,
                        level,
                        num_paths,
                        parent,
                        vertex,
                        rows,
                        num_listed,
                        scratch,
                    )
                    vertex = next_vertex[vertex]
            else:
                # Of 1000 routes and at most 4, those with the numbers 125, 375, 625 and 875. Routes
                # are numbered vertex by vertex, and `num_before` routes end at the vertices before
                # this one: `path_number` counts from the first route that ends here. If it is too
                # large, the route ends at a later vertex.
                num_before = 0.0
                while vertex >= 0:
                    while num_listed < max_routes:
                        path_number = (
                            np.floor((num_listed + 0.5) * total_routes / max_routes) - num_before
                        )
                        if path_number >= num_paths[vertex]:
                            break
                        _walk_back_one(
                            graph, level, num_paths, vertex, path_number, rows[num_listed]
                        )
                        num_listed += 1
                    num_before += num_paths[vertex]
                    vertex = next_vertex[vertex]
            # 5. Their channels, in the order of the graph's edges from the root.
            if num_listed > 1:
                _sort_rows(rows, num_listed, hop_count, scratch[0])
            if hops_end + num_listed * hop_count > len(hops):
                hops = _grow(hops, hops_end + num_listed * hop_count)
            for r in range(num_listed):
                for d in range(hop_count):
                    hops[hops_end] = edge_channel[rows[r, d]]
                    hops_end += 1
            num_routes[row] = num_listed
    return ChoiceArrays(length, num_routes, first_hop, hops[:hops_end], sampled)


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
    num_vertices, num_endpoints = len(graph.vertex_switch), len(endpoints)
    counts = np.zeros((len(roots), num_endpoints), np.float64)
    lengths = np.full((len(roots), num_endpoints), -1, np.int32)
    level, queue = np.empty(num_vertices, np.int32), np.empty(num_vertices, np.int32)
    num_paths = np.empty(num_vertices, np.float64)
    parent = (
        np.empty(num_vertices, np.int32),
        np.empty(num_vertices, np.int32),
        np.empty(num_vertices, np.int32),
    )
    endpoint_at = np.full(len(graph.begin), -1, np.int32)
    for j in range(num_endpoints):
        endpoint_at[endpoints[j]] = j
    for q in range(len(roots)):
        reached = _count_shortest_paths(
            graph, graph.begin[roots[q]], level, queue, num_paths, parent
        )
        for k in range(reached):
            v = queue[k]
            j = endpoint_at[graph.vertex_switch[v]]
            if j < 0 or not graph.accepting[v]:
                continue
            if lengths[q, j] < 0:
                lengths[q, j] = level[v]
            if lengths[q, j] == level[v]:
                counts[q, j] += num_paths[v]
    return counts, lengths
