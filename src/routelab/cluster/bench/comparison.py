"""Comparisons and the columns of their results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from routelab.study.bench_settings import BenchSettings

RUNS, FIGURES = "runs.csv", "figures.csv"
"""Files of a comparison besides its outcome."""

START_MINUTES = 10
"""Time for the start of an allocation, the probe and the fabric's commands."""

RunStatus: TypeAlias = Literal["ok", "failed", "timeout", "unsupported"]
"""What came of a run: figures; no figures that can be trusted, or no start; a stop at its limit; no
run, as the benchmark or the routing does not fit this network or number of processes."""


def round_name(number: int) -> str:
    """Return the name of a round for people."""
    return f"round {number}" if number > 0 else "warm-up"


RUN_COLUMNS = (
    "routing",
    "benchmark",
    "round",  # from 1 on; warm-up rounds have 0 and less, the last one 0
    "turn",  # place of the routing in the round, from 1 on
    "status",
    "failure",  # `routelab.api.Failure`, or empty
    "reason",
    "exit_code",
    "seconds",  # wall time
    "started",  # UTC, ISO 8601
    "ranks",
    "hosts",  # of the job, with commas between; empty: this machine
    "job_id",  # of Slurm; empty without Slurm
    "session",  # of the run: only runs of one session are interleaved
    "applied",  # yes: the fabric was switched to the routing for this run; no: it was left alone
    "version",  # of the benchmark, as it prints it
    "run",  # fingerprint: folder in results/bench/runs
)
"""Columns of `RUNS`, a row per run with any status."""

FIGURE_COLUMNS = (
    "routing",
    "benchmark",
    "round",
    "metric",
    "size",  # bytes, or empty
    "value",
    "unit",
    "better",  # lower, higher or empty
    "run",
)
"""Columns of `FIGURES`, a row per figure of merit of a run, including warm-up rounds."""


@dataclass(frozen=True)
class ComparisonPart:
    """A routing or a benchmark of a comparison.

    Attributes
    ----------
    id : str
        Name in the results: a study's alias or the text of an option, otherwise the canonical name.
    text : str
        Canonical name, with parameters.
    folder : Path or None
        For a routing of a workflow, the folder with its routes; None: compute the routes.
    """

    id: str
    text: str
    folder: Path | None = None


@dataclass(frozen=True)
class Comparison:
    """All routings and benchmarks on one network.

    Attributes
    ----------
    topology : str
        Instance name, or a folder that the topology stage wrote.
    routings : tuple of ComparisonPart
        Empty: the fabric is measured as it is, in one turn per round, named `AS_IT_IS`.
    benchmarks : tuple of ComparisonPart
    settings : BenchSettings
        Its `cluster` is a path relative to the working directory, or a name.
    """

    topology: str
    routings: tuple[ComparisonPart, ...]
    benchmarks: tuple[ComparisonPart, ...]
    settings: BenchSettings

    @property
    def runs(self) -> int:
        """Number of runs, with those of warm-up rounds."""
        num_rounds = self.settings.warm_up + self.settings.repeats
        turns_per_round = max(1, len(self.routings))  # without routings `AS_IT_IS` has the turn
        return turns_per_round * len(self.benchmarks) * num_rounds

    @property
    def worst_minutes(self) -> int:
        """Time that it takes if every run takes its limit."""
        return math.ceil(self.runs * self.settings.seconds / 60) + START_MINUTES

    @property
    def minutes(self) -> int:
        """Time to request from a scheduler: all limits together, or less if set."""
        return min(self.worst_minutes, self.settings.minutes or self.worst_minutes)


AS_IT_IS = "as-it-is"
"""Name that stands for the routing of an unswitched fabric."""


def equal_tables(digests: Mapping[str, str]) -> list[str]:
    """Return a sentence for each group of routings that apply the same routes.

    The user may have named such routings on purpose, as a control for noise, so they are measured
    all the same.

    Parameters
    ----------
    digests : mapping of str to str
        Digest of the table by id of the routing.
    """
    groups: dict[str, list[str]] = {}
    for routing, digest in digests.items():
        groups.setdefault(digest, []).append(routing)
    return [
        f"{', '.join(names)} apply equal tables: differences between them are noise"
        for names in groups.values()
        if len(names) > 1
    ]
