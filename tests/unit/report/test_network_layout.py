from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from routelab.api import Topology
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
