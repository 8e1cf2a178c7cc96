"""Compare every number and text of two results folders, timings excepted.

    python perf/compare_results.py OLD/results NEW/results [--output FILE]

Use it to show that a change of the code did not change a result: make both folders from clean
caches, one with the old commit and one with the new one. Compared are the tables in ``COMPARED``,
cell by cell, the status, reason and facts of every ``outcome.json``, and the arrays in ``*.npz``.
Cells are equal if their texts are, or if both are numbers of exactly the same value; there is no
tolerance. What ``EXCLUDED`` names is different in every run and is not compared.

Exit code: 0 if nothing differs, 1 if anything does, 2 if the folders cannot be compared.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

COMPARED = (
    "report/*/tables/*.csv",
    "report/*/figures/*.csv",
    "report/*/runs.csv",
    "report/*/simulations.csv",
    "report/*/flows.csv",
    "report/*/benchmarks.csv",
    "*/topologies/*/channels.csv",
    "*/topologies/*/topology.npz",
    "*/routes/*/metrics.csv",
    "*/routes/*/channels.csv",
    "*/routes/*/turns.csv",
    "*/routes/*/routes.npz",
    "*/bounds/*/bound.csv",
    "*/simulations/*/curve.csv",
    "*/simulations/*/channels.csv",
    "*/simulations/*/terminals.csv",
    "*/simulations/*/latencies.csv",
    "*/flows/*/channels.csv",
    "*/flows/*/ranks.csv",
    "*/surveys/*.csv",
    "*/outcome.json",
)
"""Files that are compared; here ``*`` stands for any folders, too."""


class Excluded(NamedTuple):
    """A column of tables, or a fact of outcomes, that is not compared.

    `name` also stands for a statistic of it in a table of a report, such as
    ``cpu_seconds_median``, if `statistics` says so.
    """

    name: str
    reason: str
    statistics: bool = False
    kinds: tuple[str, ...] = ()  # of outcomes; empty: all outcomes and all tables


EXCLUDED = (
    Excluded("routing_seconds", "wall time of making the routes", statistics=True),
    Excluded("cpu_seconds", "CPU time of the routes or of a simulated load", statistics=True),
    Excluded("engine_seconds", "wall time of the flow engine or of SimGrid", statistics=True),
    Excluded("flit_hops_per_cpu_s", "speed of the packet engine", statistics=True),
    Excluded("bound_seconds", "wall time of the search for a bound", kinds=("bound",)),
    Excluded("run_wall_seconds", "wall time of a survey's run"),
    Excluded("run_cpu_seconds", "CPU time of a survey's run"),
    Excluded("origin", "hash of a survey's provenance: versions, machine, commit"),
    Excluded("wall_seconds", "wall time of all runs on a cluster", kinds=("comparison",)),
    Excluded("started", "time of day of the first run on a cluster", kinds=("comparison",)),
    Excluded("ended", "time of day of the last run on a cluster", kinds=("comparison",)),
    Excluded("job_ids", "Slurm's numbers of the jobs that measured", kinds=("comparison",)),
)
"""All that is not compared. Provenance (``provenance`` of outcomes and in ``metadata`` of arrays)
is left out as a whole: it holds the commit, the time of day, the host, times and memory."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?inf|nan", re.IGNORECASE)


def excluded(name: str, kind: str = "") -> bool:
    """Return whether a column of a table, or a fact of an outcome of a kind, is not compared."""
    return any(
        (name == one.name or (one.statistics and not kind and name.startswith(f"{one.name}_")))
        and (not one.kinds or kind in one.kinds)
        for one in EXCLUDED
    )


class Difference(NamedTuple):
    """A value that differs; an empty `row` and `column` stand for the whole file or row."""

    file: str
    row: str
    column: str
    old: str
    new: str


