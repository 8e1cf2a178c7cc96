"""PolarFly: orthogonal points of projective planes, quadrics, racks."""

from collections import Counter
from itertools import product

import networkx as nx
import numpy as np
import pytest
from topology_laws import check_links, distances, graph_of, mean_distance

from routelab.api import InputError
from routelab_plugins.topology.polarfly import PolarFly

ORDERS = [2, 3, 4, 5, 7, 8, 9]


@pytest.mark.parametrize("q", ORDERS)
def test_closed_forms(q):
    topology = PolarFly(q=q).build()
    facts = topology.attributes
    assert topology.num_switches == q**2 + q + 1
    degrees = Counter(np.bincount(topology.channel_source).tolist())
    assert degrees == {q: q + 1, q + 1: q**2}
    assert facts["quadrics"] == q + 1
    assert sum(facts["cables"].values()) == q * (q + 1) ** 2 // 2
    assert (topology.terminals_per_switch == -(-(q + 1) // 2)).all()
    check_links(topology)
    hops = distances(topology)
    assert hops.max() == facts["diameter"] == 2
    assert mean_distance(hops) == pytest.approx(facts["mean_distance"])


@pytest.mark.parametrize("q", [11, 16, 25, 27, 31, 32])
def test_two_switches_have_at_most_one_common_neighbour(q):
    # with the diameter this characterises polarity graphs: no cycles of length 4
    topology = PolarFly(q=q, terminals=1).build()
    adjacent = np.zeros((topology.num_switches,) * 2, dtype=np.float32)
    adjacent[topology.channel_source, topology.channel_target] = 1
    common = adjacent @ adjacent
    np.fill_diagonal(common, 1)
    assert common.max() == 1
    assert (adjacent + common > 0).all()


@pytest.mark.parametrize("q", [2, 3, 5, 7])
def test_prime_orders_by_integers(q):
    # naive twin: all vectors with a first entry of 1, orthogonal modulo q
    points = [v for v in product(range(q), repeat=3) if next((x for x in v if x), 0) == 1]
    expected = nx.Graph(
        (u, v)
        for u in points
        for v in points
        if u < v and sum(a * b for a, b in zip(u, v, strict=True)) % q == 0
    )
    graph = nx.Graph(graph_of(PolarFly(q=q).build()))
    assert nx.is_isomorphic(graph, expected)


@pytest.mark.parametrize("q", ORDERS)
def test_racks(q):
    topology = PolarFly(q=q).build()
    graph, places = graph_of(topology), topology.coordinates
    rack = places[:, 0]
    degree = np.bincount(topology.channel_source)
    assert (degree == q).tolist() == (rack == 0).tolist()
    sizes = Counter(rack.tolist())
    if q % 2:
        assert sizes == {0: q + 1} | dict.fromkeys(range(1, q + 1), q)
    else:
        # the neighbours of one point are the quadrics
        assert sorted(sizes.values()) == [1] + [q + 1] * q
    cables = Counter(tuple(sorted((rack[a], rack[b]))) for a, b in graph.edges())
    # no two quadrics are linked; in other racks, the centre is in (size - 1) / 2 triangles
    assert {r: cables[r, r] for r in range(q + 1)} == {
        r: 3 * (sizes[r] - 1) // 2 if r else 0 for r in range(q + 1)
    }
    local = sum(cables[r, r] for r in range(q + 1))
    assert topology.attributes["cables"] == {"local": local, "global": cables.total() - local}
    centres = np.flatnonzero((places[:, 1] == 0) & (rack > 0))
    for centre in centres.tolist():
        members = set(np.flatnonzero(rack == rack[centre]).tolist()) - {centre}
        assert members <= set(graph[centre])
    (starter,) = [s for s in np.flatnonzero(rack == 0) if set(graph[s]) == set(centres.tolist())]
    assert topology.switch_names[starter].startswith("r0.")


@pytest.mark.parametrize("q", [3, 5, 7, 9])
def test_cables_between_racks_of_odd_order(q):
    # Lakhotia et al.: q - 2 links between any two racks of others, q + 1 to that of the quadrics
    topology = PolarFly(q=q).build()
    rack = topology.coordinates[:, 0]
    cables = Counter(tuple(sorted((rack[a], rack[b]))) for a, b in graph_of(topology).edges())
    for a in range(q + 1):
        for b in range(a + 1, q + 1):
            assert cables[a, b] == (q - 2 if a else q + 1)


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (6, "polarfly: q=6 is not a prime power; nearest: 5, 7$"),
        (500, "250,501 switches and 62,750,250 links; the limits are"),
    ],
)
def test_impossible_orders_are_refused(q, message):
    with pytest.raises(InputError, match=message):
        PolarFly(q=q).build()
