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
    r"# *Intel ?\(R\) MPI Benchmarks? +(?:Suite +)?V?"
    r"(?P<version>[0-9]+(?:\.[0-9]+)*(?: Update [0-9]+)?), MPI-1 part *"
)
SECTION = re.compile(r"# Benchmarking +(?P<name>\S+) *")
PROCESSES = re.compile(rf"# #processes = (?P<number>{WHOLE}) *")
WAITING = re.compile(rf"# \( *{WHOLE} additional process(?:es)? waiting in MPI_Barrier *\) *")
COLUMN_NAMES = ["#bytes", "#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]"]
ROW = re.compile(
    rf" *(?P<size>{WHOLE}) +(?P<repetitions>{WHOLE}) +(?P<least>{DECIMAL}) +(?P<greatest>{DECIMAL})"
    rf" +(?P<average>{DECIMAL}) *"
)
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
        # Two buffers, each with a message for every rank and one more, of the largest size: with 15
        # ranks and 64 MiB, 2 (15 + 1) 64 MiB = 2 GiB. `-mem` counts in GiB, so round up.
        buffer_bytes = 2 * (task.ranks + 1) * parameters.sizes[-1]
        num_gib = -(-buffer_bytes // GIB)
        memory = ("-mem", str(num_gib)) if buffer_bytes > GIB else ()
        # "off": as many iterations as requested, also for large messages
        counts = ("-iter", str(parameters.iterations), "-iter_policy", "off", "-time", SECONDS)
        # on all processes only, not also on 2, 4, ..., and with these sizes only
        restrictions = ("-npmin", str(task.ranks), "-msglen", LENGTHS)
        return (str(task.executable), "Alltoall", *restrictions, *counts, *memory)

    def files(self, task: BenchmarkTask) -> Mapping[str, str]:
        """Return the file of message sizes."""
        return {LENGTHS: "".join(f"{size}\n" for size in self.parameters.sizes)}

    def parse(self, output: RunOutput, task: BenchmarkTask | None) -> BenchmarkResult:
        """Parse a title, one section on all processes, and the line at the end of all processes."""
        lines = read_lines(output, ERRORS)
        titles = [title for title in map(TITLE.fullmatch, lines) if title]
        check_one(len(titles), "IMB's title")
        sections = [
            (number, match["name"])
            for number, line in enumerate(lines)
            if (match := SECTION.fullmatch(line))
        ]
        other_benchmarks = [name for _, name in sections if name != "Alltoall"]
        if other_benchmarks:
            raise BenchmarkError("wrong-benchmark", f"{other_benchmarks[0]} ran, not Alltoall")
        # A section on fewer processes says that the others wait.
        if any(WAITING.fullmatch(line) for line in lines) or len(sections) > 1:
            raise BenchmarkError("wrong-processes", "it also ran on a part of the processes")
        check_one(len(sections), "section 'Benchmarking Alltoall'")
        heading_number, _ = sections[0]
        num_processes, rows, other_lines = _read_section(lines[heading_number + 1 :])
        check_processes(num_processes, task)
        # The sizes are those of a file (`LENGTHS`), which need not double from row to row.
        return BenchmarkResult(
            checked_figures(rows, self.parameters, task, doubling=False),
            version=titles[0]["version"],
            facts={"processes": num_processes},
            foreign=tuple(other_lines),
        )

    def model(self, task: BenchmarkTask) -> WorkloadModel:
        """Return a model of one call with the largest message.

        The workload is named after the OSU benchmark, and models one call of MPI_Alltoall.
        """
        return WorkloadModel(f"osu-alltoall~size={bytes_text(self.parameters.sizes[-1])}")


def _read_section(lines: Sequence[str]) -> tuple[int, list[Row], list[str]]:
    """Return the number of processes, the rows, and lines of other programs, of a section.

    `lines` are all lines of the output below the line that names the section. It has a line with
    the number of processes, one with the names of columns, rows, and a line at the end of the run.

    Raises
    ------
    BenchmarkError
        If a line is invalid or missing.
    """
    # without blank lines, and lines of dashes
    content = [line for line in lines if line.strip() and not re.fullmatch(r"#-* *", line)]
    if len(content) < 2:
        raise BenchmarkError("incomplete", "it ends in the heading of the section")
    # 1. The heading: the number of processes, then, possibly after other lines, the names of
    #    columns. If one of them is missing, the message quotes the line found instead of it.
    columns_at = [number for number, line in enumerate(content) if line.split() == COLUMN_NAMES]
    above_columns = content[: columns_at[0]] if columns_at else content[:1]
    process_counts = [match for match in map(PROCESSES.fullmatch, above_columns) if match]
    if len(columns_at) != 1 or len(process_counts) != 1:
        wrong_line = content[1] if len(process_counts) == 1 else content[0]
        raise BenchmarkError(
            "unreadable", f"the heading of the section has {quote_line(wrong_line)}"
        )
    # 2. The rows, up to the line that the program prints after all processes have come to its end.
    columns_line, below_columns = content[columns_at[0]], content[columns_at[0] + 1 :]
    parse_row = partial(_parse_row, _word_ends(columns_line))
    end_at = [number for number, line in enumerate(below_columns) if END.fullmatch(line)]
    if len(end_at) != 1:
        read_rows(below_columns, parse_row)  # raises if a row is damaged, which says more
        raise BenchmarkError("incomplete", "not all processes reached the end")
    rows, among_rows = read_rows(below_columns[: end_at[0]], parse_row)
    # 3. Lines of other programs, before, among and after the rows.
    after_end = below_columns[end_at[0] + 1 :]
    in_heading = [line for line in above_columns if not PROCESSES.fullmatch(line)]
    if any(ROW.fullmatch(line) for line in (*in_heading, *after_end)):
        raise BenchmarkError("unreadable", "there are rows outside the table")
    num_processes = int(process_counts[0]["number"])
    return num_processes, rows, [*in_heading, *among_rows, *after_end]


def _word_ends(line: str) -> list[int]:
    """Return where the words of a line end: [1, 4] for ``a bc``."""
    return [word.end() for word in re.finditer(r"\S+", line)]


def _parse_row(column_ends: Sequence[int], line: str) -> Row | None:
    """Return a row; None for other lines.

    Raises
    ------
    BenchmarkError
        If values do not end below the names of their columns: some digits may be lost.
    """
    match = ROW.fullmatch(line)
    if match is None:
        return None
    if _word_ends(line) != column_ends:
        raise BenchmarkError("unreadable", f"a row that is not aligned: {quote_line(line)}")
    return latency_row(
        size=int(match["size"]),
        average=float(match["average"]),
        least=float(match["least"]),
        greatest=float(match["greatest"]),
        iterations=int(match["repetitions"]),
    )
