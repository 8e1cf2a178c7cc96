"""Selections against brute-force twins, on rules that are spelled in several ways."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_selection import Loads, by_tree, first, shortest_routes, sssp

from routelab.api import Topology
from routelab.metrics import channel_loads, perfect_load, sigma
from routelab.toolkit import build_grid
from routelab.toolkit.ties import backwards_at, endpoint_order, tie_order
from routelab_plugins.rules.angara import AngaraRules
from routelab_plugins.rules.dimension_order import DimensionOrderRules
from routelab_plugins.rules.unrestricted import Unrestricted
from routelab_plugins.rules.up_down import UpDown
from routelab_plugins.selection import sssp as sssp_plugin
from routelab_plugins.selection.bfs import Bfs
from routelab_plugins.selection.first import First
from routelab_plugins.selection.genetic import Genetic
from routelab_plugins.selection.p2_sssp import P2Sssp
from routelab_plugins.selection.p_sssp import PSssp
from routelab_plugins.selection.sssp import Sssp


@st.composite
def networks(draw):
    """Random connected networks, some with parallel links, most without symmetry."""
    count = draw(st.integers(2, 7))
    links = [(draw(st.integers(0, k - 1)), k) for k in range(1, count)]
    extra = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    links += [(a, b) for a, b in draw(st.lists(extra, max_size=8)) if a != b]
    return Topology.create(
        num_switches=count,
        channel_source=[x for a, b in links for x in (a, b)],
        channel_target=[x for a, b in links for x in (b, a)],
    )


def grids():
    return st.builds(
        lambda dims, fail, seed: build_grid("torus", dims, True, fail_links=fail, seed=seed),
        st.sampled_from([(4,), (2, 3), (4, 2), (3, 3), (2, 2, 2), (4, 3)]),
        st.integers(0, 1),
        st.integers(0, 99),
    )


def graphs():
    on_grid = st.builds(
        lambda rules, topology: rules.routing_graph(topology),
        st.sampled_from([AngaraRules(), AngaraRules(turns="exact"), DimensionOrderRules()]),
        grids(),
    )
    on_any = st.builds(
        lambda rules, topology: rules.routing_graph(topology),
        st.sampled_from([Unrestricted(), UpDown()]),
        networks(),
    )
    return on_grid | on_any


def chosen(table):
    """The table's routes by pair of switches."""
    ends = table.topology.endpoints.tolist()
    routes = {}
    for s in ends:
        for t in ends:
            paths = table.paths(s, t)
            if paths:
                routes[s, t] = tuple(paths[0])
    return routes


def ranks(graph, tie_seed):
    """Place of each channel in the tie order, as the arrays of the graph show it."""
    arrays = tie_order(graph, tie_seed)
    count = graph.topology.num_channels
    order: list[int] = []
    # a topological merge of all vertices' edge orders would do; the seed's permutation is simpler
    before = {c: set() for c in range(count)}
    for v in range(graph.num_vertices):
        edges = arrays.edge_channel[arrays.edge_start[v] : arrays.edge_start[v + 1]].tolist()
        for a, b in pairwise(edges):
            before[b].add(a)
    while len(order) < count:
        order.append(next(c for c in range(count) if c not in order and before[c] <= set(order)))
    return [order.index(c) for c in range(count)]


@settings(max_examples=60)
@given(graphs(), st.integers(0, 3), st.sampled_from(["positive", "balanced"]))
def test_load_based_selections_are_their_naive_twins(graph, tie_seed, ties) -> None:
    topology = graph.topology
    routes = shortest_routes(graph)
    order = topology.endpoints[endpoint_order(graph, tie_seed)].tolist()
    rank = ranks(graph, tie_seed)
    odd = backwards_at(graph, ties)

    def loads() -> Loads:
        return Loads(topology.num_channels, rank)

    direction = topology.channel_direction.tolist()
    options = {"ties": ties, "tie_seed": tie_seed}
    expected = sssp(routes, order, loads(), direction, lambda s: odd[s])
    for most in (sssp_plugin.MOST_ROUTES, 1):
        with pytest.MonkeyPatch.context() as patch:
            # with one route at most none is listed, and trees find them
            patch.setattr(sssp_plugin, "MOST_ROUTES", most)
            selected = chosen(Sssp(**options).select(graph))
        assert {pair: route for pair, route in selected.items() if route} == expected
    for root in ("source", "destination"):
        for plugin, at_once in ((PSssp, True), (P2Sssp, False)):
            expected = by_tree(routes, order, loads(), lambda r: odd[r], root == "source", at_once)
            selected = chosen(plugin(root=root, **options).select(graph))
            assert {pair: route for pair, route in selected.items() if route} == expected


