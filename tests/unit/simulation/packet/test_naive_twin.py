"""The packet engine delivers every packet in the cycle in which its naive twin does."""

from __future__ import annotations

from dataclasses import replace

from deadlock_cases import torus_table
from engine_audits import audit, audit_fifos
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_hops import CompiledRoutes
from simulated import layered_tables, line, line_table, messages_of, messages_on, routers
from twins import PRIORITIES, assert_same, naive

from routelab.kernels.hops import DESTINATION, SOURCE, WAYPOINT, inject_kernel
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.tables import table_program
from routelab.simulation.packet.traffic import ClosedLoop


@st.composite
def fifos(draw, flits, packets):
    """No FIFOs, or FIFOs of some packets; the twin knows a speed-up for packets of one flit."""
    queue = draw(st.sampled_from([0, packets * flits, (packets + 1) * flits + 1]))
    speedup = draw(st.integers(1, 3)) if queue and flits == 1 else 1
    return {"output_buffer_flits": queue, "speedup": speedup}


@settings(max_examples=100)
@given(layered_tables(), st.integers(1, 3), st.data())
def test_engine_and_twin_agree_on_any_network(table, message_packets, data):
    router = data.draw(
        routers(
            vcs=table.virtual_channels,
            priority=data.draw(PRIORITIES),
            output_buffer_flits=0,
            speedup=1,
        )
    )
    assert_same(table, router, data.draw(messages_on(table)), message_packets)


@settings(max_examples=50)
@given(layered_tables(), st.integers(1, 2), st.integers(1, 3), st.integers(1, 6), st.data())
def test_engine_and_twin_agree_on_output_fifos(table, lanes, speedup, queue, data):
    """Packets of one flit at any speed-up; of several without one."""
    flits = 1 if speedup > 1 else data.draw(st.integers(1, min(queue, 4)))
    router = data.draw(
        routers(
            vcs=lanes * table.virtual_channels,
            priority=data.draw(PRIORITIES),
            output_buffer_flits=queue,
            speedup=speedup,
            packet_flits=flits,
        )
    )
    assert_same(table, router, data.draw(messages_on(table)))


@inject_kernel
def by_a_third_switch(tables, reals, packets, packet, queues, hop, random, out):
    """A waypoint that follows from the ends; the source or the target for some."""
    packets[packet, WAYPOINT] = packets[packet, SOURCE] * packets[packet, DESTINATION] % 9
    return 0


@settings(max_examples=40)
@given(st.booleans(), st.integers(1, 3), st.data())
def test_engine_and_twin_agree_on_waypoints(bubble, flits, data):
    """A second phase begins at the waypoint, on virtual channels of its own."""
    table = torus_table(3, 3)
    program = replace(
        table_program(table),
        inject=by_a_third_switch,
        phases=2,
        max_hops=8,
        bubble=(0, 1) if bubble else (),
    )
    # on rings of three no way takes two hops of one ring: without a bubble, too, nothing blocks
    router = data.draw(
        routers(
            vcs=2,
            priority=data.draw(PRIORITIES),
            packet_flits=flits,
            buffer_flits=2 * flits,
            **data.draw(fifos(flits, packets=2)),
            switching="virtual-cut-through",
        )
    )
    assert_same(table, router, data.draw(messages_on(table, most=3)), program=program)


def test_an_output_queue_is_filled_at_the_speed_of_its_channel():
    """Two terminals send packets of two flits to one of them; the queue holds one packet."""
    network = line(2, terminal_switch=[0, 1, 1])
    router = Router(vcs=1, packet_flits=2, buffer_flits=2, output_buffer_flits=2)
    assert_same(line_table(network), router, messages_of([[], [1], [1, 1]]))


def test_a_packet_crosses_to_a_fifo_without_a_credit_behind_the_channel():
    """The first packet fills the next buffer; the FIFO takes the second, another buffer's front."""
    network = line(2, terminal_switch=[0, 0, 1])
    table = line_table(network)
    messages = messages_of([[2], [2], []])
    waits = {}
    for fifo in (0, 2):
        router = Router(
            vcs=1,
            buffer_flits=1,
            link_delay=50,
            router_delay=2,
            output_buffer_flits=fifo,
            speedup=1,
        )
        simulation = Simulation(network, table_program(table), router, ClosedLoop(messages))
        simulation.run(20)
        waits[fifo] = int(audit_fifos(simulation)[0, 0, 1])
        assert audit(simulation)[0, 0].tolist() == [0, 0, 1, 0]
    assert waits == {0: 0, 2: 1}


def test_a_virtual_channel_can_be_taken_in_the_cycle_after_it_was_left():
    """Two terminals send over one channel, two allocations a cycle."""
    network = line(2, terminal_switch=[0, 0, 1])
    router = Router(
        vcs=1,
        packet_flits=2,
        buffer_flits=3,
        switching="wormhole",
        injection_delay=2,
        speedup=2,
        output_buffer_flits=2,
    )
    assert_same(line_table(network), router, messages_of([[2], [2, 0], []]))


@settings(max_examples=100)
@given(st.sampled_from([(3, 3), (4, 3)]), st.integers(1, 4), st.integers(2, 3), st.data())
def test_engine_and_twin_agree_under_bubble_flow_control(size, flits, packets, data):
    table = torus_table(*size)
    router = data.draw(
        routers(
            vcs=data.draw(st.integers(1, 2)),
            priority=data.draw(PRIORITIES),
            packet_flits=flits,
            buffer_flits=packets * flits,
            **data.draw(fifos(flits, packets)),
            switching="virtual-cut-through",
        )
    )
    assert_same(table, router, data.draw(messages_on(table)))


@settings(max_examples=30)
@given(layered_tables(), routers(output_buffer_flits=0, speedup=1, switching="wormhole"), st.data())
def test_the_twin_runs_compiled_functions_as_it_runs_lists(table, router, data):
    timed = router.model_copy(update={"vcs": table.virtual_channels, "priority": "round-robin"})
    messages = data.draw(messages_on(table))
    compiled = CompiledRoutes(table_program(table), table.topology, timed.vcs, len(messages.target))
    ways = [naive(table, timed, messages, routing=r).packets for r in (None, compiled)]
    assert [p.delivered_at for p in ways[0]] == [p.delivered_at for p in ways[1]]
