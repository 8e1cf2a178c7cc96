"""What differs between the results of the same studies in two folders.

Reads the lists of runs that every report has (``runs.csv``, ``simulations.csv``, ``flows.csv``,
``benchmarks.csv``). They are text, so results of earlier versions stay readable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from routelab.api import InputError
from routelab.report.labels import column_of

LISTS: Mapping[str, tuple[str, ...]] = {
    "runs.csv": ("routes",),
    "simulations.csv": ("loads", "simulations"),
    "flows.csv": ("flows",),
    "benchmarks.csv": ("benchmarks",),
}
"""Files of a report with all runs, and the kinds of rows that they hold."""

MEASURED = "benchmarks.csv"
"""List of measurements: only the outcome and values with an interval can be compared."""

NAMES = (
    "topology",
    "routing",
    "traffic",
    "workload",
    "benchmark",
    "simulation",
    "flow",
    "bench",
    "cluster",
    "metric",
    "size",
    "load",
)
"""Columns that name a run."""

UNCOMPARED = ("command",)
"""Columns that are no results."""

_PARAMETER = re.compile(r"(topology|routing|traffic|workload|benchmark|simulation|flow|bench)\.")
_COMPUTING_TIME = re.compile(r"(^|_)(seconds|cpu_s)$")
_INTERVALS = {"median": ("ci_low", "ci_high")}


class Change(NamedTuple):
    """A value that differs beyond its tolerance.

    Attributes
    ----------
    study, file, run : str
        Study, list of runs, and the names of the run, separated by spaces.
    column, old, new : str
        Column and both values as the lists have them; intervals follow in brackets.
    difference : str
        Relative change of a number in percent; empty for texts and for changes from 0.
    verdict : {"better", "worse", "changed", "missing", "new"}
        ``missing`` and ``new`` are runs and columns that only one of the folders has.
    """

    study: str
    file: str
    run: str
    column: str
    old: str
    new: str
    difference: str
    verdict: str


@dataclass
class Comparison:
    """Result of a comparison.

    Attributes
    ----------
    changes : list of Change
    studies : list of str
        Studies that both folders have.
    values : int
        Number of pairs of values that were compared.
    reworded : int
        Number of sentences with another wording; `changes` does not have them.
    """

    changes: list[Change] = field(default_factory=list)
    studies: list[str] = field(default_factory=list)
    values: int = 0
    reworded: int = 0

    @property
    def sentence(self) -> str:
        """The result in a sentence."""
        studies = "1 study" if len(self.studies) == 1 else f"{len(self.studies)} studies"
        counts = Counter(change.verdict for change in self.changes)
        verdicts = ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common())
        reworded = f"; {self.reworded:,} sentences are worded differently" if self.reworded else ""
        return f"{self.values:,} values of {studies} compared: {verdicts or 'no change'}{reworded}."


class Tolerance(NamedTuple):
    """Largest difference of a column to ignore.

    Attributes
    ----------
    pattern : str
        Name of a column; ``*`` and ``?`` stand for any letters and any letter.
    value : float
        In the unit of the column, or relative to the old value.
    relative : bool
    """

    pattern: str
    value: float
    relative: bool

    def limits(self, old: pd.Series[float]) -> pd.Series[float]:
        """Return the largest difference to ignore, for each old value."""
        return old.abs() * self.value if self.relative else old * 0 + self.value


def compare_results(
    old: Path,
    new: Path,
    studies: Sequence[str] = (),
    tolerances: Sequence[Tolerance] = (),
) -> Comparison:
    """Compare the results of studies in two folders.

    Numbers must be equal up to their tolerance (default: 0). Values that were measured on a
    cluster are compared by their intervals unless they have a tolerance: they differ if the
    intervals do not overlap. Computing times are compared only if they have a tolerance. Sentences,
    such as reasons, are only counted.

    Parameters
    ----------
    old, new : Path
        Folders of results, or their folders ``report``.
    studies : sequence of str
        Names of studies (default: all in either folder).
    tolerances : sequence of Tolerance
        Of several that match a column, the last one applies.

    Raises
    ------
    InputError
        If the folders have no study in common, a named study or column is missing, or runs cannot
        be identified.
    """
    folders = [_reports(one) for one in (old, new)]
    names = [_study_names(folder) for folder in folders]
    common = sorted(names[0] & names[1])
    for study in studies:
        for path, found in zip((old, new), names, strict=True):
            if study not in found:
                raise InputError(f"{path} has no report of study '{study}'{_hint(study, found)}")
    if not common:
        raise InputError(f"{old} and {new} have no study in common; each must hold its report")
    result = Comparison(studies=[name for name in common if name in studies or not studies])
    if not studies:
        for lost, verdict in ((names[0] - names[1], "missing"), (names[1] - names[0], "new")):
            result.changes += [
                Change(name, "", "", "", "", "", "", verdict) for name in sorted(lost)
            ]
    columns: set[str] = set()
    for study in result.studies:
        for file in LISTS:
            tables = [_read(folder / study / file) for folder in folders]
            columns.update(*(table.columns for table in tables))
            if not all(table.empty for table in tables):
                _compare_lists(result, study, file, tables[0], tables[1], tolerances)
    for tolerance in tolerances:
        if not any(fnmatchcase(name, tolerance.pattern) for name in columns):
            raise InputError(
                f"--tolerance: no column '{tolerance.pattern}'{_hint(tolerance.pattern, columns)}"
            )
    return result


def _hint(name: str, known: set[str]) -> str:
    close = get_close_matches(name, sorted(known), 1)
    return f"; did you mean '{close[0]}'?" if close else ""


def _reports(folder: Path) -> Path:
    inside = folder / "report"
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; name a folder of results")
    return inside if inside.is_dir() else folder


def _study_names(reports: Path) -> set[str]:
    return {path.parent.name for path in reports.glob("*/summary.json")}


def _read(path: Path) -> pd.DataFrame:
    """Return a list as text; empty if the study has none."""
    if not path.exists():
        return pd.DataFrame()
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}; write this report again") from None


def _compare_lists(
    result: Comparison,
    study: str,
    file: str,
    old: pd.DataFrame,
    new: pd.DataFrame,
    tolerances: Sequence[Tolerance],
) -> None:
    keys = _keys(study, file, old, new)
    for one, other, verdict in ((old, new, "missing"), (new, old, "new")):
        mine, theirs = (_index(table, keys) for table in (one, other))
        lost = mine.difference(theirs, sort=False)
        result.changes += [
            Change(study, file, _run_name(key), "", "", "", "", verdict) for key in lost
        ]
    old, new = (table.set_index(_index(table, keys)) for table in (old, new))
    both = old.index.intersection(new.index, sort=False)
    old, new = old.loc[both], new.loc[both]
    for column in old.columns if len(both) else ():
        if column in keys or column in UNCOMPARED or not _is_compared(file, column, old):
            continue
        tolerance = _tolerance_of(column, tolerances)
        if _COMPUTING_TIME.search(column) and tolerance is None:
            continue
        if column not in new:
            if (old[column] != "").any():
                result.changes.append(Change(study, file, "", column, "", "", "", "missing"))
            continue
        _compare_column(result, study, file, column, old, new, tolerance)


def _is_compared(file: str, column: str, table: pd.DataFrame) -> bool:
    return file != MEASURED or column == "status" or bool(_interval(column, table))


def _compare_column(
    result: Comparison,
    study: str,
    file: str,
    column: str,
    old: pd.DataFrame,
    new: pd.DataFrame,
    tolerance: Tolerance | None,
) -> None:
    before, after = old[column], new[column]
    result.values += len(before)
    different = before != after
    sentences = before.str.contains(" ", regex=False) | after.str.contains(" ", regex=False)
    result.reworded += int((different & sentences).sum())
    different &= ~sentences
    if not different.any():
        return
    numbers = [pd.to_numeric(one, errors="coerce") for one in (before, after)]
    gaps = (numbers[1] - numbers[0]).abs()
    if tolerance is not None:
        different &= ~(gaps <= tolerance.limits(numbers[0]))
    elif file == MEASURED:
        different &= ~_overlap(column, old, new)
    texts = [_with_interval(column, table) for table in (old, new)]
    for key in before.index[different]:
        first, second = (float(one[key]) for one in numbers)
        result.changes.append(
            Change(
                study,
                file,
                _run_name(key),
                column,
                texts[0][key],
                texts[1][key],
                f"{(second - first) / abs(first):+.2%}" if first and second == second else "",
                _verdict(file, column, first, second),
            )
        )


def _tolerance_of(column: str, tolerances: Sequence[Tolerance]) -> Tolerance | None:
    matches = [one for one in tolerances if fnmatchcase(column, one.pattern)]
    return matches[-1] if matches else None


def _keys(study: str, file: str, *tables: pd.DataFrame) -> list[str]:
    """Return columns that identify the runs of each list: names, and parameters if needed.

    Parameters whose value is the same for all runs of a name are none of them, so that a changed
    default is a change of the run, not another run.
    """
    filled = [table for table in tables if not table.empty]
    shared = set.intersection(*(set(table.columns) for table in filled))
    keys = [name for name in NAMES if name in shared]
    parameters = [name for name in filled[0].columns if name in shared and _PARAMETER.match(name)]
    for table in filled:
        unclear = table[table.duplicated(keys, keep=False)]
        if unclear.empty:
            continue
        counts = unclear.groupby(keys, sort=False)[parameters].nunique().max()
        keys += [name for name in parameters if counts[name] > 1]
    for table in filled:
        if table.duplicated(keys).any():
            run = _run_name(tuple(table.loc[table.duplicated(keys), keys].iloc[0]))
            raise InputError(f"{study}/{file}: several rows are called '{run}'; cannot compare")
    return keys


def _index(table: pd.DataFrame, keys: Sequence[str]) -> pd.Index:
    rows = table[list(keys)] if not table.empty else pd.DataFrame(columns=list(keys))
    return pd.Index(list(map(tuple, rows.to_numpy(object))), tupleize_cols=False)


def _run_name(key: Sequence[str]) -> str:
    return " ".join(text for text in key if text)


def _interval(column: str, table: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns with the ends of a column's interval, if it has one."""
    stem = column.removesuffix("_percent")
    ends = _INTERVALS.get(column, (f"{stem}_low", f"{stem}_high"))
    return ends if set(ends) <= set(table.columns) else ()


def _overlap(column: str, old: pd.DataFrame, new: pd.DataFrame) -> NDArray[np.bool_]:
    """Return whether the intervals of both values overlap; False without intervals."""
    ends = _interval(column, old)
    if not ends or not _interval(column, new):
        return np.zeros(len(old), bool)
    (low, high), (other_low, other_high) = (
        [pd.to_numeric(table[end], errors="coerce") for end in ends] for table in (old, new)
    )
    return ((low <= other_high) & (other_low <= high)).to_numpy(bool)


def _with_interval(column: str, table: pd.DataFrame) -> pd.Series[str]:
    ends = _interval(column, table)
    if not ends:
        return table[column]
    low, high = (table[end] for end in ends)
    texts = table[column] + " (" + low + "–" + high + ")"
    return texts.where((low != "") & (high != ""), table[column])


def _verdict(file: str, column: str, old: float, new: float) -> str:
    declared = next((one for of in LISTS[file] if (one := column_of(column, of))), None)
    better = declared.better if declared else ""
    if not better or old != old or new != new:
        return "changed"
    return "better" if (new < old) == (better == "lower") else "worse"
