"""Bounds for routes of any length, against programs over all paths, tables and certificates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from naive_bounds import factors, least_attainable
from naive_simple_paths import simple_paths
from naive_throughput import lightest
from random_tables import networks

from routelab.api import Topology
from routelab.metrics.bounds import (
    LoadBound,
    any_length_facts,
    lower_bound_any_length,
    lower_bound_topology,
    network_graph,
)
from routelab.metrics.bounds.solver import LinearProgram, solve_program
from routelab.metrics.bounds.throughput import search
from routelab.routing.topology import load_network

SPEEDS = (1,), (5,), (1, 4)


def least_split_load(topology: Topology) -> float:
    """The least maximum relative load if pairs split over all their simple paths."""
    demand = topology.terminals_per_switch.tolist()
    program = LinearProgram()
    most = program.add_variables(1, cost=1.0)
    rows = program.add_rows([float("-inf")] * topology.num_channels, [0.0] * topology.num_channels)
    slow = factors(network_graph(topology))
    program.add_entries(rows, [0] * len(rows), [-1 / float(factor) for factor in slow])
    for source in range(topology.num_switches):
        for target in range(topology.num_switches):
            paths = simple_paths(topology, source, target) if source != target else []
            if not paths or not demand[source] * demand[target]:
                continue
            flows = program.add_variables(len(paths))
            for flow, path in zip(flows, paths, strict=True):
                program.add_entries(rows[list(path)], [flow] * len(path), 1.0)
            served = program.add_rows([1.0 * demand[source] * demand[target]], [float("inf")])
            program.add_entries([served[0]] * len(paths), flows, 1.0)
    assert len(most) == 1
    optimum = solve_program(program, 60)
    assert optimum is not None
    return optimum[0]


def quotient(topology: Topology, weights: list[int]) -> Fraction:
    """What weights prove: lightest paths of all pairs, over the capacity by weight."""
    demand = topology.terminals_per_switch.tolist()
    pairs = range(topology.num_switches)
    covered = sum(
        demand[a] * demand[b] * (lightest(topology, weights, a, b) or 0)
        for a in pairs
        for b in pairs
        if a != b
    )
    slow = factors(network_graph(topology))
    total = sum(weight / factor for weight, factor in zip(weights, slow, strict=True))
    return covered / total if total else Fraction(0)


@given(networks(max_switches=4, speeds=SPEEDS))
@settings(max_examples=60)
def test_the_bound_is_the_least_load_over_all_paths_and_its_weights_prove_it(topology) -> None:
    bound = lower_bound_any_length(topology)
    assert bound.value == float(quotient(topology, bound.weights.tolist()))
    assert bound.value == pytest.approx(least_split_load(topology), rel=1e-6)
    proven = Fraction(bound.value).limit_denominator(10**6)
    assert bound.load == least_attainable(network_graph(topology), proven)


@given(networks(max_switches=4, speeds=SPEEDS))
@settings(max_examples=30)
def test_a_search_without_symmetry_proves_nothing_that_is_not_true(topology) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "find_folding", lambda problem: None)
        bound = lower_bound_any_length(topology, seconds=1)
    assert bound.value == float(quotient(topology, bound.weights.tolist()))
    assert bound.value <= least_split_load(topology) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("name", "load"),
    [
        # the published optimum of the twisted torus (arXiv 2605.27963), and the mean of 8x8
        ("torus~dims=4x4x8,twist=XZ4+YZ4", 74),
        ("torus~dims=8x8", 64),
        ("slim-fly~q=5", 208),
        ("dragonfly~h=2", 67),
    ],
)
def test_known_optima(name: str, load: int) -> None:
    _, network = load_network(name)
    bound = lower_bound_any_length(network)
    assert (bound.method, bound.load) == ("lp", load)


def test_longer_routes_go_below_the_bound_for_minimal_ones() -> None:
    _, network = load_network("dragonfly~h=2")
    assert lower_bound_any_length(network).load < lower_bound_topology(network).load


def bound_of(value: float, load: Fraction) -> LoadBound:
    return LoadBound(value, load, "lp", "all routes", 0.1, np.empty(0, np.int64))


def test_a_table_that_leaves_out_pairs_has_no_bound() -> None:
    bound = bound_of(5.5, Fraction(6))
    facts = {"max_load": 8, "reachable_pairs": 12, "multipath": False}
    columns = {"lower_bound_any_length": 6, "gap_any_length": 2}
    assert any_length_facts(facts, bound, 12) == columns
    nothing = dict.fromkeys(columns)
    assert any_length_facts(facts | {"reachable_pairs": 11}, bound, 12) == nothing
    assert any_length_facts(facts, None, 12) == nothing
    split = any_length_facts(facts | {"multipath": True}, bound, 12)
    assert split == {"lower_bound_any_length": 5.5, "gap_any_length": 2.5}


def test_nothing_to_load() -> None:
    _, network = load_network("torus~dims=2")
    alone = replace(network, terminal_switch=network.terminal_switch[:1], terminal_names=("t",))
    assert lower_bound_any_length(alone).load == 0
