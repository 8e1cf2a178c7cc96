"""Cells of CSV files that spreadsheets take for text, not for a formula.

A spreadsheet evaluates a cell that begins with ``=``, ``+``, ``-`` or ``@``. Names of switches and
routings may begin like that, by mistake or on purpose, so such a text gets an apostrophe in front:
OWASP, *CSV Injection*, https://owasp.org/www-community/attacks/CSV_Injection.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import IO, Any

MARK = "'"
"""Character in front of an escaped text."""

_FORMULA = tuple(f"=+-@\t\r\n＝＋－＠{MARK}")
# numbers as Python and `number_text` print them, and direction labels: a sign and one letter
_HARMLESS = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-](inf|nan)|[+-][A-Z]", re.ASCII)


def escape_cell(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet could evaluate.

    Numbers stay as they are, also as text (``-1.5``), and so do direction labels (``+X``). A text
    that begins with an apostrophe gets another one, so that `unescape_cell` restores every text.
    """
    return MARK + value if isinstance(value, str) and _is_formula(value) else value


def unescape_cell(text: str) -> str:
    """Return the text that `escape_cell` escaped; all other texts are unchanged."""
    return text[1:] if text.startswith(MARK) and _is_formula(text[1:]) else text


def _is_formula(text: str) -> bool:
    return text.startswith(_FORMULA) and not _HARMLESS.fullmatch(text)


def write_csv_rows(stream: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of CSV with escaped cells; None becomes an empty cell."""
    plain = csv.writer(stream, lineterminator="\n")
    quoting = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        cells = [escape_cell(cell) for cell in row]
        # the writer does not quote a carriage return, and readers take it for the end of a line
        bare = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoting if bare else plain).writerow(cells)
