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

RUNS, MEASUREMENTS = "runs.csv", "benchmarks.csv"
LISTS = (RUNS, "simulations.csv", "flows.csv", MEASUREMENTS)
"""Files of a report with all runs; every report has `RUNS`."""

KEY_COLUMNS = (
    *("topology", "routing", "traffic", "workload", "benchmark"),
    *("simulation", "flow", "bench", "metric", "size", "load"),
)
"""Columns that together name a row of a list."""

REASON_COLUMNS = ("reason", "deadlock_reason", "bound_reason")
"""Columns with sentences about a status or a verdict; that has a column of its own."""

COMPUTING_TIMES = (
    *("routing_seconds", "cpu_seconds", "engine_seconds", "opensm_seconds"),
    "flit_hops_per_cpu_s",
)
"""Columns with the time that a computation took."""

NOT_COMPARED = (*REASON_COLUMNS, *COMPUTING_TIMES, "command")
"""Columns that are not compared in any list."""

NOT_REPEATABLE = ("job_ids", "mean", "cov_percent")
"""Further columns of measurements that are not compared: no interval says what is noise."""

INTERVAL_COLUMNS = {
    "median": ("ci_low", "ci_high"),
    "improvement_percent": ("improvement_low", "improvement_high"),
}
"""Columns of measurements, and those with the ends of their intervals."""

TEXT_COLUMNS = ("hosts", "version")
"""Columns whose texts are no numbers, even if they look like them: version 5.10 is not 5.1."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)


class Change(NamedTuple):
    """A cell that differs, or a list, column or row that only one of the folders has.

    Attributes
    ----------
    study, file : str
    row : str
        The row's key, such as ``torus~dims=4x4 dor``; empty for lists and columns.
    column : str
        Empty for lists and rows.
    old, new : str
        Texts of the cell; empty unless it is a cell that differs.
    difference : str
        Of a number, the change relative to the old one, such as ``+0.25``; empty for texts and for
        changes from 0. ``missing`` for what only the old folder has, ``new`` for the new one.
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
    old_lists, new_lists = _find_lists(old), _find_lists(new)
    if old_lists.keys().isdisjoint(new_lists):
        raise InputError(f"{old} and {new} have no study in common; each must hold its report")
    changes = []
    for study, file in sorted(old_lists | new_lists):
        # 1. A list that only one of the folders has.
        if (study, file) not in new_lists:
            changes.append(Change(study, file, difference="missing"))
            continue
        if (study, file) not in old_lists:
            changes.append(Change(study, file, difference="new"))
            continue
        # 2. A column that only one of the lists has. A column of empty cells is no difference: some
        #    reports leave out columns in which no run has a value.
        before, after = _read_list(old_lists[study, file]), _read_list(new_lists[study, file])
        for table, other_table, difference in ((before, after, "missing"), (after, before, "new")):
            changes += [
                Change(study, file, column=column, difference=difference)
                for column in table.columns.difference(other_table.columns, sort=False)
                if table[column].any()
            ]
        # 3. Rows and cells of the columns that both lists have.
        keys = [name for name in KEY_COLUMNS if name in before and name in after]
        changes += compare_tables(study, file, before, after, keys, rtol)
    return changes