@dataclass
class Comparison:
    """Differences and counts of two folders."""

    differences: list[Difference] = field(default_factory=list)
    files: int = 0
    tables: int = 0
    equal: int = 0
    different: int = 0
    missing_old: int = 0
    missing_new: int = 0
    excluded: Counter[str] = field(default_factory=Counter)

    def value(self, file: str, row: str, column: str, old: object, new: object) -> None:
        """Count a pair of values that is there on both sides."""
        if same(old, new):
            self.equal += 1
        else:
            self.different += 1
            self.differences.append(Difference(file, row, column, shown(old), shown(new)))

    def missing(self, file: str, row: str, column: str, *, old: bool, what: str) -> None:
        """Count something that only one side has; `old` says whether the old one lacks it."""
        if old:
            self.missing_old += 1
        else:
            self.missing_new += 1
        there, lacking = f"({what})", "(missing)"
        texts = (lacking, there) if old else (there, lacking)
        self.differences.append(Difference(file, row, column, *texts))


# --- values ---------------------------------------------------------------------------------------


def same(old: object, new: object) -> bool:
    """Return whether two values are equal: as texts, or as numbers without any tolerance."""
    if isinstance(old, str) and isinstance(new, str):
        if old == new:
            return True
        if not (_NUMBER.fullmatch(old) and _NUMBER.fullmatch(new)):
            return False
        first, second = Decimal(old), Decimal(new)
        return first == second or (first.is_nan() and second.is_nan())
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    return old == new


