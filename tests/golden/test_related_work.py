"""Related work of the Angara paper on its node sets: optima, bounds and what comes near them."""

from __future__ import annotations

import pytest

from routelab.api import RouteTable
from routelab.metrics import channel_loads
from routelab_plugins.routing.balanced_dor import BalancedDor
from routelab_plugins.rules.angara import AngaraRules
from routelab_plugins.selection.iterative_removal import IterativeRemoval
from routelab_plugins.selection.milp import Milp
from routelab_plugins.selection.sgr import Sgr
from routelab_plugins.selection.sssp import Sssp
from routelab_plugins.topology.torus import Torus

DESMOS = {(4,): 2, (4, 2): 4, (4, 2, 2): 10, (4, 2, 2, 2): 26}
"""Proven optima of the maximum load over legal minimal routes."""


def legal(dims: tuple[int, ...], turns: str = "exact"):
    return AngaraRules(turns=turns).routing_graph(Torus(dims=dims).build())


def load(table: RouteTable) -> float:
    return float(channel_loads(table).max())


@pytest.mark.parametrize("dims", DESMOS)
def test_milp_proves_the_optima_of_the_node_sets(dims: tuple[int, ...]) -> None:
    table = Milp().select(legal(dims))
    assert (load(table), table.counters["milp_optimal"]) == (DESMOS[dims], 1)


@pytest.mark.parametrize(
    ("dims", "turns", "optimum"),
    [
        # what the exact rule of safe turns gains over the paper's Theorem 2
        ((2, 4), "theorem2", 5),
        ((2, 2, 2, 4), "theorem2", 27),
        ((2, 8, 2), "theorem2", 42),
        ((2, 8, 2), "exact", 38),
        ((2, 2, 5, 3), "exact", 51),
    ],
)
def test_milp_agrees_with_an_independent_program(dims, turns: str, optimum: int) -> None:
    table = Milp().select(legal(dims, turns))
    assert (load(table), table.counters["milp_optimal"]) == (optimum, 1)


@pytest.mark.parametrize("dims", DESMOS)
def test_reversing_the_dimensions_keeps_the_optimum_under_exact_turns(dims) -> None:
    assert load(Milp().select(legal(dims[::-1]))) == DESMOS[dims]


def test_sgr_reaches_76_thirds_on_32_nodes() -> None:
    table = Sgr().select(legal((4, 2, 2, 2)))
    assert table.counters["lp_load"] == pytest.approx(76 / 3, abs=1e-5)
    assert load(table) == pytest.approx(76 / 3, abs=1e-5)
    assert table.num_paths > table.num_pairs
    assert load(Sgr(paths="single").select(legal((4, 2, 2, 2)))) in (26, 27)


@pytest.mark.parametrize("dims", [(4,), (4, 2), (4, 2, 2)])
def test_sgr_needs_no_second_path_where_the_bound_is_an_integer_that_is_attained(dims) -> None:
    assert Sgr().select(legal(dims)).counters["lp_load"] == DESMOS[dims]


@pytest.mark.parametrize("order", ["rotated", "longest", "natural"])
@pytest.mark.parametrize(("dims", "perfect"), [((4, 2), 4), ((4, 2, 2), 8), ((4, 2, 2, 2), 16)])
def test_balanced_dimension_order_is_perfect(dims, perfect: int, order: str) -> None:
    # 16/16 on 32 nodes, with turns that Angara forbids
    table = BalancedDor(order=order).route(Torus(dims=dims).build())
    assert set(channel_loads(table)) == {perfect}


def test_iterative_removal_lies_between_the_optimum_and_slightly_above_sssp() -> None:
    graph = legal((4, 2, 2, 2))
    removal = [load(IterativeRemoval(tie_seed=seed).select(graph)) for seed in range(20)]
    sssp = [load(Sssp(tie_seed=seed).select(graph)) for seed in range(20)]
    assert min(removal) == 27
    assert max(removal) <= 32
    assert 27 <= min(sssp) <= max(sssp) <= 30
