"""What differs between the results of the same studies in two folders.

Reads the lists of runs that every report has. They are text, so results of earlier versions stay
readable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
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

REASONS = ("reason", "deadlock_reason", "bound_reason")
"""Columns with sentences about a status or a verdict; that has a column of its own."""

COMPUTING_TIMES = (
    *("routing_seconds", "cpu_seconds", "engine_seconds", "opensm_seconds"),
    "flit_hops_per_cpu_s",
)
"""Columns with the time that a computation took."""

NOT_COMPARED = (*REASONS, *COMPUTING_TIMES, "command")
"""Columns that are not compared in any list."""

NOT_REPEATABLE = ("job_ids", "mean", "cov_percent")
"""Further columns of measurements that are not compared: no interval says what is noise."""

INTERVALS = {
    "median": ("ci_low", "ci_high"),
    "improvement_percent": ("improvement_low", "improvement_high"),
}
"""Columns of measurements, and those with the ends of their intervals."""

TEXTS = ("hosts", "version")
"""Columns whose texts are no numbers, even if they look like them: version 5.10 is not 5.1."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)


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

    All columns are compared but `NOT_COMPARED` and, of measurements, `NOT_REPEATABLE`.

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
        for table, other, word in ((before, after, "missing"), (after, before, "new")):
            # a fact that no run has is not always a column
            changes += [
                Change(study, file, column=column, difference=word)
                for column in table.columns.difference(other.columns, sort=False)
                if table[column].any()
            ]
        keys = [name for name in NAMES if name in before and name in after]
        changes += compare_tables(study, file, before, after, keys, rtol)
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
    left_out = {*NOT_COMPARED, *(NOT_REPEATABLE if path.name == LISTS[-1] else ())}
    table = pd.DataFrame(rows, columns=columns, dtype=str)
    return table[[name for name in columns if name not in left_out]]


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
    # 1. Rows that only one table has.
    merged = _match_rows(old, new, keys)
    changes = [
        Change(study, file, row, difference="missing" if side == "left_only" else "new")
        for row, side in zip(merged["name"], merged["side"], strict=True)
        if side != "both"
    ]
    # 2. Cells of the others. Ends of intervals are compared with their value, not by themselves.
    matched = merged[merged["side"] == "both"]
    rows = [*matched["name"]]
    old, new = (
        table.iloc[matched[side].astype(int)].reset_index(drop=True)
        for table, side in ((old, "old"), (new, "new"))
    )
    intervals = INTERVALS if file == LISTS[-1] else {}
    shared = old.columns.intersection(new.columns, sort=False)
    for column in shared.difference([*keys, *sum(intervals.values(), ())], sort=False):
        differ = (old[column] != new[column]).to_numpy()
        if column in intervals and {*intervals[column]} <= {*shared}:
            differ = differ & ~_overlap(old, new, *intervals[column])
        for place in np.flatnonzero(differ):
            texts = old[column][place], new[column][place]
            relative = ""
            if column not in TEXTS and all(map(_NUMBER.fullmatch, texts)):
                # decimals, because a float does not distinguish seeds of 17 digits
                was, now = map(Decimal, texts)
                if abs(now - was) <= Decimal(repr(rtol)) * abs(was):
                    continue
                relative = f"{float((now - was) / abs(was)):+.4g}" if was else ""
            changes.append(Change(study, file, rows[place], column, *texts, relative))
    return changes


def _match_rows(old: pd.DataFrame, new: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return a line for each row of the tables: ``name``, ``side``, and its places in both."""
    # keys are numbered here: a column of results may be called like one of this table
    numbers = [*range(len(keys))]
    places = []
    for table, side in ((old, "old"), (new, "new")):
        rows = table[[*keys]].set_axis(numbers, axis="columns")
        turn = rows.groupby(numbers).cumcount()
        places.append(rows.assign(turn=turn, **{side: range(len(rows))}))
    merged = places[0].merge(places[1], "outer", [*numbers, "turn"], indicator="side")
    names = [" ".join(filter(None, key)) for key in merged[numbers].to_numpy()]
    return merged.assign(name=names)


def _overlap(old: pd.DataFrame, new: pd.DataFrame, low: str, high: str) -> np.ndarray:
    """Return whether the old and the new interval of each row overlap; False without intervals."""
    old_low, old_high, new_low, new_high = (
        pd.to_numeric(table[end], errors="coerce").to_numpy()
        for table in (old, new)
        for end in (low, high)
    )
    return (old_low <= new_high) & (new_low <= old_high)
