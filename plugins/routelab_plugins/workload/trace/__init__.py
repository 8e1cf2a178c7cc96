"""trace: a recorded program, in SimGrid's time-independent format."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import override

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
    """File of the trace."""

    file: Path = parameter(
        description="Trace as smpirun -trace-ti writes it: a list of files with one line for each "
        "rank, or one file with the actions of all ranks"
    )


class Trace(WorkloadPlugin):
    """The whole trace is timed; the engine chooses the algorithms of collectives."""

    name = "trace"
    summary = "Recorded MPI program: a time-independent trace of SimGrid"
    Parameters = TraceParameters

    @override
    def input_files(self) -> list[Path]:
        file = self.parameters.file
        try:
            # A trace in one file is its own list; name it once.
            return list(dict.fromkeys([file, *trace_files(file)]))
        except InputError:
            # reading the trace reports this error
            return [file]

    def supports(self, job: Job) -> str | None:
        """Return why the job does not have the trace's number of ranks, or None.

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
        """Return the program of the trace.

        Raises
        ------
        InputError
            If a file cannot be read or its content is wrong; names the file and the line.
        """
        return read_trace(self.parameters.file)
