"""Cells of CSV files: written so that spreadsheets take them for text, read as people write them.

Written: a spreadsheet evaluates a cell that begins with ``=``, ``+``, ``-`` or ``@``. Names of
switches and routings may begin like that, by mistake or on purpose, so such a text gets an
apostrophe in front: OWASP, *CSV Injection*, https://owasp.org/www-community/attacks/CSV_Injection.

Read: `CsvReader` is for files that a person, a spreadsheet or another program wrote.

===============  ==================================================================================
separator        ``,`` ``;`` or a tab: the one that the first line has; two of them are refused
quotation marks  around a whole cell, with blanks before and behind; any other place is refused
blanks           around cells are no part of them
comments         lines whose first character is ``#``; ``"#A"`` in quotation marks is a cell
===============  ==================================================================================

A file that could be read in two ways is refused with its line: a cell without quotation marks has
no separator of another kind, since the line may have been meant with that one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import IO, Any

from routelab.api.errors import InputError

APOSTROPHE = "'"
"""Character in front of an escaped text."""

# A text that begins with the apostrophe itself is escaped, too, so that each text can be restored.
_ESCAPED_STARTS = tuple(f"=+-@\t\r\n＝＋－＠{APOSTROPHE}")
# Numbers as Python and `number_text` print them, and direction labels: a sign and one letter.
_UNESCAPED = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-](inf|nan)|[+-][A-Z]", re.ASCII)


def escape_cell(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet could evaluate.

    Numbers stay as they are, also as text (``-1.5``), and so do direction labels (``+X``). A text
    that begins with an apostrophe gets another one, so that `unescape_cell` restores every text.

    Examples
    --------
    >>> from routelab.toolkit import escape_cell
    >>> escape_cell("=1+1"), escape_cell("dor"), escape_cell(7)
    ("'=1+1", 'dor', 7)
    """
    return APOSTROPHE + value if isinstance(value, str) and _needs_escape(value) else value


def unescape_cell(text: str) -> str:
    """Return the text that `escape_cell` escaped; all other texts are unchanged.

    Examples
    --------
    >>> from routelab.toolkit import unescape_cell
    >>> unescape_cell("'=1+1")
    '=1+1'
    """
    return text[1:] if text.startswith(APOSTROPHE) and _needs_escape(text[1:]) else text


def _needs_escape(text: str) -> bool:
    """Return whether a spreadsheet could evaluate a text, or an apostrophe begins it."""
    return text.startswith(_ESCAPED_STARTS) and not _UNESCAPED.fullmatch(text)


