"""What the benchmarks of the OSU Micro-Benchmarks have in common: options and reading of output.

The programs do not print the number of processes (`osu_mbw_mr` prints that of pairs). They refuse
to run on one process, and if processes are not connected, each of several groups prints a header;
both errors are reported as a wrong number of processes. A single group that is too small is not
visible in the output.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from typing_extensions import override

from routelab.api import (
    BenchmarkError,
    BenchmarkPlugin,
    BenchmarkResult,
    BenchmarkTask,
    Citation,
    FigureOfMerit,
    RunOutput,
    parameter,
)
from routelab_plugins import works
from routelab_plugins.benchmark_output import read_lines
from routelab_plugins.message_table import MessageBenchmark, MessageParameters, checked_figures
from routelab_plugins.osu_output import OsuOutput, read_output
from routelab_plugins.quotes import quote_line

MEMORY = 512 << 20
"""The default limit of memory per process of collective benchmarks, in bytes."""

WINDOW = 64
"""The default number of messages in flight."""

_ONE_PROCESS = re.compile(r"This test requires (at least|exactly) (two|2) processes", re.IGNORECASE)
_VALIDATION_ERROR = re.compile(r"DATA VALIDATION ERROR:.*")


class OsuParameters(MessageParameters):
    """Message sizes, repetitions, warm-up repetitions and validation."""

    warm_up: int = parameter(
        10, ge=0, le=10**6, description="Warm-up calls of each size before the timed ones"
    )
    validate_: bool = parameter(
        False, description="Whether the program verifies received data (-c, since 5.9)"
    )


class WindowParameters(OsuParameters):
    """Message sizes, repetitions and validation, and the number of messages in flight."""

    window: int = parameter(
        WINDOW,
        ge=1,
        le=10**5,
        description="Messages sent before the sender waits for an answer",
    )


class OsuBenchmark(BenchmarkPlugin):
    """Base class of all benchmarks that run a program of the OSU Micro-Benchmarks.

    Class attributes
    ----------------
    program : str
        File name of the program, such as ``osu_bw``.
    title : str
        What the program prints between "OSU MPI" and the version, such as ``Bandwidth Test``.
    """

    program: ClassVar[str]
    title: ClassVar[str]
    citations: ClassVar[tuple[Citation, ...]] = (works.OSU("the program"),)

    def executables(self, ranks: int) -> tuple[str, ...]:
        """Return the name of the program, which all versions share."""
        return (self.program,)

    @override
    def command(self, task: BenchmarkTask) -> tuple[str, ...]:
        return (str(task.executable), *self.options(task))

    def parse(self, output: RunOutput, task: BenchmarkTask | None) -> BenchmarkResult:
        """Parse the header, the names of columns and the rows.

        Lines of other programs are kept in `foreign` of the result. Its `facts` say whether
        received data was verified, and for ``osu_mbw_mr`` the numbers of pairs and of messages in
        flight.
        """
        _check_program_errors(output)
        parsed = read_output(read_lines(output), self.title, self.program)
        facts: dict[str, Any] = {"validation": "pass"} if parsed.table.validated else {}
        if parsed.pairs is not None:
            facts |= {"pairs": parsed.pairs, "window": parsed.window}
        return BenchmarkResult(
            figures=tuple(self.figures(parsed, task)),
            version=parsed.version,
            facts=facts,
            foreign=tuple(parsed.table.other_lines),
        )

    @abstractmethod
    def options(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Return the options of the command."""

    @abstractmethod
    def figures(self, output: OsuOutput, task: BenchmarkTask | None) -> Sequence[FigureOfMerit]:
        """Return the figures of an output that matches the request."""


class OsuMessageBenchmark(OsuBenchmark, MessageBenchmark):
    """Base class of the benchmarks that measure message sizes, each with a row in a table."""

    Parameters = OsuParameters
    # nothing follows the last row, so an output that was cut there looks complete
    shows_end = False

    def options(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Return the options for sizes, repetitions and validation."""
        parameters = self.parameters
        sizes = ("-m", f"{parameters.sizes[0]}:{parameters.sizes[-1]}")
        counts = ("-i", str(parameters.iterations), "-x", str(parameters.warm_up))
        validation = ("-c",) if parameters.validate_ else ()
        return (*sizes, *counts, *validation)

    def figures(self, output: OsuOutput, task: BenchmarkTask | None) -> Sequence[FigureOfMerit]:
        """Return the figures of all rows, which must be verified if the parameters ask for it."""
        if task is not None and self.parameters.validate_ and not output.table.validated:
            raise BenchmarkError(
                "verification-failed", f"{self.program} did not verify the received data"
            )
        return checked_figures(output.table.rows, self.parameters, task)


class OsuCollectiveBenchmark(OsuMessageBenchmark):
    """Base class of the collective benchmarks with message sizes."""

    figure = "latency_avg"

    def options(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Add ``-f`` for minimum and maximum, and ``-M`` where the default limit of memory is low.

        Without a sufficient limit, the programs leave out sizes whose buffers exceed it.
        """
        buffer_bytes = self.buffers(task.ranks)
        memory = ("-M", str(buffer_bytes)) if buffer_bytes > MEMORY else ()
        return ("-f", *super().options(task), *memory)

    def buffers(self, ranks: int) -> int:
        """Return the bytes of a process's send and receive buffers for the largest message."""
        return 2 * int(self.parameters.sizes[-1])


class OsuPairBenchmark(OsuMessageBenchmark):
    """Base class of the benchmarks between two processes."""

    def supports(self, ranks: int, ranks_per_node: int) -> str | None:
        """Reject all but two processes, and messages that are too large."""
        reason = super().supports(ranks, ranks_per_node)
        return reason or (None if ranks == 2 else f"needs exactly two processes, not {ranks}")


class OsuBandwidthBenchmark(OsuPairBenchmark):
    """Base class of the benchmarks that send several messages before they await an answer."""

    figure = "bandwidth"
    Parameters = WindowParameters

    def options(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Add the number of messages in flight, unless it is the default."""
        return (*super().options(task), *window_options(self.parameters.window))


def window_options(window: int) -> tuple[str, ...]:
    """Return the option for the number of messages in flight; none for the default."""
    return ("-W", str(window)) if window != WINDOW else ()


def _check_program_errors(output: RunOutput) -> None:
    """Raise if the program refused to run on one process, or if it received wrong data."""
    for line in (*output.stdout.split("\n"), *output.stderr.split("\n")):
        if _ONE_PROCESS.search(line):
            raise BenchmarkError(
                "wrong-processes",
                "it ran on one process: do launcher and program use the same MPI?",
            )
        if _VALIDATION_ERROR.fullmatch(line.strip()):
            raise BenchmarkError("verification-failed", f"the program printed: {quote_line(line)}")
