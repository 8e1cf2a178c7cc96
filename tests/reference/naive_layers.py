"""Naive twins of layers: searches for cycles start anew after every change."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import networkx as nx

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


def first_fit(table: RouteTable) -> list[int]:
    """Layer of every path: the first that stays acyclic, by destination, then source."""
    starts = list(pairwise(table.path_start.tolist()))
    layer, graphs = [0] * len(starts), []
    for path in sorted(
        range(len(starts)), key=lambda k: table.path_pair[k] % table.num_destinations
    ):
        edges = list(pairwise(table.hop_channel[slice(*starts[path])].tolist()))
        for number in range(len(graphs) + 1):
            if number == len(graphs):
                graphs.append(nx.DiGraph())
            grown = graphs[number].copy()
            grown.add_edges_from(edges)
            if nx.is_directed_acyclic_graph(grown):
                graphs[number], layer[path] = grown, number
                break
    return layer


def layers(table: RouteTable) -> list[int]:
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
            for path in paths[min(cycle, key=lambda edge: len(paths[edge]))]:
                layer[path] = current + 1
        if current + 1 not in layer:
            break
    return layer
