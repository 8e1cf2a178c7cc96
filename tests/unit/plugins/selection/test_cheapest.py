"""`cheapest` against walks by networkx and programs of flows: its sweeps, routes and bounds."""

from __future__ import annotations

import highspy
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import RoutingGraph, Topology
from routelab.metrics import channel_loads
from routelab.registry.instances import load
from routelab.testing.inputs.graphs import GRAPHS
from routelab.toolkit import build_grid
from routelab_plugins.rules.up_down import UpDown
from routelab_plugins.selection import cheapest
from routelab_plugins.selection.cheapest import Cheapest, _Search
from routelab_plugins.selection.cheapest.kernels import sweep


@st.composite
def graphs(draw):
    """Rules of several kinds on random networks, some of whose pairs have no legal route."""
    count = draw(st.integers(1, 7))
    ends = st.integers(0, count - 1)
    hops = draw(st.lists(st.tuples(ends, ends).filter(lambda hop: hop[0] != hop[1]), max_size=20))
    hops += [(b, a) for a, b in hops if draw(st.booleans())]
    topology = Topology.create(
        num_switches=count,
        channel_source=[a for a, _ in hops],
        channel_target=[b for _, b in hops],
        terminal_switch=sorted(draw(st.lists(ends, min_size=1, max_size=8))),
    )
    kind = draw(st.sampled_from(["walks", "ordered", "even", "up-down"]))
    if kind == "up-down":
        return UpDown(vcs=draw(st.integers(1, 3))).routing_graph(topology)
    return GRAPHS[kind](topology)


def edges_of(graph: RoutingGraph):
    return list(
        zip(
            graph.edge_source.tolist(),
            graph.edge_target.tolist(),
            graph.edge_channel.tolist(),
            strict=True,
        )
    )


@given(graphs(), st.data())
def test_a_sweep_finds_the_cheapest_walks(graph, data):
    edges = edges_of(graph)
    order = data.draw(st.permutations(range(len(edges))))
    prices = data.draw(st.lists(st.integers(1, 9), min_size=len(edges), max_size=len(edges)))
    begins = graph.begin
    distance = np.empty((graph.num_vertices, len(begins)), dtype=np.float32)
    last_edge = np.empty((graph.num_vertices, len(begins)), dtype=np.int32)
    ends = np.array([edges[e][:2] for e in order], dtype=np.int32).reshape(-1, 2)
    price = np.array([prices[e] for e in order], dtype=np.float32)
    sweep(ends[:, 0].copy(), ends[:, 1].copy(), price, begins, distance, last_edge)
    network = nx.MultiDiGraph()
    network.add_nodes_from(range(graph.num_vertices))
    for e, (u, v, _) in enumerate(edges):
        network.add_edge(u, v, price=prices[e])
    for q, begin in enumerate(begins.tolist()):
        expected = nx.single_source_dijkstra_path_length(network, begin, weight="price")
        finite = {v: d for v, d in enumerate(distance[:, q].tolist()) if np.isfinite(d)}
        assert finite == expected
        for v in finite.keys() - {begin}:  # and the last edges lead back to the begin
            walked = 0
            while v != begin:
                walked += price[last_edge[v, q]]
                v = ends[last_edge[v, q], 0]
            assert walked <= sum(prices)


def least_load(graph: RoutingGraph) -> float:
    """The least maximum load of legal routes of any length, split at will: flows from endpoints."""
    topology = graph.topology
    program = highspy.Highs()
    program.silent()
    most = program.addVariable(lb=0)
    through: list[list] = [[] for _ in range(topology.num_channels)]
    demands = dict(zip(topology.endpoints.tolist(), topology.demand.tolist(), strict=True))
    reached = nx.DiGraph([(u, v) for u, v, _ in edges_of(graph)])
    reached.add_nodes_from(range(graph.num_vertices))
    for source in demands:
        into, out = ([[] for _ in range(graph.num_vertices)] for _ in "io")
        for u, v, channel in edges_of(graph):
            flow = program.addVariable(lb=0)
            through[channel].append(flow)
            out[u].append(flow)
            into[v].append(flow)
        begin = int(graph.begin[source])
        vertices = {begin, *nx.descendants(reached, begin)}
        stops: dict[int, list] = {}
        for v in range(graph.num_vertices):
            switch, stop = int(graph.vertex_switch[v]), program.addVariable(lb=0)
            if v in vertices - {begin} and graph.accepting[v] and switch in demands:
                stops.setdefault(switch, []).append(stop)
            elif v != begin:
                program.addConstr(stop == 0)
            if v != begin:
                program.addConstr(sum(into[v]) - sum(out[v]) - stop == 0)
        for switch in stops.keys() - {source}:
            program.addConstr(sum(stops[switch]) == demands[source] * demands[switch])
    for flows in through:
        if flows:
            program.addConstr(sum(flows) <= most)
    program.minimize(most)
    return program.getInfo().objective_function_value


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from(["switches", "terminals"]))
def test_loads_are_between_the_bound_of_flows_and_that_of_shortest_routes(graph, pairs):
    table = Cheapest(rounds=20, pairs=pairs).select(graph)
    loads, least = channel_loads(table), least_load(graph)
    assert loads.max(initial=0) >= least - 1e-6
    assert table.counters["price_bound"] <= np.ceil(least - 1e-6)


@settings(max_examples=30, deadline=None)
@given(graphs(), st.sampled_from(["switches", "terminals"]))
def test_compiled_kernels_do_what_they_do_in_python(graph, pairs):
    """Python would stop at an index beyond the end of an array, which compiled code reads."""
    table = Cheapest(rounds=3, pairs=pairs).select(graph)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("sweep", "exchange"):
            patch.setattr(cheapest, name, getattr(cheapest, name).py_func)
        again = Cheapest(rounds=3, pairs=pairs).select(graph)
    assert np.array_equal(again.hop_channel, table.hop_channel)


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_what_it_proves_is_no_more_than_what_flows_need(graph):
    search = _Search(graph, False)
    random = np.random.default_rng(0)
    expected = int(np.ceil(least_load(graph) - 1e-6))
    for _ in range(15):
        search.run_round(random)
        search.improve_bound()
        assert search.bound <= expected
        recounted = np.zeros_like(search.load)
        hops, length = search.routes
        for row, weight in enumerate(search._weight.tolist()):
            np.add.at(recounted, hops[row, : max(length[row], 0)], weight)
        assert np.array_equal(recounted, search.load)


@pytest.mark.parametrize(
    ("dims", "twist", "expected"),
    [((4, 4, 8), ["XZ4", "YZ4"], 74), ((4, 4, 4), [], 32)],
)
def test_tori_reach_the_least_load(dims, twist, expected):
    topology = build_grid("torus", dims, wrap=True, twist=twist)
    table = Cheapest().select(UpDown(vcs=2).routing_graph(topology))
    assert channel_loads(table).max() == expected


def test_detours_of_a_few_pairs_lower_the_load_of_a_dragonfly():
    """Shortest routes cannot be below 71; a program of flows allows 66.1."""
    topology = load("topology", "dragonfly~h=2").build()
    table = Cheapest().select(UpDown(vcs=2).routing_graph(topology))
    assert channel_loads(table).max() == 68
