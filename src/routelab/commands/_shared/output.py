"""Rows of text on standard output: a table for people, CSV or JSON for programs."""

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
"""All that folders of results hold."""


def check_result_folder(folder: Path) -> None:
    """Refuse a folder that cannot become one of results, before any work is done.

    A new result takes the place of an old one, with all that is in it: so nothing else may be.

    Raises
    ------
    InputError
        If it holds anything else, or cannot be written.
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
    """A value in a table for people; JSON and CSV have all digits."""
    if value is None:
        return ""
    if isinstance(value, float):
        if value.is_integer():
            return str(int(value))
        return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "") -> None:
    """Print a table: drawn for a terminal, plain aligned text for a file or a pipe."""
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
        # as Text, since a string would have its brackets taken for markup
        table.add_row(*map(Text, row))
    Console().print(table)


def warn(name: str, outcome: Outcome) -> None:
    """Warn that a job came to no result."""
    import logging

    logging.getLogger(__name__).warning("%s: %s: %s", name, outcome.status, outcome.reason)
