"""trace: what a program did, in SimGrid's time-independent format."""

from __future__ import annotations

from pathlib import Path

from routelab.api import (
    InputError,
    Job,
    Parameters,
    Program,
    WorkloadPlugin,
    parameter,
)
from routelab.toolkit import read_trace
from routelab.toolkit.workloads.trace_reader import trace_files


class TraceParameters(Parameters):
    """Whose trace is meant."""

    file: Path = parameter(
        description="A list of files, one a line and one for each rank, or one file with the "
        "actions of all ranks, as smpirun -trace-ti writes them"
    )


class Trace(WorkloadPlugin):
    """All of the trace is timed; how collectives are done is the engine's choice."""

    name = "trace"
    summary = "What a recorded MPI program did: SimGrid's time-independent traces"
    Parameters = TraceParameters

    def input_files(self) -> list[Path]:
        """List the files, so that a change of one makes the results stale."""
        file = self.parameters.file
        try:
            return list(dict.fromkeys([file, *trace_files(file)]))
        except InputError:
            # the reader tells what is wrong with it
            return [file]

    def supports(self, job: Job) -> str | None:
        """A trace is of one number of ranks.

        Raises
        ------
        InputError
            If a file cannot be read or its content is wrong; names the file and the line.
        """
        ranks = read_trace(self.parameters.file).ranks
        if ranks == job.ranks:
            return None
        return f"{self.parameters.file} is a trace of {ranks} ranks, not of {job.ranks}"

    def program(self, job: Job) -> Program:
        """The program as it is.

        Raises
        ------
        InputError
            As `supports`.
        """
        return read_trace(self.parameters.file)
