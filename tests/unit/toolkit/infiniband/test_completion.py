"""Tables completed for all switches and destinations, checked by walks in plain Python."""

from __future__ import annotations

import re
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from routelab.api import RouteTable, Topology, UnsupportedError
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.toolkit.infiniband import check_tables, complete, forwarding_problem


def walks(tables):
    """Yield (switch, destination, channels) of all routes, followed one by one."""
    topology = tables.topology
    for destination, root in enumerate(tables.destination_switch.tolist()):
        for switch in range(topology.num_switches):
            here, channels = switch, []
            while here != root:
                channel = int(tables.steps[here, destination])
                assert channel >= 0
                assert topology.channel_source[channel] == here
                channels.append(channel)
                here = int(topology.channel_target[channel])
                assert len(channels) <= topology.num_switches
            yield switch, destination, channels


def assert_proven(tables) -> None:
    """Check that every route arrives and the dependencies of each lane are acyclic."""
    graphs: dict[int, nx.DiGraph] = {}
    for switch, destination, channels in walks(tables):
        graph = graphs.setdefault(int(tables.lanes[switch, destination]), nx.DiGraph())
        graph.add_edges_from(pairwise(channels))
    assert all(map(nx.is_directed_acyclic_graph, graphs.values()))


def assert_extends(tables, table: RouteTable) -> None:
    """Check that the routes of a table are unchanged."""
    topology = table.topology
    route = {(switch, d): channels for switch, d, channels in walks(tables)}
    for terminal in range(topology.num_terminals):
        target = terminal if table.per_terminal else int(topology.terminal_switch[terminal])
        for switch in topology.endpoints.tolist():
            (path,) = table.paths(switch, target)
            assert route[switch, terminal] == path
            if path:
                first = table.path_start[table.pair_start[table.pair(switch, target)]]
                assert tables.lanes[switch, terminal] == table.hop_vc[first]


def with_hosts_at(network: str, switches) -> Topology:
    whole = load("topology", network).build()
    return Topology.create(
        num_switches=whole.num_switches,
        channel_source=whole.channel_source,
        channel_target=whole.channel_target,
        terminal_switch=switches,
    )


def routed(topology: Topology, routing: str) -> RouteTable:
    return Routing.from_name(routing).table(topology)


@pytest.mark.parametrize("vls", [1, 8])
def test_a_fat_tree_needs_one_lane_also_between_its_spines(vls):
    table = routed(load("topology", "fat-tree~k=4,levels=3").build(), "d-mod-k")
    tables = complete(table, vls)
    assert_proven(tables)
    assert_extends(tables, table)
    assert tables.lanes.max() == 0
    assert check_tables(tables) is None


@pytest.mark.parametrize("seed", range(6))
def test_random_networks_with_few_hosts(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(6, 20)) * 2
    hosts = np.sort(rng.choice(count, size=int(rng.integers(2, count)), replace=False))
    # the second host of a switch has routes of its own
    topology = with_hosts_at(f"random-regular~n={count},degree=3,seed={seed}", [*hosts, *hosts])
    table = routed(topology, "dfsssp~routes=terminals,max_channels=8")
    tables = complete(table, 8)
    assert_proven(tables)
    assert_extends(tables, table)
    assert check_tables(tables) is None


def test_separate_fabrics_stay_apart():
    topology = Topology.create(
        num_switches=4,
        channel_source=[0, 1, 2, 3],
        channel_target=[1, 0, 3, 2],
        terminal_switch=[0, 2],
    )
    tables = complete(routed(topology, "bfs@unrestricted"), 1)
    assert tables.steps[:2, [1, 4, 5]].tolist() == [[-1] * 3] * 2
    assert check_tables(tables) is None
    assert tables.steps[[1, 3], [0, 1]].tolist() == [1, 3]


