"""Hamming graphs: products of complete graphs, closed forms, parallel links."""

from collections import Counter
from functools import reduce
from math import prod

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from topology_laws import bisection_links, check_links, distances, graph_of, mean_distance

from routelab.api import InputError
from routelab_plugins.topology.hamming import Hamming
from routelab_plugins.topology.hypercube import Hypercube


def product_of(dims):
    """Naive twin: the Cartesian product of complete graphs, nodes as flat tuples."""
    graphs = [nx.relabel_nodes(nx.complete_graph(n), lambda i: (i,)) for n in dims]

    def times(first, second):
        return nx.relabel_nodes(nx.cartesian_product(first, second), lambda pair: pair[0] + pair[1])

    return reduce(times, graphs)


@given(st.lists(st.tuples(st.integers(2, 5), st.integers(1, 3)), min_size=1, max_size=3))
def test_it_is_the_product_of_complete_graphs(shape):
    dims, widths = zip(*shape, strict=True)
    topology = Hamming(dims=dims, widths=widths).build()
    places = list(map(tuple, topology.coordinates.tolist()))
    links = Counter(frozenset((places[a], places[b])) for a, b in graph_of(topology).edges())
    expected = product_of(dims)
    assert set(links) == set(map(frozenset, expected.edges()))
    for edge, count in links.items():
        first, second = edge
        (d,) = [d for d in range(len(dims)) if first[d] != second[d]]
        assert count == widths[d]
    check_links(topology)
    degree = sum(k * (s - 1) for s, k in shape)
    assert (np.bincount(topology.channel_source) == degree).all()
    assert list(topology.attributes["cables"].values()) == [
        prod(dims) * (s - 1) * k // 2 for s, k in shape
    ]
    assert 2 * sum(topology.attributes["cables"].values()) == topology.num_channels
    hops = distances(topology)
    assert topology.attributes["diameter"] == hops.max() == len(dims)
    assert topology.attributes["mean_distance"] == pytest.approx(mean_distance(hops))


@pytest.mark.parametrize(
    ("dims", "widths"),
    [
        ("4", "1"),
        ("4x2", "1"),
        ("2x6", "1"),
        ("4x3", "1"),
        ("4x4", "1"),
        ("4x2", "2"),
        ("5x2", "1"),
    ],
)
def test_bisection(dims, widths):
    topology = Hamming(dims=dims, widths=widths).build()
    links = bisection_links(topology)
    # known if the smallest dimension is even
    known = min(map(int, dims.split("x"))) % 2 == 0
    assert topology.attributes.get("bisection_links") == (links if known else None)


def test_pairs_of_size_two_are_a_hypercube():
    cube, hamming = Hypercube(dims=3).build(), Hamming(dims="2x2x2").build()
    for name in ("channel_source", "channel_target", "source_port", "target_port", "coordinates"):
        assert np.array_equal(getattr(cube, name), getattr(hamming, name)), name
    assert cube.attributes["bisection_links"] == hamming.attributes["bisection_links"]


def test_failed_links_lose_one_of_the_parallel_ones():
    whole = Hamming(dims="3x3", widths=2).build()
    damaged = Hamming(dims="3x3", widths=2, fail_links=4).build()
    assert damaged.num_channels == whole.num_channels - 8
    check_links(damaged, contiguous=False)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dims": "4x4", "widths": "1x2x3"}, r"widths=1x2x3 has 3 numbers for 2 .* widths=1x2$"),
        ({"dims": "4x4x4", "widths": "1x2"}, r"2 numbers for 3 dimensions.* widths=1x2x1$"),
        ({"dims": "100000"}, "100,000 switches and 4,999,950,000 links; the limits are"),
    ],
)
def test_impossible_networks_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        Hamming(**values).build()