def _find_lists(folder: Path) -> dict[tuple[str, str], Path]:
    """Return the paths of the lists in or below `folder`, by study and file name.

    The folder is that of all results (``results``), of all reports (``results/report``), or of the
    report of one study (``results/report/<study>``).
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; name a folder of results")
    if (folder / RUNS).exists():
        studies = [folder]
    else:
        reports = folder / "report"
        studies = list((reports if reports.is_dir() else folder).iterdir())
    return {
        # The folder of a report has the name of its study. Absolute, because "." has no name.
        (study.absolute().name, file): study / file
        for study in studies
        for file in LISTS
        if (study / file).exists()
    }


def _read_list(path: Path) -> pd.DataFrame:
    """Return all cells of a list as texts, without the columns that are not compared."""
    # All columns; none of a file that cannot be read, for which `read_tuples` raises an error.
    columns = further_columns(path, columns=())
    rows = read_tuples(path, columns, numbers=())
    # A column twice, or another kind of table.
    if len(set(columns)) < len(columns) or not {"topology", "routing"} <= set(columns):
        raise InputError(f"{path} is damaged: its columns are not those of a list of runs")
    not_compared = {*NOT_COMPARED, *(NOT_REPEATABLE if path.name == MEASUREMENTS else ())}
    table = pd.DataFrame(rows, columns=columns, dtype=str)
    return table[[name for name in columns if name not in not_compared]]


def compare_tables(
    study: str,
    file: str,
    old: pd.DataFrame,
    new: pd.DataFrame,
    keys: Sequence[str],
    rtol: float = 0.0,
) -> list[Change]:
    """Compare the columns that two tables of texts share.

    Two rows match if they have the same texts in the columns `keys`. If several rows of a table
    have the same ones, the first matches the first such row of the other table, and so on. Numbers
    are equal if they differ by at most `rtol` times the old one. Measured values are also equal if
    their intervals overlap. `study` and `file` are copied into the changes; `file` also says if
    these are measurements.
    """
    # 1. Rows that only one table has.
    merged = _match_rows(old, new, keys)
    changes = [
        Change(study, file, row, difference="missing" if side == "left_only" else "new")
        for row, side in zip(merged["name"], merged["side"], strict=True)
        if side != "both"
    ]
    # 2. Cells of the rows that both tables have. Row k of `old` now matches row k of `new`. (The
    #    positions are floats, because they are NaN for rows that a table does not have.)
    matched = merged[merged["side"] == "both"]
    row_names = [*matched["name"]]
    old, new = (
        table.iloc[matched[position].astype(int)].reset_index(drop=True)
        for table, position in ((old, "old_position"), (new, "new_position"))
    )
    intervals = INTERVAL_COLUMNS if file == MEASUREMENTS else {}
    # Ends of intervals are compared with their value, not by themselves.
    interval_ends = [end for ends in intervals.values() for end in ends]
    shared = old.columns.intersection(new.columns, sort=False)
    for column in shared.difference([*keys, *interval_ends], sort=False):
        differ = (old[column] != new[column]).to_numpy()
        if column in intervals and set(intervals[column]) <= set(shared):
            low, high = intervals[column]
            differ = differ & ~_intervals_overlap(old, new, low, high)
        for row in np.flatnonzero(differ):
            old_text, new_text = old[column][row], new[column][row]
            difference = ""
            are_numbers = _NUMBER.fullmatch(old_text) and _NUMBER.fullmatch(new_text)
            if are_numbers and column not in TEXT_COLUMNS:
                # decimals, because a float does not distinguish seeds of 17 digits
                before, after = Decimal(old_text), Decimal(new_text)
                # `repr`: 0.1 as it was written, and not the nearest binary fraction
                if abs(after - before) <= Decimal(repr(rtol)) * abs(before):
                    continue
                # a change from 0 has no relative size
                if before:
                    difference = f"{float((after - before) / abs(before)):+.4g}"
            changes.append(
                Change(study, file, row_names[row], column, old_text, new_text, difference)
            )
    return changes


def _match_rows(old: pd.DataFrame, new: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return which row of the old table belongs to which row of the new one.

    The result has a line for each pair of rows, and for each row without a partner. Its columns are
    ``name``, the texts of the keys; ``side``, which is ``both``, ``left_only`` (in the old table
    only) or ``right_only``; ``old_position`` and ``new_position``, the numbers of the row in both
    tables, NaN if it is not there.
    """
    # Here, the key columns are called 0, 1, …, as a column of results may be called ``side``, too.
    key_numbers = [*range(len(keys))]
    sides = []
    for table, position in ((old, "old_position"), (new, "new_position")):
        rows = table[[*keys]].set_axis(key_numbers, axis="columns")
        # the k-th of several rows with the same keys is matched with the k-th of the other table
        occurrence = rows.groupby(key_numbers).cumcount()
        sides.append(rows.assign(occurrence=occurrence, **{position: range(len(rows))}))
    old_rows, new_rows = sides
    matching_columns = [*key_numbers, "occurrence"]
    merged = old_rows.merge(new_rows, how="outer", on=matching_columns, indicator="side")
    names = [" ".join(filter(None, key)) for key in merged[key_numbers].to_numpy()]
    return merged.assign(name=names)


def _intervals_overlap(old: pd.DataFrame, new: pd.DataFrame, low: str, high: str) -> np.ndarray:
    """Return whether the old and the new interval of each row overlap; False without intervals.

    `low`, `high`: the columns with the ends. A missing end is NaN, and a comparison with NaN False.
    """
    old_low, old_high, new_low, new_high = (
        pd.to_numeric(table[end], errors="coerce").to_numpy()
        for table in (old, new)
        for end in (low, high)
    )
    return (old_low <= new_high) & (new_low <= old_high)
