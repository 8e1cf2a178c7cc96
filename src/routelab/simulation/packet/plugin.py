"""The packet engine: simulate routers cycle by cycle."""

from __future__ import annotations

from types import MappingProxyType

from typing_extensions import override

from routelab.api import EngineCase, EnginePlugin, EngineResult
from routelab.simulation.packet.columns import CLOCK, COLUMNS
from routelab.simulation.packet.measurement.settings import SimulationSettings


class PacketEngine(EnginePlugin):
    """Simulate packets in routers with virtual channels and credits, cycle by cycle."""

    name = "packet"
    summary = "Packets in routers with virtual channels and credits, cycle by cycle"
    work = "traffic"
    columns = COLUMNS
    clock = CLOCK
    brief = MappingProxyType(
        {
            "vcs": 8,
            "loads": (0.1,),
            "sample_cycles": 10,
            "max_cycles": 1000,
            "precision": 0.9,
        }
    )

    Parameters = SimulationSettings

    @override
    def run(self, case: EngineCase) -> EngineResult:
        from routelab.simulation.packet.simulate import simulate_packets

        return simulate_packets(case, self.parameters)
