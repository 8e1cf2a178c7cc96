"""Tables as CSV: a header, commas, Unix line ends, numbers that read back as themselves."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from routelab.api.errors import InputError
from routelab.results.atomic import atomic_file
from routelab.results.outcome import require_undamaged
from routelab.toolkit.csv_cells import unescape_cell, write_csv_rows
from routelab.toolkit.input_files import read_text


def write_csv(
    path: str | os.PathLike[str], columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Write a table atomically; None becomes an empty field, texts are escaped (`escape_cell`).

    Raises
    ------
    InputError
        If `path` cannot be written.
    """
    with atomic_file(path) as draft, draft.open("w", newline="", encoding="utf-8") as stream:
        write_csv_rows(stream, [columns])
        write_csv_rows(stream, rows)


def read_tuples(
    path: str | os.PathLike[str], columns: Sequence[str], numbers: Collection[str]
) -> list[tuple[Any, ...]]:
    """Read what `write_csv` wrote.

    Parameters
    ----------
    path : path-like
    columns : sequence of str
        Required columns, in order.
    numbers : collection of str
        Columns of numbers; an empty field there is NaN.

    Returns
    -------
    rows : list of tuple
        Floats in columns of numbers, text in others.

    Raises
    ------
    InputError
        If the file is missing, damaged or another table.
    """
    with _explain_damage(path):
        header, *lines = _read_lines(path)
        if header != list(columns):
            raise ValueError(f"expected the columns {','.join(columns)}, found others")
        parsers = [_parse_number if column in numbers else str for column in columns]
        return [
            tuple(parse(cell) for parse, cell in zip(parsers, line, strict=True)) for line in lines
        ]


def further_columns(path: str | os.PathLike[str], columns: Sequence[str]) -> list[str]:
    """Return the columns that a table has after `columns`, for a reader of all of them.

    None are returned if the file is missing or does not begin with `columns`; `read_tuples`, which
    reads the table then, says what is wrong with it.
    """
    try:
        header = next(_unescaped_lines(read_text(path).partition("\n")[0]), [])
    except (OSError, ValueError, csv.Error):
        return []
    return header[len(columns) :] if header[: len(columns)] == list(columns) else []


def read_rows(
    path: str | os.PathLike[str], needed: Collection[str], texts: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Read what `write_csv` wrote, with any columns.

    Parameters
    ----------
    path : path-like
    needed : collection of str
        Required columns.
    texts : collection of str
        Columns whose cells are texts, even if they look like numbers.

    Returns
    -------
    rows : list of dict
        In other columns, a cell that looks like a number or a truth value becomes one; an empty
        cell becomes None.

    Raises
    ------
    InputError
        If the file is missing or damaged, or a column is missing.
    """
    with _explain_damage(path):
        header, *lines = _read_lines(path)
        if absent := [name for name in needed if name not in header]:
            raise ValueError(f"no column {', '.join(absent)}")
        parsers = [str if name in texts else _parse_cell for name in header]
        columns = list(zip(header, parsers, strict=True))
        return [
            {name: parse(cell) for (name, parse), cell in zip(columns, line, strict=True)}
            for line in lines
        ]


@contextmanager
def _explain_damage(path: str | os.PathLike[str]) -> Iterator[None]:
    """Check the file of a table; turn errors that the block raises on reading it into messages."""
    require_undamaged(Path(path))
    try:
        yield
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path} is damaged: {error}; remove its folder and run again") from error
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror or error}; remove its folder and run again"
        ) from error


def _read_lines(path: str | os.PathLike[str]) -> list[list[str]]:
    content = read_text(path)
    # A last line that was cut within a number would read as another number.
    if not content.endswith("\n"):
        raise ValueError("it ends within a line")
    return list(_unescaped_lines(content))


def _unescaped_lines(content: str) -> Iterator[list[str]]:
    for line in csv.reader(io.StringIO(content, newline=""), strict=True):
        yield [unescape_cell(cell) for cell in line]


_WORDS = {"": None, "True": True, "False": False}


def _parse_cell(cell: str) -> Any:
    """Return a cell as None, truth value, integer, number or text, whichever fits first."""
    if cell in _WORDS:
        return _WORDS[cell]
    for number_type in (int, float):
        try:
            return number_type(cell)
        except ValueError:
            continue
    return cell


def _parse_number(text: str) -> float:
    return float(text) if text else math.nan
