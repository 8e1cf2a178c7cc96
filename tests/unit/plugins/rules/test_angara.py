"""The Angara rules against the hardware by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_angara import Hardware
from naive_selection import shortest_routes

from routelab.deadlock import check_table
from routelab.kernels.enumeration import enumerate_routes
from routelab.kernels.graph import count_routes, route_lengths
from routelab.toolkit import build_grid, determinized, merged
from routelab_plugins.rules.angara import AngaraRules, safe_turns
from routelab_plugins.selection.bfs import Bfs
from routelab_plugins.selection.first import First
from routelab_plugins.selection.sssp import Sssp


def listed(graph):
    """All shortest legal routes as arrays, in the order of their channels."""
    ends = graph.topology.endpoints
    lengths = route_lengths(graph.arrays, ends)
    return enumerate_routes(graph.arrays, ends, count_routes(graph.arrays, ends), lengths)


def small_tori():
    """Dimensions of every torus with at most 64 nodes and sizes up to 5."""
    for n in range(1, 7):
        for dims in product(range(2, 6), repeat=n):
            if np.prod(dims) <= 64:
                yield dims


def damaged_tori(max_switches: int = 12):
    """Small tori and meshes with random failures."""

    @st.composite
    def draw_one(draw):
        shapes = [
            dims
            for n in (1, 2, 3)
            for dims in product(range(2, 5), repeat=n)
            if np.prod(dims) <= max_switches
        ]
        dims = draw(st.sampled_from(shapes))
        fail_switches = draw(st.integers(0, 1))
        # a line of two or three switches may have no link left when one of them fails
        fail_links = draw(st.integers(0, 1)) if np.prod(dims) > 3 else 0
        return build_grid(
            "torus",
            dims,
            draw(st.booleans()),
            fail_switches=fail_switches,
            fail_links=fail_links,
            seed=draw(st.integers(0, 1000)),
        )

    return draw_one()


@pytest.mark.parametrize("n", range(1, 7))
def test_reduced_graphs_have_the_literal_one_s_shortest_routes(n: int) -> None:
    for dims in (d for d in small_tori() if len(d) == n):
        # a permutation's other orders are other systems, but sorted ones cover the large sizes
        if n >= 4 and dims not in {tuple(sorted(dims)), tuple(sorted(dims, reverse=True))}:
            continue
        topology = build_grid("torus", dims, True)
        literal = listed(determinized(AngaraRules(form="literal").routing_graph(topology)))
        for form in ("merged", "minimal"):
            graph = AngaraRules(form=form).routing_graph(topology)
            assert graph.deterministic
            for expected, reduced in zip(literal, listed(graph), strict=True):
                np.testing.assert_array_equal(expected, reduced)


@pytest.mark.parametrize(("n", "merged_states", "minimal_states"), [(2, 10, 7), (3, 19, 10)])
def test_states_a_node(n: int, merged_states: int, minimal_states: int) -> None:
    # without extra turns and bits no route needs the state after a last step
    topology = build_grid("torus", (4,) * n, True)
    for form, states in (("merged", merged_states), ("minimal", minimal_states)):
        graph = AngaraRules(form=form, turns="none").routing_graph(topology)
        assert graph.num_vertices == states * topology.num_switches


@settings(max_examples=25)
@given(damaged_tori(), st.sampled_from(["theorem2", "exact", "none"]))
def test_generic_merging_of_the_literal_graph_is_as_small_as_our_merged_one(topology, turns):
    # Moore's refinement finds the least deterministic graph; ours leaves U-turns out
    literal = AngaraRules(form="literal", turns=turns).routing_graph(topology)
    least = merged(determinized(literal))
    ours = AngaraRules(form="merged", turns=turns).routing_graph(topology)
    for expected, actual in zip(listed(least), listed(ours), strict=True):
        np.testing.assert_array_equal(expected, actual)


@settings(max_examples=30)
@given(damaged_tori(max_switches=16))
def test_safe_turns_are_those_of_the_naive_twin(topology) -> None:
    twin = Hardware(topology)
    for rule, expected in (("theorem2", twin.theorem2()), ("exact", twin.exact())):
        permitted = safe_turns(topology, rule)
        turns = {
            (a, c)
            for c, d in np.argwhere(permitted)
            for a in range(topology.num_channels)
            if topology.channel_target[a] == topology.channel_source[c]
            and topology.channel_direction[a] == d
        }
        assert turns == expected


@settings(max_examples=25)
@given(damaged_tori(max_switches=9), st.sampled_from(["theorem2", "exact"]))
def test_routes_are_the_hardware_s_shortest_ones(topology, turns) -> None:
    hardware = Hardware(topology)
    hardware.turns = getattr(hardware, turns)()
    graph = AngaraRules(turns=turns).routing_graph(topology)
    ours = shortest_routes(graph)
    for source in range(topology.num_switches):
        expected = hardware.shortest(source, limit=7)
        for target, routes in expected.items():
            assert [list(route) for route in ours[source, target]] == routes


@settings(max_examples=40)
@given(damaged_tori(max_switches=27), st.sampled_from(["theorem2", "exact"]), st.integers(0, 5))
def test_emitted_routes_obey_the_hardware_and_are_proven(topology, turns, tie_seed) -> None:
    graph = AngaraRules(turns=turns).routing_graph(topology)
    hardware = Hardware(topology)
    hardware.turns = getattr(hardware, turns)()
    for selection in (Bfs, First, Sssp):
        table = selection(tie_seed=tie_seed).select(graph)
        for k in range(table.num_paths):
            route = table.hop_channel[table.path_start[k] : table.path_start[k + 1]].tolist()
            assert hardware.legal(route), table.describe_path(k)
        assert check_table(table, "bubble").proven


def test_a_network_without_directions_is_not_supported() -> None:
    from routelab.api import Topology

    ring = Topology.create(num_switches=3, channel_source=[0, 1, 2], channel_target=[1, 2, 0])
    assert "direction labels" in AngaraRules().supports(ring)
