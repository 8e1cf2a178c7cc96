"""Files of a comparison, with its runs grouped by routing and benchmark."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from routelab.api import InputError
from routelab.cluster.bench.comparison import FIGURE_COLUMNS, FIGURES, RUN_COLUMNS, RUNS
from routelab.report.rows.row_set import OK
from routelab.results.outcome import Outcome, Status
from routelab.results.tables import read_rows

Key: TypeAlias = tuple[str, float | None]
"""A figure of merit: its metric and message size in bytes; None if the benchmark has no sizes."""

Merit: TypeAlias = Literal["lower", "higher", ""]
"""Preferred direction of a figure of merit; empty if it has none."""

WORST: tuple[Status, ...] = ("failed", "timeout", "unsupported")
"""The worst status first."""


_RUN = ("routing", "benchmark", "round", "run")
REQUIRED = {RUNS: (*_RUN, "status"), FIGURES: (*_RUN, "metric", "value", "better")}
"""Columns without which a table cannot be read, by file."""


@dataclass
class MeritSample:
    """Values of one figure of merit by round, without warm-up rounds."""

    unit: str
    better: Merit
    values: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RunGroup:
    """All runs of one benchmark under one routing, without warm-up rounds.

    Attributes
    ----------
    status : str
        ``ok`` if any run has figures, otherwise the worst status.
    reason : str
        Reason of the first run without figures; empty if all have figures.
    failed : int
        Number of runs without figures.
    failures : str
        Number of failures of each kind, such as ``1 timeout, 2 wrong-processes``.
    applied : str
        Whether the fabric was switched: ``yes``, ``no`` or ``partly``.
    allocations : int
        Number of scheduler jobs that ran them.
    ranks : float or None
    hosts, version : str
        Of the benchmark; distinct values are separated by semicolons.
    samples : dict of Key to MeritSample
    """

    status: Status
    reason: str
    failed: int
    failures: str
    applied: str
    allocations: int
    ranks: float | None
    hosts: str
    version: str
    samples: Mapping[Key, MeritSample]


@dataclass(frozen=True, eq=False)
class ComparisonFiles:
    """What the files of a comparison contain: its outcome, and the runs of benchmarks.

    Attributes
    ----------
    directory : Path
        Folder of the files.
    outcome : Outcome
    runs : list of dict
        With the keys `RUN_COLUMNS`; empty if nothing was measured.
    groups : dict of (str, str) to RunGroup
        By routing and benchmark.
    """

    directory: Path
    outcome: Outcome
    runs: list[dict[str, Any]]
    groups: Mapping[tuple[str, str], RunGroup]

    def may_have_used(self, routing: str, table: str | None) -> bool:
        """Return whether the runs of a routing used the route table with the digest `table`.

        True if either digest is unknown.
        """
        used_digest = self.outcome.provenance.get("sources", {}).get(routing)
        return used_digest is None or table in (None, used_digest)

    def keys(self, benchmark: str) -> list[Key]:
        """Return all figures of merit that a benchmark has under any routing."""
        keys: dict[Key, None] = {}
        for (_, group_benchmark), group in self.groups.items():
            if group_benchmark == benchmark:
                keys |= dict.fromkeys(group.samples)
        return list(keys)

    def unit_and_direction(self, benchmark: str, key: Key) -> tuple[str, Merit]:
        """Return unit and preferred direction of a figure of merit; empty if no run has it."""
        for (_, group_benchmark), group in self.groups.items():
            if group_benchmark == benchmark and key in group.samples:
                return group.samples[key].unit, group.samples[key].better
        return "", ""


def read_comparison(directory: Path, outcome: Outcome) -> ComparisonFiles:
    """Read the runs of a comparison and their figures of merit.

    A comparison that has not run yet has neither, and is no error.

    Raises
    ------
    InputError
        If a table is damaged, or missing although the outcome is ok.
    """
    # 1. The two tables. An interrupted comparison has runs without being ok.
    runs: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    if outcome.status == OK or (directory / RUNS).is_file():
        numbers = {"round", "turn", "seconds", "ranks"}
        runs = _read_rows(directory / RUNS, RUN_COLUMNS, numbers)
        figures = _read_rows(directory / FIGURES, FIGURE_COLUMNS, {"round", "size", "value"})
    if invalid := {row["better"] for row in figures} - set(get_args(Merit)):
        raise InputError(
            f"{directory / FIGURES} is damaged: better is {invalid.pop()!r}; remove its folder and "
            "run again"
        )
    # 2. The values of each figure of merit by round, without those of warm-up rounds (0 and less).
    #    Each session counts its rounds from 1, but round 1 of two sessions was measured at
    #    different times. So the numbers are continued: rounds 1 and 2 of a session are 1 and 2, and
    #    round 1 of the next session is 3.
    samples: dict[tuple[str, str], dict[Key, MeritSample]] = {}
    session_of = {row["run"]: row["session"] for row in runs}
    round_numbers: dict[tuple[str, int], int] = {}
    for row in figures:
        if row["round"] >= 1:
            # a figure of a benchmark without message sizes has an empty cell, which is read as NaN
            size = None if math.isnan(row["size"]) else row["size"]
            benchmark_samples = samples.setdefault((row["routing"], row["benchmark"]), {})
            empty_sample = MeritSample(row["unit"], cast(Merit, row["better"]))
            sample = benchmark_samples.setdefault((row["metric"], size), empty_sample)
            session_round = session_of.get(row["run"], ""), int(row["round"])
            number = round_numbers.setdefault(session_round, len(round_numbers) + 1)
            sample.values[number] = row["value"]
    # 3. The runs of each routing and benchmark, without those for warm-up.
    measured_runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in runs:
        if row["round"] >= 1:
            measured_runs.setdefault((row["routing"], row["benchmark"]), []).append(row)
    groups = {
        pair: _run_group(pair_runs, samples.get(pair, {}))
        for pair, pair_runs in measured_runs.items()
    }
    return ComparisonFiles(directory, outcome, runs, groups)


def empty_group(outcome: Outcome) -> RunGroup:
    """Return the group of a routing and benchmark without runs, from its comparison's outcome."""
    status = "failed" if outcome.status == OK else outcome.status
    reason = outcome.reason or "the comparison has no run of it"
    return RunGroup(
        status,
        reason,
        failed=0,
        failures="",
        applied="",
        allocations=0,
        ranks=None,
        hosts="",
        version="",
        samples={},
    )


