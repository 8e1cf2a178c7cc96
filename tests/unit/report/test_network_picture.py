from __future__ import annotations

import numpy as np
import pytest

from routelab.api import Topology
from routelab.registry.instances import load
from routelab.report.network_picture import RADIUS, picture_of


@pytest.mark.parametrize("sizes", [(4,), (2, 2), (4, 3), (3, 2, 4), (4, 2, 2, 2), (2, 2, 2, 2, 3)])
def test_a_channel_is_one_line_or_the_two_ends_of_a_ring(grid, sizes):
    network = grid(sizes)
    picture = picture_of(network)
    for channel in range(network.num_channels):
        ends = network.channel_source[channel], network.channel_target[channel]
        step = np.subtract(*network.coordinates[list(ends[::-1])])
        lines = [
            line
            for line, owner in zip(picture.lines, picture.line_channel, strict=True)
            if owner == channel
        ]
        assert len(lines) == (2 if np.abs(step).max() > 1 else 1)
        for place, point in (
            (picture.switches[ends[0]], lines[0][0]),
            (picture.switches[ends[1]], lines[-1][1]),
        ):
            assert np.hypot(*(place - point)) < 2 * RADIUS


def test_both_directions_of_a_link_and_parallel_channels_are_apart():
    network = Topology.create(
        num_switches=2, channel_source=[0, 1, 0], channel_target=[1, 0, 1], coordinates=[[0], [1]]
    )
    heights = [line[0][1] for line in picture_of(network).lines]
    assert len(set(heights)) == 3
    assert heights[0] < 0 < heights[1]  # traffic to the right runs below


def test_a_missing_switch_leaves_a_hole_and_moves_nothing(grid):
    whole, holed = grid((3, 3)), grid((3, 3), without=[4])
    kept = [i for i in range(9) if i != 4]
    assert np.array_equal(picture_of(whole).switches[kept], picture_of(holed).switches)


def test_a_network_without_coordinates_is_laid_out_the_same_every_time():
    ring = {"channel_source": [0, 1, 2, 3], "channel_target": [1, 2, 3, 0]}
    first, second = (picture_of(Topology.create(num_switches=4, **ring)) for _ in range(2))
    assert np.array_equal(first.switches, second.switches)
    lengths = np.hypot(*(first.switches - np.roll(first.switches, -1, axis=0)).T)
    assert lengths.max() < 1.2 * lengths.min()


@pytest.mark.parametrize(
    "name",
    [
        *("fat-tree~down=2x2x2,up=1x2x1", "dragonfly~h=1,p=2", "random-regular~n=16,degree=4"),
        *("hypercube~dims=4", "megafly", "slim-fly~q=3"),
    ],
)
def test_switches_never_overlap_and_every_channel_is_drawn_between_its_ends(name):
    topology = load("topology", name).build()
    picture = picture_of(topology)
    apart = np.hypot(*(picture.switches[:, None] - picture.switches).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 2 * RADIUS
    for line, channel in zip(picture.lines, picture.line_channel, strict=True):
        ends = topology.channel_source[channel], topology.channel_target[channel]
        for point, end in zip((line[0], line[-2]), ends, strict=True):
            assert np.hypot(*(picture.switches[end] - point)) < 2 * RADIUS


@pytest.mark.parametrize("switches", [1, 3, 450])
def test_networks_without_channels_have_a_picture(switches):
    empty = Topology.create(num_switches=switches, channel_source=[], channel_target=[])
    picture = picture_of(empty)
    assert picture.switches.shape == (switches, 2)
    assert np.isfinite(picture.box).all()
