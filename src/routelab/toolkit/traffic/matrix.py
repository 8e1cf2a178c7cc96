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
    """Return the numbers of messages and bytes that every rank sends to every other.

    Parameters
    ----------
    path : Path
        A list or matrix of bytes, see `read_traffic_matrix`. A list may have a column ``messages``.
        Without it, each pair with bytes has one message.

    Returns
    -------
    messages, bytes : int64 array, shape (R, R)
        By (sender, receiver); the bytes are those of all messages together.

    Raises
    ------
    InputError
        If the file cannot be read or its content is wrong, numbers are not integers or above
        `MAX_EXACT`, or a pair has bytes and no message.
    """
    bytes_, messages = _read_matrices(path)
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
    """Return the bytes that every rank sends to every other.

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
    bytes_, _ = _read_matrices(path)
    return bytes_


def _read_matrices(path: Path) -> tuple[Float64Array, Float64Array | None]:
    """Return the bytes and the messages, None if the file has none, by (sender, receiver).

    Raises
    ------
    InputError
        If the file cannot be read or its content is wrong; names the file and up to five lines.
    """
    rows = list(_read_rows(path))
    if not rows:
        raise InputError(f"{path}: no line with traffic in it")
    # 1. A list has a header; all cells of a matrix are numbers.
    _, first_cells = rows[0]
    has_header = any(_parse_number(cell) is None for cell in first_cells)
    # 2. Both readers collect the mistakes of all lines in `problems`; `refuse` raises if there are.
    problems: list[str] = []
    if has_header:
        bytes_, messages = _parse_list(rows, problems)
    else:
        bytes_, messages = _parse_matrix(rows, problems), None
    refuse(path, problems)
    if has_header and (note := _unread_note(first_cells)):
        _warn_once(path, note)
    return bytes_, messages


def unread_columns(path: Path) -> str:
    """Return a text that names the columns of a list that are not read; empty without any.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    first_row = next(_read_rows(path), None)
    if first_row is None:
        return ""
    _, first_cells = first_row
    return _unread_note(first_cells)


def _unread_note(first_cells: list[str]) -> str:
    """Name the columns of a header that are not read; "" if there are none, or for a matrix."""
    known = {MESSAGES, "", *(name for names in COLUMNS.values() for name in names)}
    is_header = any(_parse_number(cell) is None for cell in first_cells)
    names = [name for name in first_cells if is_header and name.lower() not in known]
    return f"not read: column{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else ""


@cache
def _warn_once(path: Path, note: str) -> None:
    """Log a note on a file. Plugins read a file several times; the cache drops repetitions."""
    logger.warning("%s: %s", path, note)


def _read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not empty, the first line included."""
    reader = CsvReader(str(path), iter(StringIO(read_user_text(path), newline=None)))
    if reader.header:
        yield reader.line, reader.header
    yield from reader.rows()


def _parse_number(cell: str) -> float | None:
    """Return the number in a cell; None if the cell is not a number."""
    try:
        return read_number(cell)
    except ValueError:
        return None


def _read_amount(cell: str, line: int, problems: list[str], *, unit: str = "bytes") -> float:
    """Return the number in a cell; if it is not one of 0 or more, 0, with a line in `problems`."""
    value = _parse_number(cell)
    if value is None or not 0 <= value < np.inf:
        problems.append(f"line {line}: {cell!r} is not a number of {unit} (0 or more)")
        return 0.0
    return value


def _parse_matrix(rows: list[tuple[int, list[str]]], problems: list[str]) -> Float64Array:
    """Return the bytes in a file without a header, by (line, column).

    `rows` are the number and the cells of each line. Mistakes in lines are added to `problems`.
    """
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
        [[_read_amount(cell, line, problems) for cell in cells] for line, cells in rows], np.float64
    )


def _parse_list(
    rows: list[tuple[int, list[str]]], problems: list[str]
) -> tuple[Float64Array, Float64Array | None]:
    """Return the bytes and the messages (None without that column) in a file with a header.

    `rows` are the number and the cells of each line, the header first. Mistakes in lines are added
    to `problems`.
    """
    # 1. The columns, by their header. Each must occur exactly once, by one of its names.
    (header_line, names), *body = rows
    header = [name.lower() for name in names]
    indices = {
        column: [header.index(name) for name in spellings if header.count(name) == 1]
        for column, spellings in COLUMNS.items()
    }
    if any(len(columns) != 1 for columns in indices.values()):
        problems.append(
            f"line {header_line}: expected a header with source, target and bytes, each once, "
            f"got {','.join(names)!r}"
        )
        return np.zeros((0, 0)), None
    source_column, target_column, bytes_column = (
        indices[column][0] for column in ("source", "target", "bytes")
    )
    messages_column = header.index(MESSAGES) if MESSAGES in header else None
    # 2. The lines; all mistakes in them are collected.
    entries = []  # source, target, bytes, messages
    for line, cells in body:
        if len(cells) != len(header):
            problems.append(f"line {line}: {len(cells)} cells under a header of {len(header)}")
            continue
        source = _read_rank(cells[source_column], line, problems)
        target = _read_rank(cells[target_column], line, problems)
        size = _read_amount(cells[bytes_column], line, problems)
        count = 0.0
        if messages_column is not None:
            count = _read_amount(cells[messages_column], line, problems, unit=MESSAGES)
        entries.append((source, target, size, count))
    if not body:
        problems.append("no line below the header")
    if problems:
        return np.zeros((0, 0)), None
    # 3. The matrices, up to the highest rank. Lines of one pair add up.
    num_ranks = 1 + max(max(source, target) for source, target, *_ in entries)
    bytes_ = np.zeros((num_ranks, num_ranks))
    messages = None if messages_column is None else np.zeros((num_ranks, num_ranks))
    for source, target, size, count in entries:
        bytes_[source, target] += size
        if messages is not None:
            messages[source, target] += count
    return bytes_, messages


def _read_rank(cell: str, line: int, problems: list[str]) -> int:
    """Return the rank in a cell; if it is not a rank, 0, with a line in `problems`."""
    if cell.isascii() and cell.isdigit() and len(cell) <= 10 and int(cell) < MAX_RANKS:
        return int(cell)
    problems.append(f"line {line}: {cell!r} is not a rank (0, 1, ... up to {MAX_RANKS - 1})")
    return 0
