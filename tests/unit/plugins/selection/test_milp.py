"""The mixed-integer program against the least maximum load of all tables there are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import assume, given, settings
from naive_selection import shortest_routes
from small_graphs import SPEEDS, graphs

from routelab.metrics import as_fraction, channel_loads, relative_loads
from routelab.toolkit import build_grid
from routelab_plugins.rules.angara import AngaraRules
from routelab_plugins.rules.unrestricted import Unrestricted
from routelab_plugins.selection.milp import Milp


def least_load(graph) -> Fraction:
    """Try all tables."""
    factors = [Fraction(factor) for factor in naive.factors(graph.topology)]
    ends = set(graph.topology.endpoints.tolist())
    terminals = graph.topology.terminals_per_switch
    routes = {
        pair: options for pair, options in shortest_routes(graph).items() if set(pair) <= ends
    }
    assume(prod(map(len, routes.values())) <= 2000)
    best = None
    for choice in product(*routes.values()):
        load = np.zeros(graph.topology.num_channels + 1, dtype=int)
        for (s, t), route in zip(routes, choice, strict=True):
            load[list(route)] += terminals[s] * terminals[t]
        relative = [int(k) * factor for k, factor in zip(load, [*factors, 1], strict=True)]
        best = max(relative) if best is None else min(best, max(relative))
    return Fraction(best)


@settings(max_examples=40)
@given(graphs(SPEEDS))
def test_no_table_has_a_smaller_maximum_load(graph) -> None:
    expected = least_load(graph)
    table = Milp().select(graph)
    routes = shortest_routes(graph)
    loads = relative_loads(graph.topology, channel_loads(table))
    assert as_fraction(float(loads.max(initial=0))) == expected
    assert as_fraction(table.counters["milp_bound"]) == expected
    assert table.counters["milp_optimal"] == 1
    for s in graph.topology.endpoints.tolist():
        for t in graph.topology.endpoints.tolist():
            paths = [tuple(path) for path in table.paths(s, t)]
            assert len(paths) == ((s, t) in routes)
            assert set(paths) <= set(routes.get((s, t), []))


def test_a_search_that_is_cut_short_keeps_its_start_and_an_honest_bound() -> None:
    graph = AngaraRules(turns="exact").routing_graph(build_grid("torus", (4, 2, 2, 2), True))
    table = Milp(seconds=1e-9).select(graph)
    load = channel_loads(table).max()
    assert table.counters["milp_optimal"] == 0
    assert table.counters["milp_bound"] <= 26 < load


def test_less_than_a_route_is_no_reason_to_stop_where_channels_have_several_speeds() -> None:
    # 3 routes over channels of 80, 3.75, are better than 4 over channels of 100
    torus = build_grid("torus", (3, 3), True)
    capacity = np.random.default_rng(1).choice([80.0, 100.0], torus.num_channels)
    network = replace(torus, channel_capacity=capacity)
    table = Milp().select(Unrestricted().routing_graph(network))
    assert relative_loads(network, channel_loads(table)).max() == 3.75
    assert (table.counters["milp_bound"], table.counters["milp_optimal"]) == (3.75, 1)


@pytest.mark.parametrize(("speeds", "least"), [((1, 1), 26), ((1, 4), 64)])
def test_a_wide_gap_ends_early_and_is_not_called_optimal(speeds, least) -> None:
    torus = build_grid("torus", (4, 2, 2, 2), True)
    # the first dimension is the slow one: 32 x 32 hops there on 64 channels, times 4
    capacity = np.array(speeds, dtype=float)[(torus.channel_direction % 4 > 0).astype(int)]
    graph = AngaraRules(turns="exact").routing_graph(replace(torus, channel_capacity=capacity))
    table = Milp(gap=0.5).select(graph)
    load = relative_loads(graph.topology, channel_loads(table)).max()
    bound = table.counters["milp_bound"]
    assert bound <= least <= load <= 1.5 * bound
    assert table.counters["milp_optimal"] == (load == bound)
