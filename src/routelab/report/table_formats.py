"""Tables as CSV and LaTeX, and as cells for the page's templates."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean
from typing import Any, Literal

from routelab.report.labels import heading_parts, label, number_text, with_unit
from routelab.report.number_formats import ColumnFormat, column_formats, finite_number
from routelab.report.table import ReportColumn, ReportTable
from routelab.toolkit.csv_cells import write_csv_rows

Relation = Literal["", "equal", "inside", "below", "above"]

VERDICT = "deadlock"
"""Column with the checker's verdict."""

CSV_DIGITS = 10
"""Significant digits of numbers in CSV files."""


@dataclass(frozen=True)
class TableCell:
    """The content of a table cell for readers.

    Attributes
    ----------
    text : str
        The value; empty if it is missing.
    spread : str
        Range of the runs such as ``27–30``; empty if they do not differ.
    relation : str
        Relation of our value to the published one in this cell: ``equal`` (as printed), ``inside``
        (the published value is within our range), ``below`` or ``above``; empty in other cells.
    difference : str
        Our value minus the published one, with its sign, if they differ.
    numeric : bool
        Whether it suits a column of numbers, which are aligned to the right.
    header : bool
        Whether the cell identifies its row.
    best : bool
        Whether it is the best of its row in the columns of a pivot, as printed.
    """

    text: str
    spread: str = ""
    relation: Relation = ""
    difference: str = ""
    numeric: bool = True
    header: bool = False
    best: bool = False

    def __str__(self) -> str:
        """Return value and spread as plain text in one line."""
        text = "; ".join(self.text.splitlines())
        return f"{text} ({self.spread})" if self.spread else text


@dataclass(frozen=True)
class Heading:
    """A label above one or more columns, with the unit of the numbers."""

    text: str
    span: int = 1
    unit: str = ""

    @property
    def label(self) -> str:
        """Text with the unit in brackets."""
        return with_unit(self.text, self.unit)


@dataclass(frozen=True)
class Layout:
    """A table for readers: ranges and published numbers are next to their values.

    Attributes
    ----------
    groups : tuple of Heading
        First line of headings; each can span several columns.
    headings : tuple of Heading or None
        Second line, one for each column; None if one line is enough.
    rows : tuple of tuple of TableCell
    verdict : int or None
        Position of the column with the deadlock verdict, which stays visible when a wide table is
        scrolled; None if there is none.
    """

    groups: tuple[Heading, ...]
    headings: tuple[Heading, ...] | None
    rows: tuple[tuple[TableCell, ...], ...]
    verdict: int | None = None


def layout(table: ReportTable) -> Layout:
    """Lay out a table for readers.

    ======== ============== ==========
    routing  max load               ..
    ..       ours           published
    ======== ============== ==========

    A pivot has its names in the second line, or in the first one with ``groups: names``.
    """
    # 1. Columns with both lines of headings. Ranges are inside the cells of their values, and
    #    published numbers beside ours. Each heading of the first line has a key: neighbours with
    #    equal keys become one heading that spans their columns.
    formats = column_formats(table)
    columns: list[tuple[ReportColumn, ReportColumn]] = []  # each with the column of our values
    first_line: list[tuple[str, Heading]] = []  # each with its key
    second_line: list[Heading] = []
    for column in table.columns:
        if column.role in ("low", "high") or (column.role == "reference" and column.of):
            continue
        # the published numbers of this column; in a pivot, those of the same name (`by`)
        references = [
            reference
            for reference in table.with_role("reference")
            if reference.of == column.name and reference.by == column.by
        ]
        columns += [(shown_column, column) for shown_column in (column, *references)]
        form = formats[column.name]
        value_heading = Heading(form.heading, unit=form.unit)
        if not column.by:
            key, upper = column.name, value_heading
            lower = Heading("ours" if references else "")
        elif table.names_first:
            # the sign makes a name such as "dor" differ from a column that is called "dor"
            key, upper, lower = f"={column.by}", Heading(column.by), value_heading
        else:
            key, upper, lower = column.source, value_heading, Heading(column.by)
        # "paper" for the published number ``paper_max_load`` beside ``max_load``
        reference_headings = [
            label(reference.source.removesuffix(column.source)).strip() for reference in references
        ]
        first_line += [(key, upper)] * (1 + len(references))
        second_line += [lower, *map(Heading, reference_headings)]
    groups = []
    for _, neighbours in groupby(first_line, lambda keyed_heading: keyed_heading[0]):
        headings = [heading for _, heading in neighbours]
        groups.append(replace(headings[0], span=len(headings)))
    # 2. Cells. The best value of a row is found among all its columns.
    rows = []
    for row in table.rows:
        best_texts = _best_texts(table, row, formats)
        rows.append(
            tuple(
                _table_cell(row, column, value_column, formats, best_texts)
                for column, value_column in columns
            )
        )
    # A pivot has a verdict for each name. None of these columns has to stay visible.
    sources = ["" if column.by else column.source for column, _ in columns]
    return Layout(
        groups=tuple(groups),
        headings=tuple(second_line) if any(heading.text for heading in second_line) else None,
        rows=tuple(rows),
        verdict=sources.index(VERDICT) if VERDICT in sources else None,
    )


