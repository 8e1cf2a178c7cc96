"""Naive twin of cycle breaking: start the search anew after every broken cycle."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from routelab.api import RouteTable

Edge = tuple[int, int]


def first_cycle(graph: dict[int, list[int]]) -> list[Edge]:
    """The first cycle that a recursive depth-first search in ascending order closes."""
    done: set[int] = set()

    def search(walk: list[int]) -> list[Edge]:
        for target in graph.get(walk[-1], []):
            if target in walk:
                return list(pairwise([*walk[walk.index(target) :], target]))
            if target not in done:
                cycle = search([*walk, target])
                if cycle:
                    return cycle
        done.add(walk[-1])
        return []

    for root in sorted(graph):
        if root not in done:
            cycle = search([root])
            if cycle:
                return cycle
    return []


def layers(table: RouteTable, heuristic: str) -> list[int]:
    """Layer of every path."""
    starts = pairwise(table.path_start.tolist())
    causes = [set(pairwise(table.hop_channel[first:last].tolist())) for first, last in starts]
    layer = [0] * len(causes)
    for current in range(len(causes) + 1):
        while True:
            paths = defaultdict(set)
            for path, edges in enumerate(causes):
                if layer[path] == current:
                    for edge in edges:
                        paths[edge].add(path)
            graph = defaultdict(list)
            for source, target in sorted(paths):
                graph[source].append(target)
            cycle = first_cycle(graph)
            if not cycle:
                break
            everyone = set.union(*paths.values())
            choice = [edge for edge in cycle if paths[edge] != everyone]
            sign = {"weakest": 1, "heaviest": -1, "first": 0}[heuristic]
            for path in paths[min(choice, key=lambda edge: sign * len(paths[edge]))]:
                layer[path] = current + 1
        if current + 1 not in layer:
            break
    return layer
