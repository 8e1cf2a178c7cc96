"""Laws of programs that choose anew, wait for the best, or turn on the way."""

from __future__ import annotations

import decision_programs as weigh
import numpy as np
import pytest
from decision_programs import decision_program
from engine_audits import audit
from hop_cases import nearer, program_of
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import grids, messages_of, numbers, routers

from routelab.api import Demand, HopProgram, needed_classes, pack_tables
from routelab.kernels.hops import HOPS, WAYPOINT, hop_kernel, inject_kernel
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import ClosedLoop, OpenLoop
from routelab.toolkit import build_grid


@st.composite
def restless(draw):
    """A network, a program that ranks anew all the time, and settings."""
    topology = draw(grids().filter(lambda grid: grid.num_terminals > 1))
    ways = nearer(topology)
    ends = topology.endpoints.tolist()
    joined = all(ways(s, t) for s in ends for t in ends if s != t)
    topology = topology if joined else build_grid("grid", (3, 3), True, terminals=2)
    what = draw(st.sampled_from([weigh.CHANNEL_FLITS, weigh.CLASS_PACKETS, weigh.WAITING_FLITS]))
    program = decision_program(
        topology,
        what,
        places=draw(st.booleans()),
        turns=draw(st.booleans()),
        ranking="best",
        again=True,
        waiting=True,
    )
    lanes = draw(st.integers(1, 2))
    return topology, program, draw(routers(vcs=lanes * needed_classes(program)))


@settings(max_examples=40)
@given(restless(), st.floats(0.1, 1.0), st.integers(0, 9))
def test_who_chooses_anew_in_every_cycle_loses_neither_flits_nor_credits(case, load, seed):
    topology, program, router = case
    demand = Demand.uniform(topology, "")
    simulation = Simulation(topology, program, router, OpenLoop(demand, load), seed=seed)
    generated = ejected = 0
    for cycles in (1, 2, 3, 5, 8, 13, 40, 200):
        sample = simulation.run(cycles)
        generated += sample.generated_flits
        ejected += sample.ejected_flits
        room = audit(simulation)
        assert room.min() >= 0
        assert np.all(room.sum(axis=2) == router.capacity)
        inside = sample.packets_in_network * router.packet_flits
        assert generated == sample.packets_waiting * router.packet_flits + inside + ejected
    assert simulation.blocked() is None


@settings(max_examples=40)
@given(restless(), st.integers(0, 9), st.data())
def test_a_run_of_restless_packets_ends_empty(case, seed, data):
    topology, program, router = case
    count = topology.num_terminals
    places = st.lists(st.integers(0, count - 1), max_size=4)
    lists = [data.draw(places) for _ in range(count)]
    simulation = Simulation(topology, program, router, ClosedLoop(messages_of(lists)), seed=seed)
    simulation.run(5000)
    # what was counted ahead has arrived, and all credits are back
    simulation.run(500)
    assert simulation.finished
    room = audit(simulation)
    assert np.all(room[:, :, 0] == router.capacity)
    channels = topology.num_channels
    waiting = simulation._engine.visible_queues[-channels - 1 : -1]
    assert not waiting[:, 0].any()
    assert simulation.counts().latency.total == sum(map(len, lists))


@pytest.mark.parametrize("switching", ["virtual-cut-through", "wormhole"])
@pytest.mark.parametrize("ranking", ["best", "best-or-escape"])
def test_the_engine_adds_the_occupancy_of_the_class(ranking, switching):
    """It comes to the same whether the engine adds it or hop does, to the last random draw."""
    torus = build_grid("torus", (4, 4), wrap=True, terminals=2)
    unit = weigh.CLASS_PACKETS if switching == "virtual-cut-through" else weigh.CLASS_FLITS
    more = {"ranking": ranking, "escapes": True, "places": False}
    results = []
    for what, by_occupancy in ((unit, False), (weigh.NOTHING, True), (weigh.NOTHING, False)):
        program = decision_program(torus, what, by_occupancy=by_occupancy, **more)
        router = Router(vcs=2 * needed_classes(program), packet_flits=2, switching=switching)
        demand = Demand.uniform(torus, "")
        simulation = Simulation(torus, program, router, OpenLoop(demand, 0.9), seed=2)
        simulation.run(2000)
        results.append(numbers(simulation.counts()))
    if ranking == "best":
        assert results[0] == results[1]
    assert results[1] != results[2]


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("fifo", [0, 2])
def test_who_waits_in_a_circle_and_asks_again_is_deadlocked_in_the_end(fixed, fifo):
    ring = build_grid("torus", (4,), wrap=True)
    ways = [
        c
        for s in range(4)
        for c in range(ring.num_channels)
        if ring.channel_source[c] == s and ring.channel_target[c] == (s + 1) % 4
    ]
    more = {"fixed": fixed, "ranking": "best" if fixed else "room"}
    program = program_of(ring, lambda s, t, vc: [[(ways[s], 0, 0)]], 1, again=True, **more)
    demand = Demand.permutation((np.arange(4) + 2) % 4, "two clockwise")
    router = Router(vcs=1, buffer_flits=2, priority="random", output_buffer_flits=fifo, speedup=1)
    simulation = Simulation(ring, program, router, OpenLoop(demand, 1.0))
    simulation.run(500)
    assert simulation.blocked() is None
    simulation.run(9_500)
    blocked = simulation.blocked()
    assert blocked is not None
    assert blocked.kind == "deadlock"
    assert {channel for channel, _ in blocked.cycle} == set(ways)


def turning(waypoint, at=1):
    """Up a ring of five on one class a hop; after `at` hops the waypoint is set."""

    @hop_kernel
    def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
        if packets[packet, HOPS] == at:
            packets[packet, WAYPOINT] = waypoint
        out[0, 0], out[0, 1], out[0, 2] = 2 * switch, vc + 1, 0
        return 1

    return hop


@inject_kernel
def next_door(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet, WAYPOINT] = 1
    return 0


@pytest.mark.parametrize(
    ("waypoint", "at", "phases", "is_valid"),
    [
        (9, 1, 2, False),  # no switch
        (-2, 1, 2, False),
        (1, 1, 2, False),  # the packet is there
        (3, 1, 1, False),  # the program has one phase
        (4, 2, 2, False),  # the packet has passed its waypoint
        (2, 1, 2, True),
        (-1, 1, 2, True),
    ],
)
def test_a_waypoint_that_hop_may_not_set_ends_the_run(waypoint, at, phases, is_valid):
    ring = build_grid("torus", (5,), wrap=True)
    assert ring.channel_target[::2].tolist() == [1, 2, 3, 4, 0]
    program = HopProgram(
        hop=turning(waypoint, at),
        tables=pack_tables(ring),
        vc_classes=4,
        phases=phases,
        inject=next_door if at == 2 else None,
    )
    demand = Demand.permutation([3, -1, -1, -1, -1], "one way")
    simulation = Simulation(ring, program, Router(vcs=8), OpenLoop(demand, 0.2), seed=1)
    simulation.run(100)
    blocked = simulation.blocked()
    if is_valid:
        assert blocked is None
        assert set(np.flatnonzero(simulation.counts().hops)) == {3}
    else:
        assert blocked.kind == "no-route"
