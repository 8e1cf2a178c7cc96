"""Reachability: the naive twin and networkx."""

import naive_metrics as naive
import networkx as nx
from hypothesis import given
from hypothesis import strategies as st
from random_tables import tables

from routelab.api import Topology
from routelab.metrics import (
    connected_components,
    connected_pairs,
    pairs,
    reachable_pairs,
)


@given(tables())
def test_reachability_is_that_of_the_definition(table):
    routes = naive.routes(table)
    assert pairs(table.topology) == len(routes)
    assert reachable_pairs(table) == sum(bool(ways) for ways in routes.values())


@given(tables())
def test_destination_based_follows_the_definition(table):
    assert table.destination_based == naive.destination_based(table)


@given(tables())
def test_joined_pairs_are_those_with_a_distance(table):
    topology = table.topology
    connected, shortest = 0, 0
    for (a, b), ways in naive.routes(table).items():
        source, target = (int(topology.terminal_switch[end]) for end in (a, b))
        hops = naive.distance(topology, source, target)
        connected += hops is not None
        shortest += bool(ways) and all(len(way) == hops for _, way in ways)
    assert connected_pairs(table) == (connected, shortest)


@given(st.data())
def test_connected_components_are_those_that_networkx_finds(data):
    count = data.draw(st.integers(1, 30))
    switch = st.integers(0, count - 1)
    edge = st.tuples(switch, switch).filter(lambda ends: ends[0] != ends[1])
    edges = data.draw(st.lists(edge, max_size=40)) if count > 1 else []
    topology = Topology.create(
        num_switches=count,
        channel_source=[source for source, _ in edges],
        channel_target=[target for _, target in edges],
    )
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(count))
    parts = [part.tolist() for part in connected_components(topology)]
    assert sorted(parts) == sorted(map(sorted, nx.connected_components(graph)))
    assert [len(part) for part in parts] == sorted(map(len, parts), reverse=True)


def test_the_longest_line_is_one_part():
    """The worst case for a label that walks from switch to switch."""
    count = 5000
    line = Topology.create(
        num_switches=count, channel_source=range(1, count), channel_target=range(count - 1)
    )
    (part,) = connected_components(line)
    assert part.tolist() == list(range(count))