@settings(max_examples=40)
@given(graphs(), st.integers(0, 3), st.booleans())
def test_first_is_its_naive_twin(graph, tie_seed, balanced) -> None:
    topology = graph.topology
    expected = first(
        shortest_routes(graph),
        ranks(graph, tie_seed),
        topology.channel_source.tolist(),
        topology.parity.tolist(),
        balanced,
    )
    plugin = First(ties="balanced" if balanced else "positive", tie_seed=tie_seed)
    assert chosen(plugin.select(graph)) == expected


@settings(max_examples=40)
@given(
    graphs(),
    st.sampled_from(["sum", "min", "max", "first", "none"]),
    st.integers(0, 3),
    st.sampled_from([Bfs, Genetic]),
)
def test_every_pair_gets_a_shortest_legal_route(graph, sort, seed, plugin) -> None:
    routes = shortest_routes(graph)
    options = {"sort": sort, "tie_seed": seed} if plugin is Bfs else {"seed": seed, "patience": 2}
    selected = chosen(plugin(**options).select(graph))
    assert selected.keys() == routes.keys()
    assert all(selected[pair] in routes[pair] for pair in routes)


def test_breadth_first_search_sends_an_end_to_the_first_discovery() -> None:
    # 4-ring: loads make the routes of opposite nodes alternate, so that all channels carry 2
    graph = AngaraRules().routing_graph(build_grid("torus", (4,), True))
    assert channel_loads(Bfs().select(graph)).tolist() == [2.0] * 8
    assert channel_loads(Bfs(sort="none").select(graph)).max() == 3


def test_genetic_is_better_than_its_first_generation() -> None:
    topology = build_grid("torus", (4, 2, 2), True)
    graph = AngaraRules().routing_graph(topology)
    table = Genetic(seed=3).select(graph)
    first_generation = Genetic(seed=3, max_generations=1).select(graph)
    perfect = perfect_load(topology)
    assert sigma(channel_loads(table), perfect) < sigma(channel_loads(first_generation), perfect)
    assert table.counters["generations"] > 30


def test_genetic_stops_at_once_on_a_perfect_table() -> None:
    graph = AngaraRules().routing_graph(build_grid("torus", (4, 2), True))
    table = Genetic(seed=0).select(graph)
    assert sigma(channel_loads(table), perfect_load(graph.topology)) == 0
    patient = Genetic(seed=0, solved=0).select(graph)
    assert table.counters["generations"] <= patient.counters["generations"]


def test_genetic_sends_less_over_slow_channels() -> None:
    # clockwise is three times as fast: in perfect balance it would have 3/4 of the hops
    ring = build_grid("torus", (4,), True)
    mixed = replace(ring, channel_capacity=np.array([3.0, 1.0] * 4))
    even, uneven = (
        channel_loads(Genetic(seed=0).select(Unrestricted().routing_graph(network)))
        for network in (ring, mixed)
    )
    assert set(even) == {2}
    assert uneven.tolist() == [3, 1] * 4


def test_balanced_dimension_order_is_perfect_on_desmos() -> None:
    # two independent programs: 16/16; all ties positive is far from it
    topology = build_grid("torus", (4, 2, 2, 2), True)
    graph = DimensionOrderRules().routing_graph(topology)
    assert set(channel_loads(First().select(graph))) == {16.0}
    assert channel_loads(First(ties="positive").select(graph)).max() > 16


def test_sssp_counts_its_trees() -> None:
    graph = AngaraRules().routing_graph(build_grid("torus", (4, 2), True))
    with_unique = Sssp().select(graph).counters
    without = Sssp(unique_first=False).select(graph).counters
    assert with_unique["unique_trees"] == 8
    assert without["unique_trees"] == 0
    assert with_unique["group_trees"] < without["group_trees"]
