"""The engine SMPI of SimGrid, with the settings of the flow engine."""

from __future__ import annotations

from routelab.api import Citation, EngineCase, EngineResult, InputError
from routelab.simulation.flow.columns import CLOCK, FACTS
from routelab.stages.engines.flow.settings import MachineEngine


class SmpiEngine(MachineEngine):
    """Replay the messages of a program, or run an MPI program, in SimGrid."""

    name = "smpi"
    summary = "The same messages, or an MPI program, in SimGrid's SMPI"
    citations = (
        Citation(
            key="degomme2017",
            title="Simulating MPI Applications: The SMPI Approach",
            authors="Degomme, Augustin and Legrand, Arnaud and Markomanolis, George S. and "
            "Quinson, Martin and Stillwell, Mark and Suter, Frédéric",
            year=2017,
            venue="IEEE Transactions on Parallel and Distributed Systems 28(8), 2387-2400",
            cited_for="the simulator",
            doi="10.1109/TPDS.2017.2669305",
        ),
    )
    columns = FACTS
    clock = CLOCK
    executables = True

    def supports(self, case: EngineCase) -> str | None:
        """See `EnginePlugin.supports`."""
        from routelab.simulation.smpi.simgrid import find

        try:
            find()
        except InputError as error:
            return str(error)
        return None

    def run(self, case: EngineCase) -> EngineResult:
        """See `EnginePlugin.run`."""
        from routelab.stages.engines.smpi.simulate import simulate_smpi

        return simulate_smpi(case, self.parameters)
