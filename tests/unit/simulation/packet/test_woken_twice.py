"""A packet that waits for several things at once moves once."""

import numpy as np
import pytest
from engine_audits import audit

from routelab.api import Demand
from routelab.routing.routing import Routing
from routelab.simulation import OpenLoop, Router, Simulation
from routelab.toolkit import build_grid


@pytest.mark.parametrize("routing", ["rdr", "minimal-adaptive"])
@pytest.mark.parametrize("switching", ["virtual-cut-through", "wormhole"])
def test_packets_of_several_flits_go_no_farther_than_they_have_to(routing, switching):
    network = build_grid("torus", (6, 6), wrap=True)
    router = Router(vcs=2, buffer_flits=8, packet_flits=4, switching=switching)
    if switching == "wormhole":
        router = router.model_copy(update={"vcs": 4})
        routing = "minimal-adaptive~escape=dateline"
    program = Routing.from_name(routing).prepare(network, router.vcs)
    demand = Demand.uniform(network, "everybody to all others")
    simulation = Simulation(network, program, router, OpenLoop(demand, 1.0), seed=3)
    for _ in range(20):
        sample = simulation.run(200)
        assert simulation.blocked() is None
        assert (audit(simulation).sum(axis=2) == router.capacity).all()
    counts = simulation.counts()
    assert len(counts.hops) <= 7
    assert sample.ejected_packets > 0
    # what arrived crossed as many channels as its hops say; the rest is still on its way
    arrived = int((counts.hops * np.arange(len(counts.hops))).sum()) * router.packet_flits
    inside = sample.packets_in_network * 6 * router.packet_flits
    assert arrived <= counts.channel_flits.sum() <= arrived + inside
