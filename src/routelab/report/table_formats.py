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
        Range such as ``27–30`` if runs differ, otherwise empty.
    relation : str
        Relation of our value to the published one in this cell: ``equal`` (as printed), ``inside``
        (the published value is within our range), ``below`` or ``above``; empty in other cells.
    difference : str
        Our value minus the published one, with its sign, if they differ.
    numeric : bool
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
        First line of headings.
    headings : tuple of Heading or None
        One for each column, or None if one line is enough.
    rows : tuple of tuple of TableCell
    verdict : int or None
        Position of the column with the deadlock verdict, which always stays visible.
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

    Neighbours with one key share a heading in the first line. A pivot has its names in the second
    line, or in the first with ``groups: names``.
    """
    # 1. Columns with their headings. Ranges are inside the cells of their values, and published
    #    numbers beside ours.
    formats = column_formats(table)
    columns: list[tuple[ReportColumn, ReportColumn]] = []
    groups: list[tuple[str, Heading]] = []
    second: list[Heading] = []
    for column in table.columns:
        if column.role in ("low", "high") or (column.role == "reference" and column.of):
            continue
        beside = [
            reference
            for reference in table.with_role("reference")
            if reference.of == column.name and reference.by == column.by
        ]
        columns += [(shown_column, column) for shown_column in (column, *beside)]
        form = formats[column.name]
        value = Heading(form.heading, unit=form.unit)
        if not column.by:
            key, upper, lower = column.name, value, Heading("ours" if beside else "")
        elif table.names_first:
            # the sign keeps a name apart from a column that is called the same
            key, upper, lower = f"={column.by}", Heading(column.by), value
        else:
            key, upper, lower = column.source, value, Heading(column.by)
        prefixes = [
            label(reference.source.removesuffix(column.source)).strip() for reference in beside
        ]
        groups += [(key, upper)] * (1 + len(beside))
        second += [lower, *map(Heading, prefixes)]
    first = []
    for _, neighbours in groupby(groups, lambda group: group[0]):
        headings = [heading for _, heading in neighbours]
        first.append(replace(headings[0], span=len(headings)))
    # 2. Cells. Which value is best is known for whole rows only.
    rows = []
    for row in table.rows:
        best = _best_texts(table, row, formats)
        rows.append(tuple(_cell(row, column, value, formats, best) for column, value in columns))
    # A verdict under the names of a pivot is one of several, none of which has to stay visible.
    sources = ["" if column.by else column.source for column, _ in columns]
    return Layout(
        tuple(first),
        tuple(second) if any(heading.text for heading in second) else None,
        tuple(rows),
        sources.index(VERDICT) if VERDICT in sources else None,
    )


def _cell(
    row: dict[str, Any],
    column: ReportColumn,
    value: ReportColumn,
    formats: Mapping[str, ColumnFormat],
    best: Mapping[str, str],
) -> TableCell:
    """Return the cell of `column`; beside a published number, `value` is the column of ours.

    `best`: the best text of the row, by the source of a pivot's columns.
    """
    form = formats[column.name]
    text = form.text(row.get(column.name))
    numeric = "\n" not in text and (not text or re.match(r"[-\d]", text) is not None)
    if column.role == "reference" and column.of:
        return _reference_cell(row, column, value, form)
    is_best = text != "" and column.by != "" and text == best.get(column.source)
    return TableCell(
        text,
        _spread(row, column, form),
        numeric=numeric,
        header=column.role == "row",
        best=is_best,
    )


def _best_texts(
    table: ReportTable, row: dict[str, Any], formats: Mapping[str, ColumnFormat]
) -> dict[str, str]:
    """Return the best value of a row in each value of a pivot, as printed."""
    texts = {}
    for source, direction in table.better.items():
        columns = [
            column for column in table.with_role("value") if column.by and column.source == source
        ]
        values = [finite_number(row.get(column.name)) for column in columns]
        numbers = [number for number in values if number is not None]
        if numbers:
            best = min(numbers) if direction == "lower" else max(numbers)
            texts[source] = formats[columns[0].name].text(best)
    return texts


def _ends(row: dict[str, Any], column: ReportColumn) -> list[Any]:
    """Return the ends of the range of a value; None if there is none."""
    mark = f" ({column.by})" if column.by else ""
    return [row.get(f"{column.source}_{end}{mark}") for end in ("low", "high")]


def _spread(row: dict[str, Any], column: ReportColumn, form: ColumnFormat) -> str:
    low, high = map(form.text, _ends(row, column))
    return f"{low}–{high}" if low != high else ""


def _reference_cell(
    row: dict[str, Any], column: ReportColumn, value: ReportColumn, form: ColumnFormat
) -> TableCell:
    """Return the published value with its relation to ours, both as exact as the published ones."""
    text, computed = form.as_published(row.get(column.name)), form.as_published(row.get(value.name))
    if not text or not computed or isinstance(row[column.name], str):
        return TableCell(text)
    if float(computed) == float(text):
        return TableCell(text, relation="equal")
    gap = float(form.text(row.get(value.name))) - float(text)
    difference = ("+" if gap > 0 else "−") + form.scaled_text(abs(gap))
    ends = [form.as_published(end) for end in _ends(row, value)]
    if all(ends) and float(ends[0]) <= float(text) <= float(ends[1]):
        return TableCell(text, relation="inside", difference=difference)
    return TableCell(text, relation="above" if gap > 0 else "below", difference=difference)


def deviation_text(table: ReportTable) -> str:
    """Return how far ours are from the published numbers that differ.

    Returns
    -------
    str
        Such as ``"by 1.9 points on average (0.1 to 4.2)"``; empty if none differs. Numbers of
        several columns have no common mean, so that each column is named with its own.
    """
    formats = column_formats(table)
    gaps: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    for reference in table.with_role("reference"):
        for column in table.with_role("value"):
            if (reference.of, reference.by) != (column.name, column.by):
                continue
            form = formats[column.name]
            cells = [_reference_cell(row, reference, column, form) for row in table.rows]
            differing = [cell for cell in cells if cell.relation in ("below", "above")]
            if differing:
                units[column.source] = form.unit
                gaps.setdefault(column.source, []).extend(
                    float(cell.difference[1:]) for cell in differing
                )
    texts = {source: _distance_text(gaps[source], units[source]) for source in gaps}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return ", ".join(f"{heading_parts(c, table.of)[0]} {text}" for c, text in texts.items())


def _distance_text(gaps: Sequence[float], unit: str) -> str:
    """Return the mean of distances with its unit, and their range."""
    words = {"%": " points", "": ""}.get(unit, f" {unit}")
    if len(gaps) == 1 and gaps[0] == 1:
        words = words.removesuffix("s")
    mean, least, largest = (
        f"{gap:,.0f}" if gap >= 1000 else f"{gap:.3g}"
        for gap in (fmean(gaps), min(gaps), max(gaps))
    )
    return f"by {mean}{words}" + (f" on average ({least} to {largest})" if len(gaps) > 1 else "")


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
    form = layout(table)
    kinds = "".join("r" if numeric else "l" for numeric in _numeric_columns(form))
    lines = [f"% {_one_line(table.title)}; needs \\usepackage{{booktabs}}"]
    lines += [f"% {_one_line(text)}" for text in table.warnings]
    lines += [f"\\begin{{tabular}}{{{kinds}}}", "\\toprule"]
    lines.append(_tex_line([_tex_heading(group) for group in form.groups]))
    if form.headings is not None:
        lines.append(_tex_rules(form.groups))
        lines.append(_tex_line([escape_latex(heading.label) for heading in form.headings]))
    lines.append("\\midrule")
    lines += [_tex_line([_tex_cell(cell) for cell in row]) for row in form.rows]
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


def _numeric_columns(form: Layout) -> list[bool]:
    if not form.rows:
        return [False] * sum(group.span for group in form.groups)
    return [all(cell.numeric for cell in column) for column in zip(*form.rows, strict=True)]


def _tex_line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _tex_cell(cell: TableCell) -> str:
    text = escape_latex(str(cell))
    return f"\\textbf{{{text}}}" if cell.best else text


def _tex_heading(group: Heading) -> str:
    text = escape_latex(group.label)
    return f"\\multicolumn{{{group.span}}}{{c}}{{{text}}}" if group.span > 1 else text


def _tex_rules(groups: Sequence[Heading]) -> str:
    """Return rules under the headings that span columns."""
    rules, at = [], 1
    for group in groups:
        if group.span > 1:
            rules.append(f"\\cmidrule(lr){{{at}-{at + group.span - 1}}}")
        at += group.span
    return "".join(rules)