def failure_kind(run: Mapping[str, Any]) -> str:
    """Return the kind of failure of a run, or its status if it has none."""
    return str(run["failure"] or run["status"])


def _read_rows(path: Path, columns: tuple[str, ...], numbers: set[str]) -> list[dict[str, Any]]:
    """Read a table that this or an older version wrote, as a mapping from `columns` for each row.

    Measurements are not repeated because a newer version has more columns. Where the table has no
    value or no such column, the value is NaN in the columns `numbers`, otherwise empty.
    """
    rows = read_rows(path, needed=REQUIRED[path.name], texts=set(columns) - numbers)
    for row in rows:
        for name in numbers:
            value = row.get(name)
            if isinstance(value, str):
                raise InputError(f"{path} is damaged: {name} is {value!r}, not a number")
            row[name] = math.nan if value is None else float(value)
    return [{name: row.get(name, "") for name in columns} for row in rows]


def _run_group(runs: list[dict[str, Any]], samples: Mapping[Key, MeritSample]) -> RunGroup:
    """Summarise the runs of a benchmark under one routing."""
    failed_runs = [run for run in runs if run["status"] != OK]
    statuses = [run["status"] for run in failed_runs]
    kinds = Counter(map(failure_kind, failed_runs))
    applied = _distinct(runs, "applied")
    known_ranks = [run["ranks"] for run in runs if not math.isnan(run["ranks"])]
    return RunGroup(
        status=min(statuses, key=WORST.index) if len(failed_runs) == len(runs) else "ok",
        reason=next((run["reason"] for run in failed_runs), ""),
        failed=len(failed_runs),
        failures=", ".join(f"{number} {kind}" for kind, number in kinds.items()),
        applied="partly" if len(applied) > 1 else applied[0],
        allocations=len(_distinct(runs, "job_id")),
        ranks=known_ranks[0] if known_ranks else None,
        hosts="; ".join(_distinct(runs, "hosts")),
        version="; ".join(_distinct(runs, "version")),
        samples=samples,
    )


def _distinct(runs: Iterable[Mapping[str, Any]], column: str) -> list[str]:
    """Return the different values of a column that are not empty."""
    return list(dict.fromkeys(run[column] for run in runs if run[column]))
