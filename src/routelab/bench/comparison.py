"""What is compared, and the columns of what comes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from routelab.config.bench_settings import BenchSettings

RUNS, FIGURES = "runs.csv", "figures.csv"
"""Files of a comparison beside its outcome."""

START_MINUTES = 10
"""For the beginning of an allocation, the probe and what the fabric's commands take."""

RunStatus: TypeAlias = Literal["ok", "failed", "timeout", "unsupported"]
"""What came of a run: figures; none that can be trusted, or it could not be started; stopped at its
limit; the benchmark or the routing does not go with this network or number of processes."""

RUN_COLUMNS = (
    "routing",
    "benchmark",
    "round",  # from 1 on; of warm-up rounds 0 and less, the last one 0
    "turn",  # place of the routing in the round, from 1 on
    "status",
    "failure",  # `routelab.api.Failure`, or empty
    "reason",
    "exit_code",
    "seconds",  # wall time
    "started",  # UTC, ISO 8601
    "ranks",
    "hosts",  # of the job, with commas between; empty: this machine
    "job_id",  # of Slurm; empty without
    "session",  # in which it was done: only runs of one session were done in turns
    "applied",  # yes: the fabric was switched to the routing for this run; no: it was left alone
    "version",  # of the benchmark, as it says
    "run",  # fingerprint: folder in results/bench/runs
)
"""Columns of `RUNS`, a row a run: whatever came of it."""

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
"""Columns of `FIGURES`, a row a figure of merit of a run; warm-up rounds included."""


@dataclass(frozen=True)
class Chosen:
    """A routing or a benchmark of a comparison.

    Attributes
    ----------
    id : str
        As the study calls it: an alias, otherwise the canonical name.
    text : str
        Canonical name.
    folder : Path or None
        Of a routing: what the route stage wrote; None: it is made anew.
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
    routings : tuple of Chosen
        None of them: the fabric is measured as it is, in one turn a round, called `AS_IT_IS`.
    benchmarks : tuple of Chosen
    settings : BenchSettings
        Its `cluster` is a path as seen from the working directory, or a name.
    """

    topology: str
    routings: tuple[Chosen, ...]
    benchmarks: tuple[Chosen, ...]
    settings: BenchSettings

    @property
    def minutes(self) -> int:
        """To ask a scheduler for: as if every run took its limit, or less if settings say so."""
        settings = self.settings
        runs = max(1, len(self.routings)) * len(self.benchmarks)
        runs *= settings.warm_up + settings.repeats
        worst = math.ceil(runs * settings.seconds / 60) + START_MINUTES
        return min(worst, settings.minutes or worst)


AS_IT_IS = "as-it-is"
"""In the place of a routing: whatever the fabric does."""
