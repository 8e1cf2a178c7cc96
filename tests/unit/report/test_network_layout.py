from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from routelab import notebook
from routelab.api import Topology
from routelab.report.network_layout import layout_of, switch_levels
from routelab.report.network_picture import RADIUS, picture_of


def network(graph, **more):
    """A topology with both directions of every edge; switches are numbered in ascending order."""
    edges = sorted((min(edge), max(edge)) for edge in graph.edges)
    return Topology.create(
        num_switches=len(graph),
        channel_source=[end for a, b in edges for end in (a, b)],
        channel_target=[end for a, b in edges for end in (b, a)],
        **more,
    )


def clos(leaves, spines, order=None, **more):
    """Leaves with terminals, all linked to all spines; `order` renames the switches."""
    graph = nx.complete_bipartite_graph(leaves, spines)
    order = list(order or range(leaves + spines))
    graph = nx.relabel_nodes(graph, dict(enumerate(order)))
    return network(graph, terminal_switch=sorted(order[:leaves]), **more)


def pods(order):
    """Two pods of three leaves and two middle switches each, below two roots."""
    graph = nx.Graph()
    for pod in range(2):
        middle = [6 + 2 * pod, 7 + 2 * pod]
        graph.add_edges_from((leaf, m) for leaf in range(3 * pod, 3 * pod + 3) for m in middle)
        graph.add_edges_from(zip(middle, (10, 11), strict=True))
    graph = nx.relabel_nodes(graph, dict(enumerate(order)))
    return network(graph, terminal_switch=sorted(order[:6]))


def grouped(groups, size):
    """Complete groups on a complete graph of groups, with coordinates (group, switch)."""
    graph = nx.Graph()
    graph.add_nodes_from(range(groups * size))
    for g in range(groups):
        mine = range(g * size, (g + 1) * size)
        graph.add_edges_from((a, b) for a in mine for b in mine if a < b)
        graph.add_edges_from((g * size + k % size, h * size) for k, h in enumerate(range(g)))
    return network(
        graph,
        coordinates=[divmod(s, size) for s in range(groups * size)],
        attributes={"coordinate_names": ["group", "switch"], "group_coordinates": [0]},
    )


NETWORKS = {
    "clos": clos(8, 4),
    "pods": pods(range(12)),
    "groups": grouped(9, 4),
    "large groups": grouped(3, 20),
    "random": network(nx.random_regular_graph(5, 40, seed=3)),
    "star": network(nx.star_graph(12)),
    "complete": network(nx.complete_graph(9)),
    "two parts": network(nx.disjoint_union(nx.cycle_graph(5), nx.path_graph(4))),
    "no links": Topology.create(num_switches=5, channel_source=[], channel_target=[]),
    "two switches": network(nx.path_graph(2)),
    "large": network(nx.cycle_graph(450)),
}


