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


@settings(max_examples=40)
@given(cases(switching="virtual-cut-through", priority="age"), PRIORITIES)
@example((TORUS, patient(TORUS), SHORT_FIFOS, 1.0, 0), "round-robin")
def test_results_are_those_of_ranking_in_every_cycle(case, priority):
    topology, program, router, load, seed = case
    router = router.model_copy(update={"priority": priority})
    results = []
    for again in (at.RANK_ON_CHANGE, at.RANK_EACH_CYCLE):
        simulation = running(topology, program, router, load, seed)
        assert simulation._engine.setting[at.S_REPEAT] == at.RANK_ON_CHANGE
        simulation._engine.setting[at.S_REPEAT] = again
        simulation.run(400)
        results.append(numbers(simulation.counts()))
    assert results[0] == results[1]


@settings(max_examples=20)
@given(cases(switching="virtual-cut-through", priority="age"))
def test_a_switch_watches_what_its_stalled_queues_watch(case):
    simulation = running(*case)
    engine = simulation._engine
    for _ in range(40):
        simulation.run(5)
        for queue in np.flatnonzero(engine.queues["wait_state"] == at.STALLED):
            watch, port = engine.watches[queue], engine.queues["port"][queue]
            assert (watch["low_penalty_bits"] | watch["high_penalty_bits"]) & ~engine.watched_bits[
                engine.inputs["switch"][port]
            ] == 0


@pytest.mark.parametrize("ranking", ["best", "room"])
@pytest.mark.parametrize("fifo", [0, 8])
def test_fixed_candidates_change_the_work_and_not_the_performance(ranking, fifo):
    torus = build_grid("torus", (4, 4), wrap=True, terminals=2)
    router = Router(vcs=4, packet_flits=4, buffer_flits=16, output_buffer_flits=fifo, speedup=1)
    performance, work = [], []
    for fixed in (False, True):
        program = patient(torus, ranking=ranking, fixed=fixed)
        simulation = running(torus, program, router, 0.6, 1)
        simulation.run(1000)
        simulation.reset()
        simulation.run(15_000)
        counts = simulation.counts()
        performance.append(
            [counts.ejected.sum() / 15_000, counts.latency.sum / counts.latency.total]
        )
        work.append(simulation.examined)
    np.testing.assert_allclose(performance[0], performance[1], rtol=0.03)
    assert work[1] < work[0]
