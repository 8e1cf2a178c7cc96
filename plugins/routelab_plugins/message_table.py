"""Tables with a row for each message size, which several benchmarks print."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from routelab.api import (
    BenchmarkError,
    BenchmarkPlugin,
    BenchmarkTask,
    Bytes,
    FigureOfMerit,
    Parameters,
    parameter,
)

MICROSECONDS_PER_SECOND = 1e6

ROUNDING = 0.005
"""Largest rounding error of a printed number with two decimals."""

LARGEST_MESSAGE = 2**31 - 1
"""Largest number of bytes of an MPI message: MPI counts in 32-bit integers."""


class MessageParameters(Parameters):
    """Message sizes and repetitions."""

    size: Bytes = parameter(1 << 20, ge=1, le=1 << 30, description="Smallest message, in bytes")
    doublings: int = parameter(
        0, ge=0, le=30, description="Number of larger sizes, each twice the previous one"
    )
    iterations: int = parameter(100, ge=1, le=10**6, description="Timed calls")

    @property
    def sizes(self) -> tuple[int, ...]:
        """All message sizes, ascending."""
        return tuple(self.size << times for times in range(self.doublings + 1))


@dataclass(frozen=True)
class Row:
    """The figures of merit (measured numbers) in one row of a table.

    Attributes
    ----------
    size : int or None
        Bytes of a message; None if the benchmark has no sizes.
    figures : tuple of FigureOfMerit
        One for each column with a number, except for the size.
    """

    size: int | None
    figures: tuple[FigureOfMerit, ...]

    def value(self, metric: str) -> float | None:
        """Return the value of a metric; None if the row has no such column."""
        return next((figure.value for figure in self.figures if figure.metric == metric), None)

    @property
    def name(self) -> str:
        """Name of the row in messages, such as ``the row of 8 bytes``."""
        return "the row" if self.size is None else f"the row of {self.size} bytes"


def latency_row(size: int, average: float, least: float, greatest: float, iterations: int) -> Row:
    """Return a row of latencies, in microseconds, over the number of timed calls."""
    values = {"latency_avg": average, "latency_min": least, "latency_max": greatest}
    latencies = [
        FigureOfMerit(metric, value, unit="us", better="lower", size=size)
        for metric, value in values.items()
    ]
    timed_calls = FigureOfMerit("iterations", float(iterations), unit="", better="", size=size)
    return Row(size, (*latencies, timed_calls))


def checked_figures(
    rows: Sequence[Row],
    request: MessageParameters,
    task: BenchmarkTask | None,
    *,
    doubling: bool = True,
) -> tuple[FigureOfMerit, ...]:
    """Check the rows of a table, and return the figures of merit of all of them.

    Parameters
    ----------
    rows : sequence of Row
        Rows with message sizes.
    request : MessageParameters
        The requested sizes and iterations.
    task : BenchmarkTask or None
        None if the request is unknown: then `request` is not compared.
    doubling : bool
        Whether sizes must double from row to row, as in 0, 1, 2, 4; otherwise they only have to
        differ.

    Raises
    ------
    BenchmarkError
        If a row contradicts itself, or sizes are invalid or differ from the requested ones.
    """
    if not rows:
        raise BenchmarkError(
            "no-result", "the table has no rows: did the program reach its memory limit?"
        )
    for row in rows:
        check_row(row)
    sizes = [row.size or 0 for row in rows]
    for size, next_size in pairwise(sizes):
        # the size after 0 is 1
        after_doubling = 2 * size if size else 1
        if doubling and next_size != after_doubling:
            raise BenchmarkError(
                "unreadable",
                f"after the row of {size} bytes comes one of {next_size}; sizes double",
            )
    if len(set(sizes)) < len(sizes):
        raise BenchmarkError("unreadable", "there are several rows of one size")
    if task is not None:
        _check_sizes(sizes, request)
        for row in rows:
            check_iterations(row, request.iterations)
    return tuple(figure for row in rows for figure in row.figures)


def check_row(row: Row) -> None:
    """Raise if values of a row contradict each other."""
    average = row.value("latency_avg")
    if average is not None:
        # Some benchmarks print the average only: then it is the least and the greatest one, too.
        least, greatest = row.value("latency_min"), row.value("latency_max")
        least = average if least is None else least
        greatest = average if greatest is None else greatest
        # Only empty messages may take 0.00 us.
        is_timed = greatest > 0 or row.size == 0
        if not (least <= average <= greatest and is_timed):
            raise BenchmarkError(
                "unreadable",
                f"{row.name} contradicts itself: average {average:g}, least {least:g}, greatest "
                f"{greatest:g}",
            )
    if row.value("iterations") == 0:
        raise BenchmarkError("unreadable", f"{row.name} contradicts itself: no iterations")
    _check_percentiles(row)
    _check_rate(row)


def _check_percentiles(row: Row) -> None:
    """Raise if a higher percentile is smaller, such as ``latency_p99`` below ``latency_p50``."""
    value_by_percent = {
        int(match["percent"]): figure.value
        for figure in row.figures
        if (match := re.search(r"_p(?P<percent>[0-9]+)$", figure.metric))
    }
    values = [value for _, value in sorted(value_by_percent.items())]
    if values != sorted(values):
        raise BenchmarkError("unreadable", f"{row.name} contradicts itself: percentiles {values}")


def _check_rate(row: Row) -> None:
    """Raise if the bandwidth, in MB/s, is not the message rate times the size."""
    bandwidth, rate = row.value("bandwidth"), row.value("message_rate")
    # with the option -D, OSU programs print the transmitted size as well, and that one counts
    size = row.value("transmit_size") or row.size
    if bandwidth is None or rate is None or not size:
        return
    # Both numbers are rounded: the bandwidth by ROUNDING MB/s, the rate by ROUNDING messages/s. The
    # last term allows for floating-point errors.
    tolerance = ROUNDING * (1 + size / 1e6) + 1e-9 * bandwidth
    if abs(bandwidth - rate * size / 1e6) > tolerance:
        raise BenchmarkError(
            "unreadable",
            f"{row.name} contradicts itself: {bandwidth:g} MB/s are not {rate:g} messages of "
            f"{size:g} bytes in a second",
        )


def _check_sizes(sizes: Sequence[int], request: MessageParameters) -> None:
    """Raise if a row was not requested, or a requested one is missing."""
    unrequested = [size for size in sizes if size not in request.sizes]
    if unrequested:
        raise BenchmarkError(
            "wrong-benchmark", f"there is a row of {unrequested[0]} bytes, which was not requested"
        )
    missing = [size for size in request.sizes if size not in sizes]
    if missing:
        raise BenchmarkError("incomplete", f"there is no row of {missing[0]} bytes")


def check_iterations(row: Row, requested: int) -> None:
    """Raise if a row prints another number of timed calls than requested."""
    iterations = row.value("iterations")
    if iterations not in (None, requested):
        size = "" if row.size is None else f" of {row.size} bytes"
        raise BenchmarkError(
            "wrong-benchmark", f"{iterations:g} iterations{size}, {requested} were requested"
        )


class MessageBenchmark(BenchmarkPlugin):
    """Base class of benchmarks that print a row for each message size."""

    def supports(self, ranks: int, ranks_per_node: int) -> str | None:
        """Reject a single process, and messages that are too large."""
        largest = self.parameters.sizes[-1]
        if largest > LARGEST_MESSAGE:
            return f"messages of {largest} bytes; MPI sends at most {LARGEST_MESSAGE} per call"
        return None if ranks > 1 else "needs two processes or more"


class LatencyBenchmark(MessageBenchmark):
    """Base class of benchmarks whose latency a workload predicts.

    Class attributes
    ----------------
    predicts : str
        The metric that the prediction stands for: the time of one call, from when the first rank
        starts it to when the last rank ends it.
    """

    predicts = "latency_avg"

    def predicted(self, facts: Mapping[str, Any], task: BenchmarkTask) -> tuple[FigureOfMerit, ...]:
        """Return the time of one call with the largest message, as the flow engine predicts it.

        Nothing is returned if the engine gives no time.

        Parameters
        ----------
        facts : mapping
            The flow engine's results; ``timed_s``, if present, is the time of the call in seconds.
        task : BenchmarkTask
        """
        seconds = facts.get("timed_s")
        if not isinstance(seconds, (int, float)):
            return ()
        microseconds, size = seconds * MICROSECONDS_PER_SECOND, self.parameters.sizes[-1]
        return (FigureOfMerit(self.predicts, microseconds, "us", "lower", size=size),)
