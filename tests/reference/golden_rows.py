"""Rows of studies that must not change: frozen ones, and those of a results folder.

    python tests/reference/golden_rows.py RESULTS [STUDY...]         compare
    python tests/reference/golden_rows.py --freeze RESULTS STUDY...  freeze again

A study's rows are those of all CSV tables of its report, without times and reasons. They are
compared as texts, so numbers have no tolerance. A change that is meant to change rows freezes them
again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path

import pandas as pd

ROWS = Path(__file__).parents[1] / "golden" / "rows"

NOT_COMPARED = re.compile(
    # of processes, so they differ between runs; also their statistics, such as cpu_seconds_median
    r"(routing|cpu|engine)_seconds(_.*)?|flit_hops_per_cpu_s(_.*)?|run_(wall|cpu)_seconds|origin"
    # texts
    r"|(deadlock_)?reason"
)

Table = dict[str, list]


def read_rows(results: Path, study: str) -> dict[str, Table]:
    """Return columns and sorted rows of all tables of a study's report, by file."""
    report = results / "report" / study
    tables = {}
    for path in sorted([*report.glob("*.csv"), *report.glob("tables/*.csv")]):
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        frame = frame[[name for name in frame.columns if not NOT_COMPARED.fullmatch(name)]]
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
    """Return a line for each file, column or row that only one of the two has."""
    lines = [f"{file}: in one of the two only" for file in sorted({*old} ^ {*new})]
    for file in sorted({*old} & {*new}):
        columns = [
            {name for name in tables[file]["columns"] if not NOT_COMPARED.fullmatch(name)}
            for tables in (old, new)
        ]
        lines += [
            f"{file}: column {name}: in one of the two only" for name in columns[0] ^ columns[1]
        ]
        before, after = (_count(tables[file], columns[0] & columns[1]) for tables in (old, new))
        lines += [f"{file}: missing: {row}" for row in (before - after).elements()]
        lines += [f"{file}: new: {row}" for row in (after - before).elements()]
    return lines


def _count(table: Table, columns: set[str]) -> Counter[str]:
    places = [i for i, name in enumerate(table["columns"]) if name in columns]
    return Counter(
        " | ".join(f"{table['columns'][i]}={row[i]}" for i in places) for row in table["rows"]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("studies", nargs="*")
    parser.add_argument("--freeze", action="store_true", help="replace the frozen rows")
    arguments = parser.parse_args()
    frozen = sorted(path.name.removesuffix(".json.gz") for path in ROWS.glob("*.json.gz"))
    found = 0
    for study in arguments.studies or frozen:
        if arguments.freeze:
            freeze(arguments.results, study)
            continue
        lines = differences(frozen_rows(study), read_rows(arguments.results, study))
        values = sum(len(t["columns"]) * len(t["rows"]) for t in frozen_rows(study).values())
        print(f"{study}: {values} values, {len(lines)} differences", *lines[:20], sep="\n  ")
        found += len(lines)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
