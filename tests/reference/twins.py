"""The packet engine and its naive twin on the same work: every packet in the same cycle."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import strategies as st
from naive_hops import CompiledRoutes, ListedRoutes
from naive_router import NaiveNetwork

from routelab.routing.table_program import table_program
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.traffic import ClosedLoop

LIMIT = 20_000


def listed(table):
    """The table's only path of each pair."""
    ends, routes = table.topology.endpoints.tolist(), {}
    targets = range(table.topology.num_terminals) if table.per_terminal else ends
    for pair in range(table.num_pairs):
        for path in range(table.pair_start[pair], table.pair_start[pair + 1]):
            along = slice(table.path_start[path], table.path_start[path + 1])
            hops = zip(table.hop_channel[along].tolist(), table.hop_vc[along].tolist(), strict=True)
            routes[ends[pair // len(targets)], targets[pair % len(targets)]] = list(hops)
    classes = table.virtual_channels
    bubble = range(classes) if table.flow_control == "bubble" else ()
    return ListedRoutes(routes, classes, tuple(bubble), table.per_terminal)


def naive(table, router, messages, message_packets=1, routing=None):
    twin = NaiveNetwork(table.topology, routing or listed(table), router, messages, message_packets)
    assert twin.run(LIMIT)
    return twin


def counted(histogram):
    return {cycles: int(n) for cycles, n in enumerate(histogram.bins) if n}


def assert_same(table, router, messages, message_packets=1, program=None):
    """Of a table, or of a program on its network that draws nothing that matters."""
    routing = None
    if program is not None:
        packets = message_packets * len(messages.target)
        routing = CompiledRoutes(program, table.topology, router.vcs, packets)
    twin = naive(table, router, messages, message_packets, routing)
    simulation = Simulation(
        table.topology,
        program or table_program(table),
        router,
        ClosedLoop(messages, message_packets=message_packets),
    )
    # what is on its last way may be counted ahead: look when it has arrived in both
    simulation.run(twin.now + 1)
    assert simulation.finished, simulation.blocked()
    counts = simulation.counts()
    terminals = table.topology.num_terminals
    finished = np.full(terminals, -1)
    by_source, by_target = np.zeros(terminals, dtype=int), np.zeros(terminals, dtype=int)
    for packet in twin.packets:
        finished[packet.target] = max(finished[packet.target], packet.delivered_at)
        by_source[packet.source] += packet.delivered_at
        by_target[packet.target] += packet.delivered_at
    assert counted(counts.latency) == Counter(p.delivered_at for p in twin.packets)
    inside = Counter(p.delivered_at - p.injected_at for p in twin.packets)
    assert counted(counts.network_latency) == inside
    assert dict(enumerate(counts.hops)).items() >= Counter(p.hops for p in twin.packets).items()
    np.testing.assert_array_equal(counts.finished_at, finished)
    np.testing.assert_array_equal(counts.latency_by_source, by_source)
    np.testing.assert_array_equal(counts.latency_by_target, by_target)
    np.testing.assert_array_equal(
        counts.vc_flits,
        np.array([port.flits for port in twin.channels]).reshape(-1, router.vcs),
    )


PRIORITIES = st.sampled_from(["round-robin", "age"])
