"""Laws of how much a network can carry, whatever the routing and the pattern."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import between, layered_tables, line, line_table, reachable_terminals, routers

from routelab.api import Demand, RouteTable, Topology
from routelab.kernels.hops import WAYPOINT, inject_kernel, pick
from routelab.routing.routing import Routing
from routelab.routing.table_program import table_program
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import OpenLoop
from routelab.toolkit import build_grid


def dor(topology):
    return Routing.from_name("dor").table(topology)


def accepted(topology, program, router, demand, *, load=1.0, warmup=1000, cycles=3000, seed=0):
    """Counts of a run behind its warm-up, and the flits that a terminal got in a cycle."""
    simulation = Simulation(topology, program, router, OpenLoop(demand, load), seed=seed)
    simulation.run(warmup)
    simulation.reset()
    simulation.run(cycles)
    assert simulation.blocked() is None
    counts = simulation.counts()
    return counts, counts.ejected.sum() / (cycles * topology.num_terminals)


def shifted(topology, shift):
    """Every terminal of a torus with one a switch sends to the one that is `shift` away."""
    sizes = topology.attributes["dims"]
    target = np.ravel_multi_index(((topology.coordinates + shift) % sizes).T, sizes)
    return Demand.permutation(target, "by coordinate")


@inject_kernel
def anywhere(tables, reals, packets, packet, queues, hop, random, out):
    """Valiant's choice: every switch is as likely."""
    packets[packet, WAYPOINT] = pick(random, 64)
    return 0


def valiant(table):
    program = table_program(table)
    assert table.topology.num_switches == 64
    return replace(program, inject=anywhere, phases=2, max_hops=2 * program.max_hops, bubble=(0, 1))


@settings(max_examples=50)
@given(layered_tables(), st.data())
def test_no_channel_carries_more_than_it_can(table, data):
    """The least that any flow gets, times the flows of the busiest channel, is at most 1."""
    topology = table.topology
    target = [data.draw(st.sampled_from([-1, *others])) for others in reachable_terminals(table)]
    router = data.draw(routers(vcs=table.virtual_channels))
    cycles = 400
    simulation = Simulation(
        topology,
        table_program(table),
        router,
        OpenLoop(Demand.permutation(target, "one each"), 1.0),
    )
    simulation.run(cycles)
    counts = simulation.counts()
    # what has been let into a channel or its queue counts
    ahead = router.packet_flits + router.output_buffer_flits
    assert counts.channel_flits.max(initial=0) <= cycles + ahead
    for ends in (counts.injected, counts.ejected):
        assert ends.max(initial=0) <= cycles + ahead
    crossing = np.zeros(topology.num_channels, dtype=int)
    for terminal, other in enumerate(target):
        if other >= 0:
            way = table.paths(*between(table, terminal, other))[0]
            crossing[way] += router.packet_flits * counts.delivered[terminal]
    assert np.all(crossing <= counts.channel_flits)


def test_uniform_traffic_on_16x16_is_bound_by_the_bisection():
    """A quarter of all pairs crosses every cut of a ring: 16 / 8 flits a channel at load 1."""
    topology = build_grid("torus", (16, 16), wrap=True)
    demand = Demand.uniform(topology, "to all others")
    program = table_program(dor(topology))
    _, rate = accepted(topology, program, Router(), demand)
    bound = 8 / 16 * 255 / 256
    assert 0.75 * bound <= rate <= 1.01 * bound
    _, rate = accepted(topology, program, Router(), demand, load=0.3)
    assert rate == pytest.approx(0.3, abs=0.003)


@pytest.mark.parametrize("shift", [(3, 0), (4, 4), (1, 0), None])
def test_valiant_gets_at_most_half_of_any_pattern_over_eight_hops(shift):
    topology = build_grid("torus", (8, 8), wrap=True)
    demand = (
        Demand.uniform(topology, "to all others") if shift is None else shifted(topology, shift)
    )
    program = valiant(dor(topology))
    counts, rate = accepted(topology, program, Router(), demand)
    assert rate <= 0.5 * 1.01
    assert counts.hops.nonzero()[0].max() <= 16
    counts, rate = accepted(topology, program, Router(), demand, load=0.1, cycles=6000)
    assert rate == pytest.approx(0.1, abs=0.003)
    mean = counts.hops @ np.arange(len(counts.hops)) / counts.hops.sum()
    assert mean == pytest.approx(8.0, rel=0.01)


