"""Reader of traffic matrices."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path

import numpy as np

from routelab.api.errors import InputError
from routelab.api.number_texts import read_number
from routelab.api.topology import Float64Array, Int64Array
from routelab.toolkit.csv_cells import CsvReader
from routelab.toolkit.input_files import read_user_text, refuse

logger = logging.getLogger(__name__)

COLUMNS = {"source": ("source", "src"), "target": ("target", "dst"), "bytes": ("bytes",)}
"""Columns of a list, each with its allowed names."""
MESSAGES = "messages"
"""Optional column of a list."""
MAX_RANKS = 20_000
"""Largest number of ranks: their matrix takes 3 GB."""
MAX_EXACT = 2**53
"""Largest number of messages or bytes of a pair in a list: integers up to it are exact."""


def read_messages(path: Path) -> tuple[Int64Array, Int64Array]:
    """Read the numbers of messages and bytes that every rank sends to every other.

    Parameters
    ----------
    path : Path
        As in `read_traffic_matrix`; a list may have a column ``messages``. Without it, each pair
        has one message.

    Returns
    -------
    messages, bytes : int64 array, shape (R, R)
        Total bytes of all messages.

    Raises
    ------
    InputError
        As `read_traffic_matrix`, and if numbers are not integers or above `MAX_EXACT`, or a pair
        has bytes and no message.
    """
    bytes_, messages = _read(path)
    numbers = {"bytes": bytes_, "messages": messages}
    for name, matrix in numbers.items():
        if matrix is None:
            continue
        if (matrix != np.floor(matrix)).any():
            raise InputError(f"{path}: {name} of a pair are not a whole number")
        if (matrix > MAX_EXACT).any():
            source, target = np.argwhere(matrix > MAX_EXACT)[0]
            raise InputError(
                f"{path}: from rank {source} to rank {target} there are more than {MAX_EXACT} "
                f"{name}"
            )
    if messages is None:
        return (bytes_ > 0).astype(np.int64), bytes_.astype(np.int64)
    silent = np.argwhere((bytes_ > 0) & (messages == 0))
    if len(silent):
        source, target = silent[0]
        raise InputError(
            f"{path}: from rank {source} to rank {target} there are bytes, and 0 messages"
        )
    return messages.astype(np.int64), bytes_.astype(np.int64)


def read_traffic_matrix(path: Path) -> Float64Array:
    """Read the bytes that every rank sends to every other.

    Parameters
    ----------
    path : Path
        CSV with the header ``source,target,bytes`` (or ``src,dst,bytes``; a warning names further
        columns, lines of one pair add up, the highest rank in the file is the last one), or a
        matrix without a header: line i, column j has the bytes from rank i to rank j. Empty lines
        and lines that begin with ``#`` are ignored.

    Returns
    -------
    matrix : float64 array, shape (R, R)
        Bytes.

    Raises
    ------
    InputError
        If the file cannot be read or its content is wrong; names the file and up to five lines.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[Float64Array, Float64Array | None]:
    """Read bytes and, if a list has them, messages; raise as `read_traffic_matrix`."""
    rows = list(_rows(path))
    if not rows:
        raise InputError(f"{path}: no line with traffic in it")
    problems: list[str] = []
    listed = any(_number(cell) is None for cell in rows[0][1])
    matrix = _from_list(rows, problems) if listed else (_from_square(rows, problems), None)
    refuse(path, problems)
    if listed and (note := _unread(rows[0][1])):
        _warn(path, note)
    return matrix


def unread_columns(path: Path) -> str:
    """Return a text that names the columns of a list that are not read; empty without any.

    Raises
    ------
    InputError
        As `read_traffic_matrix`.
    """
    _, header = next(_rows(path), (0, ["0"]))
    return _unread(header)


