"""The flow engine: messages share channels max-min fairly."""

from __future__ import annotations

from typing_extensions import override

from routelab.api import EngineCase, EngineResult
from routelab.simulation.flow.columns import CLOCK, COLUMNS
from routelab.simulation.flow.machine_engine import MachineEngine


class FlowEngine(MachineEngine):
    """Run the messages of a program as flows that share channels max-min fairly."""

    name = "flow"
    summary = "Workloads as flows that share channels max-min fairly"
    columns = COLUMNS
    clock = CLOCK

    @override
    def run(self, case: EngineCase) -> EngineResult:
        from routelab.simulation.flow.simulate import simulate_flows

        return simulate_flows(case, self.parameters)
