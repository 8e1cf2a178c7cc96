"""Route diversity on the bare network, where all routes are legal."""

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import given
from random_tables import networks

from routelab.api import RoutingGraph
from routelab.metrics import route_diversity


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