@settings(max_examples=60)
@given(routers(output_buffer_flits=0, speedup=1))
def test_one_virtual_channel_carries_a_buffer_per_round_trip(router):
    """A packet's room is taken from its head's departure until the credit for its tail."""
    table = line_table(line(2))
    counts, _ = accepted(
        table.topology,
        table_program(table),
        router.model_copy(update={"injection_delay": 1}),
        Demand.permutation([1, -1], "one flow"),
        load=1.0,
        warmup=200,
        cycles=2000,
    )
    piece = router.packet_flits // router.units_per_packet
    room = router.buffer_flits // piece * piece
    flow = counts.channel_flits[0] / 2000
    round_trip = router.link_delay + router.router_delay + (piece - 1) + router.credit_delay
    way_in = 1 + router.router_delay + (piece - 1) + router.credit_delay
    bound = min(1, room / round_trip, room / way_in)
    # a window may begin with a whole buffer of credits
    assert flow <= bound + max(room, router.packet_flits) / 2000
    assert flow >= 0.97 * bound


@pytest.mark.parametrize(
    ("ports", "saturation"), [(2, 0.7500), (3, 0.6825), (4, 0.6553), (8, 0.6184), (100, 0.5858)]
)
def test_head_of_line_blocking_of_one_fifo_an_input(ports, saturation):
    """Karol, Hluchyj and Morgan 1987 (doi 10.1109/TCOM.1987.1096719), Table I; 100 as infinite."""
    switch = Topology.create(
        num_switches=1, channel_source=[], channel_target=[], terminal_switch=[0] * ports
    )
    table = RouteTable.from_lengths(switch, [[0]], [])
    demand = Demand.uniform(switch, "to all, itself too", to_self=True)
    router = Router(router="input-queued", vcs=1, priority="random")
    cycles = 200_000 // ports
    _, rate = accepted(switch, table_program(table), router, demand, cycles=cycles)
    assert rate == pytest.approx(saturation, abs=0.01)


def merging():
    """Switches 0 … 3 in a row, all send to a second terminal at the last."""
    network = line(4, terminal_switch=[0, 1, 2, 3, 3])
    return line_table(network), Demand.permutation([4, 4, 4, 4, -1], "all to one")


def test_round_robin_halves_at_every_merge_and_age_does_not():
    """The parking lot: local fairness gives a flow half of what is left at every switch."""
    table, demand = merging()
    shares = {}
    for priority in ("round-robin", "age"):
        router = Router(vcs=1, priority=priority)
        counts, _ = accepted(
            table.topology,
            table_program(table),
            router,
            demand,
            load=0.5,
            warmup=4000,
            cycles=8000,
        )
        shares[priority] = counts.delivered[:4] / counts.delivered.sum()
    np.testing.assert_allclose(shares["round-robin"], [1 / 8, 1 / 8, 1 / 4, 1 / 2], atol=0.01)
    np.testing.assert_allclose(shares["age"], [1 / 4] * 4, atol=0.03)


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 5))
def test_a_full_source_queue_stalls_its_terminal(queue, message_packets, seed):
    table, demand = merging()
    router = Router(router="input-queued", vcs=1, injection_queue=queue * message_packets)
    simulation = Simulation(
        table.topology,
        table_program(table),
        router,
        OpenLoop(demand, 1.0, message_packets=message_packets),
        seed=seed,
    )
    generated = injected = 0
    for _ in range(40):
        sample = simulation.run(25)
        generated += sample.generated_flits
        injected += sample.injected_flits
        assert sample.packets_waiting == generated - injected
        assert sample.packets_waiting <= 4 * queue * message_packets
    # the receiver takes one a cycle; the rest is in seven buffers or waits
    assert generated <= 1000 + 4 * queue * message_packets + 7 * 8


@pytest.mark.parametrize("flits", [1, 4])
@pytest.mark.parametrize("switching", ["virtual-cut-through", "wormhole"])
def test_channels_of_half_the_capacity_carry_half(flits, switching):
    router = Router(vcs=1, buffer_flits=16 * flits, packet_flits=flits, switching=switching)
    rates = []
    for capacity in (1.0, 0.5, 0.25):
        table = line_table(line(3, channel_capacity=[1.0, capacity]))
        _, rate = accepted(
            table.topology,
            table_program(table),
            router,
            Demand.permutation([2, -1, -1], "one flow"),
            cycles=4000,
        )
        rates.append(3 * rate)
    np.testing.assert_allclose(rates, [1, 0.5, 0.25], rtol=0.005)
