"""What a comparison left, and what its runs come to: a cell for each routing and benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from routelab.api import InputError
from routelab.artifacts.outcome import Outcome, Status
from routelab.artifacts.tables import read_tuples
from routelab.bench.comparison import FIGURE_COLUMNS, FIGURES, RUN_COLUMNS, RUNS
from routelab.report.frames.view import OK

Key: TypeAlias = tuple[str, float | None]
"""Metric, and bytes where the benchmark has a row for each size."""

Merit: TypeAlias = Literal["lower", "higher", ""]

WORST: tuple[Status, ...] = ("failed", "timeout", "unsupported")
"""The worst status first."""


@dataclass
class Sample:
    """Values of one figure of merit by round of a session, warm-up rounds left out."""

    unit: str
    better: Merit
    values: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """All runs of one benchmark under one routing, warm-up rounds left out.

    Attributes
    ----------
    status : str
        ``ok`` if any run gave figures, otherwise the worst.
    reason : str
        First cause of a run without figures; empty if all gave some.
    failed : int
        Runs without figures.
    failures : str
        How many of which sort, as ``1 timeout, 2 wrong-processes``.
    applied : str
        Whether the fabric was switched: ``yes``, ``no`` or ``partly``.
    allocations : int
        Jobs of the scheduler that the runs are from.
    ranks : float or None
    hosts, version : str
        Of the benchmark; of runs that differ, with semicolons between.
    samples : dict of Key to Sample
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
    samples: Mapping[Key, Sample]


@dataclass(frozen=True, eq=False)
class ComparisonFiles:
    """The files of a comparison.

    Attributes
    ----------
    directory : Path
    outcome : Outcome
    runs : list of dict
        By `RUN_COLUMNS`; none where nothing was measured.
    cells : dict of (str, str) to Cell
        By routing and benchmark.
    """

    directory: Path
    outcome: Outcome
    runs: list[dict[str, Any]]
    cells: Mapping[tuple[str, str], Cell]

    def keys(self, benchmark: str) -> list[Key]:
        """All figures of merit that a benchmark has under any routing."""
        samples = (cell.samples for (_, one), cell in self.cells.items() if one == benchmark)
        return list(dict.fromkeys(key for mine in samples for key in mine))

    def sort_of(self, benchmark: str, key: Key) -> tuple[str, Merit]:
        """Unit, and what is better, of a figure of merit under any routing."""
        for (_, one), cell in self.cells.items():
            if one == benchmark and key in cell.samples:
                return cell.samples[key].unit, cell.samples[key].better
        return "", ""


def read_comparison(directory: Path, outcome: Outcome) -> ComparisonFiles:
    """Read what a comparison left beside its outcome.

    Raises
    ------
    InputError
        If a table is damaged, or missing though the outcome says that it is there.
    """
    runs: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    if outcome.status == OK or (directory / RUNS).is_file():
        numbers = {"round", "turn", "seconds", "ranks"}
        runs = _read(directory / RUNS, RUN_COLUMNS, numbers)
        figures = _read(directory / FIGURES, FIGURE_COLUMNS, {"round", "size", "value"})
    if wrong := {row["better"] for row in figures} - set(get_args(Merit)):
        raise InputError(
            f"{directory / FIGURES} is damaged: better is {wrong.pop()!r}; remove its folder and "
            "run again"
        )
    samples: dict[tuple[str, str], dict[Key, Sample]] = {}
    session_of = {row["run"]: row["session"] for row in runs}
    # rounds of different sessions were not done in turns, whatever their number is
    rounds: dict[tuple[str, int], int] = {}
    for row in figures:
        if row["round"] >= 1:
            size = row["size"] if row["size"] == row["size"] else None
            mine = samples.setdefault((row["routing"], row["benchmark"]), {})
            known = Sample(row["unit"], cast(Merit, row["better"]))
            sample = mine.setdefault((row["metric"], size), known)
            done = session_of.get(row["run"], ""), int(row["round"])
            sample.values[rounds.setdefault(done, len(rounds) + 1)] = row["value"]
    counted: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in runs:
        if row["round"] >= 1:
            counted.setdefault((row["routing"], row["benchmark"]), []).append(row)
    cells = {pair: _cell(mine, samples.get(pair, {})) for pair, mine in counted.items()}
    return ComparisonFiles(directory, outcome, runs, cells)


def no_runs(outcome: Outcome) -> Cell:
    """The cell of a routing and a benchmark that a comparison says nothing of."""
    status = "failed" if outcome.status == OK else outcome.status
    reason = outcome.reason or "the comparison has no run of it"
    return Cell(status, reason, 0, "", "", 0, None, "", "", {})


def cause(run: Mapping[str, Any]) -> str:
    """What kind of failure ended a run: of those that have none, the status."""
    return str(run["failure"] or run["status"])


def _read(path: Path, columns: tuple[str, ...], numbers: set[str]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in read_tuples(path, columns, numbers)]


def _cell(runs: list[dict[str, Any]], samples: Mapping[Key, Sample]) -> Cell:
    lost = [run for run in runs if run["status"] != OK]
    statuses = [run["status"] for run in lost]
    kinds = Counter(map(cause, lost))
    switched = _distinct(runs, "applied")
    ranks = [run["ranks"] for run in runs if run["ranks"] == run["ranks"]]
    return Cell(
        status=min(statuses, key=WORST.index) if len(lost) == len(runs) else "ok",
        reason=next((run["reason"] for run in lost), ""),
        failed=len(lost),
        failures=", ".join(f"{number} {kind}" for kind, number in kinds.items()),
        applied="partly" if len(switched) > 1 else switched[0],
        allocations=len(_distinct(runs, "job_id")),
        ranks=ranks[0] if ranks else None,
        hosts="; ".join(_distinct(runs, "hosts")),
        version="; ".join(_distinct(runs, "version")),
        samples=samples,
    )


def _distinct(runs: Iterable[Mapping[str, Any]], column: str) -> list[str]:
    return list(dict.fromkeys(run[column] for run in runs if run[column]))
