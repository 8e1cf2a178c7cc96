"""Tables on terminals of any width: nothing is cut, and what is not shown is named."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rich.cells import cell_len

from routelab.commands._shared.layout import GAP, NUMBER, table_lines

NUMBERS = (
    st.integers(-(10**28), 10**28).map(str)
    | st.floats(0, 1e6).map(lambda number: f"{number:.4g}")
    | st.tuples(st.floats(0, 1e4), st.floats(0, 1)).map(lambda two: f"{two[0]:.4g} ± {two[1]:.2g}")
)
WORDS = st.text("abcxyz~@,/+=_|- .0123456789", min_size=1, max_size=60)
WIDE = st.text("漢字かなé́ab ", max_size=30)
TEXTS = WORDS | WIDE | st.sampled_from(["", "n" * 300]) | st.text(max_size=20)
NAMES = st.from_regex(r"[a-z_]{1,25}", fullmatch=True)


@st.composite
def tables(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=14, unique=True))
    kinds = [draw(st.sampled_from([NUMBERS | st.just(""), TEXTS])) for _ in names]
    rows = draw(st.lists(st.tuples(*kinds), max_size=6))
    first = draw(st.lists(st.sampled_from(names), max_size=3))
    return names, rows, first


def parsed(lines: list[str], names: list[str]) -> tuple[list[str], list[list[str]], list[str]]:
    """Return header, columns of cells (without spaces and line ends) and dropped names."""
    mark = next(i for i, line in enumerate(lines) if set(line) <= {"─", " "} and "─" in line)
    rules = [(found.start(), found.end()) for found in re.finditer("─+", lines[mark])]
    below = next((i for i, line in enumerate(lines) if line.startswith("not sh")), len(lines))
    note = "".join("".join(lines[below:]).split())
    dropped = note.removeprefix("notshown:").partition("(")[0].split(",") if note else []

    def cut(line: str, begin: int, end: int) -> str:
        place, text = 0, ""
        for char in line:
            if begin <= place < end:
                text += char
            place += cell_len(char)
        return text

    def columns(part: list[str]) -> list[list[str]]:
        return [[cut(line, *rule) for line in part] for rule in rules]

    header = ["".join("".join(column).split()) for column in columns(lines[:mark])]
    return header, columns(lines[mark + 1 : below]), dropped


@given(tables(), st.integers(10, 200) | st.just(1000))
def test_nothing_is_cut_at_any_width(table, width) -> None:
    names, rows, first = table
    lines = table_lines(names, rows, width, first)
    numbers = [row[0] for row in rows if NUMBER.fullmatch(row[0])]
    if max(map(len, numbers), default=0) <= width:
        assert max(map(cell_len, lines)) <= width


@given(tables(), st.integers(24, 200))
def test_columns_are_shown_or_named(table, width) -> None:
    names, rows, first = table
    header, _, dropped = parsed(table_lines(names, rows, width, first), names)
    assert sorted(header + dropped) == sorted(names)
    assert header == [name for name in names if name in header]
    assert names[0] in header
    # a column takes 26 cells at most for numbers, 20 for text
    if width >= 60 and first:
        assert first[0] in header


@given(tables(), st.integers(40, 200))
def test_numbers_and_texts_of_shown_columns_are_complete(table, width) -> None:
    names, rows, first = table
    # wide characters take two cells of the screen, which this test cannot separate
    assume(re.fullmatch("[ -~±]*", "".join(cell for row in rows for cell in row)))
    header, cells, _ = parsed(table_lines(names, rows, width, first), names)
    for name, column in zip(header, cells, strict=True):
        place = names.index(name)
        for row in rows:
            if NUMBER.fullmatch(row[place]):
                assert row[place] in [line.strip() for line in column]
        whole = "".join("".join(column).split())
        assert whole == "".join("".join(row[place] for row in rows).split())


@given(tables())
def test_a_wide_terminal_shows_everything(table) -> None:
    names, rows, _ = table
    lines = table_lines(names, rows, 10_000)
    assert not any(line.startswith("not shown") for line in lines)
    assert lines[0].split() == names


def test_the_first_columns_are_the_most_important() -> None:
    names = [f"column{i}" for i in range(9)]
    rows = [[f"{i}.12345" for i in range(9)]] * 2
    *_, note = table_lines(names, rows, 80 - GAP)
    assert note == "not shown: column8 (wider terminal, or --format csv)"
    lines = table_lines(names, rows, 80 - GAP, first=["column8"])
    assert lines[-1].startswith("not shown: column7 (")
    assert lines[0].split() == [name for name in names if name != "column7"]


def test_long_numbers_are_whole_and_later_columns_not_shown() -> None:
    number = "1" * 25
    lines = table_lines(["a", "b", "c"], [[number] * 3] * 2, 66)
    assert lines[2:] == [
        *[f"{number}  {number}"] * 2,
        "not shown: c (wider terminal, or --format csv)",
    ]


def test_text_wraps_between_the_parts_of_a_name() -> None:
    rows = [["sssp@angara~turns=exact", "1,926"], ["dor", "12"]]
    assert table_lines(["routing", "jobs"], rows, 20) == [
        "routing         jobs",
        "─────────────  ─────",
        "sssp@angara~   1,926",
        "  turns=exact",
        "dor               12",
    ]


def test_control_characters_do_not_reach_the_terminal() -> None:
    lines = table_lines(["name", "value"], [["\x1b[31mred\x07", "a\tb\r"]], 80)
    assert lines[2:] == [r"\x1b[31mred\x07  a\tb\r"]


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_tiny_terminals_end(width) -> None:
    lines = table_lines(["name", "漢字"], [["漢字" * 5, "12345"], ["a b", ""]], width)
    assert "".join(lines).count("漢") >= 5


def test_an_empty_table_has_its_header() -> None:
    assert table_lines(["a", "bc"], [], 80) == ["a  bc", "─  ──"]
