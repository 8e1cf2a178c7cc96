"""Routes listed once a class against routes listed pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import plain_graphs

from routelab.api import RouteTable, RoutingGraph
from routelab.kernels.enumeration import enumerate_routes
from routelab.kernels.graph import GraphArrays, count_routes, route_lengths
from routelab.testing.inputs.graphs import GRAPHS, all_walks
from routelab.toolkit import build_grid, determinized, route_choices
from routelab.toolkit.ties import tie_order


def whole_tori() -> st.SearchStrategy[RoutingGraph]:
    return st.builds(
        lambda dims, terminals, rules: determinized(
            rules(build_grid("torus", dims, True, terminals=terminals))
        ),
        st.sampled_from([(4,), (3, 4), (2, 3), (4, 2, 3)]),
        st.integers(1, 2),
        st.sampled_from(list(GRAPHS.values())),
    )


def listed(graph: RoutingGraph, arrays: GraphArrays):
    ends = graph.topology.endpoints
    counts, lengths = count_routes(arrays, ends), route_lengths(arrays, ends)
    pair_start, hop_start, hops = enumerate_routes(arrays, ends, counts, lengths)
    return lengths.reshape(-1), np.diff(pair_start), hop_start, hops


@settings(max_examples=60, deadline=None)
@given(graph=whole_tori() | plain_graphs(), tie_seed=st.integers(0, 3))
def test_every_pair_has_its_routes_in_tie_order(graph: RoutingGraph, tie_seed: int) -> None:
    arrays = tie_order(graph, tie_seed)
    choices = route_choices(graph, 10_000, arrays)
    assert choices.complete
    each = choices.each_source().arrays
    lengths, counts, hop_start, hops = listed(graph, arrays)
    assert np.array_equal(each.length, lengths)
    assert np.array_equal(each.routes, counts)
    for pair, first in enumerate(each.first_hop):
        size = hop_start[pair + 1] - hop_start[pair]
        assert np.array_equal(
            each.hops[first : first + size], hops[hop_start[pair] : hop_start[pair + 1]]
        )


@settings(max_examples=40, deadline=None)
@given(graph=whole_tori() | plain_graphs(), draw=st.randoms(use_true_random=False))
def test_a_table_has_the_chosen_routes(graph: RoutingGraph, draw) -> None:
    choices = route_choices(graph)
    each = choices.each_source()
    chosen = np.array([draw.randrange(max(int(n), 1)) for n in each.arrays.routes], dtype=np.int32)
    lengths, hops = choices.table(chosen, by_pair=True)
    expected = each.table(chosen)
    assert np.array_equal(lengths, expected[0])
    assert np.array_equal(hops, expected[1])
    # a table that exists is well formed
    assert RouteTable.from_lengths(graph.topology, lengths, hops).num_paths == (lengths >= 0).sum()
    for pair, number in enumerate(chosen):
        length = max(each.arrays.length[pair], 0)
        first = each.arrays.first_hop[pair] + number * length
        begin = np.maximum(lengths, 0).reshape(-1)[:pair].sum()
        route = each.arrays.hops[first : first + length]
        assert np.array_equal(hops[begin : begin + length], route)


@settings(max_examples=30, deadline=None)
@given(graph=whole_tori() | plain_graphs(), most=st.integers(1, 3))
def test_a_sample_is_of_distinct_routes(graph: RoutingGraph, most: int) -> None:
    sample, whole = route_choices(graph, most).arrays, route_choices(graph, 10_000).arrays
    assert np.array_equal(sample.routes, np.minimum(whole.routes, most))
    assert np.array_equal(sample.sampled, whole.routes > most)
    for row, count in enumerate(sample.routes):
        length = int(max(sample.length[row], 0))
        if length:
            some, every = (
                {tuple(r.hops[f : f + length].tolist()) for f in range(a, b, length)}
                for r, a, b in (
                    (x, x.first_hop[row], x.first_hop[row] + x.routes[row] * length)
                    for x in (sample, whole)
                )
            )
            assert len(some) == count
            assert some <= every


def test_searches_are_one_a_class() -> None:
    graph = all_walks(build_grid("torus", (5, 4, 2), wrap=True))
    choices = route_choices(graph)
    assert len(choices.arrays.routes) == 2 * 40
    assert len(choices.each_source().arrays.routes) == 40 * 40


@pytest.mark.parametrize("failed", [0, 3])
def test_any_number_of_threads_gives_the_same_routes(
    failed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = all_walks(build_grid("torus", (4, 5, 10), wrap=True, fail_links=failed))
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
        choices = route_choices(graph)
        results.append([*choices.arrays, *choices.table(choices.arrays.routes - 1)])
    for other in results[1:]:
        for array, same in zip(results[0], other, strict=True):
            assert np.array_equal(array, same)
