"""Tables of latencies with a row for each message size, which several benchmarks print."""

from __future__ import annotations

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

MICROSECONDS = 1e6

LARGEST = 2**31 - 1
"""Largest number of bytes of an MPI message."""


class LatencyParameters(Parameters):
    """Message sizes and repetitions."""

    size: Bytes = parameter(
        1 << 20, ge=1, le=1 << 30, description="Bytes of a message, the smallest one"
    )
    doublings: int = parameter(
        0, ge=0, le=30, description="How many larger sizes follow, each twice the one before"
    )
    iterations: int = parameter(100, ge=1, le=10**6, description="Calls that are timed")

    @property
    def sizes(self) -> tuple[int, ...]:
        """All message sizes, ascending."""
        return tuple(self.size << times for times in range(self.doublings + 1))


@dataclass(frozen=True)
class Row:
    """The values for one message size.

    Attributes
    ----------
    size : int
    average : float
        Mean over processes, in microseconds.
    least, greatest : float or None
        Minimum and maximum over processes, in microseconds.
    iterations : int or None
    """

    size: int
    average: float
    least: float | None = None
    greatest: float | None = None
    iterations: int | None = None

    def figures(self) -> list[FigureOfMerit]:
        """Return the row as figures of merit."""
        by_size = {
            "latency_avg": self.average,
            "latency_min": self.least,
            "latency_max": self.greatest,
        }
        found = [
            FigureOfMerit(metric, value, "us", "lower", self.size)
            for metric, value in by_size.items()
            if value is not None
        ]
        if self.iterations is not None:
            found.append(FigureOfMerit("iterations", float(self.iterations), "", "", self.size))
        return found


def figures(
    rows: Sequence[Row],
    request: LatencyParameters,
    task: BenchmarkTask | None,
    *,
    doubling: bool = True,
) -> tuple[FigureOfMerit, ...]:
    """Return the figures of merit of all rows, which must match the requested ones.

    Parameters
    ----------
    rows : sequence of Row
    request : LatencyParameters
    task : BenchmarkTask or None
        None if the request is unknown.
    doubling : bool
        Whether sizes must double from row to row; otherwise they only have to differ.

    Raises
    ------
    BenchmarkError
        If a row contradicts itself, or sizes are invalid or differ from the requested ones.
    """
    if not rows:
        raise BenchmarkError(
            "no-result", "there is a header and no row: is there a limit of memory?"
        )
    for row in rows:
        _check(row)
    for one, other in pairwise(rows):
        if doubling and other.size != 2 * one.size:
            raise BenchmarkError(
                "unreadable",
                f"after the row of {one.size} bytes comes one of {other.size}; sizes double",
            )
    if len({row.size for row in rows}) < len(rows):
        raise BenchmarkError("unreadable", "there are several rows of one size")
    if task is not None:
        _check_request(rows, request)
    return tuple(figure for row in rows for figure in row.figures())


def _check(row: Row) -> None:
    least = row.average if row.least is None else row.least
    greatest = row.average if row.greatest is None else row.greatest
    timed = greatest > 0 or row.size == 0
    if not (least <= row.average <= greatest and timed) or row.iterations == 0:
        raise BenchmarkError(
            "unreadable",
            f"the row of {row.size} bytes contradicts itself: average {row.average:g}, least "
            f"{least:g}, greatest {greatest:g}",
        )


def _check_request(rows: Sequence[Row], request: LatencyParameters) -> None:
    found = [row.size for row in rows]
    more = [size for size in found if size not in request.sizes]
    if more:
        raise BenchmarkError(
            "wrong-benchmark", f"there is a row of {more[0]} bytes, which was not asked for"
        )
    absent = [size for size in request.sizes if size not in found]
    if absent:
        raise BenchmarkError("incomplete", f"there is no row of {absent[0]} bytes")
    for row in rows:
        if row.iterations not in (None, request.iterations):
            raise BenchmarkError(
                "wrong-benchmark",
                f"{row.iterations} iterations of {row.size} bytes, {request.iterations} were asked "
                "for",
            )


class LatencyBenchmark(BenchmarkPlugin):
    """Base class of benchmarks that print such rows.

    Class attributes
    ----------------
    predicts : str
        The metric that equals the time of one call, from the first start to the last end of a rank.
    """

    predicts = "latency_avg"

    def supports(self, ranks: int, ranks_per_node: int) -> str | None:
        """Reject a single process, and messages that are too large."""
        largest = self.parameters.sizes[-1]
        if largest > LARGEST:
            return f"messages of {largest} bytes; MPI sends at most {LARGEST} at once"
        return None if ranks > 1 else "needs two processes or more"

    def predicted(self, facts: Mapping[str, Any], task: BenchmarkTask) -> tuple[FigureOfMerit, ...]:
        """Return the time of one call with the largest message."""
        seconds = facts.get("timed_s")
        if not isinstance(seconds, (int, float)):
            return ()
        size = self.parameters.sizes[-1]
        return (FigureOfMerit(self.predicts, seconds * MICROSECONDS, "us", "lower", size),)
