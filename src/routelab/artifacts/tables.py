"""Tables as CSV: a header, commas, Unix line ends, numbers that read back as themselves."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from typing import Any

from routelab.artifacts.atomic import atomic_file


def write_csv(
    path: str | os.PathLike[str], columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Write a table atomically; None becomes an empty field.

    Raises
    ------
    InputError
        If `path` cannot be written.
    """
    with atomic_file(path) as new, new.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
