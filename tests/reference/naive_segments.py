"""Segment-based routing and turn prohibition, spelled out with recursion and networkx."""

from __future__ import annotations

from itertools import pairwise, permutations

import networkx as nx


def simple_graph(topology) -> nx.Graph:
    """The links of a network, parallel ones once."""
    graph = nx.Graph()
    graph.add_nodes_from(range(topology.num_switches))
    ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    graph.add_edges_from(ends)
    return graph


def greedy_segments(graph: nx.Graph, start: int) -> list[tuple[int, ...]]:
    """`compute_segments` and `find` of Figure 2 for one subnet without bridges, literally.

    The gaps: switches of the path are not tried again, and all switches of a segment are visited.
    """
    visited, links, segments = [start], set(), []

    def find(switch: int, path: list[int], used: set[frozenset[int]]) -> list[int] | None:
        for other in sorted(graph[switch]):
            link = frozenset((switch, other))
            if link in links or link in used:
                continue
            if other in visited:
                return [*path, other]
            if other not in path:
                whole = find(other, [*path, other], used | {link})
                if whole:
                    return whole
        return None

    for switch in visited:
        while path := find(switch, [switch], set()):
            segments.append(tuple(path))
            links |= {frozenset(pair) for pair in pairwise(path)}
            # `visited` grows while it is read
            visited += path[1:-1]
    return segments


def shortest_segment(graph: nx.Graph, visited: set[int], links: set[frozenset[int]]) -> int:
    """The number of links of the shortest possible segment; 0 if there is none."""
    free = nx.Graph(pair for pair in graph.edges if frozenset(pair) not in links)
    best = 0
    for start in visited & set(free):
        for first in free[start]:
            if first in visited:
                return 1
            inner = free.subgraph(set(free) - visited)
            for last, length in nx.single_source_shortest_path_length(inner, first).items():
                ends = (set(free[last]) & visited) - ({start} if last == first else set())
                if ends and (not best or length + 2 < best):
                    best = length + 2
    return best


def up_down_step(graph: nx.Graph, order, target: int) -> dict[int, tuple[int, bool]]:
    """Of every switch, the hops to where its way down to the target begins, and whether it has one.

    With a way down: the hops of the shortest one.
    """
    down = nx.DiGraph(
        (a, b) for e in graph.edges for a, b in permutations(e) if order[a] < order[b]
    )
    down.add_nodes_from(graph)
    below = nx.single_source_shortest_path_length(down.reverse(), target)
    up = down.reverse()
    steps = {switch: (hops, True) for switch, hops in below.items()}
    for switch in graph:
        if switch not in below:
            away = nx.single_source_shortest_path_length(up, switch)
            near = [hops for other, hops in away.items() if other in below]
            if near:
                steps[switch] = (min(near), False)
    return steps


def naive_turn_prohibition(graph: nx.Graph, gate: int | None = None) -> set[tuple[int, int, int]]:
    """The turns that turn prohibition takes from a network, part by part.

    Only `gate`, which is removed last, has a link to what is left of the network outside.
    """
    if not nx.is_connected(graph):
        parts = [graph.subgraph(part) for part in nx.connected_components(graph)]
        return set().union(*map(naive_turn_prohibition, parts))
    if len(graph) == 1:
        return set()
    switch = min(set(graph) - {gate}, key=lambda s: (graph.degree[s], s))
    rest = graph.subgraph(set(graph) - {switch})
    parts = sorted(nx.connected_components(rest), key=min)
    main = next((part for part in parts if gate in part), max(parts, key=len))
    entries = {min(part & set(graph[switch])) for part in parts if part is not main}
    prohibited = {
        (before, switch, after)
        for before, after in permutations(graph[switch], 2)
        if not ({before, after} <= entries | main and {before, after} & entries)
    }
    prohibited |= naive_turn_prohibition(rest.subgraph(main), gate)
    for part in parts:
        if part is not main:
            prohibited |= naive_turn_prohibition(rest.subgraph(part), min(entries & part))
    return prohibited
