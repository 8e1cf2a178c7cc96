"""Optima and bounds that independent programs agreed on, and laws of the Angara rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.metrics import channel_loads
from routelab.metrics.bounds import lower_bound_rules, lower_bound_topology
from routelab.toolkit import build_grid
from routelab_plugins.rules.angara import AngaraRules
from routelab_plugins.rules.dimension_order import DimensionOrderRules
from routelab_plugins.rules.direction_order import DirectionOrder
from routelab_plugins.selection.sssp import Sssp


def graph_of(dims: tuple[int, ...], turns: str):
    return AngaraRules(turns=turns).routing_graph(build_grid("torus", dims, True))


@pytest.mark.parametrize("turns", ["theorem2", "exact"])
@pytest.mark.parametrize(
    ("dims", "optimum"), [((4,), 2), ((4, 2), 4), ((4, 2, 2), 10), ((4, 2, 2, 2), 26)]
)
def test_optima_of_the_desmos_node_sets(dims, optimum, turns) -> None:
    bound = lower_bound_rules(graph_of(dims, turns), exact=True)
    assert bound.load == optimum
    # the integer program has nothing to add: the linear one proves all four
    assert bound.method == "lp"


def test_desmos_between_the_rules_and_the_bare_network() -> None:
    bound = lower_bound_rules(graph_of((4, 2, 2, 2), "theorem2"))
    assert bound.value == pytest.approx(76 / 3)
    topology = lower_bound_topology(build_grid("torus", (4, 2, 2, 2), True))
    assert (topology.value, topology.load) == (16, 16)


@pytest.mark.parametrize(
    ("dims", "theorem2", "exact"),
    [((2, 4), 5, 4), ((2, 2, 2, 4), 27, 26), ((2, 8, 2), 42, 38), ((2, 2, 5, 3), 81, 51)],
)
def test_exact_turns_lower_the_optimum(dims, theorem2, exact) -> None:
    assert lower_bound_rules(graph_of(dims, "theorem2")).load == theorem2
    assert lower_bound_rules(graph_of(dims, "exact")).load == exact


def test_order_without_extra_turns_on_desmos() -> None:
    topology = build_grid("torus", (4, 2, 2, 2), True)
    # its tables have 36, and dimension order with balanced ties reaches 16
    assert lower_bound_rules(DirectionOrder().routing_graph(topology)).load == 36
    assert lower_bound_rules(DimensionOrderRules().routing_graph(topology)).load == 16


@pytest.mark.parametrize(
    "dims", [(2, 3), (2, 4, 3), (2, 2, 5), (3, 2, 2, 2), (2, 4, 2, 3), (2, 8, 2)]
)
def test_reversing_the_dimensions_preserves_the_bound_under_exact_turns(dims) -> None:
    first, second = (lower_bound_rules(graph_of(d, "exact")).value for d in (dims, dims[::-1]))
    assert first == pytest.approx(second, rel=1e-6)


def test_other_permutations_fail_that_law() -> None:
    loads = [lower_bound_rules(graph_of(dims, "exact")).load for dims in ((2, 2, 5), (2, 5, 2))]
    assert loads == [17, 14]


@given(
    st.sampled_from([(4,), (3, 3), (4, 2), (2, 4), (4, 3), (2, 2, 3), (3, 2, 2), (4, 2, 2)]),
    st.sampled_from(["theorem2", "exact", "none"]),
    st.integers(0, 2),
    st.integers(0, 999),
)
@settings(max_examples=40)
def test_program_then_integer_program_then_tables(dims, turns, links, seed) -> None:
    topology = build_grid("torus", dims, True, fail_links=links, seed=seed)
    graph = AngaraRules(turns=turns).routing_graph(topology)
    whole = lower_bound_rules(graph, exact=True)
    table = Sssp(tie_seed=seed).select(graph)
    assert whole.value <= whole.load + 1e-9
    assert lower_bound_rules(graph).load <= whole.load <= channel_loads(table).max(initial=0)
    assert lower_bound_topology(topology).value <= whole.value or links
