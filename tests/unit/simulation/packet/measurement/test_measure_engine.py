"""Measurements of the packet engine: stable, saturated where theory says so, exact when idle."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from simulated import line, line_table

from routelab.api import HopProgram, pack_tables
from routelab.api.traffic import Demand, Messages
from routelab.kernels.hops import hop_kernel
from routelab.routing.routing import Routing
from routelab.routing.table_program import table_program
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.measurement.intervals import LEAST_GROUPS
from routelab.simulation.packet.measurement.measure import measure_simulation
from routelab.simulation.packet.measurement.settings import MEASURED_SAMPLES, SimulationSettings
from routelab.simulation.packet.traffic import ClosedLoop, OpenLoop
from routelab.toolkit import build_grid


@cache
def torus():
    topology = build_grid("torus", (8, 8), wrap=True)
    return topology, table_program(Routing.from_name("dor").table(topology))


def tornado(topology):
    along = (topology.coordinates + np.array([3, 0])) % 8
    target = np.ravel_multi_index(along.T, (8, 8))
    return Demand.permutation(target, "by coordinate")


def simulation(settings, load, seed, demand=None):
    topology, program = torus()
    return Simulation(
        topology,
        program,
        settings.routers(),
        OpenLoop(demand or Demand.uniform(topology, "all others"), load),
        seed=seed,
    )


def test_samples_ask_for_latencies_and_not_for_all_counts(monkeypatch):
    """All counts take as long as many cycles of a small network."""
    calls = Counter()

    def count_calls(name):
        method = getattr(Simulation, name)

        def counted(self):
            calls[name] += 1
            return method(self)

        monkeypatch.setattr(Simulation, name, counted)

    count_calls("counts")
    count_calls("latencies")
    settings = SimulationSettings(sample_cycles=20)
    assert measure_simulation(simulation(settings, 0.3, 0), settings).state == "stationary"
    assert calls["latencies"] >= MEASURED_SAMPLES
    # all counts for the result, and when a group of samples is complete
    assert calls["counts"] <= 1 + calls["latencies"] / LEAST_GROUPS


def test_a_saturated_ring_is_detected_and_measured():
    """Tornado: three flows a channel, so at most 1/3; and the rate of a long run."""
    settings = SimulationSettings()
    demand = tornado(torus()[0])
    over = measure_simulation(simulation(settings, 0.5, 0, demand), settings)
    assert (over.state, over.latency) == ("saturated", None)
    long = simulation(settings, 0.5, 7, demand)
    long.run(5000)
    rate = long.run(20_000).ejected_flits / 20_000 / 64
    assert over.accepted.value == pytest.approx(rate, rel=0.01)
    assert over.accepted.value <= 1 / 3 + 1e-3
    assert over.utilisation.maximum <= 1
    under = measure_simulation(simulation(settings, 0.2, 0, demand), settings)
    assert under.state == "stationary"
    assert under.accepted.low - 0.002 <= 0.2 <= under.accepted.high + 0.002
    assert under.hops_mean == 3


def test_rates_of_messages_end_with_the_last_arrival():
    """Whatever the sample length: 4 flits in 10 cycles, over channels that carry one a cycle."""
    topology = line(3)
    program = table_program(line_table(topology))
    messages = Messages.create([0, 1, 1, 1], [2])
    for length in (1, 7, 1000):
        settings = SimulationSettings(messages=1, packet_flits=4, sample_cycles=length)
        engine = Simulation(topology, program, settings.routers(), ClosedLoop(messages))
        run = measure_simulation(engine, settings)
        assert (run.cycles, run.accepted.value, run.utilisation.maximum) == (10, 0.4, 0.4)


def test_traffic_in_waves_is_measured_over_many_of_them():
    """A credit is back after 5,000 cycles: each lets a buffer pass, whatever a moment shows."""
    settings = SimulationSettings(vcs=1, buffer_flits=64, link_delay=5000, loads=0.1)
    topology = line(2)
    program = table_program(line_table(topology))
    demand = Demand.permutation([1, -1], "one way")
    engine = Simulation(topology, program, settings.routers(), OpenLoop(demand, 0.1))
    run = measure_simulation(engine, settings)
    assert run.state == "saturated"
    assert run.accepted.value == pytest.approx(64 / 5002, rel=0.1)


def test_utilisation_is_relative_to_the_capacity():
    """Flits cross the fastest channels in a cycle, whatever the unit of capacity."""
    used = []
    for capacity in (1.0, 10.0):
        topology = line(3, channel_capacity=[capacity, capacity / 4])
        program = table_program(line_table(topology))
        settings = SimulationSettings()
        demand = Demand.permutation([2, -1, -1], "to the end")
        engine = Simulation(topology, program, settings.routers(), OpenLoop(demand, 0.2))
        channels = measure_simulation(engine, settings).utilisation
        used.append((channels.minimum, channels.maximum))
    assert used[0] == used[1]
    assert used[0] == pytest.approx((0.2, 0.8), rel=0.05)


def test_packets_that_never_arrive_are_no_saturation():
    @hop_kernel
    def back_and_forth(tables, packets, packet, queues, switch, channel, vc, random, out):
        out[0, 0] = tables[tables[1] + switch]
        out[0, 1] = 0
        out[0, 2] = 0
        return 1

    # switch 1 sends all back to 0, so none comes to 2
    topology = line(3, channel_source=[0, 1, 1, 2], channel_target=[1, 0, 2, 1])
    tables = pack_tables(topology, np.array([0, 1, 3]))
    program = HopProgram(hop=back_and_forth, tables=tables, vc_classes=1)
    settings = SimulationSettings(max_cycles=8000)
    demand = Demand.permutation([2, -1, -1], "to the end")
    engine = Simulation(topology, program, settings.routers(), OpenLoop(demand, 0.002))
    run = measure_simulation(engine, settings)
    assert (run.state, run.saturated) == ("undecided", None)
    assert "none arrives" in run.text
