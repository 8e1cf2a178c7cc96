"""Rows on standard output: a table for people, CSV or JSON for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routelab.api import Column
    from routelab.results.outcome import Outcome

FORMATS = ("table", "csv", "json")

WIDER = "wider terminal"
"""How to see the columns that a terminal does not show."""

RESULTS = frozenset(
    {
        "outcome.json",
        "topology.npz",
        "channels.csv",
        "metrics.csv",
        "turns.csv",
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
    """Check, before any work, that a result may be written to a folder.

    The result replaces the whole folder, so the folder must not hold anything but a result.

    Raises
    ------
    InputError
        If it holds other files, or cannot be written.
    """
    from routelab.api.errors import InputError
    from routelab.results.atomic import check_folder_writable
    from routelab.toolkit.input_files import is_folder

    if is_folder(folder):
        other_files = sorted(entry.name for entry in folder.iterdir() if entry.name not in RESULTS)
        if other_files:
            # the message names three of them
            more = f" and {len(other_files) - 3} more" if len(other_files) > 3 else ""
            raise InputError(
                f"cannot write {folder}: it has files that are not part of a result "
                f"({', '.join(other_files[:3])}{more}), which would be lost; name a new folder"
            )
    check_folder_writable(folder)


def print_rows(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    output_format: str,
    first: Sequence[str] = (),
) -> None:
    """Print rows as "table", "csv" or "json".

    If a terminal is too narrow for all columns of a table, those in `first` are the last to be left
    out.
    """
    if output_format == "json":
        print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2))
    elif output_format == "csv":
        from routelab.toolkit.csv_cells import write_csv_rows

        write_csv_rows(sys.stdout, [columns, *rows])
    else:
        print_table(columns, rows, first=first)


def cell_text(value: Any) -> str:
    """Format a value for a table for people; JSON and CSV have all digits."""
    if value is None:
        return ""
    if isinstance(value, float):
        if value.is_integer():
            return str(int(value))
        # four digits, but all of the integer part: .4g would make 1.235e+04 of 12345.6
        return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    indent: str = "",
    *,
    first: Sequence[str] = (),
    declared: Iterable[Column] = (),
    hint: str = f"{WIDER}, or --format csv",
) -> None:
    """Print a table that fits the terminal, or plain aligned text in a file or pipe.

    Parameters
    ----------
    columns : sequence of str
        Names, the most important first: a narrow terminal does not show the last ones.
    rows : sequence of sequence of str
        On a terminal, a single row of more than two columns becomes a list of names and values
        without empty ones.
    indent : str
        Begins each line of plain text.
    first : sequence of str
        Columns that a narrow terminal shows rather than others, wherever they stand. The column at
        the left is always shown.
    declared : iterable of Column
        Units and meanings of columns, which only the list of a single row shows.
    hint : str
        How to see the columns that are not shown.
    """
    if not sys.stdout.isatty():
        _print_plain(columns, rows, indent)
    elif len(rows) == 1 and len(columns) > 2:
        print_facts(
            {name: text for name, text in zip(columns, rows[0], strict=True) if text}, declared
        )
    else:
        _print_fitting(columns, rows, first=first, hint=hint)


def print_facts(facts: Mapping[str, str], declared: Iterable[Column] = ()) -> None:
    """Print names and values in two columns; a terminal also shows units and meanings.

    Parameters
    ----------
    facts : mapping of str to str
    declared : iterable of Column
        Units and meanings of facts. Other facts are shown with neither.
    """
    if not sys.stdout.isatty():
        _print_plain(("fact", "value"), list(facts.items()), "")
        return
    from routelab.api.columns import COUNTS

    # Of two declarations of a name, the first counts: reversed, it is the last one that is stored.
    columns = {column.name: column for column in reversed(list(declared))}
    rows = []
    for name, value in facts.items():
        unit = columns[name].unit if name in columns and value else ""
        meaning = _first_clause(columns[name].meaning) if name in columns and value else ""
        # units in COUNTS, such as "hops", are part of the name: "max_hops 4", not "max_hops 4 hops"
        rows.append((name, value if unit in COUNTS else f"{value} {unit}".rstrip(), meaning))
    num_columns = 3 if any(meaning for *_, meaning in rows) else 2
    _print_fitting(
        ("fact", "value", "meaning")[:num_columns], [row[:num_columns] for row in rows], hint=WIDER
    )


def _first_clause(meaning: str) -> str:
    """Return the first clause of a column's meaning: "load (a; b)" of "load (a; b): see x".

    Empty if the meaning begins with "`": it is then a list of the words in the column.
    """
    # The clause ends before the first . : or ; that a space follows, outside parentheses. So it is
    # a sequence of parentheses, of other characters, and of marks without a space, as in 0.5.
    in_parentheses, other_character, mark_without_space = r"\([^)]*\)", r"[^;.:(]", r"[.:;](?! )"
    clause = re.match(f"(?:{in_parentheses}|{other_character}|{mark_without_space})*", meaning)
    return clause[0] if clause and not meaning.startswith("`") else ""


def _print_fitting(columns: Sequence[str], rows: Sequence[Sequence[str]], **options: Any) -> None:
    """Print a table that fits the terminal; `options` are `first` and `hint` of `table_lines`."""
    import shutil

    from routelab.commands._shared.terminal_tables import table_lines

    # COLUMNS in the environment replaces the width of the terminal
    width = shutil.get_terminal_size().columns
    text = "\n".join(table_lines(columns, rows, width, **options))
    # other encodings, such as ASCII, have no character for the line below the heading
    has_box_drawing = (sys.stdout.encoding or "").lower().startswith("utf")
    print(text if has_box_drawing else text.replace("─", "-"))


def _print_plain(columns: Sequence[str], rows: Sequence[Sequence[str]], indent: str) -> None:
    lines = [columns, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print((indent + "  ".join(cells)).rstrip())


def warn(name: str, outcome: Outcome) -> None:
    """Log a warning that a job has no result, with the reason; `name`: its network or routing."""
    import logging

    logging.getLogger(__name__).warning("%s: %s: %s", name, outcome.status, outcome.reason)
