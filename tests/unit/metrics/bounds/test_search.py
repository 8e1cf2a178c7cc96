"""Bounds against brute force, against each other and against tables."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive_bounds import least_attainable, number_of_tables, optimum, quotient
from random_tables import networks

from routelab.api import InputError, RoutingGraph, Topology
from routelab.metrics.bounds import (
    bound_from_weights,
    flow,
    lower_bound_rules,
    lower_bound_topology,
    network_graph,
)
from routelab.testing.inputs.graphs import GRAPHS
from routelab.toolkit import build_grid, determinized

SPEEDS = (1,), (5,), (1, 4), (14, 25, 56)


@st.composite
def grids(draw: st.DrawFn) -> Topology:
    """Tori, with failures or whole; each direction has a speed, and perhaps one channel another."""
    grid = build_grid(
        "torus",
        draw(st.sampled_from([(4,), (2, 3), (4, 2), (3, 3), (2, 2, 2), (4, 3)])),
        True,
        fail_links=draw(st.integers(0, 2)),
        seed=draw(st.integers(0, 99)),
    )
    speed = st.sampled_from(draw(st.sampled_from(SPEEDS)))
    count = len(grid.directions)
    capacity = np.array(draw(st.lists(speed, min_size=count, max_size=count)), dtype=np.float64)
    capacity = capacity[grid.channel_direction]
    if draw(st.booleans()):
        capacity[0] = draw(speed)
    return replace(grid, channel_capacity=capacity)


def graphs() -> st.SearchStrategy[RoutingGraph]:
    return st.builds(
        lambda rules, topology: determinized(rules(topology)),
        st.sampled_from(list(GRAPHS.values())),
        networks(max_switches=6, speeds=SPEEDS) | grids(),
    )


@given(graphs(), st.data())
@settings(max_examples=60)
def test_weights_prove_the_bound_of_listed_routes_and_never_exceed_the_program(graph, data) -> None:
    count = graph.topology.num_channels
    weights = data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
    proven = bound_from_weights(graph, np.array(weights, dtype=np.int64))
    assert proven == quotient(graph, weights)
    assert proven <= lower_bound_rules(graph).value * (1 + 1e-6)


@given(graphs())
@settings(max_examples=60)
def test_a_bound_equals_the_proof_of_its_weights(graph) -> None:
    bound = lower_bound_rules(graph)
    proven = quotient(graph, bound.weights.tolist())
    assert bound.method == "lp"
    assert bound.value == float(proven)
    assert bound.load == least_attainable(graph, proven)
    assert bound.turn_set == graph.turn_set


@given(graphs())
@settings(max_examples=60)
def test_no_table_is_below_the_bound_and_the_exact_one_is_reached(graph) -> None:
    assume(number_of_tables(graph) <= 3000)
    best = optimum(graph)
    assert lower_bound_rules(graph).load <= best
    assert lower_bound_rules(graph, exact=True).load == best


@given(graphs())
@settings(max_examples=30)
def test_rules_never_lower_the_bound_of_minimal_routes(graph) -> None:
    # a pair that the rules join by longer routes, or leave out, would have other routes
    bare = network_graph(graph.topology)
    ones = np.ones(graph.topology.num_channels, dtype=np.int64)
    assume(bound_from_weights(graph, ones) == bound_from_weights(bare, ones))
    topology = lower_bound_topology(graph.topology)
    assert topology.turn_set == "all minimal routes"
    assert lower_bound_rules(graph).value >= topology.value * (1 - 1e-6)


@pytest.mark.parametrize("slow", [1, 0.3])
@pytest.mark.parametrize(("dims", "links"), [((4, 4, 2), 0), ((4, 3, 2), 2), ((3, 3, 3), 1)])
def test_weights_by_ascent_stay_below_the_program_and_come_near(
    dims, links, slow, monkeypatch
) -> None:
    grid = build_grid("torus", dims, True, fail_links=links)
    # the first dimension is the slow one
    capacity = np.where(grid.channel_direction % len(dims) == 0, slow, 1.0)
    graph = network_graph(replace(grid, channel_capacity=capacity))
    best = lower_bound_rules(graph)
    monkeypatch.setattr(flow, "MAX_VARIABLES", 0)
    ascent = lower_bound_rules(graph)
    ones = np.ones(graph.topology.num_channels, dtype=np.int64)
    assert (best.method, ascent.method) == ("lp", "dual")
    assert bound_from_weights(graph, ascent.weights) == pytest.approx(ascent.value, rel=1e-12)
    assert max(float(bound_from_weights(graph, ones)), 0.95 * best.value) <= ascent.value
    assert ascent.value <= best.value * (1 + 1e-6)
    again = lower_bound_rules(graph)
    assert np.array_equal(again.weights, ascent.weights)


def test_a_time_limit_leaves_a_bound_that_holds() -> None:
    graph = network_graph(build_grid("torus", (4, 4, 2), True, fail_links=1))
    hurried = lower_bound_rules(graph, seconds=1e-9, exact=True)
    assert 0 < hurried.value <= lower_bound_rules(graph).value
    assert hurried.method == "dual"
    assert hurried.value == float(bound_from_weights(graph, hurried.weights))


@given(graphs(), st.sampled_from([0.1, 3.0, 1e-9 / 7]))
@settings(max_examples=30)
def test_the_unit_of_capacities_does_not_matter(graph, unit) -> None:
    topology = graph.topology
    other = replace(topology, channel_capacity=topology.channel_capacity * unit)
    before, after = (lower_bound_topology(network) for network in (topology, other))
    assert (before.value, before.load) == (after.value, after.load)
    assert np.array_equal(before.weights, after.weights)


@pytest.mark.parametrize("rule", [("torus", (4, 4)), ("torus", (3, 5))])
def test_symmetry_changes_nothing_where_directions_have_speeds(rule) -> None:
    whole = build_grid(*rule, True)
    speeds = np.array([4.0, 4.0, 1.0, 1.0])
    whole = replace(whole, channel_capacity=speeds[whole.channel_direction])
    plain = Topology.create(
        num_switches=whole.num_switches,
        channel_source=whole.channel_source,
        channel_target=whole.channel_target,
        channel_capacity=whole.channel_capacity,
    )
    by_class, one_by_one = (lower_bound_topology(t) for t in (whole, plain))
    assert by_class.load == one_by_one.load
    assert by_class.value == pytest.approx(one_by_one.value, rel=1e-6)
    # of all routes those that go along the slow dimension decide
    assert by_class.value > lower_bound_topology(build_grid(*rule, True)).value


def test_nothing_to_load() -> None:
    single = Topology.create(num_switches=1, channel_source=[], channel_target=[])
    bound = lower_bound_rules(network_graph(single), exact=True)
    assert (bound.value, bound.load, len(bound.weights)) == (0, 0, 0)
    apart = Topology.create(num_switches=2, channel_source=[0], channel_target=[1])
    assert lower_bound_topology(apart).load == 1
    silent = Topology.create(
        num_switches=2, channel_source=[0], channel_target=[1], terminal_switch=[0, 0]
    )
    assert lower_bound_topology(silent).load == 0
    assert bound_from_weights(network_graph(apart), [0]) == Fraction(0)


@pytest.mark.parametrize(
    ("weights", "problem"),
    [([1], "each of 2 channels"), ([1, -1], "channel 1 has a negative"), ([0.5, 1], "float64")],
)
def test_bad_weights_are_refused(weights, problem) -> None:
    graph = network_graph(
        Topology.create(num_switches=2, channel_source=[0, 1], channel_target=[1, 0])
    )
    with pytest.raises(InputError, match=problem):
        bound_from_weights(graph, weights)
