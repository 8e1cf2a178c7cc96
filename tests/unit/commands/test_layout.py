"""Tables on terminals of any width: nothing is cut, and what is not shown is named."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from routelab.commands._shared.terminal_tables import NUMBER, table_lines

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


@given(tables(), st.integers(10, 200) | st.just(1000))
def test_nothing_is_cut_at_any_width(table, width) -> None:
    names, rows, first = table
    lines = table_lines(names, rows, width, first)
    numbers = [row[0] for row in rows if NUMBER.fullmatch(row[0])]
    if max(map(len, numbers), default=0) <= width:
        assert max(map(cell_len, lines)) <= width
    shown = "".join("".join(lines).split())
    for name in names:
        # a name is above its column, or in the list of those that are not shown
        assert all(letter in shown for letter in name)


@given(tables())
def test_a_wide_terminal_shows_everything(table) -> None:
    names, rows, _ = table
    lines = table_lines(names, rows, 10_000)
    assert not any(line.startswith("not shown") for line in lines)
    assert lines[0].split() == names
    assert all(cell in "\n".join(lines) for row in rows for cell in row if NUMBER.fullmatch(cell))


def test_control_characters_do_not_reach_the_terminal() -> None:
    lines = table_lines(["name", "value"], [["\x1b[31mred\x07", "a\tb\r"]], 80)
    assert lines[2:] == [r"\x1b[31mred\x07   a\tb\r"]