def _table_cell(
    row: dict[str, Any],
    column: ReportColumn,
    value_column: ReportColumn,
    formats: Mapping[str, ColumnFormat],
    best_texts: Mapping[str, str],
) -> TableCell:
    """Return the cell of a column in a row.

    Parameters
    ----------
    row : dict
    column : ReportColumn
    value_column : ReportColumn
        For a column of published numbers, the one of our values that they are compared with;
        otherwise `column` itself.
    formats : mapping of str to ColumnFormat
        By name of the column.
    best_texts : mapping of str to str
        In a pivot, the text of the best value of the row, by the column of the runs (`source`).
    """
    form = formats[column.name]
    # A published number that belongs to a column of ours is compared with it.
    if column.role == "reference" and column.of:
        return _reference_cell(row, column, value_column, form)
    text = form.text(row.get(column.name))
    # Texts that begin like a number are aligned to the right as numbers are: 4x4, 2026-11-28, -1. A
    # missing value counts as a number, because a column with any other text is aligned to the left.
    numeric = "\n" not in text and (not text or re.match(r"[-\d]", text) is not None)
    # Texts are compared and not numbers, so that all values that look equal to the best are marked.
    is_best = text != "" and column.by != "" and text == best_texts.get(column.source)
    return TableCell(
        text,
        spread=_range_text(row, column, form),
        numeric=numeric,
        header=column.role == "row",
        best=is_best,
    )


def _best_texts(
    table: ReportTable, row: dict[str, Any], formats: Mapping[str, ColumnFormat]
) -> dict[str, str]:
    """Return the text of the best number of a row, by column of the runs that a pivot shows."""
    texts = {}
    for source, direction in table.better.items():
        columns = [
            column for column in table.with_role("value") if column.by and column.source == source
        ]
        values = [finite_number(row.get(column.name)) for column in columns]
        numbers = [number for number in values if number is not None]
        if numbers:
            best = min(numbers) if direction == "lower" else max(numbers)
            # all these columns share a format
            texts[source] = formats[columns[0].name].text(best)
    return texts


def _range_ends(row: dict[str, Any], column: ReportColumn) -> list[Any]:
    """Return both ends of the range of a value; each is None if the row has no range.

    They are in ``max_load_low`` and ``max_load_high``; in a pivot, in ``max_load_low (dor)``.
    """
    name = f" ({column.by})" if column.by else ""
    return [row.get(f"{column.source}_{end}{name}") for end in ("low", "high")]


def _range_text(row: dict[str, Any], column: ReportColumn, form: ColumnFormat) -> str:
    """Return a range such as ``27–30``; empty if both ends look equal, or there is none."""
    low, high = map(form.text, _range_ends(row, column))
    return f"{low}–{high}" if low != high else ""


def _reference_cell(
    row: dict[str, Any], column: ReportColumn, value_column: ReportColumn, form: ColumnFormat
) -> TableCell:
    """Return the published value in `column` with its relation to ours in `value_column`.

    Both are compared with as many decimals as the published values have: our 1.63 equals 1.6. The
    difference is from our value with the decimals that the table shows: 1.68 differs from 1.6 by
    0.08.
    """
    text = form.as_published(row.get(column.name))
    ours = form.as_published(row.get(value_column.name))
    # words have no relation to ours
    if not text or not ours or isinstance(row[column.name], str):
        return TableCell(text)
    if float(ours) == float(text):
        return TableCell(text, relation="equal")
    # readers see both numbers, so the difference is that of the texts
    gap = float(form.text(row.get(value_column.name))) - float(text)
    difference = ("+" if gap > 0 else "−") + form.scaled_text(abs(gap))
    low, high = (form.as_published(end) for end in _range_ends(row, value_column))
    if low and high and float(low) <= float(text) <= float(high):
        return TableCell(text, relation="inside", difference=difference)
    return TableCell(text, relation="above" if gap > 0 else "below", difference=difference)


