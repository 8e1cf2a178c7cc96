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

    Parameters
    ----------
    graph : RoutingGraph
        Deterministic.

    Raises
    ------
    Skipped
        If there are too many.
    """
    topology = graph.topology
    ends = topology.endpoints
    lengths = route_lengths(graph.arrays, ends)
    counts = count_routes(graph.arrays, ends)
    if (counts * np.maximum(lengths, 0)).sum() > MAX_HOPS:
        raise Skipped("there are too many shortest legal routes to list")
    pair_start, _, hops = enumerate_routes(graph.arrays, ends, counts, lengths)
    listed = np.diff(pair_start)
    return RouteTable.create(
        topology,
        pair_start=pair_start,
        path_start=np.concatenate(([0], np.cumsum(np.repeat(lengths.reshape(-1), listed)))),
        hop_channel=hops,
        path_weight=np.repeat(1 / np.maximum(listed, 1), listed),
        flow_control=flow_control,
    )


def first_paths(table: RouteTable) -> RouteTable:
    """Return a table with the first path of every pair."""
    chosen = table.pair_start[:-1][np.diff(table.pair_start) > 0]
    lengths = np.full(table.num_pairs, -1)
    lengths[table.path_pair[chosen]] = table.path_length[chosen]
    hops = [table.hop_channel[table.path_start[k] : table.path_start[k + 1]] for k in chosen]
    return RouteTable.from_lengths(
        table.topology, lengths, np.concatenate([*hops, []]), per_terminal=table.per_terminal
    )


def turn_routes(graph: RoutingGraph, flow_control: str = "plain") -> RouteTable:
    """Return a table with a legal route for each turn that legal routes of any length make.

    A turn is a pair of consecutive channels. The table has the same dependencies as all legal
    routes, whose number may be infinite.

    Raises
    ------
    Skipped
        If the graph is too large.
    """
    topology = graph.topology
    ends = topology.endpoints
    if len(ends) * (graph.num_edges + graph.num_vertices) > MAX_STEPS:
        raise Skipped("the routing graph is too large to examine all turns")
    # 1. By endpoint: how packets from it reach vertices, and how packets for it go on from them.
    before = [_edges_from(graph, int(graph.begin[end])) for end in ends]
    after = [_edges_to(graph, int(end)) for end in ends]
    # 2. A route for each turn, between the first two endpoints that have one. Several pairs of
    #    edges may be the same turn, because a channel may lead to several vertices.
    routes: dict[tuple[int, int], list[list[int]]] = {}
    turns: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    for edge, next_edge in _turns(graph):
        turn = _hop(graph, edge), _hop(graph, next_edge)
        if turn in turns:
            continue
        entry, exit_ = int(graph.edge_source[edge]), int(graph.edge_target[next_edge])
        pair = _pair(entry, exit_, before, after)
        if pair is not None:
            turns.add(turn)
            source, target = pair
            first_edges = _edges_before(graph, before[source], entry)
            last_edges = _edges_after(graph, after[target], exit_)
            edges = [*first_edges, edge, next_edge, *last_edges]
            routes.setdefault(pair, []).append(graph.edge_channel[edges].tolist())
    table = _table(graph, routes, flow_control)
    return table if graph.vertex_vc is None else table.with_vcs(graph.virtual_channels(table))


def _hop(graph: RoutingGraph, edge: int) -> tuple[int, int]:
    """Return the channel and the virtual channel of an edge's hop."""
    vc = 0 if graph.vertex_vc is None else int(graph.vertex_vc[graph.edge_target[edge]])
    return int(graph.edge_channel[edge]), vc


def _edges_from(graph: RoutingGraph, root: int) -> dict[int, int]:
    """Return, for each vertex that `root` reaches, the edge that reached it; −1 for the root."""
    edges, queue = {root: -1}, deque((root,))
    while queue:
        vertex = queue.popleft()
        for edge in range(graph.edge_start[vertex], graph.edge_start[vertex + 1]):
            reached = int(graph.edge_target[edge])
            if reached not in edges:
                edges[reached] = edge
                queue.append(reached)
    return edges


def _edges_to(graph: RoutingGraph, switch: int) -> dict[int, int]:
    """Return, for each vertex from which `switch` is reached, the edge to take; −1 to stop."""
    arrays = graph.arrays
    stops = np.flatnonzero((graph.vertex_switch == switch) & graph.accepting).tolist()
    edges, queue = dict.fromkeys(stops, -1), deque(stops)
    while queue:
        vertex = queue.popleft()
        for edge in arrays.in_edge[arrays.in_start[vertex] : arrays.in_start[vertex + 1]].tolist():
            previous = int(graph.edge_source[edge])
            if previous not in edges:
                edges[previous] = edge
                queue.append(previous)
    return edges


def _turns(graph: RoutingGraph) -> Iterator[tuple[int, int]]:
    """Iterate over pairs of consecutive edges."""
    for edge, vertex in enumerate(graph.edge_target.tolist()):
        for next_edge in range(graph.edge_start[vertex], graph.edge_start[vertex + 1]):
            yield edge, next_edge


def _pair(
    entry: int, exit_: int, before: list[dict[int, int]], after: list[dict[int, int]]
) -> tuple[int, int] | None:
    """Return two different endpoints with a route that reaches `entry` and leaves from `exit_`."""
    sources = [source for source, vertices in enumerate(before) if entry in vertices]
    for target, vertices in enumerate(after):
        if exit_ in vertices:
            for source in sources:
                if source != target:
                    return source, target
    return None


def _edges_before(graph: RoutingGraph, reached_by: dict[int, int], vertex: int) -> list[int]:
    """Return the edges from the root of a search to a vertex; see `_edges_from`."""
    edges = []
    while reached_by[vertex] >= 0:
        edges.append(reached_by[vertex])
        vertex = int(graph.edge_source[reached_by[vertex]])
    return edges[::-1]


def _edges_after(graph: RoutingGraph, next_edge: dict[int, int], vertex: int) -> list[int]:
    """Return the edges from a vertex to where packets stop; see `_edges_to`."""
    edges = []
    while next_edge[vertex] >= 0:
        edges.append(next_edge[vertex])
        vertex = int(graph.edge_target[next_edge[vertex]])
    return edges


def _table(
    graph: RoutingGraph, routes: dict[tuple[int, int], list[list[int]]], flow_control: str
) -> RouteTable:
    """Return the table of some routes by pair of endpoints, all of equal weight."""
    count = len(graph.topology.endpoints)
    paths = [routes.get(pair, []) for pair in product(range(count), range(count))]
    pair_start = np.cumsum([0, *map(len, paths)])
    lengths = [len(path) for several in paths for path in several]
    listed = np.diff(pair_start)
    return RouteTable.create(
        graph.topology,
        pair_start=pair_start,
        path_start=np.cumsum([0, *lengths]),
        hop_channel=[hop for several in paths for path in several for hop in path],
        path_weight=np.repeat(1 / np.maximum(listed, 1), listed),
        flow_control=flow_control,
    )
