"""What rules allow, against enumeration of all legal routes by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import RoutingGraph, Topology
from routelab.deadlock import check_table
from routelab.testing.inputs.graphs import GRAPHS
from routelab.testing.inputs.networks import NETWORKS
from routelab.testing.legal_routes import first_paths, shortest_legal_routes, turn_routes
from routelab.toolkit import determinized

SMALL = ("two-switches", "two-components", "one-way-line", "one-way-ring", "transit-switches")


def legal_routes(graph, longest):
    """All legal routes between different endpoints up to a length, as (ends, channels)."""
    ends = set(graph.topology.endpoints.tolist())
    routes = set()
    walks = [(source, int(graph.begin[source]), ()) for source in ends]
    while walks:
        source, vertex, path = walks.pop()
        target = int(graph.vertex_switch[vertex])
        if graph.accepting[vertex] and target in ends and target != source:
            routes.add(((source, target), path))
        if len(path) < longest:
            walks += [
                (source, int(graph.edge_target[e]), (*path, int(graph.edge_channel[e])))
                for e in range(graph.edge_start[vertex], graph.edge_start[vertex + 1])
            ]
    return routes


def turns(paths):
    return {turn for path in paths for turn in pairwise(path)}


@st.composite
def random_graphs(draw):
    """Rules with a few states over a network of a few channels, of no shape at all."""
    switches = draw(st.integers(2, 4))
    pairs = [(a, b) for a in range(switches) for b in range(switches) if a != b]
    channels = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=6))
    topology = Topology.create(
        num_switches=switches,
        channel_source=[a for a, _ in channels],
        channel_target=[b for _, b in channels],
        terminal_switch=draw(st.sets(st.integers(0, switches - 1), min_size=1).map(sorted)),
    )
    states = 2
    hops = [
        (states * a + s, states * b + t, c)
        for c, (a, b) in enumerate(channels)
        for s in range(states)
        for t in range(states)
    ]
    # with few edges, hardly a graph has a turn
    edges = draw(st.lists(st.sampled_from(hops), min_size=len(hops) // 2, unique=True))
    return RoutingGraph.create(
        topology,
        vertex_switch=np.repeat(np.arange(switches), states),
        accepting=draw(st.lists(st.booleans(), min_size=8, max_size=8))[: switches * states],
        begin=np.arange(switches) * states,
        edge_source=[e[0] for e in edges],
        edge_target=[e[1] for e in edges],
        edge_channel=[e[2] for e in edges],
    )


@given(random_graphs())
def test_every_turn_has_the_turns_of_all_legal_routes_and_no_others(graph):
    """Turns of routes up to five hops are all there, and every route that is listed is legal."""
    table = turn_routes(graph)
    listed = {
        ((s, t), tuple(path))
        for s in table.topology.endpoints.tolist()
        for t in table.topology.endpoints.tolist()
        for path in table.paths(s, t)
    }
    longest = max((len(path) for _, path in listed), default=0)
    assert turns(path for _, path in listed) >= turns(p for _, p in legal_routes(graph, 5))
    if longest <= 8:
        assert listed <= legal_routes(graph, longest)


@pytest.mark.parametrize("rules", GRAPHS)
@pytest.mark.parametrize("network", SMALL)
def test_shortest_routes_are_all_of_them(network, rules):
    graph = determinized(GRAPHS[rules](NETWORKS[network]()))
    table = shortest_legal_routes(graph)
    legal = legal_routes(graph, 8)
    for s in table.topology.endpoints.tolist():
        for t in table.topology.endpoints.tolist():
            paths = [path for ends, path in legal if ends == (s, t)]
            shortest = sorted(p for p in paths if len(p) == min(map(len, paths)))
            expected = [()] if s == t else shortest
            assert sorted(map(tuple, table.paths(s, t))) == expected
            assert [list(p) for p in expected[:1]] == first_paths(table).paths(s, t)[:1]


def test_turns_of_longer_routes_are_included():
    """On a mesh, shortest routes of any kind make no U-turn; legal walks do."""
    graph = GRAPHS["walks"](NETWORKS["two-switches"]())
    assert check_table(shortest_legal_routes(graph)).proven
    assert not check_table(turn_routes(GRAPHS["walks"](NETWORKS["mesh"]()))).proven
    assert check_table(turn_routes(GRAPHS["ordered"](NETWORKS["torus"]()))).proven
