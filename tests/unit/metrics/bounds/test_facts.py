"""Bounds beside what a table reaches."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from routelab.api import RouteTable, Topology
from routelab.metrics import channel_loads, reachable_pairs
from routelab.metrics.bounds import (
    BOUND_FIELDS,
    LoadBound,
    bound_facts,
    bound_from_numbers,
    bound_numbers,
    lower_bound_topology,
    network_graph,
    takes_shortest,
)
from routelab.toolkit import build_grid

NOTHING = np.empty(0, dtype=np.int64)
RULES = LoadBound(25.5, Fraction(26), "lp", "few turns", 0.1, NOTHING)
NETWORK = LoadBound(16.0, Fraction(16), "dual", "all minimal routes", 0.1, NOTHING)


def facts(load: float, **more: bool | None) -> dict[str, object]:
    return {
        "max_load": load,
        "multipath": False,
        "minimal": True,
        "shortest_legal": True,
        **more,
    }


def expected(*values: object) -> dict[str, object]:
    return dict(zip(BOUND_FIELDS, values, strict=True))


def test_a_table_of_single_paths_is_held_against_whole_loads_under_its_rules() -> None:
    assert bound_facts(facts(28), RULES, NETWORK) == expected(26, 16, "lp", 2, False, "few turns")
    assert bound_facts(facts(26), RULES, NETWORK) == expected(26, 16, "lp", 0, True, "few turns")


def test_bounds_of_routes_between_switches_do_not_bind_routes_to_terminals() -> None:
    """The integer program's word is about tables in which terminals of a switch share routes."""
    exact = LoadBound(25.5, Fraction(30), "milp", "few turns", 0.1, NOTHING)
    assert bound_facts(facts(30), exact, NETWORK) == expected(30, 16, "milp", 0, True, "few turns")
    columns = bound_facts(facts(26, per_terminal=True), exact, NETWORK)
    # the quotient holds, and it is not known which loads are attainable
    assert columns == expected(25.5, 16, "lp", 0.5, False, "few turns")


def test_a_table_that_splits_pairs_is_held_against_the_quotient() -> None:
    columns = bound_facts(facts(25.75, multipath=True), RULES, NETWORK)
    assert columns == expected(25.5, 16.0, "lp", 0.25, None, "few turns")
    # also if the integer program has raised the load of tables that do not split pairs
    exact = replace(RULES, load=Fraction(30), method="milp")
    assert bound_facts(facts(25.75, multipath=True), exact, NETWORK) == columns


def test_a_complete_algorithm_is_held_against_the_network() -> None:
    columns = bound_facts(facts(18, shortest_legal=None), None, NETWORK)
    assert columns == expected(None, 16, "dual", 2, False, "all minimal routes")


@pytest.mark.parametrize(
    ("rules", "more"), [(RULES, {"shortest_legal": False}), (None, {"minimal": False})]
)
def test_detours_and_lost_pairs_have_no_gap(rules, more) -> None:
    columns = bound_facts(facts(15, **more), rules, NETWORK)
    assert (columns["gap"], columns["optimal"]) == (None, None)
    assert columns["lower_bound_topology"] == 16


def test_nothing_is_said_without_bounds() -> None:
    assert bound_facts(facts(15), None, None) == dict.fromkeys(BOUND_FIELDS)


@pytest.mark.parametrize("load", [Fraction(26), Fraction(26 * 25, 14), Fraction(1, 3)])
def test_numbers_come_back(load) -> None:
    bound = replace(RULES, load=load)
    again = bound_from_numbers(bound_numbers(bound))
    assert bound_numbers(again) == bound_numbers(bound)
    assert again.load == load
    assert len(again.weights) == 0


def test_rounding_does_not_decide_optimality() -> None:
    # 14 routes over a channel of 25/14, as a file holds it, and as a sum of floats may come out
    bound = replace(RULES, load=Fraction(25))
    for load in (25, 14 * (25 / 14), sum([25 / 14] * 14)):
        columns = bound_facts(facts(load), bound, NETWORK)
        assert (columns["gap"], columns["optimal"]) == (0, True)
    # one more route there: the gap is its share
    columns = bound_facts(facts(15 * (25 / 14)), bound, NETWORK)
    assert (columns["gap"], columns["optimal"]) == (25 / 14, False)


def table(topology: Topology, routes: list[list[int] | None]) -> RouteTable:
    """A table of at most one path a pair."""
    lengths = [-1 if route is None else len(route) for route in routes]
    hops = [channel for route in routes if route is not None for channel in route]
    return RouteTable.from_lengths(topology, lengths, hops)


def test_detours_and_lost_pairs_are_noticed() -> None:
    # a ring of three; channel 2s goes on, channel 2s + 1 goes back
    ring = Topology.create(
        num_switches=3,
        channel_source=[0, 0, 1, 1, 2, 2],
        channel_target=[1, 2, 2, 0, 0, 1],
    )
    short = [[], [0], [1], [3], [], [2], [4], [5], []]
    around = [[], [0], [0, 2], *short[3:]]
    # one pair is lost and another goes around: the hops of all are those of the short ones
    both: list[list[int] | None] = [[], [0], [0, 2], None, *short[4:]]
    graph = network_graph(ring)
    for routes, shortest in ((short, True), (around, False), (both, False)):
        routed = table(ring, routes)
        loads = channel_loads(routed)
        assert takes_shortest(graph, reachable_pairs(routed), float(loads.sum())) is shortest


def test_terminals_on_one_switch_are_pairs_without_hops() -> None:
    link = build_grid("torus", (2,), True, terminals=3)
    routed = table(link, [[], [0], [1], []])
    loads = channel_loads(routed)
    assert takes_shortest(network_graph(link), reachable_pairs(routed), float(loads.sum()))
    assert loads.max() == lower_bound_topology(link).load == 9
