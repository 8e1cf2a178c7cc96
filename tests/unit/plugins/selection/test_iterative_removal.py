"""Iterative removal against its naive twin."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from naive_removal import iterative_removal
from naive_selection import shortest_routes
from small_graphs import graphs

from routelab.toolkit.ties import backwards_at, endpoint_order, tie_order
from routelab_plugins.selection.iterative_removal import IterativeRemoval


def in_tie_order(graph, tie_seed, ties):
    """Routes of all pairs in the order in which ties prefer them."""
    topology, arrays = graph.topology, tie_order(graph, tie_seed)
    ends = topology.endpoints
    turns = ends[endpoint_order(graph, tie_seed)].tolist()
    odd = dict(zip(ends.tolist(), backwards_at(graph, ties), strict=True))

    def places(source, route):
        v, offsets = arrays.begin[source], []
        for channel in route:
            first, last = arrays.edge_start[v], arrays.edge_start[v + 1]
            e = next(e for e in range(first, last) if arrays.edge_channel[e] == channel)
            offsets.append(e - first)
            v = arrays.edge_target[e]
        return offsets

    routes = shortest_routes(graph)
    return {
        (s, t): sorted(routes[s, t], key=lambda r: places(s, r), reverse=bool(odd[s]))
        for s in turns
        for t in turns
        if (s, t) in routes
    }


@settings(max_examples=60)
@given(graphs(), st.integers(0, 3), st.sampled_from(["positive", "balanced"]))
def test_it_is_its_naive_twin(graph, tie_seed, ties) -> None:
    topology = graph.topology
    listed = in_tie_order(graph, tie_seed, ties)
    demand = dict(enumerate(topology.terminals_per_switch.tolist()))
    expected = iterative_removal(listed, demand)
    table = IterativeRemoval(ties=ties, tie_seed=tie_seed).select(graph)
    assert {pair: tuple(table.paths(*pair)[0]) for pair in expected} == expected
    assert table.num_paths == len(expected)
    assert table.counters["removed_routes"] == sum(map(len, listed.values())) - len(expected)
