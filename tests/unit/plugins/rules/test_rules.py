"""Direction order, dimension order, up*/down*: their definitions, route by route."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_angara import Hardware
from naive_selection import shortest_routes
from turn_networks import networks

from routelab.api import InputError, Topology
from routelab.deadlock import check_table
from routelab.toolkit import build_grid
from routelab_plugins.rules.direction_order import DirectionOrder
from routelab_plugins.rules.unrestricted import Unrestricted
from routelab_plugins.rules.up_down import UpDown
from routelab_plugins.selection.p_sssp import PSssp
from routelab_plugins.selection.sssp import Sssp


@pytest.mark.parametrize("fail_links", [0, 2])
def test_direction_order_is_the_hardware_without_steps(fail_links: int) -> None:
    topology = build_grid("torus", (3, 4), True, fail_links=fail_links, seed=5)
    hardware = Hardware(topology)
    routes = shortest_routes(DirectionOrder().routing_graph(topology))
    for (source, target), options in routes.items():
        assert all(hardware.standard(list(route)) for route in options)
        # and nothing legal is shorter
        shorter = [
            route
            for length in [len(options[0]) - 1]
            for route in _walks(topology, source, length)
            if _end(topology, source, route) == target and hardware.standard(route)
        ]
        assert source == target or not shorter


def _walks(topology: Topology, source: int, length: int) -> list[list[int]]:
    walks: list[list[int]] = [[]]
    for _ in range(max(length, 0)):
        walks = [
            [*walk, c]
            for walk in walks
            for c in range(topology.num_channels)
            if topology.channel_source[c] == _end(topology, source, walk)
        ]
    return walks


def _end(topology: Topology, source: int, walk: list[int]) -> int:
    return int(topology.channel_target[walk[-1]]) if walk else source


@settings(max_examples=60)
@given(
    networks(),
    st.sampled_from(["center", "degree", "0", "best"]),
    st.sampled_from(["bfs", "dfs"]),
)
def test_up_down_never_goes_up_again_and_is_proven_on_one_channel(topology, root, tree) -> None:
    rules = UpDown(root=root, tree=tree)
    graph = rules.routing_graph(topology)
    order = rules.order(topology).tolist()
    assert sorted(order) == list(range(topology.num_switches))
    joined = nx.Graph()
    joined.add_nodes_from(range(topology.num_switches))
    joined.add_edges_from(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    routes = shortest_routes(graph)
    expected = {(s, t) for part in nx.connected_components(joined) for s in part for t in part}
    assert routes.keys() == expected
    for options in routes.values():
        for route in options:
            ups = [
                order[topology.channel_target[c]] < order[topology.channel_source[c]] for c in route
            ]
            assert ups == sorted(ups, reverse=True)
    for selection in (Sssp(), PSssp()):
        verdict = check_table(selection.select(graph), "plain")
        assert verdict.proven
        assert verdict.vc_numbers == (0,)


def test_up_down_takes_the_given_root() -> None:
    line = Topology.create(
        num_switches=3,
        channel_source=[0, 1, 1, 2],
        channel_target=[1, 0, 2, 1],
        switch_names=["a", "b", "c"],
    )
    assert UpDown().order(line).tolist() == [1, 0, 2]
    assert UpDown(root="c").order(line).tolist() == [2, 1, 0]
    assert UpDown(root="index").order(line).tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="root=d is not a switch"):
        UpDown(root="d").routing_graph(line)


def test_up_down_follows_its_tree() -> None:
    # 0-1, 0-2, 1-2, 1-3, 2-4: breadth first by (level, index), depth first by preorder
    links = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4)]
    network = Topology.create(
        num_switches=5,
        channel_source=[x for a, b in links for x in (a, b)],
        channel_target=[x for a, b in links for x in (b, a)],
    )
    assert UpDown(root="index").order(network).tolist() == [0, 1, 2, 3, 4]
    assert UpDown(root="index", tree="dfs").order(network).tolist() == [0, 1, 2, 4, 3]


def test_unrestricted_is_the_network_itself() -> None:
    topology = build_grid("torus", (3, 3), True)
    graph = Unrestricted().routing_graph(topology)
    assert graph.num_vertices == 9
    np.testing.assert_array_equal(np.sort(graph.edge_channel), np.arange(36))