def deviation_text(table: ReportTable) -> str:
    """Return in words how far our values are from published numbers, for those that differ.

    Returns
    -------
    str
        Such as ``"by 1.9 points on average (0.1 to 4.2)"``; empty if none differs. Numbers of
        several columns have no common mean, so that each column is named with its own mean.
    """
    formats = column_formats(table)
    # sizes of differences and their units, by column of the runs
    gaps: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    for reference in table.with_role("reference"):
        for column in table.with_role("value"):
            if (reference.of, reference.by) != (column.name, column.by):
                continue
            form = formats[column.name]
            cells = [_reference_cell(row, reference, column, form) for row in table.rows]
            # a published value inside our range does not differ
            differing = [cell for cell in cells if cell.relation in ("below", "above")]
            if differing:
                units[column.source] = form.unit
                gaps.setdefault(column.source, []).extend(
                    float(cell.difference.lstrip("+−")) for cell in differing
                )
    texts = {source: _mean_gap_text(gaps[source], units[source]) for source in gaps}
    if len(texts) == 1:  # needs no name
        return next(iter(texts.values()))
    headings = {source: heading_parts(source, table.of)[0] for source in texts}
    return ", ".join(f"{headings[source]} {text}" for source, text in texts.items())


def _mean_gap_text(gaps: Sequence[float], unit: str) -> str:
    """Return the mean of differences with its unit, and their range.

    Such as ``by 1.9 points on average (0.1 to 4.2)``, or ``by 1 point`` for a single one.
    """
    # percentages differ by percentage points
    unit_text = {"%": " points", "": ""}.get(unit, f" {unit}")
    # Singular after 1: 1 point, 1 hop. The "s" of a time or a rate is no plural: 1 s, 1 µs, 1 MB/s.
    is_time_or_rate = unit in ("s", "ms", "µs", "us") or "/" in unit
    if len(gaps) == 1 and gaps[0] == 1 and not is_time_or_rate:
        unit_text = unit_text.removesuffix("s")
    mean, least, largest = (
        f"{gap:,.0f}" if gap >= 1000 else f"{gap:.3g}"
        for gap in (fmean(gaps), min(gaps), max(gaps))
    )
    return f"by {mean}{unit_text}" + (
        f" on average ({least} to {largest})" if len(gaps) > 1 else ""
    )


def to_csv(table: ReportTable) -> str:
    """Return all columns as CSV, numbers in the units of the runs and with all digits."""
    stream = io.StringIO()
    write_csv_rows(stream, [[column.name for column in table.columns]])
    write_csv_rows(
        stream,
        (
            [number_text("", row.get(column.name), CSV_DIGITS) for column in table.columns]
            for row in table.rows
        ),
    )
    return stream.getvalue()


def to_latex(table: ReportTable) -> str:
    r"""Return a ``tabular`` with booktabs' rules, for a ``table`` environment."""
    shown = layout(table)
    alignment = "".join("r" if numeric else "l" for numeric in _numeric_columns(shown))
    lines = [f"% {_one_line(table.title)}; needs \\usepackage{{booktabs}}"]
    lines += [f"% {_one_line(text)}" for text in table.warnings]
    lines += [f"\\begin{{tabular}}{{{alignment}}}", "\\toprule"]
    lines.append(_tex_line([_tex_heading(group) for group in shown.groups]))
    if shown.headings is not None:
        lines.append(_tex_rules(shown.groups))
        lines.append(_tex_line([escape_latex(heading.label) for heading in shown.headings]))
    lines.append("\\midrule")
    lines += [_tex_line([_tex_cell(cell) for cell in row]) for row in shown.rows]
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines += [f"% {_one_line(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


FORMATS: dict[str, Callable[[ReportTable], str]] = {
    "csv": to_csv,
    "tex": to_latex,
}
"""Writers by file name suffix."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",
    "]": "{]}",
    "–": "--",
    "−": "$-$",
    "σ": r"$\sigma$",
    "µ": r"\textmu{}",
}


def escape_latex(text: str) -> str:
    r"""Escape all characters that are special to LaTeX; line ends become spaces.

    Brackets are put in braces because ``[`` after a line's ``\\`` would be an option.
    """
    return "".join(_LATEX.get(character, character) for character in _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _numeric_columns(shown: Layout) -> list[bool]:
    """Return which columns hold numbers only."""
    if not shown.rows:
        return [False] * sum(group.span for group in shown.groups)
    return [all(cell.numeric for cell in column) for column in zip(*shown.rows, strict=True)]


def _tex_line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _tex_cell(cell: TableCell) -> str:
    text = escape_latex(str(cell))
    return f"\\textbf{{{text}}}" if cell.best else text


def _tex_heading(group: Heading) -> str:
    text = escape_latex(group.label)
    return f"\\multicolumn{{{group.span}}}{{c}}{{{text}}}" if group.span > 1 else text


def _tex_rules(groups: Sequence[Heading]) -> str:
    """Return rules under the headings that span columns, which LaTeX counts from 1."""
    rules, first = [], 1
    for group in groups:
        if group.span > 1:
            rules.append(f"\\cmidrule(lr){{{first}-{first + group.span - 1}}}")
        first += group.span
    return "".join(rules)
