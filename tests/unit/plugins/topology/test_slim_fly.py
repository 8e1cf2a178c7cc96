"""Slim Flies: Moore graphs and nearly so, the definition by McKay, Miller and Širáň, racks."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from topology_laws import check_links, distances, graph_of, mean_distance

from routelab.api import InputError
from routelab_plugins.topology.slim_fly import SlimFly

# prime powers with all three remainders modulo 4, primes and others
ORDERS = [3, 4, 5, 7, 8, 9, 11]


@pytest.mark.parametrize("q", ORDERS)
def test_closed_forms(q):
    topology = SlimFly(q=q).build()
    facts = topology.attributes
    delta = {0: 0, 1: 1, 3: -1}[q % 4]
    degree = (3 * q - delta) // 2
    assert topology.num_switches == 2 * q**2
    assert (facts["delta"], facts["degree"]) == (delta, degree)
    assert (np.bincount(topology.channel_source) == degree).all()
    assert (topology.terminals_per_switch == -(-degree // 2)).all()
    assert graph_of(topology).number_of_edges() == nx.Graph(graph_of(topology)).number_of_edges()
    check_links(topology)
    hops = distances(topology)
    assert hops.max() == facts["diameter"] == 2
    assert mean_distance(hops) == pytest.approx(facts["mean_distance"])


@pytest.mark.parametrize("q", [16, 19, 23, 25, 27, 32])
def test_the_diameter_of_larger_ones(q):
    topology = SlimFly(q=q, terminals=1).build()
    adjacent = np.zeros((topology.num_switches,) * 2, dtype=np.float32)
    adjacent[topology.channel_source, topology.channel_target] = 1
    assert (adjacent + adjacent @ adjacent > 0).all()


def test_the_hoffman_singleton_graph():
    # the only graph of degree 7 and diameter 2 that meets Moore's bound of 50
    topology = SlimFly(q=5).build()
    graph = nx.Graph(graph_of(topology))
    assert nx.girth(graph) == 5
    assert nx.is_isomorphic(nx.hoffman_singleton_graph(), graph)


@pytest.mark.parametrize("q", [5, 7, 11, 13])
def test_prime_orders_by_integers(q):
    # naive twin of the published definition, with integers modulo q
    root = next(g for g in range(2, q) if len({pow(g, i, q) for i in range(q - 1)}) == q - 1)
    if q % 4 == 1:
        exponents = range(0, q - 2, 2), range(1, q - 1, 2)
    else:
        w = (q + 1) // 4
        exponents = (
            (*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)),
            (*range(1, 2 * w, 2), *range(2 * w, 4 * w - 1, 2)),
        )
    sets = [{pow(root, e, q) for e in some} for some in exponents]
    expected = set()
    for x in range(q):
        for y in range(q):
            for z in range(q):
                for half in (0, 1):
                    if (y - z) % q in sets[half]:
                        expected.add(frozenset({f"{half}.{x}.{y}", f"{half}.{x}.{z}"}))
            for m in range(q):
                c = (y - m * x) % q
                expected.add(frozenset({f"0.{x}.{y}", f"1.{m}.{c}"}))
    topology = SlimFly(q=q).build()
    names = topology.switch_names
    links = {frozenset({names[a], names[b]}) for a, b in graph_of(topology).edges()}
    assert links == expected


@pytest.mark.parametrize("q", ORDERS)
def test_racks(q):
    # Besta and Hoefler: 2q cables between any two of q racks of 2q switches
    topology = SlimFly(q=q).build()
    rack = topology.coordinates[:, 1]
    assert Counter(rack.tolist()) == dict.fromkeys(range(q), 2 * q)
    cables = Counter(tuple(sorted((rack[a], rack[b]))) for a, b in graph_of(topology).edges())
    between = {pair: count for pair, count in cables.items() if pair[0] != pair[1]}
    assert set(between.values()) == {2 * q}
    assert len(between) == q * (q - 1) // 2
    facts = topology.attributes["cables"]
    assert facts == {"local": cables.total() - sum(between.values()), "global": q * q * (q - 1)}


def test_ten_thousand_terminals():
    topology = SlimFly(q=19).build()
    assert (topology.num_switches, topology.num_terminals) == (722, 10830)
    assert topology.attributes["degree"] == 29


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (6, "slim-fly: q=6 is not a prime power; nearest: 5, 7$"),
        (2, "slim-fly: q=2 modulo 4 is 2, but must be 0, 1 or 3; nearest: 3$"),
        (240, "115,200 switches and 20,736,000 links; the limits are"),
    ],
)
def test_impossible_orders_are_refused(q, message):
    with pytest.raises(InputError, match=message):
        SlimFly(q=q).build()
