"""Selections by brute force: all shortest legal routes are listed, and one is taken.

Only the routes themselves are compared, never states of a routing graph, so a twin gives the same
routes however the rules are spelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from routelab.api import RoutingGraph

Route = tuple[int, ...]


def shortest_routes(graph: RoutingGraph) -> dict[tuple[int, int], list[Route]]:
    """All shortest legal routes of every reachable pair of switches, each once."""
    count = graph.topology.num_switches
    edges: dict[int, list[tuple[int, int]]] = {v: [] for v in range(graph.num_vertices)}
    for e in range(graph.num_edges):
        edges[int(graph.edge_source[e])].append(
            (int(graph.edge_channel[e]), int(graph.edge_target[e]))
        )
    by_pair: dict[tuple[int, int], list[Route]] = {}
    for source in range(count):
        reached = {int(graph.begin[source])}
        while more := {w for v in reached for _, w in edges[v]} - reached:
            reached |= more
        missing = {int(graph.vertex_switch[v]) for v in reached if graph.accepting[v]}
        # histories of channels with all vertices they may end in
        walks: dict[Route, set[int]] = {(): {int(graph.begin[source])}}
        while True:
            arrived: dict[int, list[Route]] = {}
            for route, vertices in walks.items():
                for v in vertices:
                    switch = int(graph.vertex_switch[v])
                    if graph.accepting[v] and (source, switch) not in by_pair:
                        arrived.setdefault(switch, [])
                        if route not in arrived[switch]:
                            arrived[switch].append(route)
            for switch, routes in arrived.items():
                by_pair[source, switch] = sorted(routes)
            missing -= arrived.keys()
            if not missing:
                break
            following: dict[Route, set[int]] = {}
            for route, vertices in walks.items():
                for v in vertices:
                    for channel, w in edges[v]:
                        following.setdefault((*route, channel), set()).add(w)
            walks = following
    return by_pair


class Loads:
    """Channel weights, and the lightest of some routes; ties by the order of channels."""

    def __init__(self, channels: int, rank: Iterable[int]) -> None:
        self.weight = [0] * channels
        self.rank = list(rank)

    def lightest(self, routes: list[Route], backwards: bool) -> Route:
        sign = -1 if backwards else 1

        def key(route: Route) -> tuple[int, list[int]]:
            return sum(self.weight[c] for c in route), [sign * self.rank[c] for c in route]

        return min(routes, key=key)

    def apply(self, route: Route, amount: int = 1) -> None:
        for c in route:
            self.weight[c] += amount


def turns(route: Route, direction: list[int]) -> int:
    return sum(direction[a] != direction[b] for a, b in pairwise(route))


def sssp(
    routes: dict[tuple[int, int], list[Route]],
    order: list[int],
    loads: Loads,
    direction: list[int],
    backwards: Callable[[int], bool],
) -> dict[tuple[int, int], Route]:
    """Algorithm 3 of the Angara paper."""
    chosen: dict[tuple[int, int], Route] = {}
    for (s, t), options in routes.items():
        if s != t and len(options) == 1:
            chosen[s, t] = options[0]
            loads.apply(options[0])
    place = {switch: k for k, switch in enumerate(order)}
    groups: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for (s, t), options in routes.items():
        if s != t and (s, t) not in chosen:
            fewest = min(turns(route, direction) for route in options)
            groups.setdefault((fewest, len(options[0]), place[s]), []).append((s, t))
    for key in sorted(groups):
        left = sorted(groups[key], key=lambda pair: place[pair[1]])
        while left:
            lightest = {p: loads.lightest(routes[p], backwards(p[0])) for p in left}
            used: set[int] = set()
            applied = []
            for pair in left:
                if used.isdisjoint(lightest[pair]):
                    used.update(lightest[pair])
                    applied.append(pair)
            for pair in applied:
                chosen[pair] = lightest[pair]
                loads.apply(lightest[pair])
            left = [pair for pair in left if pair not in applied]
    return chosen


def by_tree(
    routes: dict[tuple[int, int], list[Route]],
    order: list[int],
    loads: Loads,
    backwards: Callable[[int], bool],
    from_source: bool,
    at_once: bool,
) -> dict[tuple[int, int], Route]:
    """P-SSSP (`at_once`: loads change after each root) and P²-SSSP (after each pair)."""
    chosen: dict[tuple[int, int], Route] = {}
    for root in order:
        pairs = [(root, x) if from_source else (x, root) for x in order if x != root]
        pairs = [pair for pair in pairs if pair in routes]
        for pair in pairs:
            chosen[pair] = loads.lightest(routes[pair], backwards(root))
            if not at_once:
                loads.apply(chosen[pair])
        if at_once:
            for pair in pairs:
                loads.apply(chosen[pair])
    return chosen


def first(
    routes: dict[tuple[int, int], list[Route]],
    rank: list[int],
    source_switch: list[int],
    parity: list[int],
    balanced: bool,
) -> dict[tuple[int, int], Route]:
    """The first shortest legal route, or alternately the first and second next hop."""
    chosen = {}
    for (s, t), options in routes.items():
        left = options
        for h in range(len(options[0])):
            hops = sorted({route[h] for route in left}, key=lambda c: rank[c])
            pick = 0
            if balanced:
                pick = (parity[s] + parity[t] + parity[source_switch[hops[0]]]) % 2 % len(hops)
            left = [route for route in left if route[h] == hops[pick]]
        chosen[s, t] = left[0]
    return chosen
