"""Tables of all routes that rules allow, for the deadlock checker."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import product

import numpy as np

from routelab.api import RouteTable, RoutingGraph
from routelab.kernels.enumeration import enumerate_routes
from routelab.kernels.graph import count_routes, route_lengths
from routelab.testing.results import Skipped

MAX_HOPS = 5_000_000
"""Largest number of hops in a table of all shortest routes; above, the check is skipped."""
MAX_STEPS = 20_000_000
"""Largest number of edges in the search for legal turns; above, the check is skipped."""


def shortest_legal_routes(graph: RoutingGraph, flow_control: str = "plain") -> RouteTable:
    """Return a table of all shortest legal routes of every pair, with equal weights.

    If the deadlock checker proves this table, every selection of these routes is free of deadlock.

    Parameters
    ----------
    graph : RoutingGraph
        Deterministic: a route is one path of the graph, so no route is listed twice.
    flow_control : str
        Flow control that the table declares.

    Raises
    ------
    Skipped
        If there are too many.
    """
    topology = graph.topology
    ends = topology.endpoints
    lengths = route_lengths(graph.arrays, ends)
    counts = count_routes(graph.arrays, ends)
    # a pair without a route has length −1
    if (counts * np.maximum(lengths, 0)).sum() > MAX_HOPS:
        raise Skipped("there are too many shortest legal routes to list")
    pair_start, _, hops = enumerate_routes(graph.arrays, ends, counts, lengths)
    num_paths = np.diff(pair_start)  # 0 for a pair without a route
    # all paths of a pair are equally long, and each of n has the weight 1/n
    path_lengths = np.repeat(lengths.reshape(-1), num_paths)
    return RouteTable.create(
        topology,
        pair_start=pair_start,
        path_start=np.concatenate(([0], np.cumsum(path_lengths))),
        hop_channel=hops,
        path_weight=np.repeat(1 / np.maximum(num_paths, 1), num_paths),
        flow_control=flow_control,
    )


def first_paths(table: RouteTable) -> RouteTable:
    """Return a table with the first path of every pair, as a single-path routing has one."""
    # the paths of pair p are pair_start[p] to pair_start[p + 1]; some pairs have none
    first = table.pair_start[:-1][np.diff(table.pair_start) > 0]
    lengths = np.full(table.num_pairs, -1)  # a negative length means that a pair has no path
    lengths[table.path_pair[first]] = table.path_length[first]
    is_first = np.zeros(table.num_paths, dtype=np.bool_)
    is_first[first] = True
    is_hop_of_first = np.repeat(is_first, table.path_length)
    return RouteTable.from_lengths(
        table.topology,
        lengths,
        table.hop_channel[is_hop_of_first],
        per_terminal=table.per_terminal,
    )


def turn_routes(graph: RoutingGraph, flow_control: str = "plain") -> RouteTable:
    """Return a table with a legal route for each turn that legal routes of any length make.

    A turn is a pair of consecutive channels, each with its virtual channel. The table has the same
    channel dependencies as all legal routes, whose number may be infinite.

    Parameters
    ----------
    graph : RoutingGraph
    flow_control : str
        Flow control that the table declares.

    Raises
    ------
    Skipped
        If the graph is too large.
    """
    topology = graph.topology
    ends = topology.endpoints
    if len(ends) * (graph.num_edges + graph.num_vertices) > MAX_STEPS:
        raise Skipped("the routing graph is too large to examine all turns")
    # 1. For each endpoint and each vertex of the graph: the last edge of a route from the endpoint
    #    to the vertex, and the first edge of a route from the vertex to the endpoint.
    arriving_edges = [_search_forward(graph, int(graph.begin[end])) for end in ends]
    leaving_edges = [_search_backward(graph, int(end)) for end in ends]
    # 2. A route for each turn, between the first two endpoints that have one:
    #
    #        source ... first_vertex --edge--> vertex --next_edge--> last_vertex ... target
    #
    #    Several pairs of edges may be the same turn, because a channel may lead to several vertices
    #    (states of the rules). If no route has these two edges, one may have two others.
    routes: dict[tuple[int, int], list[list[int]]] = {}
    turns_with_route: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    for edge, next_edge in _consecutive_edges(graph):
        turn = _channel_and_vc(graph, edge), _channel_and_vc(graph, next_edge)
        if turn in turns_with_route:
            continue
        first_vertex, last_vertex = int(graph.edge_source[edge]), int(graph.edge_target[next_edge])
        pair = _endpoints_around(first_vertex, last_vertex, arriving_edges, leaving_edges)
        if pair is not None:
            turns_with_route.add(turn)
            source, target = pair  # indices of endpoints
            edges = [
                *_edges_to_vertex(graph, arriving_edges[source], first_vertex),
                edge,
                next_edge,
                *_edges_from_vertex(graph, leaving_edges[target], last_vertex),
            ]
            routes.setdefault(pair, []).append(graph.edge_channel[edges].tolist())
    # 3. The table. If the rules name virtual channels, the hops of its routes take these.
    table = _table_of_routes(graph, routes, flow_control)
    return table if graph.vertex_vc is None else table.with_vcs(graph.virtual_channels(table))


def _channel_and_vc(graph: RoutingGraph, edge: int) -> tuple[int, int]:
    """Return the channel and the virtual channel of an edge's hop."""
    vc = 0 if graph.vertex_vc is None else int(graph.vertex_vc[graph.edge_target[edge]])
    return int(graph.edge_channel[edge]), vc


