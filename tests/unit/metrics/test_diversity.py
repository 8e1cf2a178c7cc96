"""Route diversity on the bare network, where all routes are legal."""

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import given
from random_tables import networks

from routelab.api import RoutingGraph, Topology
from routelab.metrics import route_diversity
from routelab.toolkit import build_grid


def bare(topology):
    """The routing graph with one state a switch."""
    switches = np.arange(topology.num_switches)
    return RoutingGraph.create(
        topology,
        vertex_switch=switches,
        accepting=np.ones(len(switches), dtype=bool),
        begin=switches,
        edge_source=topology.channel_source,
        edge_target=topology.channel_target,
        edge_channel=np.arange(topology.num_channels),
    )


@given(networks())
def test_diversity_is_that_of_the_definition(topology):
    ends = topology.terminal_switch.tolist()
    ways = [naive.shortest_ways(topology, a, b) for a in ends for b in ends if a != b]
    ways = [each for each in ways if each]
    counts = [len(each) for each in ways]
    diversity = route_diversity(bare(topology))
    if not counts:
        assert diversity is None
        return
    assert diversity.total_routes == sum(counts)
    assert diversity.pairs == len(counts)
    assert diversity.total_hops == sum(len(each[0]) for each in ways)
    assert diversity.mean_routes == pytest.approx(sum(counts) / len(counts))
    assert diversity.single_route_share == pytest.approx(counts.count(1) / len(counts))


def test_a_ring_of_4_by_hand():
    # neighbours have one shortest route, opposite switches two
    diversity = route_diversity(bare(build_grid("torus", (4,), True)))
    assert diversity.single_route_share == pytest.approx(2 / 3)
    assert diversity.mean_routes == pytest.approx(4 / 3)
    assert diversity.total_routes == 16


def test_pairs_that_no_route_joins_do_not_count():
    line = Topology.create(num_switches=2, channel_source=[0], channel_target=[1])
    assert route_diversity(bare(line)).single_route_share == 1
