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

WRAPPED_WIDTH = 20
"""Width at which longer text is wrapped, so that another column is shown."""

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
        Columns to show before others if not all fit. The first column of the table is always
        shown. The order of the columns does not change.
    hint : str
        How to see the columns that are not shown.

    Returns
    -------
    lines : list of str
        The last of them name the columns that are not shown.
    """
    # 1. The least width of each column. Longer text is wrapped: in the first column at half of the
    #    terminal, in the others at 20 characters if that is less. A number is never split.
    columns_cells = [[row[i] for row in rows] for i in range(len(columns))]
    full_widths = [
        max(cell_len(line) for cell in (name, *cells) for line in cell.split("\n"))
        for name, cells in zip(columns, columns_cells, strict=True)
    ]
    number_widths = [
        max((cell_len(cell) for cell in cells if NUMBER.fullmatch(cell)), default=0)
        for cells in columns_cells
    ]
    half = max(width // 2, 1)
    wrapped_widths = [half if i == 0 else min(half, WRAPPED_WIDTH) for i in range(len(columns))]
    least_widths = [
        max(number_width, min(full_width, wrapped_width))
        for number_width, full_width, wrapped_width in zip(
            number_widths, full_widths, wrapped_widths, strict=True
        )
    ]
    # 2. Which columns fit: the first one in any case, then those of `first`, then the others. A
    #    wide one that does not fit leaves its room to narrower ones after it.
    preferred = [0, *(columns.index(name) for name in first if name in columns)]
    used_widths: dict[int, int] = {}
    for i in (*preferred, *range(len(columns))):
        fits = sum(used_widths.values()) + GAP + least_widths[i] <= width
        if i not in used_widths and (fits or not used_widths):
            used_widths[i] = least_widths[i] + (GAP if used_widths else 0)
    # 3. The table: columns of numbers are aligned on the right, but the first one begins the line.
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for i in sorted(used_widths):
        is_numeric = all(NUMBER.fullmatch(cell) or not cell for cell in columns_cells[i])
        table.add_column(
            Text(_escaped(columns[i])),
            justify="right" if is_numeric and rows and i > 0 else "left",
            min_width=number_widths[i] or None,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(_escaped(row[i])) for i in sorted(used_widths)))
    # 4. The lines. Only a long number in the first column makes them wider than the terminal.
    output = StringIO()
    line_width = max(width, number_widths[0] if columns else 0)
    console = Console(file=output, width=line_width, color_system=None, legacy_windows=False)
    console.print(table)
    hidden = [name for i, name in enumerate(columns) if i not in used_widths]
    if hidden:
        console.print(Text(f"not shown: {', '.join(hidden)} ({hint})"))
    return [line.rstrip() for line in output.getvalue().splitlines()]


def _escaped(text: str) -> str:
    r"""Return a text with control characters as escapes, such as ``\x1b``."""
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], text)
