"""Routes to single terminals: their naive twin, their form, and what they gain on fat trees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_selection import Loads, shortest_routes
from random_programs import linear, schedule_of
from small_graphs import networks

from routelab.api import Messages, UnsupportedError
from routelab.deadlock import check_table
from routelab.metrics import channel_loads
from routelab.metrics.bounds import lower_bound_topology
from routelab.routing.routing import Routing
from routelab.routing.table_program import table_program
from routelab.simulation.flow.engine import run_flows
from routelab.simulation.flow.paths import Paths
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import ClosedLoop
from routelab.toolkit import build_grid
from routelab.toolkit.machine import Machine
from routelab.toolkit.ties import backwards_at
from routelab_plugins.rules.unrestricted import Unrestricted
from routelab_plugins.rules.up_down import UpDown
from routelab_plugins.selection.p_sssp import PSssp
from routelab_plugins.topology.fat_tree import FatTree


@settings(max_examples=60)
@given(networks(), st.sampled_from([Unrestricted(), UpDown()]), st.booleans())
def test_trees_towards_terminals_are_their_naive_twin(topology, rules, balanced):
    graph = rules.routing_graph(topology)
    ties = "balanced" if balanced else "positive"
    table = PSssp(root="destination", routes="terminals", ties=ties).select(graph)
    options = shortest_routes(graph)
    loads = Loads(topology.num_channels, range(topology.num_channels))
    odd = dict(zip(topology.endpoints.tolist(), backwards_at(graph, ties).tolist(), strict=True))
    senders = topology.terminals_per_switch.tolist()
    for terminal, goal in enumerate(topology.terminal_switch.tolist()):
        tree = {
            source: loads.lightest(options[source, goal], odd[goal])
            for source in topology.endpoints.tolist()
        }
        for source, route in tree.items():
            assert [list(route)] == table.paths(source, terminal)
            loads.apply(route, senders[source])
    np.testing.assert_array_equal(channel_loads(table), loads.weight)


@settings(max_examples=40)
@given(networks(), st.integers(0, 3))
def test_over_one_state_a_switch_they_are_destination_based(topology, tie_seed):
    plugin = PSssp(root="destination", routes="terminals", tie_seed=tie_seed)
    table = plugin.select(Unrestricted().routing_graph(topology))
    assert table.per_terminal
    assert table.destination_based
    again = type(table).from_next_hops(topology, table.next_hops(), per_terminal=True)
    np.testing.assert_array_equal(again.pair_start, table.pair_start)
    np.testing.assert_array_equal(again.hop_channel, table.hop_channel)


@pytest.mark.parametrize("routing", ["lash", "dfsssp"])
def test_routes_lead_to_single_terminals_by_default_where_switches_lack_terminals(routing):
    """On a 4-ary 3-tree each leaf then has 4 ways down instead of one."""
    tree, torus = FatTree(k=4).build(), build_grid("torus", (4, 3), True, terminals=2)
    table, direct = (Routing.from_name(routing).table(network) for network in (tree, torus))
    assert table.per_terminal
    assert channel_loads(table).max() == 60
    assert not direct.per_terminal


def test_trees_from_sources_cannot_lead_to_single_terminals():
    topology = build_grid("torus", (3,), True)
    with pytest.raises(UnsupportedError, match="needs root=destination"):
        Routing.from_name("p-sssp~routes=terminals@unrestricted").routes(topology)


def naive_maximum(table):
    """Terminal by terminal, hop by hop along the table's own next hops."""
    topology, steps = table.topology, table.next_hops()
    switch = topology.terminal_switch.tolist()
    crossing = dict.fromkeys(range(topology.num_channels), 0)
    for source, target in product(range(topology.num_terminals), repeat=2):
        here = switch[source]
        while here != switch[target]:
            column = target if table.per_terminal else int(topology.terminal_endpoint[target])
            channel = int(steps[here, column])
            crossing[channel] += 1
            here = int(topology.channel_target[channel])
    return max(crossing.values())


@pytest.mark.parametrize(
    ("values", "least"),
    [({"down": "4x8", "up": "1x4"}, 28), ({"k": 2}, 6), ({"k": 4}, 60)],
    ids=["two levels", "2-ary 3-tree", "4-ary 3-tree"],
)
def test_fat_trees_need_routes_to_single_terminals(values, least):
    """Terminals of a switch that share their routes share one way down to it.

    `least`: what its hosts send to all others leaves a lowest switch over k channels.
    """
    topology = FatTree(**values).build()
    shared, own = (
        Routing.from_name(name).table(topology) for name in ("dfsssp~routes=switches", "dfsssp")
    )
    loads = [channel_loads(table).max() for table in (shared, own)]
    assert loads == [naive_maximum(shared), naive_maximum(own)]
    assert lower_bound_topology(topology).value == least == loads[1] < loads[0]
    for table in (shared, own):
        assert table.destination_based
        assert check_table(table).proven


@pytest.mark.parametrize("routes", ["switches", "terminals"])
def test_the_engines_load_channels_as_the_metric_says(routes):
    """All hosts send to all others, once: exact flits, and the time of the busiest channel."""
    topology = FatTree(down="2x4", up="1x2").build()
    table = Routing.from_name(f"dfsssp~routes={routes}").table(topology)
    loads = channel_loads(table)
    assert loads.max() == {"switches": 12, "terminals": 6}[routes]
    hosts, router = topology.num_terminals, Router(vcs=table.virtual_channels)
    packets = Simulation(
        topology, table_program(table), router, ClosedLoop(Messages.create(*everybody(hosts)))
    )
    while not packets.finished:
        packets.run(100)
    np.testing.assert_array_equal(packets.counts().channel_flits, loads * router.packet_flits)
    machine = Machine(
        link_bandwidth=4e9, latency=0, hop_latency=0, memory_latency=0, overhead=0, compute_rate=0
    )
    flows = run_flows(schedule_of(linear(hosts, 2**20)), Paths.create(table, range(hosts)), machine)
    np.testing.assert_allclose(flows.channel_bytes, loads * 2**20)
    assert flows.seconds == pytest.approx(loads.max() * 2**20 / 4e9, rel=1e-12)


def everybody(hosts):
    """Messages of each host to all others."""
    targets = [other for host in range(hosts) for other in range(hosts) if other != host]
    return np.arange(hosts + 1) * (hosts - 1), targets
