"""Cells of CSV files: no name is a formula, and every text is read back unchanged."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from routelab.results.tables import read_rows, read_tuples, write_csv
from routelab.toolkit.csv_cells import escape_cell, unescape_cell

STARTS = tuple("=+-@\t\r\n'＝＋－＠")
TEXTS = st.text() | st.builds(str.__add__, st.sampled_from(STARTS), st.text())


@given(TEXTS)
@example("'=1")
@example("''")
@example("-1.5")
@example("'-1.5")
@example("+X")
@example("'+X")
@example("-")
@example("")
def test_every_text_is_restored(text):
    assert unescape_cell(escape_cell(text)) == text


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii()


@given(TEXTS)
def test_no_text_is_a_formula(text):
    cell = escape_cell(text)
    label = len(cell) == 2 and cell[0] in "+-" and cell[1].isascii() and cell[1].isupper()
    dangerous = tuple(start for start in STARTS if start != "'")
    assert not cell.startswith(dangerous) or is_number(cell) or label


@given(st.integers() | st.floats() | st.none() | st.booleans())
def test_numbers_stay(value):
    assert escape_cell(value) is value
    assert escape_cell(str(value)) == str(value)


@given(st.lists(st.tuples(TEXTS.filter(lambda text: "\0" not in text), st.floats(allow_nan=False))))
def test_tables_are_read_back_unchanged(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    rows = [(text.encode("utf-8", "replace").decode(), number) for text, number in rows]
    write_csv(path, ["=name", "value"], rows)
    assert read_tuples(path, ["=name", "value"], {"value"}) == rows
    back = read_rows(path, ["=name"], ["=name"])
    assert [(row["=name"], float(row["value"])) for row in back] == rows
