"""Throughput that the channels' loads allow, as it is published for k-ary n-cubes.

Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.3 and
chapter 9: a channel of a k-ary n-cube has load k/8 under uniform traffic if both ways round are
used alike, and minimal routing of tornado traffic loads the channels of one way with
ceil(k/2) - 1 each.
"""

from __future__ import annotations

import pytest

from routelab.metrics import channel_load_bound, offered_loads
from routelab.registry.instances import load
from routelab.routing.routing import Routing


def routed(network: str, routing: str, traffic: str):
    topology = load("topology", network).build()
    pattern = load("traffic", traffic)
    assert pattern.supports(topology) is None
    return Routing.from_name(routing).table(topology), pattern.demand(topology, 0)


@pytest.mark.parametrize(
    ("network", "routing", "traffic", "bound"),
    [
        ("torus~dims=16x16", "dor", "uniform~self=true", 8 / 16),
        ("torus~dims=8x8", "dor", "uniform~self=true", 8 / 8),
        ("torus~dims=8x8x8", "dor", "uniform~self=true", 8 / 8),
        # ties of even rings all one way: 1 + 2 + 3 + 4 of 8
        ("torus~dims=8x8", "dor~ties=positive", "uniform~self=true", 0.8),
        ("torus~dims=8x8", "dor", "tornado~shift=3x0", 1 / 3),
        ("torus~dims=8x8", "dor", "tornado", 1 / 3),
        ("torus~dims=16x16", "dor", "tornado", 1 / 7),
        # neighbours one hop away, dimension by dimension
        ("torus~dims=5x4", "dor", "neighbor", 1.0),
        # a quarter of the terminals crosses the middle of a mesh each way, over eight channels
        ("mesh~dims=8x8", "dor", "uniform~self=true", 0.5),
        # every row sends its whole traffic through one corner: k - 1 flows over one channel
        ("mesh~dims=8x8", "dor", "transpose", 1 / 7),
    ],
)
def test_the_busiest_channel_bounds_the_throughput(network, routing, traffic, bound):
    table, demand = routed(network, routing, traffic)
    assert channel_load_bound(table, demand) == pytest.approx(bound)


def test_tornado_leaves_one_way_round_idle():
    table, demand = routed("torus~dims=8x8", "dor", "tornado~shift=3x0")
    loads = offered_loads(table, demand)
    directions = {
        label.name: set(loads[table.topology.channel_direction == d].tolist())
        for d, label in enumerate(table.topology.directions)
    }
    assert directions == {"+X": {3.0}, "-X": {0.0}, "+Y": {0.0}, "-Y": {0.0}}


def test_without_traffic_to_itself_the_others_get_more():
    table, demand = routed("torus~dims=16x16", "dor", "uniform")
    assert channel_load_bound(table, demand) == pytest.approx(0.5 * 255 / 256)