def shown(value: object) -> str:
    """Return a value as the report shows it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}..."


# --- tables ---------------------------------------------------------------------------------------


@dataclass
class Table:
    """A table of texts; `columns` are unique."""

    columns: list[str]
    rows: list[dict[str, str]]


def read_table(paths: Sequence[Path]) -> Table:
    """Read a table that is cut into one or several CSV files."""
    columns: dict[str, None] = {}
    rows: list[dict[str, str]] = []
    for path in paths:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.reader(stream, strict=True)
            names = _unique(next(reader, []))
            columns |= dict.fromkeys(names)
            for cells in reader:
                if len(cells) != len(names):
                    found = f"{len(cells)} cells for {len(names)} columns"
                    raise ValueError(f"{path.name}:{reader.line_num}: {found}")
                rows.append(dict(zip(names, cells, strict=True)))
    return Table(list(columns), rows)


def _unique(names: Iterable[str]) -> list[str]:
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return unique


def compare_tables(
    found: Comparison, file: str, old: Table, new: Table, key: Sequence[str] = ()
) -> None:
    """Compare two tables row by row.

    Rows are matched by the columns of `key`, in whatever order they are. Without one, the key is
    the fewest leading columns that no two rows share, and the rows' order is compared, too.
    """
    found.tables += 1
    for name in old.columns + [name for name in new.columns if name not in old.columns]:
        if excluded(name):
            found.excluded[name] += len(old.rows)
        elif name not in old.columns or name not in new.columns:
            found.missing(file, "", name, old=name not in old.columns, what="column")
    shared = [name for name in old.columns if name in new.columns and not excluded(name)]
    by_key = key or _key(shared, old.rows, new.rows)
    before, after = _by_key(old.rows, by_key), _by_key(new.rows, by_key)
    for row, cells in before.items():
        if row not in after:
            found.missing(file, row, "", old=False, what="row")
            continue
        for name in shared:
            found.value(file, row, name, cells.get(name, ""), after[row].get(name, ""))
    for row in after:
        if row not in before:
            found.missing(file, row, "", old=True, what="row")
    if not key and [row for row in before if row in after] != [
        row for row in after if row in before
    ]:
        found.different += 1
        found.differences.append(Difference(file, "", "", "(order of rows)", "(another order)"))


def _key(columns: Sequence[str], *tables: Sequence[Mapping[str, str]]) -> list[str]:
    for count in range(1, len(columns) + 1):
        keys = [[tuple(row[name] for name in columns[:count]) for row in rows] for rows in tables]
        if all(len(set(rows)) == len(rows) for rows in keys):
            return list(columns[:count])
    return list(columns)


def _by_key(rows: Iterable[Mapping[str, str]], key: Sequence[str]) -> dict[str, Mapping[str, str]]:
    """Rows by the text of their key; of rows with the same key, the later ones get a number."""
    seen: Counter[str] = Counter()
    named = {}
    for row in rows:
        name = " ".join(f"{column}={_plain(row.get(column, ''))}" for column in key)
        seen[name] += 1
        named[name if seen[name] == 1 else f"{name} (#{seen[name]})"] = row
    return named


def _plain(text: str) -> str:
    """A number in one spelling, so that 1 and 1.0 name the same row."""
    if not _NUMBER.fullmatch(text):
        return text
    number = Decimal(text)
    return str(number.normalize() + 0) if number.is_finite() else str(number)


# --- outcomes and arrays --------------------------------------------------------------------------


def compare_outcomes(found: Comparison, file: str, old: Path, new: Path) -> None:
    """Compare everything in two ``outcome.json`` but provenance and what is excluded."""
    before, after = (json.loads(path.read_bytes()) for path in (old, new))
    kind = str(before.get("kind", ""))
    for content in (before, after):
        content.pop("provenance", None)
    for name in {**before["facts"], **after["facts"]}:
        if excluded(name, kind):
            found.excluded[name] += 1
            before["facts"].pop(name, None)
            after["facts"].pop(name, None)
    _compare_values(found, file, _flat(before), _flat(after))


def _compare_values(
    found: Comparison, file: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    for name, value in old.items():
        if name in new:
            found.value(file, "", name, value, new[name])
        else:
            found.missing(file, "", name, old=False, what=shown(value))
    for name, value in new.items():
        if name not in old:
            found.missing(file, "", name, old=True, what=shown(value))


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """Values of nested JSON by their path."""
    if isinstance(value, dict) and value:
        items: Iterator[tuple[Any, Any]] = iter(value.items())
    elif isinstance(value, list) and value:
        items = iter(enumerate(value))
    else:
        return {name: value}
    flat: dict[str, Any] = {}
    for key, part in items:
        flat |= _flat(part, f"{name}.{key}" if name else str(key))
    return flat


def compare_arrays(found: Comparison, file: str, old: Path, new: Path) -> None:
    """Compare the arrays of two ``*.npz``, and their metadata but for its provenance."""
    before, after = _arrays(old), _arrays(new)
    for name in {**before, **after}:
        if name not in before or name not in after:
            found.missing(file, "", name, old=name not in before, what="array")
            continue
        first, second = before[name], after[name]
        if name == "metadata":
            texts = [json.loads(str(array)) for array in (first, second)]
            for text in texts:
                text.pop("provenance", None)
            _compare_values(found, f"{file}:metadata", *(_flat(text) for text in texts))
        elif (first.dtype, first.shape) != (second.dtype, second.shape):
            types = [f"({array.dtype} {array.shape})" for array in (first, second)]
            found.different += 1
            found.differences.append(Difference(file, "", name, *types))
        else:
            _compare_array(found, file, name, first.ravel(), second.ravel())


def _compare_array(found: Comparison, file: str, name: str, old: Any, new: Any) -> None:
    unlike = old != new
    if old.dtype.kind == "f":
        unlike &= ~(np.isnan(old) & np.isnan(new))
    places = np.flatnonzero(unlike)
    found.equal += old.size - len(places)
    found.different += len(places)
    found.differences += [
        Difference(file, str(place), name, shown(old[place].item()), shown(new[place].item()))
        for place in places
    ]


def _arrays(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


# --- folders --------------------------------------------------------------------------------------


def compare_folders(old: Path, new: Path) -> Comparison:
    """Compare two results folders."""
    found = Comparison()
    before, after = _units(old), _units(new)
    for name in sorted({**before, **after}):
        if name not in before or name not in after:
            found.missing(name, "", "", old=name not in before, what="file")
            continue
        found.files += 1
        try:
            _compare_unit(found, name, before[name], after[name])
        except (OSError, ValueError, KeyError, csv.Error, zipfile.BadZipFile) as error:
            found.different += 1
            found.differences.append(Difference(name, "", "", "(cannot be read)", str(error)))
    return found


def _compare_unit(found: Comparison, name: str, old: list[Path], new: list[Path]) -> None:
    if name.endswith(".csv"):
        key = ("topology", "routing") if name.endswith("/surveys/*.csv") else ()
        compare_tables(found, name, read_table(old), read_table(new), key)
        return
    compare: Callable[[Comparison, str, Path, Path], None]
    compare = compare_outcomes if name.endswith(".json") else compare_arrays
    compare(found, name, old[0], new[0])


def _units(folder: Path) -> dict[str, list[Path]]:
    """Files to compare by name; the files of a survey are one table, however it is cut."""
    units: dict[str, list[Path]] = {}
    for path in _compared(folder):
        name = path.relative_to(folder).as_posix()
        if path.parent.name == "surveys":
            name = f"{path.relative_to(folder).parent.as_posix()}/*.csv"
        units.setdefault(name, []).append(path)
    return units


def _compared(folder: Path) -> list[Path]:
    return [path for path in _files(folder) if _is_compared(path.relative_to(folder).as_posix())]


def _is_compared(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in COMPARED)


def _files(folder: Path) -> list[Path]:
    """All files of a results folder but the plan, which holds no results."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.relative_to(folder).parts[0].startswith(".")
    )


