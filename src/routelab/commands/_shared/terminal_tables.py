"""Tables as lines that fit the width of a terminal; `rich` wraps the cells.

Numbers are never split. Columns that do not fit are left out and named below the table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

GAP = 3
"""Spaces between columns."""

READABLE = 20
"""Width from which on text is wrapped, so that another column is shown."""

NUMBER = re.compile(r"[-+−]?\d[\d.,]*(e[-+]?\d+)?( ± \S+)?( %)?")
"""Cells that are never split."""

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
"""Characters that would move the cursor or colour the screen; all but the line feed."""


def table_lines(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    first: Sequence[str] = (),
    *,
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
    hint : str
        How to see the columns that are not shown.

    Returns
    -------
    lines : list of str
        The last of them name the columns that are not shown.
    """
    cells = [[name, *(row[i] for row in rows)] for i, name in enumerate(columns)]
    half = max(width // 2, 1)
    column_widths = [
        max(cell_len(line) for line in column for line in line.split("\n")) for column in cells
    ]
    # a number stays on its line, however long it is
    longest = [
        max((cell_len(cell) for cell in column[1:] if NUMBER.fullmatch(cell)), default=0)
        for column in cells
    ]
    numeric = [all(NUMBER.fullmatch(cell) or not cell for cell in column[1:]) for column in cells]
    needed = [
        max(longest[i], min(size, half if i == 0 else min(half, READABLE)))
        for i, size in enumerate(column_widths)
    ]
    order = dict.fromkeys([0, *(columns.index(name) for name in first if name in columns)])
    widths: dict[int, int] = {}
    for i in (*order, *range(len(columns))):
        if i not in widths and (not widths or sum(widths.values()) + GAP + needed[i] <= width):
            widths[i] = needed[i] + (GAP if widths else 0)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for i in sorted(widths):
        right = numeric[i] and bool(rows) and i > 0
        table.add_column(
            Text(_plain(columns[i])),
            justify="right" if right else "left",
            min_width=longest[i] or None,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(_plain(row[i])) for i in sorted(widths)))
    output = StringIO()
    size = max(width, longest[0] if cells else 0)
    console = Console(file=output, width=size, color_system=None, legacy_windows=False)
    console.print(table)
    dropped = [name for i, name in enumerate(columns) if i not in widths]
    if dropped:
        console.print(Text(f"not shown: {', '.join(dropped)} ({hint})"))
    return [line.rstrip() for line in output.getvalue().splitlines()]


def _plain(text: str) -> str:
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], text)
