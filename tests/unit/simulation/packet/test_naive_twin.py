"""The packet engine delivers every packet in the cycle in which its naive twin does."""

from __future__ import annotations

from dataclasses import replace

from deadlock_cases import torus_table
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import layered_tables, line, line_table, messages_of, messages_on, routers
from twins import PRIORITIES, assert_same

from routelab.kernels.hops import DESTINATION, SOURCE, WAYPOINT, inject_kernel
from routelab.routing.table_program import table_program
from routelab.simulation.packet.router import Router


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
