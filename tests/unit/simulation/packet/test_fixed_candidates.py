"""Programs with fixed candidates: packets are examined only if their choice may differ."""

from __future__ import annotations

import decision_programs as weigh
import numpy as np
import pytest
from decision_programs import decision_program
from hop_cases import nearer
from hypothesis import example, given, settings
from hypothesis import strategies as st
from simulated import grids, numbers, routers
from twins import PRIORITIES

from routelab.api import Demand, needed_classes
from routelab.kernels.hops import CAPACITY, CREDITS
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import OpenLoop
from routelab.toolkit import build_grid


def patient(topology, **more):
    """Packets wait for the shortest queue of all shortest ways; candidates are fixed."""
    more = {"ranking": "best", "again": True, "fixed": True, "by_occupancy": True} | more
    return decision_program(topology, weigh.NOTHING, **more)


TORUS = build_grid("torus", (3, 3), True, terminals=2)
SHORT_FIFOS = Router(
    vcs=2, buffer_flits=3, packet_flits=3, speedup=2, output_buffer_flits=3, priority="round-robin"
)
"""A candidate becomes the best while its FIFO is full, which wakes nobody."""


@st.composite
def cases(draw, **fixed):
    """A network without failed pairs, a program, settings, a load and a seed."""
    topology = draw(grids().filter(lambda grid: grid.num_terminals > 1))
    ways, ends = nearer(topology), topology.endpoints.tolist()
    if not all(ways(s, t) for s in ends for t in ends if s != t):
        topology = build_grid("grid", (3, 3), True, terminals=2)
    program = patient(topology, places=draw(st.booleans()))
    lanes = draw(st.integers(1, 2))
    router = draw(routers(vcs=lanes * needed_classes(program), **fixed))
    return topology, program, router, draw(st.floats(0.2, 1.0)), draw(st.integers(0, 9))


def running(topology, program, router, load, seed):
    demand = Demand.uniform(topology, "")
    return Simulation(topology, program, router, OpenLoop(demand, load), seed=seed)


def best_with_room(simulation, queue):
    """When the channels of the candidates of least cost are idle; of those with room."""
    engine, vcs = simulation._engine, simulation.router.vcs
    begin = queue * simulation.program.candidates
    costs, room, idle = [], [], []
    for row in engine.candidates[begin : begin + engine.queues["choices"][queue]]:
        name = engine.class_of[row["first"] - row["out"] * vcs]
        places = row["out"] * vcs + np.flatnonzero(engine.class_of == name)
        taken = engine.public[places, CAPACITY] - engine.public[places, CREDITS]
        costs.append(row["penalty"] + taken.sum())
        room.append(engine.space["credits"][places].max() > 0)
        channel = engine.outputs[row["out"]]
        idle.append(max(channel["free_at"] - channel["slack"], channel["taken_until"]))
    return np.array(idle)[(np.array(costs) == min(costs)) & room]


def due(engine, first, last):
    """Which queues are examined in any case in cycles from `first` to `last`."""
    rows = np.arange(first, last + 1) & int(engine.setting[at.S_MASK])
    bits = np.unpackbits(engine.heads[rows].view(np.uint8), axis=1, bitorder="little")
    return bits[:, : len(engine.queues)].any(axis=0)


@settings(max_examples=40)
@given(cases(switching="virtual-cut-through"))
@example((TORUS, patient(TORUS), SHORT_FIFOS, 1.0, 0))
def test_a_packet_sleeps_only_while_none_of_its_best_candidates_can_be_taken(case):
    simulation = running(*case)
    engine = simulation._engine
    for _ in range(60):
        simulation.run(3)
        now = simulation.now
        # a packet whose port is busy is examined when the port is idle
        sleeps = engine.inputs["free_at"][engine.queues["port"]] < now
        sleeps &= (engine.queues["waiting"] == 2) & ~due(engine, now, now)
        for queue in np.flatnonzero(sleeps):
            if engine.queues["choices"][queue] > 1:
                for idle in best_with_room(simulation, queue):
                    assert due(engine, now, idle)[queue]


@settings(max_examples=40)
@given(cases(switching="virtual-cut-through", priority="age"), PRIORITIES)
def test_results_are_those_of_ranking_in_every_cycle(case, priority):
    topology, program, router, load, seed = case
    router = router.model_copy(update={"priority": priority})
    found = []
    for again in (at.RANK_ON_CHANGE, at.RANK_AGAIN):
        simulation = running(topology, program, router, load, seed)
        assert simulation._engine.setting[at.S_AGAIN] == at.RANK_ON_CHANGE
        simulation._engine.setting[at.S_AGAIN] = again
        simulation.run(400)
        found.append(numbers(simulation.counts()))
    assert found[0] == found[1]


@pytest.mark.parametrize("ranking", ["best", "room"])
@pytest.mark.parametrize("fifo", [0, 8])
def test_fixed_candidates_change_the_work_and_not_the_performance(ranking, fifo):
    torus = build_grid("torus", (4, 4), wrap=True, terminals=2)
    router = Router(vcs=4, packet_flits=4, buffer_flits=16, output_buffer_flits=fifo, speedup=1)
    found, work = [], []
    for fixed in (False, True):
        program = patient(torus, ranking=ranking, fixed=fixed)
        simulation = running(torus, program, router, 0.6, 1)
        simulation.run(1000)
        simulation.reset()
        simulation.run(15_000)
        counts = simulation.counts()
        found.append([counts.ejected.sum() / 15_000, counts.latency.sum / counts.latency.total])
        work.append(simulation.examined)
    np.testing.assert_allclose(found[0], found[1], rtol=0.03)
    assert work[1] < work[0]
