"""`balanced`: published and proven optima, laws of its kernels, phases."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import RoutingGraph
from routelab.metrics import channel_loads, perfect_load, phase_load, sigma
from routelab.toolkit import build_grid
from routelab_plugins.rules.angara import AngaraRules
from routelab_plugins.selection.balanced import Balanced
from routelab_plugins.selection.balanced.kernels import (
    Rows,
    balance,
    bin_loads,
    deviation,
    dual_bound,
    even_out,
    objective,
    price_bins,
    sweep_rows,
)


def angara(*dims: int, **more: int) -> RoutingGraph:
    return AngaraRules(turns="exact").routing_graph(build_grid("torus", dims, wrap=True, **more))


def fullest(graph: RoutingGraph, **parameters: object) -> int:
    return int(channel_loads(Balanced(**parameters).select(graph)).max())


@pytest.mark.parametrize(
    ("dims", "optimum"),
    [
        # proven by mixed-integer programs over all routes
        ((4,), 2),
        ((4, 2), 4),
        ((4, 2, 2), 10),
        ((4, 2, 2, 2), 26),
        ((2, 4), 4),
        ((2, 2, 2, 4), 26),
        ((2, 8, 2), 38),
        ((2, 2, 5, 3), 51),
        # the mean load, so no table is better
        ((6,), 5),
        ((4, 4, 4), 32),
        ((6, 6, 6), 162),
        ((8, 8), 64),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_known_optima_are_reached(dims: tuple[int, ...], optimum: int, seed: int) -> None:
    assert fullest(angara(*dims), seed=seed) == optimum


@pytest.mark.parametrize("seed", range(4))
def test_the_32_nodes_of_desmos_are_even_too(seed: int) -> None:
    graph = angara(4, 2, 2, 2)
    loads = channel_loads(Balanced(seed=seed).select(graph))
    # the paper's genetic algorithm: 6.274 at a maximum of 27
    assert sigma(loads, perfect_load(graph.topology)) <= 6.2


@pytest.mark.parametrize("phases", ["xor", "shift"])
def test_balanced_phases_lower_the_sum_of_their_maxima(phases: str) -> None:
    graph = angara(4, 2, 2)
    plain, phased = Balanced().select(graph), Balanced(phases=phases).select(graph)
    assert phase_load(phased, phases) < phase_load(plain, phases)


def test_where_phases_end() -> None:
    assert "power of two" in Balanced(phases="xor").supports(angara(3, 2))
    assert "one terminal" in Balanced(phases="shift").supports(angara(2, 2, terminals=2))
    assert Balanced(phases="shift").supports(angara(3, 2)) is None


def test_a_network_of_one_switch_has_nothing_to_balance() -> None:
    graph = AngaraRules(turns="exact").routing_graph(build_grid("torus", (2, 2), True, nodes=[0]))
    assert Balanced().select(graph).num_paths == 1


@st.composite
def problems(draw: st.DrawFn, repeats: bool = False) -> tuple[Rows, np.ndarray]:
    """Rows of two or three routes over some bins; no route loads a bin twice unless `repeats`."""
    bins = draw(st.integers(2, 6))
    routes, length = [], []
    for _ in range(draw(st.integers(1, 6))):
        hops = draw(st.integers(1, min(3, bins)))
        route_bins = st.lists(
            st.integers(0, bins - 1), min_size=hops, max_size=hops, unique=not repeats
        )
        routes.append(draw(st.lists(route_bins, min_size=2, max_size=3)))
        length.append(hops)
    sizes = [len(r) * n for r, n in zip(routes, length, strict=True)]
    rows = Rows(
        first=np.cumsum([0, *sizes[:-1]]).astype(np.int64),
        routes=np.array([len(r) for r in routes], dtype=np.int32),
        length=np.array(length, dtype=np.int32),
        weight=np.array([draw(st.integers(1, 3)) for _ in routes], dtype=np.int64),
        bins=np.array([b for r in routes for route in r for b in route], dtype=np.int32),
        segment=np.zeros(bins, dtype=np.int32),
    )
    base = np.array([draw(st.integers(0, 5)) for _ in range(bins)], dtype=np.int64)
    return rows, base


def best_by_brute_force(rows: Rows, base: np.ndarray) -> int:
    every = product(*(range(n) for n in rows.routes))
    return min(
        int(bin_loads(rows, base, np.array(choice, dtype=np.int32)).max()) for choice in every
    )


@settings(max_examples=150, deadline=None)
@given(problem=problems(repeats=True), seed=st.integers(0, 9))
def test_small_problems_are_solved(problem: tuple[Rows, np.ndarray], seed: int) -> None:
    rows, base = problem
    choice = np.zeros(len(rows.first), dtype=np.int32)
    _, proven = balance(rows, base, choice, 20, 60, seed)
    value, best = bin_loads(rows, base, choice).max(), best_by_brute_force(rows, base)
    assert value >= best
    if proven:
        assert value == best


@settings(max_examples=150, deadline=None)
@given(problem=problems(repeats=True), draw=st.randoms(use_true_random=False))
def test_prices_prove_a_bound(problem: tuple[Rows, np.ndarray], draw) -> None:
    rows, base = problem
    price = np.array([draw.random() + 1e-3 for _ in base])
    assert dual_bound(rows, base, price) <= best_by_brute_force(rows, base) + 1e-9


@settings(max_examples=150, deadline=None)
@given(problem=problems(), draw=st.randoms(use_true_random=False), seed=st.integers(1, 99))
def test_a_sweep_never_worsens_its_potential(
    problem: tuple[Rows, np.ndarray], draw, seed: int
) -> None:
    rows, base = problem
    emphasis = np.array([1 + draw.random() for _ in base])
    choice = np.array([draw.randrange(int(n)) for n in rows.routes], dtype=np.int32)
    load, price, beta = bin_loads(rows, base, choice), np.empty(len(base)), 0.7
    before = (emphasis * np.exp(beta * load)).sum()
    price_bins(load, rows.segment, emphasis, beta, price)
    sweep_rows(rows, load, choice, price, beta, True, np.uint64(seed))
    assert np.array_equal(load, bin_loads(rows, base, choice))
    assert (emphasis * np.exp(beta * load)).sum() <= before * (1 + 1e-9)


@settings(max_examples=150, deadline=None)
@given(problem=problems(repeats=True), draw=st.randoms(use_true_random=False))
def test_evening_out_keeps_the_maximum(problem: tuple[Rows, np.ndarray], draw) -> None:
    rows, base = problem
    choice = np.array([draw.randrange(int(n)) for n in rows.routes], dtype=np.int32)
    load = bin_loads(rows, base, choice)
    highest, mean = objective(load, rows.segment), float(load.mean())
    before = deviation(load, mean)
    even_out(rows, load, choice, np.full(len(base), highest), mean, 10, 5, 3)
    assert np.array_equal(load, bin_loads(rows, base, choice))
    assert load.max() <= highest
    assert deviation(load, mean) <= before * (1 + 1e-9)
