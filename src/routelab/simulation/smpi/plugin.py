"""The engine SMPI of SimGrid, with the settings of the flow engine."""

from __future__ import annotations

from typing_extensions import override

from routelab.api import Citation, EngineCase, EngineResult, InputError
from routelab.simulation.flow.columns import CLOCK, FACTS
from routelab.simulation.flow.machine_engine import MachineEngine


class SmpiEngine(MachineEngine):
    """Replay the messages of a program, or run an MPI program, in SimGrid."""

    name = "smpi"
    summary = "Workloads and MPI programs in SimGrid's SMPI"
    citations = (
        Citation(
            "Degomme, Augustin; Legrand, Arnaud; Markomanolis, George S.; Quinson, Martin; "
            "Stillwell, Mark; Suter, Frédéric. Simulating MPI Applications: The SMPI Approach. "
            "IEEE Transactions on Parallel and Distributed Systems 28(8), pp. 2387–2400, 2017",
            "10.1109/TPDS.2017.2669305",
            "the simulator",
        ),
    )
    columns = FACTS
    clock = CLOCK
    executables = True

    @override
    def supports(self, case: EngineCase) -> str | None:
        from routelab.simulation.smpi.simgrid import find_program

        try:
            find_program()
        except InputError as error:
            return str(error)
        return None

    @override
    def program_versions(self) -> dict[str, str]:
        from routelab.simulation.smpi.simgrid import PROGRAM
        from routelab.toolkit.program_versions import program_version

        return {"SimGrid": program_version(PROGRAM, "-version")}

    @override
    def run(self, case: EngineCase) -> EngineResult:
        from routelab.simulation.smpi.simulate import simulate_smpi

        return simulate_smpi(case, self.parameters)
