"""Tables as CSV, Markdown and LaTeX, and as cells for the page's templates."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from routelab.report.labels import label, number_text
from routelab.report.tables import ReportColumn, ReportTable
from routelab.toolkit.csv_cells import write_csv_rows

Relation = Literal["", "equal", "inside", "below", "above"]


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
    """

    text: str
    spread: str = ""
    relation: Relation = ""
    difference: str = ""
    numeric: bool = True
    header: bool = False

    def __str__(self) -> str:
        """Return value and spread as plain text."""
        return f"{self.text} ({self.spread})" if self.spread else self.text


@dataclass(frozen=True)
class Heading:
    """A label above one or more columns."""

    text: str
    span: int = 1


@dataclass(frozen=True)
class Layout:
    """A table for readers: ranges and published numbers are next to their values.

    Attributes
    ----------
    groups : tuple of Heading
        First line of headings.
    headings : tuple of Heading or None
        One for each column, or None if one line is enough.
    rows : tuple of tuple of Cell
    """

    groups: tuple[Heading, ...]
    headings: tuple[Heading, ...] | None
    rows: tuple[tuple[TableCell, ...], ...]


def layout(table: ReportTable) -> Layout:
    """Lay out a table for readers."""
    columns: list[ReportColumn] = []
    groups: list[Heading] = []
    second: list[Heading] = []
    references = table.with_role("reference")
    for column in table.columns:
        if column.role in ("low", "high") or (column.role == "reference" and column.of):
            continue
        beside = [other for other in references if other.of == column.name]
        columns += [column, *beside]
        groups.append(Heading(label(column.name, table.of), 1 + len(beside)))
        second.append(Heading("ours" if beside else ""))
        second += [Heading(label(other.name.removesuffix(other.of)).strip()) for other in beside]
    rows = tuple(tuple(_cell(table, row, column) for column in columns) for row in table.rows)
    two_lines = any(group.span > 1 for group in groups)
    return Layout(tuple(groups), tuple(second) if two_lines else None, rows)


def _cell(table: ReportTable, row: dict[str, Any], column: ReportColumn) -> TableCell:
    text = number_text(column.name, row.get(column.name))
    numeric = not text or re.match(r"[-\d]", text) is not None
    if column.role == "reference" and column.of:
        return _reference_cell(row, column, text)
    return TableCell(text, _spread(row, column.name), numeric=numeric, header=column.role == "row")


def _spread(row: dict[str, Any], value: str) -> str:
    low, high = (number_text(value, row.get(f"{value}_{end}")) for end in ("low", "high"))
    return f"{low}–{high}" if low != high else ""


def _reference_cell(row: dict[str, Any], column: ReportColumn, text: str) -> TableCell:
    """Return the published value with its relation to ours, both as printed."""
    ours = number_text(column.of, row.get(column.of))
    if not text or not ours or isinstance(row[column.name], str):
        return TableCell(text)
    gap = float(ours) - float(text)
    if gap == 0:
        return TableCell(text, relation="equal")
    difference = number_text(column.of, abs(gap))
    difference = ("+" if gap > 0 else "−") + difference
    ends = [number_text(column.of, row.get(f"{column.of}_{end}")) for end in ("low", "high")]
    if all(ends) and float(ends[0]) <= float(text) <= float(ends[1]):
        return TableCell(text, relation="inside", difference=difference)
    return TableCell(text, relation="above" if gap > 0 else "below", difference=difference)


def to_csv(table: ReportTable) -> str:
    """Return all columns as CSV, ends of ranges last, with numbers formatted by `number_text`."""
    stream = io.StringIO()
    names = [column.name for column in table.columns]
    write_csv_rows(stream, [names])
    write_csv_rows(
        stream, ([number_text(name, row.get(name), 6) for name in names] for row in table.rows)
    )
    return stream.getvalue()


def to_markdown(table: ReportTable) -> str:
    """Return a Markdown table with the title above it and the notes below."""
    form = layout(table)
    lines = [
        f"**{_markdown(table.title)}**",
        "",
        *(line for text in table.warnings for line in (f"**{_markdown(text)}**", "")),
        _pipe_line([_markdown(text) for text in _one_line_headings(form)]),
        _pipe_line(["---:" if numeric else "---" for numeric in _numeric_columns(form)]),
    ]
    lines += [_pipe_line([_markdown(str(cell)) for cell in row]) for row in form.rows]
    if table.notes:
        lines += ["", *(f"- {_markdown(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


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
        lines.append(_tex_line([escape_latex(heading.text) for heading in form.headings]))
    lines.append("\\midrule")
    lines += [_tex_line([escape_latex(str(cell)) for cell in row]) for row in form.rows]
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines += [f"% {_one_line(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


FORMATS: dict[str, Callable[[ReportTable], str]] = {
    "csv": to_csv,
    "md": to_markdown,
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
}


def escape_latex(text: str) -> str:
    r"""Escape all characters that are special to LaTeX; line ends become spaces.

    Brackets are put in braces because ``[`` after a line's ``\\`` would be an option.
    """
    return "".join(_LATEX.get(character, character) for character in _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _markdown(text: str) -> str:
    """Escape all characters that are special to Markdown or HTML; line ends become spaces."""
    # not every renderer knows a backslash before < and &
    return re.sub(r"([\\`*_|~\[\]#])", r"\\\1", html.escape(_one_line(text), quote=False))


def _pipe_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _one_line_headings(form: Layout) -> list[str]:
    """Return headings for formats with one heading line: ``maximum load (paper)``."""
    if form.headings is None:
        return [group.text for group in form.groups]
    over = [group.text for group in form.groups for _ in range(group.span)]
    return [
        f"{group} ({heading.text})" if heading.text not in ("", "ours") else group
        for group, heading in zip(over, form.headings, strict=True)
    ]


def _numeric_columns(form: Layout) -> list[bool]:
    if not form.rows:
        return [False] * sum(group.span for group in form.groups)
    return [all(cell.numeric for cell in column) for column in zip(*form.rows, strict=True)]


def _tex_line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _tex_heading(group: Heading) -> str:
    text = escape_latex(group.text)
    return f"\\multicolumn{{{group.span}}}{{c}}{{{text}}}" if group.span > 1 else text


def _tex_rules(groups: Sequence[Heading]) -> str:
    """Return rules under the headings that span columns."""
    rules, at = [], 1
    for group in groups:
        if group.span > 1:
            rules.append(f"\\cmidrule(lr){{{at}-{at + group.span - 1}}}")
        at += group.span
    return "".join(rules)
