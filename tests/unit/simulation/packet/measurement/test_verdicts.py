"""Verdicts on small networks whose capacity is known: the load that fills the busiest channel."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from routelab.api.traffic import Demand
from routelab.metrics.demand import channel_load_bound, ejection_bound
from routelab.routing.routing import Routing
from routelab.routing.table_program import table_program
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.measurement.measure import measure_simulation
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.simulation.packet.traffic import OpenLoop
from routelab.toolkit import build_grid

CASES = {
    # four flows over four pairs of channels
    "2x2": ("mesh", (2, 2), 1, [1, 3, 0, 2]),
    # two flows on some channels
    "swap": ("mesh", (2, 2), 1, [3, 2, 1, 0]),
    # two terminals of a switch share a route
    "2x2, two terminals": ("mesh", (2, 2), 2, [6, 7, 4, 5, 2, 3, 0, 1]),
    # two flows cross the middle
    "line": ("mesh", (4,), 1, [3, 2, 1, 0]),
    # three flows on each channel
    "ring": ("torus", (8,), 1, [3, 4, 5, 6, 7, 0, 1, 2]),
    # one full channel; most terminals send within their switch
    "one slow": ("mesh", (4, 2), 2, [4, 5, 3, 2, 0, 1, *(k ^ 1 for k in range(6, 16))]),
}


@cache
def case(name):
    """A network, its routes, its demand and its capacity."""
    family, dims, terminals, target = CASES[name]
    topology = build_grid(family, dims, wrap=family == "torus", terminals=terminals)
    table = Routing.from_name("dfsssp").table(topology)
    demand = Demand.permutation(np.array(target), "listed")
    bound = min(channel_load_bound(table, demand), ejection_bound(demand))
    return topology, table_program(table), demand, bound


def runs(name, share, seeds, **settings):
    """Runs at a share of the capacity, with several seeds."""
    topology, program, demand, bound = case(name)
    chosen = SimulationSettings(**settings)
    return [
        measure_simulation(
            Simulation(
                topology, program, chosen.routers(), OpenLoop(demand, bound * share), seed=seed
            ),
            chosen,
        )
        for seed in range(seeds)
    ]


def test_few_packets_suffice_for_a_small_network():
    """3,000 packets a terminal leave the accepted load uncertain by more than 2 %."""
    measurements = runs("2x2", 0.2, 20, packet_flits=4, max_cycles=60_000)
    assert [run.state for run in measurements] == ["stationary"] * 20
    assert any("wider than precision" in run.text for run in measurements)
    assert sum(run.accepted.low <= 0.2 <= run.accepted.high for run in measurements) >= 17


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("share", "cycles"), [(0.05, 20_000), (0.3, 20_000), (0.6, 60_000)])
def test_well_below_capacity_nearly_all_runs_are_stationary(name, share, cycles):
    states = [run.state for run in runs(name, share, 10, packet_flits=4, max_cycles=cycles)]
    assert "saturated" not in states
    assert states.count("stationary") >= 9


@pytest.mark.parametrize("name", [name for name in CASES if name != "2x2"])
@pytest.mark.parametrize("flits", [1, 4])
def test_above_capacity_no_run_is_stationary(name, flits):
    """Ten per cent are certain within 60,000 cycles; of five, a run may be undecided."""
    for share, least in ((1.05, 2), (1.1, 6)):
        measurements = runs(name, share, 6, packet_flits=flits, max_cycles=60_000)
        assert "stationary" not in {run.state for run in measurements}
        assert [run.state for run in measurements].count("saturated") >= least
        assert all(run.latency is None for run in measurements)


def test_too_few_packets_are_no_verdict():
    (run,) = runs("2x2", 0.0005, 1, packet_flits=4, max_cycles=20_000)
    packets = run.counts.latency.total
    assert (run.state, run.latency) == ("undecided", None)
    assert f"only {packets} packets arrived" in run.text


def test_a_backlog_that_cannot_grow_proves_nothing():
    """Terminals with short queues stall, so their backlog is bounded above capacity, too."""
    stalling = {"packet_flits": 4, "max_cycles": 6400, "injection_queue": 2}
    states = [run.state for run in runs("swap", 1.12, 16, **stalling)]
    assert "stationary" not in states
