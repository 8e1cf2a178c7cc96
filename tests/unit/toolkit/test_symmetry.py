"""Translations that keep the routes: found where they exist, and what breaks them."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from routelab.api import RoutingGraph, Topology
from routelab.testing.inputs.graphs import all_walks
from routelab.toolkit import build_grid, source_symmetry


@pytest.mark.parametrize("dims", [(5,), (4, 3), (3, 2, 4), (2, 2)])
def test_a_whole_torus_has_the_translations_of_its_rings(dims: tuple[int, ...]) -> None:
    symmetry = source_symmetry(all_walks(build_grid("torus", dims, wrap=True)))
    assert symmetry.order == prod(size for size in dims if size > 2)
    # the group moves no switch onto itself, so all orbits are of its order
    assert len(symmetry.representatives) * symmetry.order == prod(dims)
    classes = np.bincount(symmetry.channel_class)
    assert (classes == symmetry.order).all()


def test_terminals_break_the_symmetry_along_their_dimension_only() -> None:
    whole = build_grid("torus", (4, 3), wrap=True)
    uneven = Topology.create(
        num_switches=12,
        channel_source=whole.channel_source,
        channel_target=whole.channel_target,
        channel_direction=whole.channel_direction,
        channel_ring=whole.channel_ring,
        directions=whole.directions,
        coordinates=whole.coordinates,
        # two terminals in every row 0 of the first dimension, none in row 3
        terminal_switch=[0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8],
    )
    symmetry = source_symmetry(all_walks(uneven))
    assert symmetry.arrays.period.tolist() == [1, 3]
    assert symmetry.source_class.tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [-1] * 3


def test_rules_break_it_too() -> None:
    topology = build_grid("torus", (4, 3), wrap=True)
    graph = all_walks(topology)
    # the same network without one edge of its graph
    kept = np.arange(graph.num_edges) != 5
    fewer = RoutingGraph.create(
        topology,
        vertex_switch=graph.vertex_switch,
        accepting=graph.accepting,
        begin=graph.begin,
        edge_source=graph.edge_source[kept],
        edge_target=graph.edge_target[kept],
        edge_channel=graph.edge_channel[kept],
    )
    assert source_symmetry(fewer).order == 1


def test_a_subgroup_has_more_classes() -> None:
    symmetry = source_symmetry(all_walks(build_grid("torus", (4, 6), wrap=True)))
    finer = symmetry.subgroup([2, 3])
    assert finer.order == 4
    assert len(finer.representatives) == 6
