"""The page and the CSV file of a comparison of two folders of results."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

from routelab.api import InputError
from routelab.artifacts.atomic import atomic_directory, check_writable
from routelab.report.changes import Change, Comparison
from routelab.report.page.render import write_page
from routelab.toolkit.csv_cells import write_csv_rows

MAX_ROWS = 1000
"""Largest number of changes of a study on the page; ``changes.csv`` has all."""
FILES = frozenset({"index.html", "changes.csv"})


def check_folder(folder: Path) -> None:
    """Check that a comparison may replace a folder.

    Raises
    ------
    InputError
        If it holds other files, or cannot be written.
    """
    if folder.is_dir() and (others := {entry.name for entry in folder.iterdir()} - FILES):
        raise InputError(
            f"cannot write {folder}: it holds other files ({min(others)}), which would be lost; "
            "name a new folder"
        )
    check_writable(folder)


def write_changes(comparison: Comparison, old: Path, new: Path, folder: Path) -> None:
    """Write ``index.html`` and ``changes.csv``."""
    shown: dict[str, list[Change]] = {}
    for change in comparison.changes:
        shown.setdefault(change.study, []).append(change)
    text = io.StringIO()
    write_csv_rows(text, [Change._fields, *comparison.changes])
    with atomic_directory(folder) as place:
        (place / "changes.csv").write_text(text.getvalue(), encoding="utf-8")
        write_page(
            "changes.html.j2",
            place / "index.html",
            comparison=comparison,
            old=old,
            new=new,
            counts=Counter(change.verdict for change in comparison.changes).most_common(),
            groups_of_changes={name: rows[:MAX_ROWS] for name, rows in shown.items()},
            totals={name: len(rows) for name, rows in shown.items()},
        )
