"""Distances, cost and cuts of networks, against networkx, enumeration and printed numbers."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import Topology
from routelab.metrics import best_cut, network_cost, switch_distances


def network(count, links, terminals, **values):
    """A network with two channels for each link, parallel links included."""
    return Topology.create(
        family="test",
        num_switches=count,
        channel_source=[end for a, b in links for end in (a, b)],
        channel_target=[end for a, b in links for end in (b, a)],
        terminal_switch=np.repeat(np.arange(count), terminals),
        **values,
    )


@st.composite
def networks(draw, least=0):
    count = draw(st.integers(1, 9))
    pairs = list(combinations(range(count), 2))
    links = draw(st.lists(st.sampled_from(pairs), max_size=18)) if pairs else []
    at = draw(st.lists(st.integers(least, 3), min_size=count, max_size=count))
    return count, links, at


@given(networks())
def test_distances_are_those_of_networkx(case):
    count, links, terminals = case
    graph = nx.MultiGraph(links)
    graph.add_nodes_from(range(count))
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    far = {
        (a, b): lengths[a][b]
        for a in range(count)
        for b in range(count)
        if a != b and terminals[a] and terminals[b] and b in lengths[a]
    }
    weight = {(a, b): terminals[a] * terminals[b] for a, b in far}
    inside = sum(t * (t - 1) for t in terminals)
    distances = switch_distances(network(count, links, terminals))
    assert distances.diameter == max(far.values(), default=0)
    assert distances.mean == (pytest.approx(sum(far.values()) / len(far)) if far else None)
    total = inside + sum(weight.values())
    expected = sum(weight[pair] * far[pair] for pair in far) / total if total else None
    assert distances.mean_hops == (pytest.approx(expected) if total else None)


@pytest.mark.parametrize("count", [64, 65, 200])
def test_more_sources_than_bits_of_a_word(count):
    ring = network(count, [(s, (s + 1) % count) for s in range(count)], [1] * count)
    distances = switch_distances(ring)
    assert distances.diameter == count // 2
    # mean over a ring: n² / 4 / (n − 1) for even n, (n + 1) / 4 for odd n
    mean = count * count / 4 / (count - 1) if count % 2 == 0 else (count + 1) / 4
    assert distances.mean == pytest.approx(mean)
    assert distances.mean_hops == distances.mean


def crossing(links, side):
    return sum(side[a] != side[b] for a, b in links)


def fewest_links(links, terminals, slack):
    """Bisection by trying all cuts."""
    count = len(terminals)
    cuts = (np.array([mask >> s & 1 for s in range(count)]) for mask in range(1 << count))
    halves = (c for c in cuts if abs(np.dot(terminals, 1 - 2 * c)) <= slack)
    return min(crossing(links, half) for half in halves)


@given(networks())
def test_the_cut_is_a_cut_and_no_better_than_the_best(case):
    count, links, terminals = case
    cut = best_cut(network(count, links, terminals))
    used = [t for t in terminals if t]
    if len(used) < 2:
        assert cut is None
        return
    even = len(used) % 2 == 0 and len(set(used)) == 1
    slack = 0 if even else max(used)
    assert abs(np.dot(terminals, 1 - 2 * cut.side.astype(int))) <= slack
    assert cut.links == crossing(links, cut.side)
    assert cut.links == fewest_links(links, terminals, slack)


@given(networks(least=1))
def test_cost_counts_links_and_ports(case):
    count, links, terminals = case
    cost = network_cost(network(count, links, terminals))
    degree = np.bincount(np.array(links, dtype=int).reshape(-1), minlength=count)
    assert cost.links == len(links)
    assert cost.most_switch_ports == (degree + terminals).max()
    assert cost.total_ports == 2 * len(links) + sum(terminals)
    assert cost.local_links is None


def test_links_inside_and_between_groups():
    links = [(0, 1), (2, 3), (0, 2), (0, 2), (1, 3)]
    values = {"coordinates": [[7, 0], [7, 1], [9, 0], [9, 1]]}
    for named, local in (([0], 2), ([1], 3), ([0, 1], 0), ([2], None), ([], None), ("0", None)):
        attributes = {"group_coordinates": named}
        cost = network_cost(network(4, links, [1] * 4, attributes=attributes, **values))
        assert cost.local_links == local
        assert cost.global_links == (None if local is None else 5 - local)


def test_a_channel_without_one_back_is_a_link():
    one_way = Topology.create(
        family="test",
        num_switches=2,
        channel_source=[0],
        channel_target=[1],
        terminal_switch=[0, 1],
    )
    assert network_cost(one_way).links == 1
    assert best_cut(one_way).links == 1
    distances = switch_distances(one_way)
    assert (distances.diameter, distances.mean, distances.mean_hops) == (1, 1.0, 1.0)


@given(st.lists(st.sampled_from([(0, 1), (1, 0), (1, 2), (2, 1), (0, 2)]), max_size=12))
def test_links_are_those_of_the_network(channels):
    one_way = Topology.create(
        num_switches=3,
        channel_source=[source for source, _ in channels],
        channel_target=[target for _, target in channels],
    )
    assert network_cost(one_way).links == len(one_way.links)
