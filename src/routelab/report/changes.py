"""What differs between the results of the same studies in two folders.

Reads the lists of runs that every report has. They are text, so results of earlier versions stay
readable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from routelab.api import InputError
from routelab.results.tables import further_columns, read_tuples

LISTS = ("runs.csv", "simulations.csv", "flows.csv", "benchmarks.csv")
"""Files of a report with all runs; every report has the first."""

NAMES = (
    *("topology", "routing", "traffic", "workload", "benchmark"),
    *("simulation", "flow", "bench", "metric", "size", "load"),
)
"""Columns that together name a row of a list."""

COMPUTING_TIME = re.compile(
    # also statistics, such as cpu_seconds_median
    r"(routing|cpu|engine|bound)_seconds(_.*)?|flit_hops_per_cpu_s(_.*)?"
    r"|run_(wall|cpu)_seconds|origin"
)
"""Columns with the time that a computation took, and with what computed it."""

INTERVALS = {
    "median": ("ci_low", "ci_high"),
    "improvement_percent": ("improvement_low", "improvement_high"),
}
"""Columns of measurements, and those with the ends of their intervals."""


class Change(NamedTuple):
    """A cell that differs, or a list, column or row that only one of the folders has.

    Attributes
    ----------
    study, file, row, column, old, new : str
        Values of the row's key are separated by spaces.
    difference : str
        Change of a number, relative to the old one; empty for texts and for changes from 0;
        ``missing`` or ``new`` for what only the old or only the new folder has.
    """

    study: str
    file: str
    row: str = ""
    column: str = ""
    old: str = ""
    new: str = ""
    difference: str = ""


def compare_results(old: Path, new: Path, rtol: float = 0.0) -> list[Change]:
    """Compare the results of all studies in two folders.

    Computing times, commands and sentences, such as reasons, are not compared, and of measurements
    only the status and what has an interval. A column that only the new results have is no change.

    Parameters
    ----------
    old, new : Path
        Folders of results, their folders ``report``, or the report of one study.
    rtol : float
        Largest difference of a number to ignore, relative to the old value.

    Raises
    ------
    InputError
        If the folders have no study in common, or a list is damaged.
    """
    lists = [_lists(folder) for folder in (old, new)]
    if lists[0].keys().isdisjoint(lists[1]):
        raise InputError(f"{old} and {new} have no study in common; each must hold its report")
    changes = []
    for study, file in sorted(lists[0] | lists[1]):
        if any((study, file) not in paths for paths in lists):
            word = "missing" if (study, file) in lists[0] else "new"
            changes.append(Change(study, file, difference=word))
            continue
        before, after = (_read(paths[study, file]) for paths in lists)
        changes += [
            Change(study, file, column=column, difference="missing")
            for column in before.columns.difference(after.columns, sort=False)
            if before[column].any()
        ]
        keys = [name for name in NAMES if name in before and name in after]
        table_changes = compare_tables(study, file, before, after, keys, rtol)
        changes += [change for change in table_changes if " " not in change.old + change.new]
    return changes


def _lists(folder: Path) -> dict[tuple[str, str], Path]:
    """Return the lists of a folder by study and name."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; name a folder of results")
    inside = folder / "report"
    studies = (inside if inside.is_dir() else folder).iterdir()
    return {
        (study.absolute().name, file): study / file
        for study in ([folder] if (folder / LISTS[0]).exists() else studies)
        for file in LISTS
        if (study / file).exists()
    }


def _read(path: Path) -> pd.DataFrame:
    """Return the columns of a list that are compared, and the ends of intervals."""
    columns = further_columns(path, ())
    rows = read_tuples(path, columns, ())
    if len(set(columns)) < len(columns) or not {*NAMES[:2]} <= {*columns}:
        raise InputError(f"{path} is damaged: its columns are not those of a list of runs")
    table = pd.DataFrame(rows, columns=columns, dtype=str)
    if path.name == LISTS[-1]:
        return table.filter([*NAMES, "status", *INTERVALS, *sum(INTERVALS.values(), ())])
    skipped = [name for name in columns if name == "command" or COMPUTING_TIME.fullmatch(name)]
    return table.drop(columns=skipped)


def compare_tables(
    study: str,
    file: str,
    old: pd.DataFrame,
    new: pd.DataFrame,
    keys: Sequence[str],
    rtol: float = 0.0,
) -> list[Change]:
    """Compare the columns that two tables of texts share.

    Rows are matched by their keys; of several with the same keys, by their order. Numbers are equal
    if they differ by at most `rtol` times the old one. Measured values are also equal if their
    intervals overlap.
    """
    on = [*keys, "#"]
    old_rows, new_rows = (
        table.assign(**{"#": table.groupby([*keys]).cumcount()}) for table in (old, new)
    )
    merged = old_rows.merge(new_rows, "outer", on, suffixes=(" old", " new"), indicator="side")
    rows = [" ".join(filter(None, key)) for key in merged[[*keys]].to_numpy()]
    changes = [
        Change(study, file, row, difference="missing" if side == "left_only" else "new")
        for row, side in zip(rows, merged["side"], strict=True)
        if side != "both"
    ]
    shared = old.columns.intersection(new.columns, sort=False)
    for column in shared.difference([*keys, *sum(INTERVALS.values(), ())], sort=False):
        before, after = (merged[f"{column} {side}"] for side in ("old", "new"))
        was, now = (pd.to_numeric(cells, errors="coerce") for cells in (before, after))
        differ = (merged["side"] == "both") & (before != after)
        differ &= ~np.isclose(now, was, rtol=rtol, atol=0)
        if column in INTERVALS and {*INTERVALS[column]} <= {*shared}:
            differ &= ~_overlap(merged, *INTERVALS[column])
        ratios = (now - was) / was.abs()
        changes += [
            Change(
                study,
                file,
                rows[place],
                column,
                before[place],
                after[place],
                f"{ratios[place]:+.4g}" if np.isfinite(ratios[place]) else "",
            )
            for place in np.flatnonzero(differ)
        ]
    return changes


def _overlap(merged: pd.DataFrame, low: str, high: str) -> pd.Series[bool]:
    """Return whether the old and the new interval of each row overlap; False without intervals."""
    old_low, old_high, new_low, new_high = (
        pd.to_numeric(merged[f"{end} {side}"], errors="coerce")
        for side in ("old", "new")
        for end in (low, high)
    )
    return (old_low <= new_high) & (new_low <= old_high)
