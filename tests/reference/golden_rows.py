"""Rows of studies that must not change: frozen ones, and those of a results folder.

    python tests/reference/golden_rows.py RESULTS [STUDY...]         compare
    python tests/reference/golden_rows.py --freeze RESULTS STUDY...  freeze again

A study's rows are those of all CSV tables of its report, without computing times and reasons.
Numbers have no tolerance. A change that is meant to change rows freezes them again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from itertools import product
from pathlib import Path

import pandas as pd

from routelab.report.changes import (
    COMPUTING_TIMES,
    KEY_COLUMNS,
    LISTS,
    REASON_COLUMNS,
    compare_tables,
)
from routelab.study.views import STATISTICS

ROWS = Path(__file__).parents[1] / "golden" / "rows"

NOT_COMPARED = {
    *REASON_COLUMNS,
    *map(
        "".join,
        product(COMPUTING_TIMES, ("", *(f"_{name}" for name in STATISTICS)), ("", "_low", "_high")),
    ),
}
"""Columns of lists and, with their statistics and ranges, of tables."""

Table = dict[str, list]


def read_rows(results: Path, study: str) -> dict[str, Table]:
    """Return columns and sorted rows of all tables of a study's report, by file."""
    report = results / "report" / study
    tables = {}
    for path in sorted([*report.glob("*.csv"), *report.glob("tables/*.csv")]):
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        frame = frame[[name for name in frame.columns if name not in NOT_COMPARED]]
        rows = sorted(frame.values.tolist())
        tables[str(path.relative_to(report))] = {"columns": [*frame.columns], "rows": rows}
    return tables


def frozen_rows(study: str) -> dict[str, Table]:
    """Return the frozen rows of a study."""
    return json.loads(gzip.decompress((ROWS / f"{study}.json.gz").read_bytes()))["tables"]


def freeze(results: Path, study: str) -> None:
    """Freeze the rows of a study."""
    outcome = json.loads(next(results.glob("[!.]*/*/*/outcome.json")).read_text())
    content = {"commit": outcome["provenance"]["git_commit"], "tables": read_rows(results, study)}
    text = json.dumps(content, ensure_ascii=False, indent=0)
    (ROWS / f"{study}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def differences(old: dict[str, Table], new: dict[str, Table]) -> list[str]:
    """Return a line for each file or column that only one of the two has, and for each change."""
    lines = [f"{file}: in one of the two only" for file in sorted({*old} ^ {*new})]
    for file in sorted({*old} & {*new}):
        before, after = (_compared(tables[file]) for tables in (old, new))
        lines += [f"{file}: column {name}: in one of the two only" for name in {*before} ^ {*after}]
        shared = [name for name in before if name in after]
        # rows of other tables have no key, so a changed one is a missing one and a new one
        keys = [name for name in shared if name in KEY_COLUMNS] if file in LISTS else shared
        lines += [" ".join(change[1:]) for change in compare_tables("", file, before, after, keys)]
    return lines


def _compared(table: Table) -> pd.DataFrame:
    frame = pd.DataFrame(table["rows"], columns=table["columns"], dtype=str)
    return frame[[name for name in frame if name not in NOT_COMPARED]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("studies", nargs="*")
    parser.add_argument("--freeze", action="store_true", help="replace the frozen rows")
    arguments = parser.parse_args()
    frozen = sorted(path.name.removesuffix(".json.gz") for path in ROWS.glob("*.json.gz"))
    count = 0
    for study in arguments.studies or frozen:
        if arguments.freeze:
            freeze(arguments.results, study)
            continue
        lines = differences(frozen_rows(study), read_rows(arguments.results, study))
        values = sum(len(t["columns"]) * len(t["rows"]) for t in frozen_rows(study).values())
        print(f"{study}: {values} values, {len(lines)} differences", *lines[:20], sep="\n  ")
        count += len(lines)
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
