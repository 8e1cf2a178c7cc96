"""Arcs of turns: they join the right links, and never overlap."""

from __future__ import annotations

import numpy as np
import pytest

from routelab.api import Topology
from routelab.report.network_picture import picture_of
from routelab.report.turn_marks import MarkedTurn, pair_turns, turn_arcs


def test_opposite_turns_are_one_mark():
    turns = [(2, 1, 0), (0, 1, 2), (5, 0, 3), (0, 1, 2)]
    assert pair_turns(turns) == (MarkedTurn(5, 0, 3, False), MarkedTurn(0, 1, 2, True))


def angle(point):
    return float(np.arctan2(point[1], point[0]))


@pytest.mark.parametrize(
    ("after", "sweep"), [(5, -np.pi / 2), (3, np.pi / 2)], ids=["above", "below"]
)
def test_an_arc_goes_from_link_to_link_the_shorter_way(grid, after, sweep):
    # switch 4 is the middle of a mesh; 1 is at its left, 3 below, 5 above
    network = grid((3, 3), ring=False)
    picture = picture_of(network)
    (arc,) = turn_arcs(network, picture, [MarkedTurn(1, 4, after, True)])
    around = arc - picture.switches[4]
    assert np.ptp(np.hypot(*around.T)) < 1e-9
    assert angle(around[0]) == pytest.approx(np.pi)
    turned = np.unwrap(np.arctan2(around[:, 1], around[:, 0]))
    assert turned[-1] - turned[0] == pytest.approx(sweep)


def test_a_turn_of_one_direction_ends_with_a_barb(grid):
    network = grid((3, 3), ring=False)
    both, one = (
        turn_arcs(network, picture_of(network), [MarkedTurn(1, 4, 3, both_ways)])[0]
        for both_ways in (True, False)
    )
    np.testing.assert_array_equal(one[:-1], both)
    assert np.hypot(*(one[-1] - both[-1])) < 0.3


def test_a_link_that_is_cut_leaves_on_the_outer_side(grid):
    """On a ring of four drawn as a row, the link from the first to the last leaves to the left."""
    network = grid((4,))
    picture = picture_of(network)
    (arc,) = turn_arcs(network, picture, [MarkedTurn(3, 0, 1, True)])
    first, last = arc[0] - picture.switches[0], arc[-1] - picture.switches[0]
    assert angle(first) == pytest.approx(np.pi)
    assert angle(last) == pytest.approx(0)


def test_arcs_of_a_switch_do_not_overlap():
    """All turns between five links of a switch: arcs keep a distance from one another."""
    star = [(0, leaf) for leaf in range(1, 6)]
    network = Topology.create(
        num_switches=6,
        channel_source=[a for a, b in star] + [b for a, b in star],
        channel_target=[b for a, b in star] + [a for a, b in star],
    )
    turns = pair_turns((a, 0, b) for a in range(1, 6) for b in range(1, 6) if a != b)
    arcs = turn_arcs(network, picture_of(network), turns)
    assert len(arcs) == 10
    for number, arc in enumerate(arcs):
        for other in arcs[:number]:
            gaps = np.hypot(*(arc[:, np.newaxis] - other).transpose(2, 0, 1))
            assert gaps.min() > 0.06
