"""Up*/down* several times: the virtual channels, what stays legal, and which distances survive."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import InputError, RoutingGraph, Topology
from routelab.deadlock import check_table
from routelab.kernels.graph import route_lengths
from routelab.registry.instances import ComposedRouting, load
from routelab.routing.routing import Routing
from routelab.toolkit import build_grid
from routelab_plugins.layers.none import NoLayers
from routelab_plugins.rules.up_down import UpDown
from routelab_plugins.selection.balanced import Balanced
from routelab_plugins.selection.first import First

DIMS = st.lists(st.integers(2, 7), min_size=1, max_size=3).filter(lambda dims: np.prod(dims) <= 150)


@st.composite
def networks(draw):
    """Random networks with one-way and parallel links, and any number of terminals per switch."""
    count = draw(st.integers(1, 12))
    ends = st.integers(0, count - 1)
    hops = draw(st.lists(st.tuples(ends, ends).filter(lambda hop: hop[0] != hop[1]), max_size=30))
    both = [*hops, *((b, a) for (a, b) in hops if draw(st.booleans()))]
    terminals = draw(st.lists(ends, min_size=1, max_size=12))
    return Topology.create(
        num_switches=count,
        channel_source=[a for a, _ in both],
        channel_target=[b for _, b in both],
        terminal_switch=sorted(terminals),
    )


def distances(topology):
    """Hops between all pairs of endpoints, -1 without a path, by networkx."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(topology.num_switches))
    ends = topology.channel_source.tolist(), topology.channel_target.tolist()
    graph.add_edges_from(zip(*ends, strict=True))
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    switches = topology.endpoints.tolist()
    return np.array([[hops[a].get(b, -1) for b in switches] for a in switches])


@given(DIMS, st.integers(0, 1000))
def test_two_virtual_channels_keep_all_distances_of_a_torus(dims, switch):
    topology = build_grid("torus", dims, wrap=True)
    rules = UpDown(vcs=2, root=topology.switch_names[switch % topology.num_switches])
    lengths = route_lengths(rules.routing_graph(topology).arrays, topology.endpoints)
    assert np.array_equal(lengths, distances(topology))


@given(DIMS)
def test_one_keeps_all_distances_of_a_mesh(dims):
    topology = build_grid("mesh", dims, wrap=False)
    lengths = route_lengths(UpDown().routing_graph(topology).arrays, topology.endpoints)
    assert np.array_equal(lengths, distances(topology))


@settings(max_examples=200)
@given(networks(), st.integers(1, 3), st.sampled_from(["bfs", "dfs"]), st.booleans())
def test_a_packet_changes_the_virtual_channel_where_it_turns_up_again(topology, vcs, tree, first):
    rules = UpDown(vcs=vcs, tree=tree)
    selection = First() if first else Balanced(effort=0.001)
    routed = Routing(ComposedRouting("t", selection, rules, NoLayers())).routes(topology)
    table, order = routed.table, rules.order(topology)
    for path in range(len(table.path_start) - 1):
        hops = slice(table.path_start[path], table.path_start[path + 1])
        channels = table.hop_channel[hops].tolist()
        goes_up = [
            order[topology.channel_target[c]] < order[topology.channel_source[c]] for c in channels
        ]
        turns = [
            False,
            *(now and not before for before, now in pairwise(goes_up)),
        ]
        assert table.hop_vc[hops].tolist() == np.cumsum(turns[: len(channels)]).tolist()
    assert check_table(table).status == "proven"
    # every subsequence of the word is legal: a walk over (switch, phase), step by step
    lengths = route_lengths(routed.graph.arrays, topology.endpoints)
    assert np.array_equal(lengths, naive_lengths(topology, order, vcs))


def naive_lengths(topology, order, vcs):
    """Fewest hops of routes that turn from down to up at most `vcs` - 1 times."""
    ends = topology.endpoints.tolist()
    hops = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    graph = nx.DiGraph()
    for a, b in hops:
        up = bool(order[b] < order[a])
        for turns in range(vcs):
            for went_up in (True, False):
                again = turns + (up and not went_up)
                if again < vcs:
                    graph.add_edge((a, turns, went_up), (b, again, up))
    rows = []
    for source in ends:
        begin = (source, 0, True)
        lengths = nx.single_source_shortest_path_length(graph, begin) if begin in graph else {}
        best = {source: 0}
        for (switch, _, _), length in lengths.items():
            best[switch] = min(best.get(switch, length), length)
        rows.append([best.get(target, -1) for target in ends])
    return np.array(rows)


def test_the_doubly_twisted_torus_has_the_least_load_on_two_virtual_channels():
    """74 routes on the busiest channel, where 73.33 is the mean (arXiv 2605.27963 names it)."""
    topology = build_grid("torus", (4, 4, 8), wrap=True, twist=["XZ4", "YZ4"])
    routing = ComposedRouting("t", load("selection", "balanced"), UpDown(vcs=2), NoLayers())
    table = Routing(routing).table(topology)
    loads = np.bincount(table.hop_channel, minlength=topology.num_channels)
    assert (loads.max(), table.virtual_channels, check_table(table).status) == (74, 2, "proven")


@pytest.mark.parametrize(
    ("vertex_vc", "channels", "said"),
    [
        ([0, 0], [0, 1], "one virtual channel"),
        ([0, -1, 0], [0, 1], "one virtual channel"),
        ([0, 0, 1], [0, 0], "two edges over one channel"),
    ],
)
def test_graphs_with_unclear_virtual_channels_are_refused(vertex_vc, channels, said):
    topology = Topology.create(
        num_switches=2, channel_source=[0, 0], channel_target=[1, 1], terminal_switch=[0, 1]
    )
    with pytest.raises(InputError, match=said):
        RoutingGraph.create(
            topology,
            vertex_switch=[0, 1, 1],
            accepting=[True] * 3,
            begin=[0, 1],
            edge_source=[0, 0],
            edge_target=[1, 2],
            edge_channel=channels,
            vertex_vc=vertex_vc,
        )
