"""Balanced trees: destination-based, legal from every switch, counted right, and balanced."""

from __future__ import annotations

import naive_trees
import numpy as np
import pytest
from hypothesis import given, settings
from small_graphs import graphs
from turn_networks import network_of

from routelab.api import RoutingGraph, Topology, UnsupportedError
from routelab.deadlock import check_table
from routelab.kernels.forwarding.growth import grow_trees
from routelab.kernels.forwarding.trees import channel_loads
from routelab.kernels.forwarding.turns import choose_layers, order_channels
from routelab.kernels.graph import route_lengths
from routelab.metrics import channel_loads as loads_of_table
from routelab.toolkit import build_grid
from routelab.toolkit.forwarding import (
    TreeSearch,
    all_routes,
    legality_of_rules,
    table_of_trees,
)
from routelab.toolkit.forwarding.spanning_trees import spanning_trees, trees_in_spanning_tree
from routelab_plugins.rules.unrestricted import Unrestricted
from routelab_plugins.rules.up_down import UpDown
from routelab_plugins.selection.balanced_trees import BalancedTrees


def is_legal(graph: RoutingGraph, switch: int, channels: list[int]) -> bool:
    """Walk through the automaton, edge by edge."""
    at = int(graph.begin[switch])
    for channel in channels:
        edges = range(graph.edge_start[at], graph.edge_start[at + 1])
        after = [int(graph.edge_target[e]) for e in edges if graph.edge_channel[e] == channel]
        if not after:
            return False
        at = after[0]
    return bool(graph.accepting[at])


@given(graphs(speeds=((1,), (1, 4))))
@settings(max_examples=40)
def test_trees_are_legal_from_every_switch_and_loads_are_their_naive_twin(graph) -> None:
    try:
        table = BalancedTrees(moves=20_000).select(graph)
    except UnsupportedError:
        assert graph.turn_set != "up-down"
        return
    topology = graph.topology
    assert table.per_terminal
    assert table.destination_based
    reachable = route_lengths(graph.arrays, topology.endpoints) >= 0
    routed = np.diff(table.pair_start).reshape(-1, topology.num_terminals) > 0
    assert np.array_equal(routed, reachable[:, topology.terminal_endpoint])
    steps = table.next_hops()
    assert steps is not None
    for target, end in enumerate(topology.terminal_switch.tolist()):
        for source in np.flatnonzero(steps[:, target] >= 0).tolist():
            way, at = [], source
            while at != end:
                way.append(int(steps[at, target]))
                at = int(topology.channel_target[way[-1]])
            assert is_legal(graph, source, way)
    naive = naive_trees.loads(table)
    assert loads_of_table(table).tolist() == naive
    trees = np.ascontiguousarray(steps.T)
    search = TreeSearch(topology, 0)
    counted, illegal = channel_loads(search.fabric, legality_of_rules(graph), trees)
    assert counted.tolist() == naive
    assert not illegal.any()


@given(graphs(speeds=((1,), (1, 4))))
@settings(max_examples=30)
def test_the_search_never_raises_the_largest_load(graph) -> None:
    try:
        first, last = (BalancedTrees(moves=moves).select(graph) for moves in (0, 50_000))
    except UnsupportedError:
        return
    assert naive_trees.peak(last) <= naive_trees.peak(first)


def test_a_torus_is_balanced_nearly_to_its_mean_load() -> None:
    """Distances in a ring of 5 add up to 1 + 2 in each direction, for each of 5 rows: 15."""
    graph = Unrestricted().routing_graph(build_grid("torus", (5, 5), True))
    loads = loads_of_table(BalancedTrees().select(graph))
    assert loads.max() <= 16


def random_turns(topology: Topology, seed: int) -> RoutingGraph:
    """Rules that allow turns in a random order of the channels, the routes in one tree among them.

    The vertices are the switches, where routes begin, and the channels over which packets came.
    """
    search, size, count = TreeSearch(topology, 0), topology.num_switches, topology.num_channels
    trees, _ = trees_in_spanning_tree(topology, 0, topology.terminal_switch)
    _, used = choose_layers(search.fabric, all_routes(search.fabric), trees)
    priority = np.random.default_rng(seed).permutation(count)
    rank = order_channels(search.fabric, used, np.int64(0), priority)
    source, target = topology.channel_source, topology.channel_target
    first, then = np.nonzero((target[:, None] == source) & (rank[:, None] < rank))
    return RoutingGraph.create(
        topology,
        vertex_switch=np.concatenate((np.arange(size), target)),
        accepting=np.ones(size + count, np.bool_),
        begin=np.arange(size),
        edge_source=np.concatenate((source, size + first)),
        edge_target=np.concatenate((size + np.arange(count), size + then)),
        edge_channel=np.concatenate((np.arange(count), then)),
    )


def test_dead_ends_of_nearest_first_growth_are_overcome() -> None:
    dead_ends = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        links = [(int(rng.integers(k)), k) for k in range(1, 14)]
        links += [(int(a), int(b)) for a, b in rng.integers(14, size=(12, 2)) if a != b]
        graph = random_turns(network_of(14, links), seed)
        table = BalancedTrees(moves=0).select(graph)
        assert table.destination_based
        assert np.all(np.diff(table.pair_start) == 1)
        assert check_table(table).proven
        dead_ends += len(nearest_first(graph))
    assert dead_ends > 5


def nearest_first(graph: RoutingGraph) -> np.ndarray:
    """Trees with dead ends if every switch joins over a shortest legal way only."""
    search = TreeSearch(graph.topology, 0)
    trees, channels = search.no_trees(), graph.topology.num_channels
    joined = grow_trees(
        search.fabric,
        legality_of_rules(graph),
        trees,
        np.zeros(channels, np.int64),
        np.arange(len(trees)),
        np.arange(channels),
        np.bool_(False),
    )
    return np.flatnonzero(joined < search.sources)


def test_routes_inside_a_spanning_tree_are_the_last_resort() -> None:
    graph = UpDown().routing_graph(network_of(5, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]))
    search = TreeSearch(graph.topology, 0)
    trees, legality = search.no_trees(), legality_of_rules(graph)
    assert not len(spanning_trees(search, legality, trees, np.arange(5)))
    _, illegal = search.loads(legality, trees)
    assert not len(illegal)
    table = table_of_trees(graph.topology, trees)
    assert np.all(np.diff(table.pair_start) == 1)
    used = {int(channel) for channel in table.hop_channel}
    assert len(used) == 2 * 4


def test_rules_without_trees_are_refused() -> None:
    """A route over 0 > 1 > 2 is legal, but one from 1 to 2 only if it came from 0."""
    topology = Topology.create(
        num_switches=3, channel_source=[0, 1, 1, 0], channel_target=[1, 2, 0, 2]
    )
    graph = RoutingGraph.create(
        topology,
        vertex_switch=[0, 1, 2, 1],
        accepting=[True, True, True, True],
        begin=[0, 1, 2],
        edge_source=[0, 3, 1, 0],
        edge_target=[3, 2, 0, 2],
        edge_channel=[0, 1, 2, 3],
    )
    assert BalancedTrees().select(graph).destination_based
    crossed = RoutingGraph.create(
        topology,
        vertex_switch=[0, 1, 2, 1, 0],
        accepting=[True, True, True, True, True],
        begin=[0, 1, 2],
        edge_source=[0, 3, 1, 4],
        edge_target=[3, 2, 4, 2],
        edge_channel=[0, 1, 2, 3],
    )
    with pytest.raises(UnsupportedError, match="no tree of legal routes was found towards"):
        BalancedTrees().select(crossed)
