"""Tables as lines that fit the width of a terminal.

Cells wrap at spaces and between the parts of names; a part that is longer than its column is
folded. Numbers are never split. Columns that do not fit are left out and named below the table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len, chop_cells

GAP = 2
"""Spaces between columns."""

HANG = 2
"""Indentation of the further lines of a cell in the first column, where a new row begins."""

READABLE = 20
"""Width that wrapped text gets, from 80 columns on, before the next column is shown.

A longer part of a name is folded if the next column would not be shown otherwise.
"""

NUMBER = re.compile(r"[-+−]?\d[\d.,]*(e[-+]?\d+)?( ± \S+)?( %)?")
"""Cells that are never split."""

BORDER = re.compile(
    r"(?<=\s)(?=\S)|(?<=[~@/|_])(?=\S)|(?<=\+)(?<!\de\+)(?=\S)|(?<=,)(?=\S)(?!\d{3}(?!\d))"
)
"""Places where text may wrap: after a space, and after `~ @ / | _ + ,` except inside numbers."""

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
"""Characters that would move the cursor or colour the screen; all but the line feed."""


def table_lines(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    first: Sequence[str] = (),
    *,
    rule: str = "─",
    hint: str = "wider terminal, or --format csv",
) -> list[str]:
    """Return the lines of a table that is at most `width` cells wide.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns, the most important first.
    rows : sequence of sequence of str
    width : int
        Width of the terminal. Only a table whose first column holds a longer number is wider.
    first : sequence of str
        Names of columns that are shown before others when not all fit. The first column is always
        shown. The order of the columns does not change.
    rule : str
        Character of the line below the names.
    hint : str
        How to see the columns that are not shown.

    Returns
    -------
    lines : list of str
        The last of them name the columns that are not shown.
    """
    columns = [_plain(name) for name in columns]
    rows = [[_plain(cell) for cell in row] for row in rows]
    cells = [[name, *(row[i] for row in rows)] for i, name in enumerate(columns)]
    least = [_least_width(one, width, HANG if i == 0 else 0) for i, one in enumerate(cells)]
    shown = _choose(columns, least, width, first)
    widths = [min(least[i], width) for i in shown]
    whole = [_longest(cells[i]) for i in shown]
    unfolded = [min(_longest_part(cells[i]) + HANG, whole[k]) for k, i in enumerate(shown)]
    widths = _widen(_widen(widths, unfolded, width), whole, width)
    is_number = [all(NUMBER.fullmatch(row[i]) or not row[i] for row in rows) for i in shown]
    right = [is_number[k] and bool(rows) and i > 0 for k, i in enumerate(shown)]
    lines = _row_lines([columns[i] for i in shown], widths, right)
    lines.append((" " * GAP).join(rule * width for width in widths))
    for row in rows:
        lines += _row_lines([row[i] for i in shown], widths, right)
    dropped = [name for i, name in enumerate(columns) if i not in shown]
    if dropped:
        lines += _wrap(f"not shown: {', '.join(dropped)} ({hint})", width, HANG)
    return lines


def _plain(text: str) -> str:
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def _longest(texts: Sequence[str]) -> int:
    return max((cell_len(line) for text in texts for line in text.split("\n")), default=0)


def _longest_part(texts: Sequence[str]) -> int:
    return _longest([part.rstrip() for text in texts for part in _parts(text)])


def _least_width(cells: Sequence[str], width: int, hang: int) -> int:
    """Return the width that a column needs at least: whole numbers, readable text."""
    numbers = _longest([cell for cell in cells if NUMBER.fullmatch(cell)])
    whole, part = _longest(cells), _longest_part(cells)
    if whole > part:
        part = max(part + hang, min(READABLE, width // 4) if _longest(cells[1:]) > part else 0)
    return max(numbers, min(part, whole, READABLE, max((width - GAP) // 2, 1)), 1)


def _choose(
    columns: Sequence[str], least: Sequence[int], width: int, first: Sequence[str]
) -> list[int]:
    """Return the places of the columns that fit, the first and `first` before others."""
    order = [0, *(columns.index(name) for name in first if name in columns)]
    order += range(len(columns))
    shown: dict[int, int] = {}
    for i in order if columns else ():
        if i not in shown and (not shown or sum(shown.values()) + GAP + least[i] <= width):
            shown[i] = least[i] + (GAP if shown else 0)
    return sorted(shown)


def _widen(widths: Sequence[int], wanted: Sequence[int], width: int) -> list[int]:
    """Give columns the widths they want as far as there is room, small wishes first."""
    widths = list(widths)
    spare = width - sum(widths) - GAP * (len(widths) - 1)
    order = sorted(range(len(widths)), key=lambda i: wanted[i] - widths[i])
    for k, i in enumerate(order):
        more = max(min(wanted[i] - widths[i], spare // (len(order) - k)), 0)
        widths[i] += more
        spare -= more
    return widths


def _row_lines(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    wrapped = [
        _wrap(cell, width, HANG if i == 0 else 0)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    lines = []
    for k in range(max(map(len, wrapped), default=0)):
        line = []
        for parts, width, is_right in zip(wrapped, widths, right, strict=True):
            text = parts[k] if k < len(parts) else ""
            space = " " * max(width - cell_len(text), 0)
            line.append(space + text if is_right else text + space)
        lines.append((" " * GAP).join(line).rstrip())
    return lines


def _wrap(text: str, width: int, hang: int) -> list[str]:
    """Return the lines of a cell; all but the first are indented by `hang`."""
    hang = min(hang, max(width - 2, 0))
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = " " * hang if lines else ""
        for part in _parts(paragraph):
            if line.strip() and cell_len(line + part.rstrip()) > width:
                lines.append(line)
                line = " " * hang
            line += part
            while cell_len(line.rstrip()) > width:
                head = chop_cells(line, width)[0]
                # a wide character does not fit a narrower column
                head = head if head.strip() else line[: len(head) + 1]
                lines.append(head)
                line = " " * hang + line[len(head) :]
        lines.append(line)
    return [line.rstrip() for line in lines]


def _parts(text: str) -> list[str]:
    return [text] if NUMBER.fullmatch(text) else BORDER.split(text)