def others(folder: Path) -> Counter[str]:
    """Count the files of a folder that are not compared, by folder and kind."""
    names = [path.relative_to(folder) for path in _files(folder)]
    return Counter(
        f"{name.parts[0]}/.../*{name.suffix}" if len(name.parts) > 1 else name.name
        for name in names
        if not _is_compared(name.as_posix())
    )


# --- report ---------------------------------------------------------------------------------------


def print_report(found: Comparison, left_out: Mapping[str, int], limit: int) -> None:
    """Print what is excluded, the first differences of every file, and the totals."""
    print("Not compared, because it differs in every run:")
    for what in EXCLUDED:
        where = f" (facts of {', '.join(what.kinds)}s)" if what.kinds else ""
        more = f", also {what.name}_<statistic>" if what.statistics else ""
        print(f"  {what.name}{more}{where}: {what.reason}")
    print("  provenance: commit, versions, host, time of day, times, memory")
    if found.excluded:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(found.excluded.items()))
        print(f"  found here: {counts}")
    if left_out:
        files = ", ".join(f"{count} {name}" for name, count in sorted(left_out.items()))
        print(f"Files of OLD that hold no results to compare: {files}")
    by_file: dict[str, list[Difference]] = {}
    for one in found.differences:
        by_file.setdefault(one.file, []).append(one)
    for file, differences in by_file.items():
        print(f"\n{file}")
        for one in differences[:limit]:
            place = ", ".join(filter(None, (one.row, one.column)))
            print(f"  {place + ': ' if place else ''}{one.old} -> {one.new}")
        if len(differences) > limit:
            print(f"  and {len(differences) - limit} more")
    values = found.equal + found.different
    print(f"\n{found.files} files, {found.tables} of them tables; {values} values compared")
    print(f"{found.equal} equal, {found.different} different")
    print(f"{found.missing_old} missing in OLD, {found.missing_new} missing in NEW")


def write_report(found: Comparison, path: Path) -> None:
    """Write all differences as CSV.

    Raises
    ------
    OSError
        If `path` cannot be written.
    """
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(Difference._fields)
        writer.writerows(found.differences)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the folders that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path, metavar="OLD", help="results folder of the old commit")
    parser.add_argument("new", type=Path, metavar="NEW", help="results folder of the new commit")
    parser.add_argument("--output", type=Path, metavar="FILE", help="CSV file for all differences")
    parser.add_argument(
        "--limit",
        type=int,
        default=5,
        metavar="N",
        help="differences to print for each file (default: 5)",
    )
    asked = parser.parse_args(arguments)
    if problem := _problem(asked.old, asked.new):
        print(problem, file=sys.stderr)
        return 2
    found = compare_folders(asked.old, asked.new)
    print_report(found, others(asked.old), max(0, asked.limit))
    if asked.output is not None:
        try:
            write_report(found, asked.output)
        except OSError as error:
            print(f"{asked.output}: cannot be written: {error.strerror}", file=sys.stderr)
            return 2
    return 1 if found.differences else 0


def _problem(*folders: Path) -> str:
    """Why folders cannot be compared; empty if they can."""
    for folder in folders:
        if not folder.is_dir():
            return f"{folder}: folder not found"
        if not _compared(folder):
            return f"{folder}: no results in this folder; give the folder 'results' itself"
    if folders[0].samefile(folders[1]):
        return f"{folders[0]} and {folders[1]} are the same folder"
    return ""


if __name__ == "__main__":
    sys.exit(main())