def _unread(header: list[str]) -> str:
    """Return the text of `unread_columns`; a row of numbers is no header."""
    known = {MESSAGES, "", *(name for names in COLUMNS.values() for name in names)}
    is_list = any(_number(cell) is None for cell in header)
    names = [name for name in header if is_list and name.lower() not in known]
    return f"not read: column{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else ""


@cache
def _warn(path: Path, note: str) -> None:
    """Log a note on a file once: plugins read a file several times."""
    logger.warning("%s: %s", path, note)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not empty."""
    reader = CsvReader(str(path), iter(StringIO(read_user_text(path), newline=None)))
    if reader.header:
        yield reader.line, reader.header
    yield from reader.rows()


def _number(cell: str) -> float | None:
    try:
        return read_number(cell)
    except ValueError:
        return None


def _amount(cell: str, line: int, problems: list[str], what: str = "bytes") -> float:
    value = _number(cell)
    if value is None or not 0 <= value < np.inf:
        problems.append(f"line {line}: {cell!r} is not a number of {what} (0 or more)")
        return 0.0
    return value


def _from_square(rows: list[tuple[int, list[str]]], problems: list[str]) -> Float64Array:
    """Return the numbers of a matrix; if it is not square, none, and a line in `problems`."""
    size = len(rows)
    uneven = [(line, len(cells)) for line, cells in rows if len(cells) != size]
    if uneven:
        line, width = uneven[0]
        problems.append(
            f"line {line}: {width} numbers, but there are {size} lines; a matrix has as many "
            "lines as columns, and a list needs the header source,target,bytes"
        )
        return np.zeros((0, 0))
    return np.array(
        [[_amount(cell, line, problems) for cell in cells] for line, cells in rows], np.float64
    )


def _from_list(
    rows: list[tuple[int, list[str]]], problems: list[str]
) -> tuple[Float64Array, Float64Array | None]:
    """Return the bytes and the messages (None without that column) between ranks of a list.

    `rows`: line number and cells, the header first. Wrong lines are added to `problems`.
    """
    # 1. The columns, by their header. A column that occurs twice is as good as none.
    (place, names), *body = rows
    header = [name.lower() for name in names]
    rates = {
        column: [header.index(name) for name in spellings if header.count(name) == 1]
        for column, spellings in COLUMNS.items()
    }
    if any(len(positions) != 1 for positions in rates.values()):
        problems.append(
            f"line {place}: expected a header with source, target and bytes, each once, "
            f"got {','.join(names)!r}"
        )
        return np.zeros((0, 0)), None
    # 2. The lines; all mistakes in them are collected.
    counted = header.index(MESSAGES) if MESSAGES in header else None
    entries = []
    for line, cells in body:
        if len(cells) != len(header):
            problems.append(f"line {line}: {len(cells)} cells under a header of {len(header)}")
            continue
        source, target = (
            _rank(cells[rates[end][0]], line, problems) for end in ("source", "target")
        )
        amount = _amount(cells[rates["bytes"][0]], line, problems)
        count = 0.0 if counted is None else _amount(cells[counted], line, problems, MESSAGES)
        entries.append((source, target, amount, count))
    if not body:
        problems.append("no line below the header")
    if problems:
        return np.zeros((0, 0)), None
    # 3. The matrix, up to the highest rank. Lines of one pair add up.
    ranks = 1 + max(max(source, target) for source, target, *_ in entries)
    matrix = np.zeros((ranks, ranks))
    messages = None if counted is None else np.zeros((ranks, ranks))
    for source, target, amount, count in entries:
        matrix[source, target] += amount
        if messages is not None:
            messages[source, target] += count
    return matrix, messages


def _rank(cell: str, line: int, problems: list[str]) -> int:
    if cell.isascii() and cell.isdigit() and int(cell[:10]) < MAX_RANKS and len(cell) <= 10:
        return int(cell)
    problems.append(f"line {line}: {cell!r} is not a rank (0, 1, ... up to {MAX_RANKS - 1})")
    return 0
