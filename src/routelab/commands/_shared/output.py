"""Rows on standard output: a table for people, CSV or JSON for programs."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routelab.artifacts.outcome import Outcome

FORMATS = ("table", "csv", "json")

RESULTS = frozenset(
    {
        "outcome.json",
        "topology.npz",
        "channels.csv",
        "metrics.csv",
        "routes.npz",
        "certificate.json",
        "bound.csv",
        "curve.csv",
        "terminals.csv",
        "latencies.csv",
        "ranks.csv",
    }
)
"""Names of all files in folders of results."""


def check_result_folder(folder: Path) -> None:
    """Check, before any work, that a folder may become a folder of results.

    A new result replaces the whole folder, so it must not hold other files.

    Raises
    ------
    InputError
        If it holds other files, or cannot be written.
    """
    from routelab.api.errors import InputError
    from routelab.artifacts.atomic import check_writable

    if folder.is_dir():
        others = sorted(entry.name for entry in folder.iterdir() if entry.name not in RESULTS)
        if others:
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            raise InputError(
                f"cannot write {folder}: it holds other things than a result "
                f"({', '.join(others[:3])}{more}), which would be lost; name a new folder"
            )
    check_writable(folder)


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], form: str) -> None:
    """Print rows in one of `FORMATS`."""
    if form == "json":
        print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2))
    elif form == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows([columns, *rows])
    else:
        print_table(columns, rows)


def cell_text(value: Any) -> str:
    """Format a value for a table for people; JSON and CSV have all digits."""
    if value is None:
        return ""
    if isinstance(value, float):
        if value.is_integer():
            return str(int(value))
        return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "") -> None:
    """Print a table: with lines on a terminal, as plain aligned text in a file or pipe."""
    if sys.stdout.isatty():
        _print_rich(columns, rows)
    else:
        _print_plain(columns, rows, indent)


def _print_plain(columns: Sequence[str], rows: Sequence[Sequence[str]], indent: str) -> None:
    lines = [columns, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print((indent + "  ".join(cells)).rstrip())


def _print_rich(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns)
    for row in rows:
        # as Text, because brackets in a string are markup
        table.add_row(*map(Text, row))
    Console().print(table)


def warn(name: str, outcome: Outcome) -> None:
    """Warn that a job has no result."""
    import logging

    logging.getLogger(__name__).warning("%s: %s: %s", name, outcome.status, outcome.reason)