def test_separate_fabrics_stay_apart_on_routes_of_the_escape_tree():
    # The routes to one destination of the first part follow the tree: with this seed, by search.
    rng = np.random.default_rng(382)
    sources, targets, hosts, num_switches = [], [], [], 0
    for part in range(2):
        count = int(rng.integers(4, 9)) * 2
        network = load(
            "topology", f"random-regular~n={count},degree=3,seed={2 * 382 + part}"
        ).build()
        sources += (network.channel_source + num_switches).tolist()
        targets += (network.channel_target + num_switches).tolist()
        chosen = rng.choice(count, size=int(rng.integers(2, 5)), replace=False)
        hosts += (np.sort(chosen) + num_switches).tolist()
        num_switches += count
    topology = Topology.create(
        num_switches=num_switches,
        channel_source=sources,
        channel_target=targets,
        terminal_switch=hosts,
    )
    tables = complete(routed(topology, "sssp@up-down"), 1)
    in_second = np.arange(num_switches) >= num_switches - count
    is_apart = in_second[:, np.newaxis] != in_second[tables.destination_switch]
    assert ((tables.steps < 0) == (is_apart | own_switch(tables))).all()
    assert not tables.lanes[is_apart].any()
    assert check_tables(tables) is None


def own_switch(tables):
    """Mark the entries of destinations at their own switch."""
    switches = np.arange(tables.topology.num_switches)
    return switches[:, np.newaxis] == tables.destination_switch


def test_cycles_and_loops_are_found():
    ring = load("topology", "torus~dims=5").build()
    table = routed(ring, "bfs@unrestricted")
    with pytest.raises(UnsupportedError, match="can deadlock"):
        complete(table, 8)
    tables = complete(routed(ring, "dfsssp"), 2)
    assert check_tables(tables) is None
    one_lane = type(tables)(ring, tables.steps, np.zeros_like(tables.lanes))
    assert "wait for each other in a cycle" in check_tables(one_lane)
    steps = np.array(tables.steps)
    away = [c for c in range(10) if ring.channel_source[c] == 1 and ring.channel_target[c] == 2]
    back = [c for c in range(10) if ring.channel_source[c] == 2 and ring.channel_target[c] == 1]
    steps[1, 0], steps[2, 0] = away[0], back[0]
    assert "loop" in check_tables(type(tables)(ring, steps, tables.lanes))
    steps[1, 0] = -1
    assert check_tables(type(tables)(ring, steps, tables.lanes)) == (
        "no route leads from switch 1 to terminal 0"
    )


def test_replies_on_the_level_of_the_request_are_a_further_question():
    tables = complete(routed(load("topology", "torus~dims=5").build(), "dfsssp"), 2)
    at = tables.topology.terminal_switch.tolist()
    graphs = [nx.DiGraph() for _ in range(2)]
    route = {(s, d): channels for s, d, channels in walks(tables)}
    for terminal in range(5):
        for other in range(5):
            if terminal != other:
                lane = int(tables.lanes[at[terminal], other])
                for channels in (route[at[terminal], other], route[at[other], terminal]):
                    graphs[lane].add_edges_from(pairwise(channels))
    safe = all(map(nx.is_directed_acyclic_graph, graphs))
    assert (check_tables(tables, replies="same") is None) is safe
    assert not safe


@pytest.mark.parametrize(
    ("network", "routing", "message"),
    [
        ("torus~dims=4x4", "dor", "bubble flow control"),
        ("random-regular~n=16,degree=3", "bfs@up-down", "leave switch .* by .* and "),
        ("torus~dims=4x4", "ksp", "several paths"),
    ],
)
def test_routes_beyond_forwarding_tables_are_rejected(network, routing, message):
    problem = forwarding_problem(routed(load("topology", network).build(), routing))
    assert problem is not None
    assert re.search(message, problem)


def test_a_path_that_changes_its_lane_is_named():
    ring = load("topology", "torus~dims=5").build()
    table = routed(ring, "bfs@unrestricted")
    vcs = np.zeros(len(table.hop_vc), dtype=np.int16)
    path = int(np.flatnonzero(table.path_length == 2)[0])
    vcs[table.path_start[path] + 1] = 1
    problem = forwarding_problem(table.with_vcs(vcs))
    pair = table.describe_pair(int(table.path_pair[path]))
    hop = int(table.hop_channel[table.path_start[path] + 1])
    assert problem == (
        f"the path from {pair} changes its virtual channel at switch {ring.channel_source[hop]}; "
        "one SL keeps one VL"
    )
