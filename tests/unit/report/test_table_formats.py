from __future__ import annotations

import csv
import io
import re

from hypothesis import given
from hypothesis import strategies as st

from routelab.report.table_formats import (
    TableCell,
    _mean_gap_text,
    escape_latex,
    layout,
    to_csv,
    to_latex,
)
from routelab.report.tables import ReportColumn, ReportTable

TEXT = st.text(max_size=12)


def table(rows, notes=(), title="Loads"):
    return ReportTable(
        name="t",
        title=title,
        columns=(
            ReportColumn("routing", "row"),
            ReportColumn("nodes", "row"),
            ReportColumn("max_load", "value"),
            ReportColumn("sigma4", "value"),
            ReportColumn("paper_max_load", "reference", "max_load"),
            ReportColumn("paper_sigma4", "reference", "sigma4"),
            ReportColumn("max_load_low", "low", "max_load"),
            ReportColumn("max_load_high", "high", "max_load"),
            ReportColumn("runs", "runs"),
        ),
        rows=tuple(rows),
        counts=False,
        averages=False,
        statistics=False,
        notes=tuple(notes),
    )


def row(routing="bfs", nodes=4, max_load=28, sigma4=6.2984, paper=28, paper_sigma4=6.298, ends=()):
    low, high = ends or (max_load, max_load)
    return {
        "routing": routing,
        "nodes": nodes,
        "max_load": max_load,
        "sigma4": sigma4,
        "paper_max_load": paper,
        "paper_sigma4": paper_sigma4,
        "max_load_low": low,
        "max_load_high": high,
        "runs": 3,
    }


def test_csv_has_all_columns_and_all_digits():
    text = to_csv(table([row(ends=(27, 30)), row("x,y", max_load=None, sigma4=None, paper=None)]))
    lines = list(csv.reader(io.StringIO(text)))
    assert lines[0][-3:] == ["max_load_low", "max_load_high", "runs"]
    assert lines[1] == ["bfs", "4", "28", "6.2984", "28", "6.298", "27", "30", "3"]
    assert lines[2] == ["x,y", "4", "", "", "", "6.298", "", "", "3"]


def test_a_published_number_says_how_ours_relates_to_it():
    def relation(**values):
        cell = layout(table([row(**values)])).rows[0][3]
        return cell.relation, cell.difference

    assert relation(max_load=28, paper=28) == ("equal", "")
    assert relation(max_load=30, paper=28, ends=(27, 30)) == ("inside", "+2")
    assert relation(max_load=30, paper=28, ends=(29, 30)) == ("above", "+2")
    assert relation(max_load=26, paper=28) == ("below", "−2")
    # a mean of ours may have decimals where the paper has none
    assert relation(max_load=28.2, paper=28) == ("equal", "")
    assert relation(max_load=28.6, paper=28) == ("above", "+0.6")
    assert relation(max_load=26, paper=None) == ("", "")
    assert relation(max_load=None, paper=28) == ("", "")


def test_sigma_is_compared_as_printed():
    cells = layout(table([row(sigma4=6.29849, paper_sigma4=6.298)])).rows[0]
    assert cells[5].relation == "equal"
    cells = layout(table([row(sigma4=6.2986, paper_sigma4=6.298)])).rows[0]
    assert (cells[5].relation, cells[5].difference) == ("above", "+0.001")


@given(st.text())
def test_escaped_latex_is_balanced_and_says_the_same(text):
    escaped = escape_latex(text)
    commands = {
        r"\textbackslash{}": "\\",
        r"\textasciicircum{}": "^",
        r"\textasciitilde{}": "~",
        r"\textless{}": "<",
        r"\textgreater{}": ">",
        r"\textbar{}": "|",
        r"\textquotedbl{}": '"',
        r"$\sigma$": "σ",
        r"\textmu{}": "µ",
        "$-$": "−",
        "{[}": "[",
        "{]}": "]",
        "--": "–",
    }
    known = "|".join(map(re.escape, commands)) + r"|\\[{}$&#%_]"
    rest = re.sub(known, "", escaped)
    assert not set(rest) & set('\\{}$&#^_~%<>|"[]')
    assert "\n" not in escaped

    def unescape(match):
        return commands.get(match.group(), match.group()[1:])

    plain = " ".join(text.split())
    if "--" not in plain:  # two hyphens look like an en dash, in LaTeX as here
        assert re.sub(known, unescape, escaped) == plain


@given(routing=TEXT, title=TEXT, note=TEXT)
def test_no_text_breaks_a_line_or_a_cell(routing, title, note):
    text = table([row(routing)], [note], title)
    latex = to_latex(text).rstrip("\n").split("\n")
    assert len(latex) == 11
    assert all(line.startswith("%") for line in (latex[0], latex[-1]))
    assert len(re.findall(r"(?<!\\)&", latex[7])) == 6


def test_csv_has_no_formulas_and_negative_numbers():
    text = to_csv(table([row('=HYPERLINK("x")', sigma4=-1.5)]))
    line = list(csv.reader(io.StringIO(text)))[1]
    assert line[0] == '\'=HYPERLINK("x")'
    assert line[3] == "-1.5"


def test_a_text_of_lines_is_one_line_of_words_in_files():
    loop = TableCell("0>1 waits\n1>0 waits", numeric=False)
    assert str(loop) == "0>1 waits; 1>0 waits"


def test_a_single_gap_of_1_is_singular_where_the_unit_is_a_word():
    texts = [_mean_gap_text([1], unit) for unit in ("%", "hops", "s", "ms", "µs", "MB/s")]
    assert texts == ["by 1 point", "by 1 hop", "by 1 s", "by 1 ms", "by 1 µs", "by 1 MB/s"]
