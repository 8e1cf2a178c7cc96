"""imb-alltoall: Alltoall of the Intel MPI Benchmarks (IMB-MPI1).

By default, the program uses fewer iterations for large messages, skips sizes that exceed its limits
of time and memory, and runs on 2, 4, ... processes before it runs on all; the command's options
prevent this. It always makes two untimed calls before each size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from routelab.api import (
    BenchmarkError,
    BenchmarkResult,
    BenchmarkTask,
    RunOutput,
    WorkloadModel,
)
from routelab.api.parameters import bytes_text
from routelab_plugins import works
from routelab_plugins.benchmark_output import (
    DECIMAL,
    WHOLE,
    check_one,
    check_processes,
    read_lines,
    read_rows,
)
from routelab_plugins.message_table import (
    LatencyBenchmark,
    MessageParameters,
    Row,
    checked_figures,
    latency_row,
)
from routelab_plugins.quotes import quote_line

LENGTHS = "msglen.txt"
"""File with the sizes, one a line."""

SECONDS = "86400"
"""The program's time limit for a size, in seconds; routelab limits runs itself."""

GIB = 1 << 30
"""The program's default limit of memory per process, in bytes."""

TITLE = re.compile(
    r"# *Intel ?\(R\) MPI Benchmarks? +(?:Suite +)?V?([0-9]+(?:\.[0-9]+)*(?: Update [0-9]+)?), "
    r"MPI-1 part *"
)
SECTION = re.compile(r"# Benchmarking +(\S+) *")
PROCESSES = re.compile(rf"# #processes = ({WHOLE}) *")
WAITING = re.compile(rf"# \( *({WHOLE}) additional process(?:es)? waiting in MPI_Barrier *\) *")
COLUMNS = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]"
ROW = re.compile(rf" *({WHOLE}) +({WHOLE}) +({DECIMAL}) +({DECIMAL}) +({DECIMAL}) *")
END = re.compile(r"# All processes entering MPI_Finalize *")

ERRORS = (
    rf"^{WHOLE} +(out-of-mem|time-out|int-overflow)\b",
    r"^Invalid benchmark name\b",
    r"^Sizes File .* invalid or doesnt exist",
)
"""Messages of skipped sizes, after which the exit code is 0 nevertheless."""


class ImbAlltoall(LatencyBenchmark):
    """Runs IMB-MPI1 Alltoall on all processes."""

    name = "imb-alltoall"
    summary = "Intel MPI Benchmarks: latency of MPI_Alltoall"
    figure = "latency_avg"
    citations = (works.IMB("the program"),)
    Parameters = MessageParameters

    def executables(self, ranks: int) -> tuple[str, ...]:
        """Return one name for all versions."""
        return ("IMB-MPI1",)

    def command(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Return the command with raised time limit, and raised memory limit if necessary."""
        parameters = self.parameters
        buffers = 2 * (task.ranks + 1) * parameters.sizes[-1]
        memory = ("-mem", str(-(-buffers // GIB))) if buffers > GIB else ()
        counts = ("-iter", str(parameters.iterations), "-iter_policy", "off", "-time", SECONDS)
        only = ("-npmin", str(task.ranks), "-msglen", LENGTHS)
        return (str(task.executable), "Alltoall", *only, *counts, *memory)

    def files(self, task: BenchmarkTask) -> Mapping[str, str]:
        """Return the file of message sizes."""
        return {LENGTHS: "".join(f"{size}\n" for size in self.parameters.sizes)}

    def parse(self, output: RunOutput, task: BenchmarkTask | None) -> BenchmarkResult:
        """Parse a title, one section on all processes, and the line at the end of all processes."""
        lines = read_lines(output, ERRORS)
        titles = [title for title in map(TITLE.fullmatch, lines) if title]
        check_one(len(titles), "IMB's title")
        sections = [place for place, line in enumerate(lines) if SECTION.fullmatch(line)]
        names = [lines[place].split()[-1] for place in sections]
        strangers = [name for name in names if name != "Alltoall"]
        if strangers:
            raise BenchmarkError("wrong-benchmark", f"{strangers[0]} ran, not Alltoall")
        if any(WAITING.fullmatch(line) for line in lines) or len(sections) > 1:
            raise BenchmarkError("wrong-processes", "it also ran on a part of the processes")
        check_one(len(sections), "section 'Benchmarking Alltoall'")
        processes, rows, foreign = _section(lines[sections[0] + 1 :])
        check_processes(processes, task)
        return BenchmarkResult(
            checked_figures(rows, self.parameters, task, doubling=False),
            version=titles[0][1],
            facts={"processes": processes},
            foreign=tuple(foreign),
        )

    def model(self, task: BenchmarkTask) -> WorkloadModel:
        """Return a model of one call with the largest message."""
        return WorkloadModel(f"osu-alltoall~size={bytes_text(self.parameters.sizes[-1])}")


def _section(lines: Sequence[str]) -> tuple[int, list[Row], list[str]]:
    """Return processes, rows and foreign lines of a section: its lines up to the end of the output.

    Raises
    ------
    BenchmarkError
        If a line is invalid or missing.
    """
    content = [line for line in lines if line.strip() and not re.fullmatch(r"#-* *", line)]
    if len(content) < 2:
        raise BenchmarkError("incomplete", "it ends in the heading of the section")
    places = [place for place, line in enumerate(content) if " ".join(line.split()) == COLUMNS]
    above, below = content[: places[0] if places else 1], content[places[0] + 1 if places else 1 :]
    processes = [match for match in map(PROCESSES.fullmatch, above) if match]
    if len(places) != 1 or len(processes) != 1:
        raise BenchmarkError(
            "unreadable",
            "the heading of the section has "
            f"{quote_line(content[1 if len(processes) == 1 else 0])}",
        )
    ends = [place for place, line in enumerate(below) if END.fullmatch(line)]
    row = partial(_row, _ends(content[places[0]]))
    if len(ends) != 1:
        read_rows(below, row)  # report invalid lines first
        raise BenchmarkError("incomplete", "not all processes reached the end")
    rows, foreign = read_rows(below[: ends[0]], row)
    last = below[ends[0] + 1 :]
    strange = [line for line in above if not PROCESSES.fullmatch(line)]
    if any(ROW.fullmatch(line) for line in (*strange, *last)):
        raise BenchmarkError("unreadable", "there are rows outside the table")
    return int(processes[0][1]), rows, [*strange, *foreign, *last]


def _ends(line: str) -> list[int]:
    """Return where the words of a line end."""
    return [word.end() for word in re.finditer(r"\S+", line)]


def _row(ends: Sequence[int], line: str) -> Row | None:
    """Return a row; None for other lines.

    Raises
    ------
    BenchmarkError
        If values do not end below the names of their columns: some digits may be lost.
    """
    match = ROW.fullmatch(line)
    if match is None:
        return None
    if _ends(line) != ends:
        raise BenchmarkError("unreadable", f"a row that is not aligned: {quote_line(line)}")
    size, repetitions, least, greatest, average = match.groups()
    return latency_row(int(size), float(average), float(least), float(greatest), int(repetitions))
