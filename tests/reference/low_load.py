"""Short simulations of routings below saturation."""

from __future__ import annotations

from routelab.api import Topology
from routelab.api.traffic import Demand
from routelab.registry.instances import load_routing
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.measurement.measure import measure_simulation
from routelab.simulation.packet.measurement.result import LoadResult
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.simulation.packet.traffic import OpenLoop
from routelab.simulation.programs import program


def measure_uniform(topology: Topology, text: str, vcs: int, load: float) -> LoadResult:
    """Measure uniform traffic."""
    options = SimulationSettings(vcs=vcs, packet_flits=4, buffer_flits=16)
    simulation = Simulation(
        topology,
        program(load_routing(text), topology, vcs),
        options.routers(),
        OpenLoop(Demand.uniform(topology, "all others"), load),
        seed=1,
    )
    return measure_simulation(simulation, options)
