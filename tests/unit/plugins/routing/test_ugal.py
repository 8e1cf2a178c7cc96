"""UGAL: its rules to the flit, what it gains and what it costs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hop_cases import distances

from routelab.api import Demand, run_tables
from routelab.deadlock.hop_checker import check_hop_routing
from routelab.kernels import hops as abi
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.measurement.measure import measure_simulation
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import OpenLoop
from routelab.testing.walks import Walker
from routelab.toolkit import build_grid


def queue_of(run, kind, channel, vc):
    """What one of the queues holds, in flits, of two virtual channels and four-flit packets."""
    _, queues, buffers = run
    rows = queues[2 * channel : 2 * channel + 2]
    taken = 4 * (rows[:, abi.CAPACITY] - rows[:, abi.CREDITS])
    inside = queues[buffers + channel, abi.FRONT_FLITS] if len(queues) > buffers else 0
    return {
        "class": taken[vc],
        "channel": taken.sum(),
        "waiting": inside,
        "output": taken.sum() + inside,
    }[kind]


@pytest.mark.parametrize("mode", ["local", "global"])
@pytest.mark.parametrize("threshold", [0, 30])
@pytest.mark.parametrize("kind", ["output", "channel", "class", "waiting"])
def test_it_takes_the_way_with_the_shorter_queue_times_hops(kind, threshold, mode) -> None:
    """On rings of five there are no ties: the base has one route. Globally all its queues count."""
    torus = build_grid("torus", (5, 5), wrap=True)
    text = f"ugal~mode={mode},queue={kind},threshold={threshold}"
    program = Routing.from_name(text).prepare(torus, 2)
    assert program.waiting == (kind in ("output", "waiting"))
    run = run_tables(program, torus, 2, capacity=8, unit_flits=4, packet_flits=4)
    base = Walker(Routing.from_name("dimension-order").prepare(torus, 1), torus)
    least = distances(torus)
    rng = np.random.default_rng(5)
    out = np.zeros((program.candidates, 3), np.int32)
    chosen = []
    for word in rng.integers(2**64, size=600, dtype=np.uint64):
        random = abi.RandomWord(word)
        run.queues[: run.buffers, abi.CREDITS] = rng.integers(9, size=run.buffers)
        if program.waiting:
            run.queues[run.buffers : -1, abi.FRONT_FLITS] = rng.integers(50, size=100)
        source, target = rng.choice(25, size=2, replace=False).tolist()
        packets = np.zeros((1, abi.PACKET_COLUMNS), np.int32)
        packets[0, [abi.SOURCE, abi.TARGET, abi.DESTINATION]] = source, target, target
        packets[0, abi.WAYPOINT] = -1
        before = packets.copy()
        program.inject(
            run.tables, program.reals.copy(), packets, 0, run.queues, program.hop, random, out
        )
        via = abi.pick_word(word, 25)
        expected = -1
        if via not in (source, target):
            first = [base.walk(source, there).hops[0] for there in (target, via)]
            queue = [queue_of(run, kind, candidate.channel, candidate.vc) for candidate in first]
            around = least[source][via] + least[via][target]
            cost = [queue[0] * least[source][target], queue[1] * around]
            if mode == "global":
                cost = [
                    sum(
                        queue_of(run, kind, hop.channel, phase)
                        for phase, (a, b) in enumerate(legs)
                        for hop in base.walk(a, b).hops
                    )
                    for legs in ([(source, target)], [(source, via), (via, target)])
                ]
            if cost[0] > cost[1] + threshold:
                expected = via
        assert packets[0, abi.WAYPOINT] == expected
        before[0, abi.WAYPOINT] = expected
        np.testing.assert_array_equal(packets, before)
        chosen.append(expected >= 0)
    assert 0.005 < np.mean(chosen) < 0.6


def saturated(text, demand, torus):
    """Flits a cycle that a terminal gets where all send as fast as they can."""
    router = Router(router="input-queued", vcs=4)
    program = Routing.from_name(text).prepare(torus, 4)
    simulation = Simulation(torus, program, router, OpenLoop(demand, 1.0), seed=1)
    simulation.run(2000)
    simulation.reset()
    sample = simulation.run(3000)
    assert simulation.blocked() is None
    return sample.ejected_flits / 3000 / torus.num_terminals


@pytest.fixture(scope="module")
def torus():
    return build_grid("torus", (8, 8), wrap=True)


@pytest.fixture(scope="module")
def tornado(torus):
    target = (torus.coordinates + np.array([3, 0])) % 8
    return Demand.permutation(np.ravel_multi_index(target.T, (8, 8)), "three to the right")


@pytest.mark.parametrize("queue", ["output", "channel", "class", "waiting"])
def test_tornado_is_spread_as_by_valiant(torus, tornado, queue) -> None:
    """Minimal ways load one direction of one dimension: 1 / 3, whatever the router."""
    minimal = saturated("dimension-order", tornado, torus)
    assert minimal == pytest.approx(1 / 3, abs=0.01)
    ugal = saturated(f"ugal~queue={queue}", tornado, torus)
    assert ugal > 1.1 * minimal
    assert ugal > 0.95 * saturated("valiant", tornado, torus)


def test_uniform_traffic_costs_little(torus) -> None:
    """Valiant halves what the network can carry."""
    uniform = Demand.uniform(torus, "")
    minimal, valiant, ugal = (
        saturated(text, uniform, torus) for text in ("dimension-order", "valiant", "ugal")
    )
    assert valiant < 0.7 * minimal
    assert ugal > 0.85 * minimal


def test_a_dragonfly_has_the_relations_of_the_literature() -> None:
    # Kim et al., ISCA 2008: each group sends to the next one, over one link for a * p terminals
    network = load("topology", "dragonfly~h=2").build()
    options = SimulationSettings(router="combined", vcs=4, buffer_flits=16, max_cycles=6400)
    accepted = {}
    for pattern in ("uniform", "group-shift"):
        demand = load("traffic", pattern).demand(network, 0)
        for text in ("", "valiant~base=", "ugal~base=", "ugal~mode=global,base="):
            program = Routing.from_name(f"{text}dragonfly-minimal").prepare(network, options.vcs)
            run = Simulation(network, program, options.routers(), OpenLoop(demand, 0.9), seed=1)
            accepted[pattern, text] = measure_simulation(run, options).accepted.value
    assert accepted["group-shift", ""] == pytest.approx(1 / (4 * 2), rel=0.01)
    valiant = accepted["group-shift", "valiant~base="]
    assert 0.47 < valiant < 0.57
    assert valiant * 0.95 < accepted["group-shift", "ugal~mode=global,base="] < valiant * 1.1
    assert 0.25 < accepted["group-shift", "ugal~base="] < valiant * 0.9
    for text in ("", "ugal~base=", "ugal~mode=global,base="):
        assert accepted["uniform", text] == pytest.approx(0.9, rel=0.01)
    assert 0.47 < accepted["uniform", "valiant~base="] < 0.57


@pytest.mark.parametrize(
    ("base", "vcs", "proof"),
    [
        ("dimension-order", 2, "bubble"),
        ("[dimension-order~deadlock=dateline]", 4, "acyclic"),
        ("minimal-adaptive", 4, "duato"),
    ],
)
def test_it_is_proven_as_its_base_is_on_a_torus(base, vcs, proof) -> None:
    part = Routing.from_name(f"ugal~base={base}")
    assert part.proof == proof
    torus = build_grid("torus", (4, 3), wrap=True)
    assert part.supports(torus, vcs) is None
    assert part.supports(torus, vcs - 1) is not None
    verdict = check_hop_routing(part, torus, vcs)
    assert verdict.proven, verdict.reason


def test_a_network_whose_distances_are_too_many_is_refused() -> None:
    large = SimpleNamespace(endpoints=np.arange(5001))
    assert Routing.from_name("ugal").supports(large, 8) == (
        "5001 switches with terminals: the table of their distances would take 100 MB, at most "
        "5000 switches are supported"
    )