def _search_forward(graph: RoutingGraph, root: int) -> dict[int, int]:
    """Return the edge by which a breadth-first search first reached each vertex; −1 for the root.

    Vertices that the root does not reach are missing.
    """
    edges, queue = {root: -1}, deque((root,))
    while queue:
        vertex = queue.popleft()
        for edge in range(graph.edge_start[vertex], graph.edge_start[vertex + 1]):
            reached = int(graph.edge_target[edge])
            if reached not in edges:
                edges[reached] = edge
                queue.append(reached)
    return edges


def _search_backward(graph: RoutingGraph, switch: int) -> dict[int, int]:
    """Return the first edge of a shortest route from each vertex to a switch.

    It is −1 for an accepting vertex of the switch, where a route ends; vertices without a route to
    the switch are missing. Found by a breadth-first search against the edges, from all accepting
    vertices of the switch.
    """
    arrays = graph.arrays
    is_end = (graph.vertex_switch == switch) & graph.accepting
    end_vertices = np.flatnonzero(is_end).tolist()
    edges, queue = dict.fromkeys(end_vertices, -1), deque(end_vertices)
    while queue:
        vertex = queue.popleft()
        for edge in arrays.in_edge[arrays.in_start[vertex] : arrays.in_start[vertex + 1]].tolist():
            previous = int(graph.edge_source[edge])
            if previous not in edges:
                edges[previous] = edge
                queue.append(previous)
    return edges


def _consecutive_edges(graph: RoutingGraph) -> Iterator[tuple[int, int]]:
    """Yield all pairs of consecutive edges."""
    for edge, vertex in enumerate(graph.edge_target.tolist()):
        for next_edge in range(graph.edge_start[vertex], graph.edge_start[vertex + 1]):
            yield edge, next_edge


def _endpoints_around(
    first_vertex: int,
    last_vertex: int,
    arriving_edges: list[dict[int, int]],
    leaving_edges: list[dict[int, int]],
) -> tuple[int, int] | None:
    """Return a source that reaches `first_vertex` and another endpoint that `last_vertex` reaches.

    Parameters
    ----------
    first_vertex, last_vertex : int
    arriving_edges, leaving_edges : list of dict
        Results of `_search_forward` and `_search_backward` for each endpoint. Their keys are the
        vertices that can be reached from the endpoint, or from which it can be reached.

    Returns
    -------
    tuple of int, or None
        Indices of the two endpoints; None if there are none.
    """
    sources = [source for source, edges in enumerate(arriving_edges) if first_vertex in edges]
    for target, edges in enumerate(leaving_edges):
        if last_vertex in edges:
            for source in sources:
                if source != target:
                    return source, target
    return None


def _edges_to_vertex(graph: RoutingGraph, reached_by: dict[int, int], vertex: int) -> list[int]:
    """Return the edges from the root of `_search_forward` to a vertex, in order."""
    edges = []
    while reached_by[vertex] >= 0:
        edges.append(reached_by[vertex])
        vertex = int(graph.edge_source[reached_by[vertex]])
    return edges[::-1]


def _edges_from_vertex(graph: RoutingGraph, next_edge: dict[int, int], vertex: int) -> list[int]:
    """Return the edges from a vertex to the switch of `_search_backward`, in order."""
    edges = []
    while next_edge[vertex] >= 0:
        edges.append(next_edge[vertex])
        vertex = int(graph.edge_target[next_edge[vertex]])
    return edges


def _table_of_routes(
    graph: RoutingGraph, routes: dict[tuple[int, int], list[list[int]]], flow_control: str
) -> RouteTable:
    """Return the table with these routes, those of a pair with equal weights.

    `routes` has the channels of each route, by the indices of its two endpoints: ``routes[0, 2]``
    has the routes from the first endpoint to the third.
    """
    endpoints = range(len(graph.topology.endpoints))
    # all pairs of P endpoints in the order of a table: (0, 0), (0, 1), ..., (P − 1, P − 1)
    paths_of_pairs = [routes.get(pair, []) for pair in product(endpoints, endpoints)]
    pair_start = np.cumsum([0, *map(len, paths_of_pairs)])
    all_paths = [path for paths in paths_of_pairs for path in paths]
    num_paths = np.diff(pair_start)
    return RouteTable.create(
        graph.topology,
        pair_start=pair_start,
        path_start=np.cumsum([0, *map(len, all_paths)]),
        hop_channel=[channel for path in all_paths for channel in path],
        path_weight=np.repeat(1 / np.maximum(num_paths, 1), num_paths),
        flow_control=flow_control,
    )