def write_csv_rows(stream: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of CSV with escaped cells; None becomes an empty cell."""
    plain = csv.writer(stream, lineterminator="\n")
    quoting = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        cells = [escape_cell(cell) for cell in row]
        # The writer does not quote a carriage return, and readers take it for the end of a line.
        has_return = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoting if has_return else plain).writerow(cells)


# --- reading ---------------------------------------------------------------------------------

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
COMMENT = "#"
_BLOCK = 100_000
"""Lines that are read at once."""


class CsvReader:
    r"""Read the lines of a CSV file; see the module's docstring for what is accepted.

    Parameters
    ----------
    path : str
        For messages.
    lines : iterator of str
        Lines that end with ``\n``.

    Attributes
    ----------
    separator : str
    header : list of str
        Cells of the first line that is neither empty nor a comment.
    line : int
        Number of the line of the header; 0 if there is none.
    comments : dict of int to str
        First cell of each comment below the header, by its line.

    Raises
    ------
    InputError
        If a line cannot be read, or could be read in two ways.
    """

    def __init__(self, path: str, lines: Iterator[str]) -> None:
        self.path = path
        self.separator = ","
        self.header: list[str] = []
        self.line = 0
        self.comments: dict[int, str] = {}
        self._lines = lines
        # The iterator stops behind the header; `blocks` reads on from there.
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.lstrip().startswith(COMMENT):
                self.line = number
                self.separator = self._find_separator(line)
                self.header = self._split_line(line, number)
                break

    def _find_separator(self, header: str) -> str:
        """Return the separator that a header has outside of quotation marks; a comma if none.

        Raise an InputError if it has two, or if blanks separate its cells.
        """
        unquoted = re.sub(r'"[^"]*"', "", header)
        present = [separator for separator in SEPARATORS if separator in unquoted]
        if len(present) > 1:
            names = " and ".join(SEPARATORS[separator] for separator in present)
            raise InputError(
                f"{self.path}, line {self.line}: {header.strip()!r} has {names}; "
                "separate all cells of the file by one of them"
            )
        if not present and len(unquoted.split()) > 1:
            raise InputError(
                f"{self.path}, line {self.line}: the cells of {header.strip()!r} are separated by "
                "blanks; separate them by commas"
            )
        return present[0] if present else ","

    def blocks(self, size: int = _BLOCK) -> Iterator[list[list[str]]]:
        """Yield the cells of all lines below the header, `size` lines at a time.

        Every line has a list of cells, so a caller can count the lines. The list of a comment is
        empty; an empty line has blank cells only. Cells may still have blanks around them.
        """
        lines_above = self.line
        # A block without quotation marks, comments and other separators needs no more than a split
        # at the separator, which is much faster.
        special = '"' + COMMENT + "".join(SEPARATORS).replace(self.separator, "")
        while block := list(islice(self._lines, size)):
            text = "".join(block)
            if any(character in text for character in special):
                yield [self._split_line(line, lines_above + n) for n, line in enumerate(block, 1)]
            else:
                yield [line.split(self.separator) for line in text.removesuffix("\n").split("\n")]
            lines_above += len(block)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield number and cells of each line below the header that is not empty."""
        number = self.line
        for block in self.blocks():
            for row in block:
                number += 1
                cells = [cell.strip() for cell in row]
                if any(cells):
                    yield number, cells

    def _split_line(self, line: str, number: int) -> list[str]:
        """Return the cells of a line; of a comment none, but keep its first cell in `comments`."""
        if line.lstrip().startswith(COMMENT):
            self.comments[number] = line.split(self.separator)[0].strip()
            return []
        line_pattern, cell_pattern = _line_and_cell_patterns(self.separator)
        line = line.rstrip("\n")
        prefix = f"{self.path}, line {number}"
        if not line_pattern.fullmatch(line):
            raise InputError(
                f"{prefix}: {line.strip()!r} has a quotation mark inside a cell, or one that does "
                'not end on this line; put the whole cell in quotation marks ("), and double those '
                "inside"
            )
        cells = []
        for quoted, plain in cell_pattern.findall(line):
            for separator, name in SEPARATORS.items():
                if separator in plain.strip():
                    raise InputError(
                        f"{prefix}: {plain.strip()!r} has {name}, and the header separates cells "
                        f"by {SEPARATORS[self.separator]}; use one separator, or put the cell in "
                        "quotation marks"
                    )
            # A cell is either quoted or not; the other group is empty.
            cells.append(quoted.replace('""', '"') or plain.strip())
        return cells


@cache
def _line_and_cell_patterns(separator: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a whole line, and of one cell with the separator before it.

    The first checks a line, the second finds its cells. Group 1 of the second is the text inside
    quotation marks, group 2 a cell without them: ``a, "b"`` has the groups ("", a) and (b, "").
    """
    # White space, except a tab that is the separator: the lookahead refuses the separator itself.
    blanks = rf"(?:(?!{separator})\s)*"
    cell = rf'{blanks}"(?:[^"]|"")*"{blanks}|[^"{separator}]*'
    next_cell = rf'(?:^|{separator})(?:{blanks}"((?:[^"]|"")*)"{blanks}|([^"{separator}]*))'
    return re.compile(rf"(?:{cell})(?:{separator}(?:{cell}))*"), re.compile(next_cell)
