"""A routing that leaves a packet without a way ends the run."""

from __future__ import annotations

import pytest
from hop_cases import nearer, program_of

from routelab.api import Demand
from routelab.kernels.hops import WAYPOINT, inject_kernel
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import OpenLoop
from routelab.toolkit import build_grid

RING = build_grid("torus", (5,), wrap=True)
AT, TO = 2, 4
"""From switch 0 to 4 by way of 1 and 2 … at 2 the algorithm goes wrong."""


@inject_kernel
def nowhere(tables, reals, packets, packet, queues, hop, random, out):
    packets[packet, WAYPOINT] = 99
    return 0


def upwards(switch):
    """The channel to the next switch."""
    (channel,) = (
        c
        for c in range(RING.num_channels)
        if RING.channel_source[c] == switch and RING.channel_target[c] == (switch + 1) % 5
    )
    return channel


def blocked_by(wrong, **more):
    """How a run ends whose algorithm answers `wrong` at one switch and is right elsewhere."""

    def answers(switch, target, vc):
        return [wrong if switch == AT else [(upwards(switch), 0, 0)]]

    program = program_of(RING, answers, 2, **more)
    demand = Demand.permutation([TO, -1, -1, -1, -1], "one way")
    router = Router(vcs=4)
    simulation = Simulation(RING, program, router, OpenLoop(demand, 0.2), seed=1)
    simulation.run(200)
    blocked = simulation.blocked()
    assert blocked is not None
    assert blocked.kind == "no-route"
    return blocked.text


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        [(upwards(AT), 0, 0)] * 9,  # more than the program declares
        [(-1, 0, 0)],
        [(10, 0, 0)],
        [(upwards(AT), 0, 0), (upwards(0), 0, 0)],  # leaves another switch
        [(upwards(AT), 2, 0)],
        [(upwards(AT), -1, 0)],
    ],
)
def test_an_invalid_answer_ends_the_run_and_names_the_packet(wrong):
    names = RING.switch_names
    assert f"no valid candidate for a packet from {names[0]} to {names[TO]}" in blocked_by(wrong)


def test_a_waypoint_that_is_no_switch_is_reported():
    ways = nearer(RING)
    program = program_of(
        RING,
        lambda switch, target, vc: [[(channel, 0, 0) for channel in ways(switch, target)]],
        1,
        inject=nowhere,
        phases=2,
    )
    demand = Demand.permutation([TO, -1, -1, -1, -1], "one way")
    simulation = Simulation(RING, program, Router(), OpenLoop(demand, 0.2), seed=1)
    simulation.run(100)
    assert simulation.blocked().kind == "no-route"
