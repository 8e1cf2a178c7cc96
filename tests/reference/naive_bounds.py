"""Bounds of the channel load by brute force, on routes that are listed one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, prod

import numpy as np

from routelab.api import RoutingGraph

Route = tuple[int, ...]


def shortest_routes(graph: RoutingGraph, source: int) -> dict[int, set[Route]]:
    """All shortest legal routes from a switch to every switch that it reaches."""
    out: dict[int, list[tuple[int, int]]] = {}
    for e in range(graph.num_edges):
        hop = int(graph.edge_channel[e]), int(graph.edge_target[e])
        out.setdefault(int(graph.edge_source[e]), []).append(hop)
    # all shortest ways into each vertex, level by level: no shortest route takes a longer one
    by_switch: dict[int, set[Route]] = {}
    seen: set[int] = set()
    level: dict[int, set[Route]] = {int(graph.begin[source]): {()}}
    while level:
        arrived: dict[int, set[Route]] = {}
        for vertex, routes in level.items():
            switch = int(graph.vertex_switch[vertex])
            if graph.accepting[vertex] and switch not in by_switch:
                arrived.setdefault(switch, set()).update(routes)
        by_switch |= arrived
        seen |= set(level)
        following: dict[int, set[Route]] = {}
        for vertex, routes in level.items():
            for channel, target in out.get(vertex, []):
                if target not in seen:
                    longer = {(*route, channel) for route in routes}
                    following.setdefault(target, set()).update(longer)
        level = following
    return by_switch


def choices(graph: RoutingGraph) -> list[tuple[int, list[Route]]]:
    """Demand and routes of every ordered pair of different switches that has both."""
    terminals = graph.topology.terminals_per_switch.tolist()
    return [
        (terminals[s] * terminals[t], sorted(routes))
        for s in np.flatnonzero(terminals).tolist()
        for t, routes in shortest_routes(graph, s).items()
        if s != t and terminals[s] * terminals[t]
    ]


def factors(graph: RoutingGraph) -> list[Fraction]:
    """How many times slower than the fastest each channel is."""
    capacities = [Fraction(capacity) for capacity in graph.topology.channel_capacity.tolist()]
    return [max(capacities) / capacity for capacity in capacities]


def quotient(graph: RoutingGraph, weights: list[int]) -> Fraction:
    """What weights of the channels prove."""
    covered = sum(
        demand * min(sum(weights[c] for c in route) for route in routes)
        for demand, routes in choices(graph)
    )
    total = sum(weight / factor for weight, factor in zip(weights, factors(graph), strict=True))
    return covered / total if total else Fraction(0)


def least_attainable(graph: RoutingGraph, load: Fraction) -> Fraction:
    """The least load of a channel that whole routes cross and that is not below another load."""
    return min((ceil(load / factor) * factor for factor in set(factors(graph))), default=load)


def number_of_tables(graph: RoutingGraph) -> int:
    return prod(len(routes) for _, routes in choices(graph))


def optimum(graph: RoutingGraph) -> Fraction:
    """The least maximum relative load of all tables with one shortest legal route a pair."""
    pairs, slow = choices(graph), factors(graph)
    best = None
    for table in product(*(routes for _, routes in pairs)):
        loads = [Fraction(0)] * graph.topology.num_channels
        for (demand, _), route in zip(pairs, table, strict=True):
            for c in route:
                loads[c] += demand * slow[c]
        most = max(loads, default=Fraction(0))
        best = most if best is None else min(best, most)
    assert best is not None
    return best