@pytest.mark.parametrize("topology", NETWORKS.values(), ids=NETWORKS.keys())
def test_switches_never_overlap_and_every_channel_is_drawn_between_its_ends(topology):
    picture = picture_of(topology)
    assert np.array_equal(picture.switches, picture_of(topology).switches)
    apart = np.hypot(*(picture.switches[:, None] - picture.switches).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 2 * RADIUS
    assert sorted(picture.line_channel) == list(range(topology.num_channels))
    for line, channel in zip(picture.lines, picture.line_channel, strict=True):
        for point, end in (
            (line[0], topology.channel_source[channel]),
            (line[-2], topology.channel_target[channel]),
        ):
            assert np.hypot(*(picture.switches[end] - point)) < 2 * RADIUS


def test_levels_count_from_the_switches_with_terminals():
    # leaves 9 to 2, spines 0 and 1
    topology = clos(8, 2, [*range(9, 1, -1), 0, 1])
    assert switch_levels(topology).tolist() == [1, 1, *[0] * 8]
    layout = layout_of(topology)
    assert [text for _, text in layout.rows] == ["level 0", "level 1"]
    heights = [height for height, _ in layout.rows]
    assert layout.switches[:, 1].tolist() == [heights[1]] * 2 + [heights[0]] * 8


def test_a_link_inside_a_level_or_terminals_everywhere_make_no_levels():
    graph = nx.complete_bipartite_graph(4, 2)
    graph.add_edge(0, 1)
    assert switch_levels(network(graph, terminal_switch=range(4))) is None
    assert switch_levels(network(nx.complete_bipartite_graph(4, 2))) is None


def test_a_named_level_holds_although_a_switch_lost_its_links_to_terminals():
    whole = clos(
        4,
        2,
        coordinates=[(0, i) for i in range(4)] + [(1, 0), (1, 1)],
        attributes={"coordinate_names": ["level", "index"]},
    )
    lost = np.flatnonzero((whole.channel_source == 5) | (whole.channel_target == 5))
    assert switch_levels(whole.without(channels=lost)).tolist() == [0, 0, 0, 0, 1, 1]


def test_switches_without_coordinates_lie_beside_those_with_the_same_neighbours():
    order = np.random.default_rng(5).permutation(12).tolist()
    layout = layout_of(pods(order))
    for members in (order[:6], order[6:10]):
        across = sorted(members, key=lambda switch: layout.switches[switch, 0])
        first = {order.index(switch) for switch in across[: len(across) // 2]}
        assert first in ({0, 1, 2}, {3, 4, 5}, {6, 7}, {8, 9})


def test_groups_lie_on_a_circle_in_their_order_each_switch_with_its_group():
    layout = layout_of(grouped(7, 4))
    centres = layout.switches.reshape(7, 4, 2).mean(axis=1)
    radii = np.hypot(*centres.T)
    assert np.allclose(radii, radii[0])
    turns = np.diff(np.unwrap(np.arctan2(centres[:, 1], centres[:, 0])))
    assert np.allclose(turns, -2 * np.pi / 7)  # clockwise
    away = np.hypot(*(layout.switches[:, None] - centres).transpose(2, 0, 1))
    assert away.argmin(axis=1).tolist() == np.repeat(np.arange(7), 4).tolist()
    assert [text for _, _, text in layout.captions] == [str(group) for group in range(7)]
    assert layout.marks[:4] == ("0", "1", "2", "3")
    assert layout.hint == "At the rim: group. In the circles: switch."
    outside = np.hypot(*layout.switches.reshape(7, 4, 2).transpose(2, 0, 1))
    assert (outside[:, :2].min(axis=1) > outside[:, 2:].max(axis=1)).all()


def test_distances_in_the_picture_follow_the_hops():
    mesh = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 5))
    hops = nx.floyd_warshall_numpy(mesh)
    places = layout_of(network(mesh)).switches
    away = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
    mean = [away[hops == one].mean() for one in (1, 2, 3, 5)]
    assert mean == sorted(mean)


@pytest.mark.parametrize(
    ("name", "rows", "captions", "ticks"),
    [
        ("dragonfly~h=2", 0, 9, False),
        ("megafly~h=2", 0, 5, False),
        ("slim-fly~q=5", 0, 5, False),
        ("polarfly~q=5", 0, 6, False),
        ("fat-tree~k=2,levels=3", 3, 0, False),
        ("fat-tree~k=2,levels=3,fail_links=3", 3, 0, False),
        ("hamming~dims=3x3", 3, 0, True),
        ("torus~dims=3x3,fail_links=2", 3, 0, True),
        ("hypercube~dims=3", 2, 0, True),
        ("random-regular~n=16,degree=3", 0, 0, False),
    ],
)
def test_networks_have_the_layout_of_their_shape(name, rows, captions, ticks):
    picture = picture_of(notebook.topology(name))
    below, beside = picture.block_ticks
    assert (len(beside), len(picture.captions), bool(below)) == (rows, captions, ticks)


def test_large_networks_become_a_circle_of_neighbours(monkeypatch):
    monkeypatch.setattr("routelab.report.network_layout.LARGEST_BY_DISTANCES", 29)
    graph = nx.gnm_random_graph(30, 60, seed=1)
    graph.add_edges_from((a, a + 1) for a in range(29))
    places = layout_of(network(graph)).switches
    radius = np.hypot(*places.T)
    assert radius == pytest.approx(np.full(30, radius[0]))
    apart = np.hypot(*(places - np.roll(places, 1, axis=0)).T)
    assert apart == pytest.approx(np.full(30, 1.0), rel=0.01)


def test_levels_of_large_networks_keep_their_order(monkeypatch):
    monkeypatch.setattr("routelab.report.network_layout.LARGEST_BY_SUBTREES", 11)
    layout = layout_of(pods([3, 0, 5, 1, 4, 2, *range(6, 12)]))
    assert (np.diff(layout.switches[:6, 0]) > 0).all()
