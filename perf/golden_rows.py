"""Freeze the rows of studies, and compare later results with the frozen rows.

    python perf/golden_rows.py freeze RESULTS STUDY...
    python perf/golden_rows.py check RESULTS [STUDY...]

A study's rows are the tables that its report offers: ``runs.csv`` and its like and everything in
``tables/``, with the columns that `compare_results.EXCLUDED` names left out (times of the machine
that ran). They are kept in ``tests/golden/rows/<study>.json.gz`` with the commit that made them.
Rows are compared as a set of texts; numbers have no tolerance.

Exit code: 0 if all rows are equal, 1 if any differs, 2 if a file is missing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from compare_results import excluded, read_table

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "rows"

Table = dict[str, list[list[str]] | list[str]]


def rows_of(report: Path) -> dict[str, Table]:
    """Return the tables of a study's report without the columns that hold times."""
    found: dict[str, Table] = {}
    for path in sorted([*report.glob("*.csv"), *report.glob("tables/*.csv")]):
        table = read_table([path])
        columns = [one for one in table.columns if not excluded(one)]
        rows = sorted([row.get(one, "") for one in columns] for row in table.rows)
        found[path.relative_to(report).as_posix()] = {"columns": columns, "rows": rows}
    return found


def commit_of(report: Path) -> str:
    """Return the commit that the provenance of the study's first run names."""
    text = (report.parents[1]).glob("*/*/outcome.json")
    first = next(iter(sorted(text)))
    return str(json.loads(first.read_text("utf-8"))["provenance"]["git_commit"])


def freeze(results: Path, studies: Sequence[str]) -> int:
    """Write the rows of studies."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for study in studies:
        report = results / "report" / study
        tables = rows_of(report)
        if not tables:
            print(f"golden_rows: {report} has no tables", file=sys.stderr)
            return 2
        content = {"commit": commit_of(report), "tables": tables}
        text = json.dumps(content, ensure_ascii=False, indent=0)
        packed = gzip.compress(text.encode(), mtime=0)
        (GOLDEN / f"{study}.json.gz").write_bytes(packed)
        print(f"{study}: {sum(len(one['rows']) for one in tables.values())} rows")
    return 0


def check(results: Path, studies: Sequence[str]) -> int:
    """Compare the rows of studies with the frozen ones; print what differs."""
    names = studies or sorted(one.name.partition(".")[0] for one in GOLDEN.glob("*.json.gz"))
    differs = False
    for study in names:
        golden = GOLDEN / f"{study}.json.gz"
        report = results / "report" / study
        if not golden.is_file() or not report.is_dir():
            print(f"golden_rows: {golden} or {report} is missing", file=sys.stderr)
            return 2
        old = json.loads(gzip.decompress(golden.read_bytes()))["tables"]
        lines = _differences(old, rows_of(report))
        differs = differs or bool(lines)
        count = sum(len(one["rows"]) for one in old.values())
        print(f"{study}: {count} rows, {len(lines)} differences")
        for line in lines[:20]:
            print(f"  {line}")
    return int(differs)


def _differences(old: dict[str, Table], new: dict[str, Table]) -> list[str]:
    lines = [f"{file}: only in one of the two" for file in sorted(old.keys() ^ new.keys())]
    for file in sorted(old.keys() & new.keys()):
        first, second = old[file], new[file]
        shared = [one for one in first["columns"] if one in second["columns"]]
        lines += [
            f"{file}: column {name} is only in one of the two"
            for name in sorted({*map(str, first["columns"])} ^ {*map(str, second["columns"])})
        ]
        before, after = _counted(first, shared), _counted(second, shared)
        lines += [f"{file}: lacks {row}" for row in (before - after).elements()]
        lines += [f"{file}: has new {row}" for row in (after - before).elements()]
    return lines


def _counted(table: Table, columns: Sequence[object]) -> Counter[str]:
    places = [table["columns"].index(one) for one in columns]  # type: ignore[arg-type]
    return Counter("|".join(str(row[place]) for place in places) for row in table["rows"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, least in (("freeze", "+"), ("check", "*")):
        command = commands.add_parser(name)
        command.add_argument("results", type=Path)
        command.add_argument("studies", nargs=least)
    chosen = parser.parse_args(arguments)
    return (freeze if chosen.command == "freeze" else check)(chosen.results, chosen.studies)


if __name__ == "__main__":
    sys.exit(main())
