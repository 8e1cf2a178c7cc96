"""One lane for both directions, on small random networks against dependency graphs of networkx."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import Topology
from routelab.toolkit.infiniband import CompleteTables, check_tables, with_symmetric_lanes


@st.composite
def drawn_tables(draw) -> CompleteTables:
    """Draw shortest routes on a connected network, with up to two hosts for each switch."""
    size = draw(st.integers(2, 8))
    tree = {(draw(st.integers(0, i - 1)), i) for i in range(1, size)}
    every = [(a, b) for b in range(size) for a in range(b)]
    links = sorted(tree | draw(st.sets(st.sampled_from(every), max_size=8)))
    hosts = [s for s in range(size) for _ in range(draw(st.integers(0, 2)))]
    topology = Topology.create(
        num_switches=size,
        channel_source=[end for link in links for end in link],
        channel_target=[end for link in links for end in reversed(link)],
        terminal_switch=hosts,
    )
    hops = dict(nx.all_pairs_shortest_path_length(nx.Graph(links)))
    roots = [*hosts, *range(size)]
    steps = np.full((size, len(roots)), -1, dtype=np.int32)
    for column, root in enumerate(roots):
        for switch in set(range(size)) - {root}:
            nearer = [
                channel
                for channel in range(topology.num_channels)
                if topology.channel_source[channel] == switch
                and hops[int(topology.channel_target[channel])][root] < hops[switch][root]
            ]
            steps[switch, column] = draw(st.sampled_from(nearer))
    return CompleteTables(topology, steps, np.zeros(steps.shape, dtype=np.int8))


def route(tables: CompleteTables, switch: int, destination: int) -> list[int]:
    channels = []
    while (channel := int(tables.steps[switch, destination])) >= 0:
        channels.append(channel)
        switch = int(tables.topology.channel_target[channel])
    return channels


def acyclic_with_replies(tables: CompleteTables, manager: int | None = None) -> bool:
    """Return whether no lane can deadlock, with requests and replies on both levels.

    Every host, and every switch itself, sends requests to every other one. They also send some to
    the host of the subnet manager on lane 0, which answers there.
    """
    ends = tables.destination_switch.tolist()
    graphs: dict[int, nx.DiGraph] = {}
    for host, at in enumerate(ends):
        for other, there in enumerate(ends):
            graph = graphs.setdefault(int(tables.lanes[at, other]), nx.DiGraph())
            graph.add_edges_from(pairwise(route(tables, at, other)))
            graph.add_edges_from(pairwise(route(tables, there, host)))
    if manager is not None:
        graph = graphs.setdefault(0, nx.DiGraph())
        for other, there in enumerate(ends):
            graph.add_edges_from(pairwise(route(tables, ends[manager], other)))
            graph.add_edges_from(pairwise(route(tables, there, manager)))
    return all(map(nx.is_directed_acyclic_graph, graphs.values()))


@given(drawn_tables(), st.integers(1, 3))
def test_lanes_are_equal_both_ways_and_proven_for_both_replies(tables, limit):
    symmetric = with_symmetric_lanes(tables, limit)
    if symmetric is None:
        assert limit > 1 or not acyclic_with_replies(tables)
        return
    np.testing.assert_array_equal(symmetric.steps, tables.steps)
    assert symmetric.lanes.min() >= 0
    assert symmetric.lanes.max() < limit
    ends = symmetric.destination_switch
    levels = symmetric.lanes[ends]
    np.testing.assert_array_equal(levels, levels.T)
    assert acyclic_with_replies(symmetric)
    assert check_tables(symmetric) is None
    assert check_tables(symmetric, replies="same") is None


@given(drawn_tables(), st.integers(1, 3), st.integers(0, 15))
def test_packets_of_the_subnet_manager_are_on_lane_0(tables, limit, place):
    hosts = tables.topology.num_terminals
    manager = place % hosts if hosts else None
    proven = check_tables(tables, replies="same", manager=manager) is None
    assert proven == acyclic_with_replies(tables, manager)
    symmetric = with_symmetric_lanes(tables, limit, manager)
    if symmetric is None:
        assert limit > 1 or not acyclic_with_replies(tables, manager)
        return
    assert symmetric.lanes.max(initial=0) < limit
    assert acyclic_with_replies(symmetric, manager)


@given(drawn_tables())
def test_shortest_routes_always_have_enough_of_many_lanes(tables):
    assert with_symmetric_lanes(tables, 127) is not None
