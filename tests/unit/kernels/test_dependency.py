"""Graph kernels of the deadlock checker against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from routelab.kernels.dependency import component_ranks, short_cycle, strong_components

EDGES = st.integers(1, 12).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=30),
    )
)


def csr(size: int, edges: set[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    counts = np.bincount([a for a, _ in edges], minlength=size) if edges else np.zeros(size, int)
    start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return start, np.array([b for _, b in sorted(edges)], dtype=np.int32)


@given(EDGES)
def test_components_and_ranks(drawn: tuple[int, set[tuple[int, int]]]) -> None:
    size, edges = drawn
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(range(size))
    start, target = csr(size, edges)
    component = strong_components(start, target)
    components = {frozenset(np.flatnonzero(component == c).tolist()) for c in np.unique(component)}
    assert components == set(map(frozenset, nx.strongly_connected_components(graph)))
    assert all(component[a] >= component[b] for a, b in edges)

    rank = component_ranks(start, target, component)
    condensed = nx.condensation(graph)
    for generation, members in enumerate(nx.topological_generations(condensed)):
        for member in members:
            assert {int(rank[v]) for v in condensed.nodes[member]["members"]} == {generation}


@given(EDGES, st.integers(0, 2**16))
def test_short_cycle_is_a_shortest_one_through_a_wanted_edge(
    drawn: tuple[int, set[tuple[int, int]]], seed: int
) -> None:
    size, edges = drawn
    start, target = csr(size, edges)
    component = strong_components(start, target)
    inside = np.array([component[a] == component[b] for a, b in sorted(edges)], dtype=np.bool_)
    wanted = inside & (np.random.default_rng(seed).random(len(inside)) < 0.5)
    cycle = short_cycle(start, target, component, wanted, 10**9).tolist()
    graph = nx.DiGraph(edges)
    chosen = {edge for edge, want in zip(sorted(edges), wanted, strict=True) if want}
    lengths = [nx.shortest_path_length(graph, b, a) + 1 for a, b in chosen]
    assert len(cycle) == min(lengths, default=0)
    steps = set(zip(cycle, cycle[1:] + cycle[:1], strict=True))
    assert steps <= edges
    assert not cycle or steps & chosen
    assert len(set(cycle)) == len(cycle)


def test_a_budget_of_nothing_still_gives_a_cycle() -> None:
    edges = {(0, 1), (1, 2), (2, 0), (3, 4), (4, 3)}
    start, target = csr(5, edges)
    wanted = np.ones(len(target), dtype=np.bool_)
    cycle = short_cycle(start, target, strong_components(start, target), wanted, 0)
    assert cycle.tolist() == [0, 1, 2]
