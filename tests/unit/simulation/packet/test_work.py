"""How often the engine looks at a queue: work is counted, not time."""

from functools import cache

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from simulated import line, line_table

from routelab.api import Demand
from routelab.routing.routing import Routing
from routelab.routing.table_program import table_program
from routelab.simulation import OpenLoop, Router, Simulation
from routelab.simulation.packet.kernels import cycle
from routelab.simulation.packet.kernels.arrays import engine_at
from routelab.toolkit import build_grid


def looks(load, cycles=4000):
    """Looks at queues, and moves of packets: from queue to queue and out of the network."""
    network = build_grid("torus", (8, 8), wrap=True)
    program = Routing.from_name("dimension-order").prepare(network, 4)
    demand = Demand.uniform(network, "everybody to all others")
    simulation = Simulation(network, program, Router(), OpenLoop(demand, load))
    sample = simulation.run(cycles)
    return simulation.examined, sample.flit_hops + sample.ejected_flits


def test_idle_queues_are_not_looked_at():
    assert looks(0.0)[0] == 0
    looked, moves = looks(0.01)
    # at this load hardly a packet meets another: one look a move
    assert moves <= looked <= 1.1 * moves


def test_waiting_packets_are_not_asked_every_cycle():
    looked, moves = looks(1.0)
    # 64 switches with 20 queues each, all full: asking all of them would be 30 looks a move
    assert looked <= 6 * moves


def test_a_unit_alone_in_an_output_fifo_needs_no_slot():
    """One terminal sends to another as fast as the channels between them: nothing queues."""
    network = line(3, terminal_switch=np.arange(3))
    demand = Demand.create(
        rate=[1.0, 0.0, 0.0],
        part_start=[0, 1, 1, 1],
        part_share=[1.0],
        part_set=[0],
        set_start=[0, 1],
        members=[2],
        to_self=False,
        convention="from the first to the last",
    )
    table = table_program(line_table(network))
    simulation = Simulation(network, table, Router(), OpenLoop(demand, 1.0))
    slots = simulation._engine.fifo_slots
    slots[:] = -1
    sample = simulation.run(1000)
    assert sample.flit_hops > 1900
    assert np.all(slots == -1)


@njit
def collect_scheduled(addresses, now):
    return cycle._collect_scheduled(engine_at(addresses), now)


@cache
def idle_ring():
    """A ring of nine switches, where nothing is sent."""
    network = build_grid("torus", (9,), wrap=True)
    program = Routing.from_name("dimension-order").prepare(network, 4)
    traffic = OpenLoop(Demand.uniform(network, "everybody to all others"), 0.0)
    return Simulation(network, program, Router(), traffic)


QUEUES = 3 * 4 * 9
"""Two channels and a terminal at each switch of the ring, with four lanes each."""


@given(st.sets(st.integers(0, QUEUES - 1)) | st.just(set(range(QUEUES))))
def test_exactly_the_queues_of_a_cycle_are_collected_in_order(queues):
    simulation = idle_ring()
    engine = simulation._engine
    assert len(engine.queues) == QUEUES
    for queue in queues:
        engine.scheduled[5, queue // 64] |= np.uint64(1) << np.uint64(queue % 64)
    count = collect_scheduled(simulation._addresses, 5)
    assert engine.active["queue"][:count].tolist() == sorted(queues)
    assert not engine.scheduled.any()
