from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import Topology
from routelab.report.network_picture import RADIUS, picture_of, unroll

SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=5).filter(lambda s: np.prod(s) <= 200)


def cells(sizes):
    return np.array(list(product(*map(range, sizes))), dtype=np.int32)


@given(SIZES)
def test_every_switch_has_a_place_and_inside_a_block_a_row_and_column_of_its_own(sizes):
    grid = cells(sizes)
    places = unroll(grid, sizes)
    assert len(np.unique(places, axis=0)) == len(grid)
    for block in np.unique(grid[:, :2], axis=0):
        inside = places[(grid[:, :2] == block).all(axis=1)]
        assert len(np.unique(inside[:, 0])) == len(np.unique(inside[:, 1])) == len(inside)


@given(SIZES)
def test_channels_of_the_first_two_dimensions_are_level_and_upright(sizes):
    grid = cells(sizes)
    places = {tuple(cell): place for cell, place in zip(grid, unroll(grid, sizes), strict=True)}
    for cell, place in places.items():
        for dimension in range(min(2, len(sizes))):
            other = places.get((*cell[:dimension], cell[dimension] + 1, *cell[dimension + 1 :]))
            if other is not None:
                assert other[1 - dimension] == place[1 - dimension]
                assert other[dimension] > place[dimension]


def test_two_inner_dimensions_make_a_square():
    corner, right, left, _ = unroll(cells([1, 1, 2, 2])[[0, 2, 1, 3]], [1, 1, 2, 2])
    assert np.dot(right - corner, left - corner) == 0
    assert np.hypot(*(right - corner)) == np.hypot(*(left - corner))


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


def test_a_ring_is_cut_outside_of_all_switches(grid):
    picture = picture_of(grid((4, 2, 2)))
    left, right = picture.switches[:, 0].min(), picture.switches[:, 0].max()
    ends = [
        (picture.lines[i][1][0], picture.lines[i + 1][0][0])
        for i in range(len(picture.lines) - 1)
        if picture.line_channel[i] == picture.line_channel[i + 1]
    ]
    assert len(ends) == 2 * 4
    for leaving, arriving in ends:
        assert {leaving < left, leaving > right} == {True, False}
        assert (leaving > right) == (arriving < left)


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


def test_marks_and_ticks_tell_the_coordinates(grid):
    picture = picture_of(grid((4, 2, 2, 2)))
    assert sorted(set(picture.marks)) == ["00", "01", "10", "11"]
    assert [text for _, text in picture.block_ticks[0]] == ["x = 0", "1", "2", "3"]
    assert "In the circles: z, k." in picture.hint


def test_a_network_without_coordinates_is_laid_out_the_same_every_time():
    ring = {"channel_source": [0, 1, 2, 3], "channel_target": [1, 2, 3, 0]}
    first, second = (picture_of(Topology.create(num_switches=4, **ring)) for _ in range(2))
    assert np.array_equal(first.switches, second.switches)
    lengths = np.hypot(*(first.switches - np.roll(first.switches, -1, axis=0)).T)
    assert lengths.max() < 1.2 * lengths.min()


@pytest.mark.parametrize("switches", [1, 3, 450])
def test_networks_without_channels_have_a_picture(switches):
    empty = Topology.create(num_switches=switches, channel_source=[], channel_target=[])
    picture = picture_of(empty)
    assert picture.switches.shape == (switches, 2)
    assert np.isfinite(picture.box).all()


def test_a_network_by_layout_lies_on_its_longest_side():
    path = Topology.create(num_switches=6, channel_source=range(5), channel_target=range(1, 6))
    width, height = np.ptp(picture_of(path).switches, axis=0)
    assert width > 5 * height


def test_channels_that_skip_switches_of_a_row_are_arcs_round_them():
    # a row of five switches, all linked: no ring, although its ends are linked
    ends = [(a, b) for a in range(5) for b in range(5) if a != b]
    row = Topology.create(
        num_switches=5,
        channel_source=[a for a, _ in ends],
        channel_target=[b for _, b in ends],
        coordinates=[[place] for place in range(5)],
    )
    picture = picture_of(row)
    assert len(picture.lines) == len(ends)
    assert "ring" not in picture.hint
    for line, channel in zip(picture.lines, picture.line_channel, strict=True):
        source, target = ends[channel]
        between = picture.switches[min(source, target) + 1 : max(source, target)]
        gaps = np.hypot(*(line[:, np.newaxis] - between).T)
        assert (gaps > RADIUS).all()
        # both directions are on their right
        side = 1 if source > target else -1
        assert (side * line[1:-2, 1] > 0).all()


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["group", "switch"], ["group = 0", "switch = 0"]), (["group"], ["group = 0", "d1 = 0"])],
)
def test_axes_have_the_names_of_the_coordinates(names, expected):
    network = Topology.create(
        num_switches=4,
        channel_source=[0, 2],
        channel_target=[1, 3],
        coordinates=[[0, 0], [0, 1], [1, 0], [1, 1]],
        attributes={"coordinate_names": names},
    )
    ticks = picture_of(network).block_ticks
    assert [texts[0][1] for texts in ticks] == expected
