"""Megaflies: two-level fat trees as groups, closed forms."""

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from topology_laws import check_links, distances, graph_of, mean_distance, same

from routelab_plugins.topology.dragonfly import Dragonfly
from routelab_plugins.topology.megafly import Megafly

ARRANGEMENTS = ("palmtree", "consecutive", "random")


@pytest.mark.parametrize("h", [1, 2, 3])
def test_the_balanced_megafly(h):
    # Shpiner et al.: switches of radix k = 2h, (k/2)^2 terminals in a group, (k/2)^2 + 1 groups
    topology = Megafly(h=h).build()
    assert topology.num_terminals == h**2 * (h**2 + 1)
    assert topology.num_switches == 2 * h * (h**2 + 1)
    leaf = topology.coordinates[:, 1] == 0
    radix = np.bincount(topology.channel_source) + topology.terminals_per_switch
    assert (radix == 2 * h).all()
    assert (topology.terminals_per_switch[leaf] == h).all()
    assert (topology.terminals_per_switch[~leaf] == 0).all()
    check_links(topology)


@st.composite
def shapes(draw):
    leaves, spines, h = (draw(st.integers(1, 4)) for _ in range(3))
    return leaves, spines, h, draw(st.integers(2, min(spines * h + 1, 9)))


@given(shapes(), st.sampled_from(ARRANGEMENTS), st.integers(0, 9))
def test_groups_are_complete_bipartite_and_all_joined(shape, arrangement, seed):
    leaves, spines, h, groups = shape
    values = {"leaves": leaves, "spines": spines, "h": h, "p": 2, "groups": groups}
    topology = Megafly(**values, arrangement=arrangement, seed=seed).build()
    facts, places = topology.attributes, topology.coordinates.tolist()
    graph = graph_of(topology)
    inside, between = nx.Graph(), Counter()
    local = 0
    for switch, other in graph.edges():
        (g, level, _), (k, other_level, _) = places[switch], places[other]
        if g == k:
            assert {level, other_level} == {0, 1}
            local += 1
            inside.add_edge(switch, other)
        else:
            # global links join spines
            assert level == other_level == 1
            between[min(g, k), max(g, k)] += 1
    assert local == facts["cables"]["local"] == groups * leaves * spines
    assert sum(between.values()) == facts["cables"]["global"]
    assert local == inside.number_of_edges()
    assert set(between) == set(combinations(range(groups), 2))
    assert min(between.values()) == spines * h // (groups - 1)
    assert sorted(set(between.values())) == facts["links_between_groups"]
    check_links(topology, contiguous="unused_ports_of_a_group" not in facts)
    ends = topology.endpoints
    assert (topology.coordinates[ends, 1] == 0).all()
    assert len(ends) == groups * leaves
    hops = distances(topology)[np.ix_(ends, ends)]
    assert hops.max() == facts["leaf_diameter"] == 3
    assert mean_distance(hops) == pytest.approx(facts["leaf_mean_distance"])
    assert same(topology, Megafly(**values, arrangement=arrangement, seed=seed).build())


def test_spines_are_joined_like_the_switches_of_a_dragonfly():
    megafly = Megafly(leaves=3, spines=4, h=2, groups=9).build()
    dragonfly = Dragonfly(a=4, h=2, groups=9).build()

    def joined(topology):
        names = topology.switch_names
        pairs = (sorted((names[a], names[b])) for a, b in graph_of(topology).edges())
        return {(a, b) for a, b in pairs if a.split(".")[0] != b.split(".")[0]}

    assert len(joined(megafly)) == 36
    assert joined(megafly) == joined(dragonfly)
