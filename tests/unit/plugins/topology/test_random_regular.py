"""Random regular graphs: degree, connection, uniformity against enumeration."""

from collections import Counter
from itertools import combinations
from math import log, sqrt

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from topology_laws import check_links, distances, graph_of

from routelab.api import InputError
from routelab_plugins.topology.random_regular import RandomRegular


def edges(topology):
    return frozenset(map(frozenset, graph_of(topology).edges()))


def all_graphs(n, degree):
    """All connected regular graphs on n labelled switches, by trying all sets of links."""
    graphs = []
    for links in combinations(combinations(range(n), 2), n * degree // 2):
        counts = Counter(end for link in links for end in link)
        if all(counts[s] == degree for s in range(n)) and nx.is_connected(nx.Graph(links)):
            graphs.append(frozenset(map(frozenset, links)))
    return graphs


@st.composite
def shapes(draw):
    n = draw(st.integers(2, 40))
    degree = draw(st.integers(1, n - 1))
    return n, degree


@given(shapes(), st.integers(0, 1000), st.integers(0, 3))
def test_it_is_simple_regular_and_connected(shape, seed, terminals):
    n, degree = shape
    plugin = RandomRegular(n=n, degree=degree, seed=seed, terminals=terminals + 1)
    if n * degree % 2 or (degree == 1 and n > 2):
        with pytest.raises(InputError):
            plugin.build()
        return
    topology = plugin.build()
    graph = graph_of(topology)
    assert set(dict(graph.degree()).values()) == {degree}
    assert nx.number_of_edges(nx.Graph(graph)) == graph.number_of_edges() == n * degree // 2
    assert nx.is_connected(graph)
    check_links(topology)
    assert distances(topology).max() >= topology.attributes["diameter_at_least"]
    assert (topology.terminals_per_switch == terminals + 1).all()


@pytest.mark.parametrize(
    ("n", "degree", "count"),
    # cycles; OEIS A002829 (cubic: 70, all connected); complements of one or two cycles
    [(5, 2, 12), (6, 2, 60), (6, 3, 70), (6, 4, 15), (7, 2, 360), (7, 4, 465)],
)
def test_all_graphs_are_equally_likely(n, degree, count):
    graphs = all_graphs(n, degree)
    assert len(graphs) == count
    samples = 12 * count
    seen = Counter(edges(RandomRegular(n=n, degree=degree, seed=s).build()) for s in range(samples))
    assert set(seen) <= set(graphs)
    expected = samples / count
    squares = sum((seen[graph] - expected) ** 2 / expected for graph in graphs)
    # normal approximation of chi-squared: 4 standard deviations
    assert abs(squares - (count - 1)) < 4 * sqrt(2 * (count - 1))


def test_the_classes_of_cubic_graphs_of_eight_switches():
    # 19,320 connected ones (19,355 in all, 35 of them two K4); by isomorphism class, 8! divided
    # by the size of the automorphism group: 48 (cube), 16, 16, 12 and 4
    sizes = {2520: 2, 840: 1, 3360: 1, 10080: 1}
    assert sum(size * count for size, count in sizes.items()) == 19320
    classes: list[nx.Graph] = []
    seen, samples = Counter(), 2000
    for seed in range(samples):
        graph = nx.Graph(graph_of(RandomRegular(n=8, degree=3, seed=seed).build()))
        known = (k for k, other in enumerate(classes) if nx.is_isomorphic(graph, other))
        kind = next(known, len(classes))
        if kind == len(classes):
            classes.append(graph)
        seen[kind] += 1
    shares = [size / 19320 for size, count in sizes.items() for _ in range(count)]
    assert len(seen) == len(shares)
    for frequency, share in zip(sorted(seen.values()), sorted(shares), strict=True):
        assert abs(frequency - samples * share) < 4.5 * sqrt(samples * share * (1 - share))


def test_large_graphs_have_as_many_short_cycles_as_random_ones():
    # the number of triangles tends to Poisson with mean (d-1)^3/6 (Bollobas, 1980); the circulant
    # graph that the chain starts from has n of them
    n, degree, samples = 600, 4, 40
    triangles = [
        sum(nx.triangles(nx.Graph(graph_of(build))).values()) / 3
        for build in (RandomRegular(n=n, degree=degree, seed=s).build() for s in range(samples))
    ]
    mean = (degree - 1) ** 3 / 6
    assert abs(np.mean(triangles) - mean) < 4 * sqrt(mean / samples)


def test_the_network_of_the_polarized_paper():
    # Camarero, Martinez, Beivide, figure 4: 720 switches of degree 17 with 7 servers each
    topology = RandomRegular(n=720, degree=17, terminals=7).build()
    assert topology.num_terminals == 5040
    assert topology.num_channels == 720 * 17
    graph = nx.Graph(graph_of(topology))
    # an expander: the second eigenvalue is near 2 sqrt(d - 1) (Friedman, 2008)
    values = np.abs(np.linalg.eigvalsh(nx.to_numpy_array(graph)))
    assert np.sort(values)[-2] < 2 * sqrt(16) * 1.05
    assert nx.diameter(graph) >= topology.attributes["diameter_at_least"]
    assert topology.attributes["diameter_at_least"] >= log(720) / log(17)


def test_seeds_differ_and_failures_leave_the_graph_alone():
    first, second = (RandomRegular(n=20, degree=4, seed=seed).build() for seed in (0, 1))
    assert edges(first) != edges(second)
    damaged = RandomRegular(n=20, degree=4, fail_links=6).build()
    assert edges(damaged) < edges(first)
    assert len(edges(first) - edges(damaged)) == 6
    assert "diameter_at_least" not in damaged.attributes


@pytest.mark.parametrize(
    ("n", "degree", "message"),
    [
        (5, 3, r"n · degree = 15 is odd.* use n=6 or degree=4$"),
        (5, 5, r"at most n − 1 = 4 neighbours; use degree=4 or less, or n=6 or more$"),
        (6, 1, r"only join pairs.* use degree=2 or n=2$"),
        (2_000_000, 4, "the limits are 1,000,000 switches"),
    ],
)
def test_impossible_graphs_are_refused(n, degree, message):
    with pytest.raises(InputError, match=message):
        RandomRegular(n=n, degree=degree).build()


@pytest.mark.parametrize(
    ("n", "degree", "links"),
    [
        (8, 3, "01 03 05 12 16 25 27 34 36 46 47 57"),
        (7, 2, "02 05 13 16 23 45 46"),
        (7, 4, "01 02 03 05 12 13 16 24 25 34 36 45 46 56"),
    ],
)
def test_the_graph_of_a_seed_never_changes(n, degree, links):
    # results name their networks by seed: other graphs would need another name
    topology = RandomRegular(n=n, degree=degree, seed=1).build()
    assert sorted("".join(map(str, sorted(edge))) for edge in edges(topology)) == links.split()
