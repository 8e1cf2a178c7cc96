"""The hop-by-hop algorithms in the packet engine: far beyond saturation nothing stops or strays."""

from __future__ import annotations

import numpy as np
import pytest

from routelab.api.traffic import Demand
from routelab.routing.routing import Routing
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import OpenLoop
from routelab.toolkit import build_grid

ALGORITHMS = [
    ("dimension-order", 1),
    ("dimension-order~deadlock=dateline", 2),
    ("dimension-order~order=random", 2),
    ("valiant", 2),
    ("valiant~base=dor", 2),
    ("valiant~base=rdr", 4),
    ("romm", 2),
    ("rlb~deadlock=dateline", 4),
    ("rlbth", 2),
    ("goal", 3),
    ("rdr", 2),
    ("minimal-adaptive", 3),
    ("angara-adaptive", 2),
]
ADAPTIVE = ("goal", "rdr", "minimal-adaptive", "angara-adaptive")


@pytest.mark.parametrize(("text", "vcs"), ALGORITHMS)
def test_a_flooded_network_neither_deadlocks_nor_strays(text, vcs) -> None:
    torus = build_grid("torus", (6, 4), wrap=True, terminals=2)
    program = Routing.from_name(text).prepare(torus, vcs)
    router = Router(vcs=vcs, buffer_flits=4, packet_flits=2)
    demand = Demand.uniform(torus, "")
    simulation = Simulation(torus, program, router, OpenLoop(demand, 1.0), seed=4)
    simulation.run(1500)
    simulation.reset()
    sample = simulation.run(1500)
    counts = simulation.counts()
    assert simulation.blocked() is None
    # two terminals a switch at 1.0 are far more than a torus of 2 x 2 rings can carry
    assert 0.05 < sample.ejected_flits / 48 / 1500 < 0.95
    assert (counts.received > 0).all()
    assert np.flatnonzero(counts.hops).max(initial=0) <= program.max_hops
    if text in ADAPTIVE:
        assert 0 < counts.escape_hops < counts.packet_hops
    else:
        assert (counts.escape_hops > 0) == ("rdr" in text)


@pytest.mark.parametrize(
    ("text", "vcs"),
    [
        ("dimension-order~deadlock=dateline", 2),
        ("minimal-adaptive~escape=dateline", 3),
        ("goal", 3),
    ],
)
def test_datelines_hold_under_wormhole_switching(text, vcs) -> None:
    torus = build_grid("torus", (5, 4), wrap=True)
    program = Routing.from_name(text).prepare(torus, vcs)
    router = Router(vcs=vcs, buffer_flits=2, packet_flits=5, switching="wormhole")
    demand = Demand.uniform(torus, "")
    simulation = Simulation(torus, program, router, OpenLoop(demand, 1.0), seed=1)
    simulation.run(3000)
    assert simulation.blocked() is None
    assert simulation.run(500).ejected_packets > 0


def test_20_000_switches_fit() -> None:
    torus = build_grid("torus", (10, 10, 10, 10, 2), wrap=True)
    program = Routing.from_name("rdr").prepare(torus, 2)
    demand = Demand.uniform(torus, "")
    simulation = Simulation(torus, program, Router(vcs=2), OpenLoop(demand, 0.1), seed=1)
    simulation.run(40)
    hops = simulation.counts().hops
    mean = (hops * np.arange(len(hops))).sum() / hops.sum()
    # 2.5 in each ring of ten and 0.5 in the line of two; the nearest arrive first
    assert 0 < mean <= 10.6
