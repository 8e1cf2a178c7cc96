"""What must deadlock does, is found and is named; what is proven never does."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from deadlock_cases import clockwise_ring_table, random_table, ring
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import layered_tables, messages_on, reachable_demand, routers

import routelab
from routelab.api import UnsupportedError
from routelab.api.traffic import Demand, Messages
from routelab.deadlock import check_table
from routelab.routing.table_program import table_program
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import ClosedLoop, OpenLoop


def two_clockwise(flow_control, router, size=4):
    """Every terminal of a ring sends as fast as it can, two hops clockwise."""
    table = clockwise_ring_table(ring(size), 2, flow_control)
    demand = Demand.permutation((np.arange(size) + 2) % size, "two clockwise")
    return Simulation(table.topology, table_program(table), router, OpenLoop(demand, 1.0))


def assert_all_wait_for_each_other(simulation):
    blocked = simulation.blocked()
    assert blocked is not None
    assert blocked.kind == "deadlock"
    assert {vc for _, vc in blocked.cycle} == {0}
    channels = [channel for channel, _ in blocked.cycle]
    assert sorted(channels) == [0, 1, 2, 3]
    # each waits for the next
    assert all(b == (a + 1) % 4 for a, b in pairwise([*channels, channels[0]]))
    for channel in channels:
        assert simulation.topology.channel_name(channel) in blocked.text
    assert 0 < blocked.detected_at <= simulation.now
    after = simulation.run(500)
    assert after.flit_hops == after.ejected_flits == 0
    assert simulation.blocked().cycle == blocked.cycle


WAYS = [("virtual-cut-through", 1), ("wormhole", 2), ("wormhole", 3)]


@pytest.mark.parametrize("priority", ["round-robin", "age", "random"])
@pytest.mark.parametrize(("switching", "flits"), WAYS)
def test_four_packets_that_wait_in_a_circle_are_deadlocked(switching, flits, priority):
    """All start at once, and every packet fills the buffer that it comes to."""
    table = clockwise_ring_table(ring(4), 2)
    router = Router(
        router="input-queued",
        vcs=1,
        buffer_flits=1,
        packet_flits=flits,
        switching=switching,
        priority=priority,
    )
    messages = Messages.create(range(5), [2, 3, 0, 1])
    simulation = Simulation(table.topology, table_program(table), router, ClosedLoop(messages))
    simulation.run(100)
    assert not simulation.finished
    assert_all_wait_for_each_other(simulation)


@pytest.mark.parametrize("buffer_flits", [2, 8])
@pytest.mark.parametrize(("switching", "flits"), [*WAYS, ("virtual-cut-through", 2)])
@pytest.mark.parametrize("fifo", [0, 4])
def test_a_ring_on_one_virtual_channel_deadlocks_and_its_cycle_is_named(
    buffer_flits, switching, flits, fifo
):
    """At random: by age or in turn, steps can be so regular that no deadlock comes about."""
    router = Router(
        vcs=1,
        buffer_flits=buffer_flits,
        packet_flits=flits,
        switching=switching,
        priority="random",
        output_buffer_flits=fifo,
        speedup=1,
    )
    simulation = two_clockwise("plain", router)
    while simulation.blocked() is None and simulation.now < 50_000:
        simulation.run(50)
    assert_all_wait_for_each_other(simulation)


def test_a_bubble_is_refused_where_fifos_have_no_room_for_two_packets():
    with pytest.raises(UnsupportedError, match="raise output_buffer_flits to 2"):
        two_clockwise("bubble", Router(vcs=1, output_buffer_flits=1))


@pytest.mark.parametrize("buffer_flits", [2, 3, 8])
@pytest.mark.parametrize("size", [4, 5])
@pytest.mark.parametrize("fifo", [0, 2, 8])
def test_the_same_ring_with_a_bubble_does_not(buffer_flits, size, fifo):
    router = Router(
        vcs=1, buffer_flits=buffer_flits, output_buffer_flits=fifo, speedup=2 if fifo else 1
    )
    simulation = two_clockwise("bubble", router, size)
    simulation.run(2000)
    for _ in range(20):
        sample = simulation.run(100)
        assert simulation.blocked() is None
        # the ring's channels are loaded twice; the bubble costs at most one slot in a buffer
        assert sample.ejected_flits >= 100 * size * 0.5 / 3


@settings(max_examples=30)
@given(layered_tables(most_paths=2), st.data())
def test_tables_without_cycles_of_dependencies_never_block(table, data):
    router = data.draw(routers(vcs=table.virtual_channels))
    simulation = Simulation(
        table.topology, table_program(table), router, OpenLoop(reachable_demand(table), 1.0)
    )
    for _ in range(10):
        simulation.run(50)
        assert simulation.blocked() is None
    messages = data.draw(messages_on(table))
    closed = Simulation(table.topology, table_program(table), router, ClosedLoop(messages))
    closed.run(20_000)
    assert closed.finished


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 2), st.booleans())
def test_proven_tables_do_not_block(seed, flits, buffers, fifo):
    """Random tables under plain and bubble flow control, right and wrong ring claims."""
    table = random_table(seed)
    if not check_table(table).proven:
        return
    size = 2 if table.flow_control == "bubble" else 1
    router = Router(
        vcs=table.virtual_channels,
        packet_flits=flits,
        buffer_flits=flits * size * buffers,
        output_buffer_flits=fifo * flits * size * buffers,
        speedup=1,
    )
    simulation = Simulation(
        table.topology,
        table_program(table),
        router,
        OpenLoop(reachable_demand(table), 1.0),
        seed=seed,
    )
    for _ in range(10):
        simulation.run(60)
        assert simulation.blocked() is None


def test_more_hops_than_claimed_are_livelock():
    """A table that claims fewer hops than it takes is reported, with the packet's bound."""
    table = clockwise_ring_table(ring(6), 4, "bubble")
    program = replace(table_program(table), max_hops=3)
    demand = Demand.permutation([4, -1, -1, -1, -1, -1], "four clockwise")
    simulation = Simulation(table.topology, program, Router(vcs=1), OpenLoop(demand, 0.1))
    simulation.run(500)
    blocked = simulation.blocked()
    assert blocked is not None
    assert blocked.kind == "livelock"
    assert blocked.cycle == ()
    assert "3" in blocked.text


@pytest.mark.parametrize("fifo", [1, 2, 8])
@pytest.mark.parametrize("buffer_flits", [1, 2])
def test_nothing_moves_after_a_deadlock(buffer_flits, fifo):
    router = Router(vcs=1, buffer_flits=buffer_flits, output_buffer_flits=fifo)
    deadlocks = 0
    for size, hops in ((4, 2), (4, 3), (5, 3), (8, 4)):
        table = clockwise_ring_table(ring(size), hops)
        demand = Demand.permutation((np.arange(size) + hops) % size, "clockwise")
        simulation = Simulation(table.topology, table_program(table), router, OpenLoop(demand, 1.0))
        while simulation.blocked() is None and simulation.now < 2000:
            simulation.run(100)
        if simulation.blocked():
            deadlocks += 1
            assert simulation.run(500).flit_hops == 0
    assert deadlocks == (4 if buffer_flits == 1 else 0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_full_ring_whose_only_free_slot_is_on_its_way_is_no_deadlock(seed):
    """A unit has left an output queue of the ring, and its slot is free in the next cycle."""
    simulated = routelab.simulate("torus~dims=8x8", "dor", "tornado", loads=[0.8], seed=seed)
    assert simulated.curve["state"].tolist() == ["saturated"]
