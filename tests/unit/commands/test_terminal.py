"""Commands in real terminals of 80, 100 and 160 columns."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len

from routelab.cli import main

REPOSITORY = Path(__file__).parents[3]
WIDTHS = (80, 100, 160)
EVALUATE = ("evaluate", "torus~dims=4x2", "dor", "angara-sssp", "sssp@angara~turns=exact")
SIMULATE = (
    *("simulate", "torus~dims=2x2", "dor", "uniform", "--load", "0.1,0.2"),
    *("--max-cycles", "4000", "--precision", "0.2", "--sample-cycles", "20"),
)


RUN = """
import json, sys
from routelab.cli import main
for line in sys.stdin:
    code = main(["--quiet", *json.loads(line)])
    print(f"\\f{code}", flush=True)
"""
"""Runs commands one after another, and marks the end of each in the output."""


class Terminal:
    """A terminal in which commands run, all in one process."""

    def __init__(self) -> None:
        self.main, self.other = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN],
            stdin=subprocess.PIPE,
            stdout=self.other,
            env={**environment, "TERM": "xterm"},
            cwd=REPOSITORY,
            text=True,
        )

    def run(self, width: int, *arguments: str, code: int = 0) -> list[str]:
        """Return the lines that a command writes at this width, without colours."""
        fcntl.ioctl(self.other, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        print(json.dumps(arguments), file=self.process.stdin, flush=True)
        written = b""
        while not (end := re.search(rb"\f(\d+)\r\n", written)):
            assert select.select([self.main], [], [], 600)[0], written
            written += os.read(self.main, 65536)
        assert int(end[1]) == code
        text = re.sub(r"\x1b\[[\d;]*m", "", written[: end.start()].decode())
        return text.replace("\r\n", "\n").splitlines()

    def close(self) -> None:
        self.process.communicate()
        os.close(self.main)
        os.close(self.other)


@pytest.fixture(scope="module")
def in_terminal() -> Iterator[Callable[..., list[str]]]:
    terminal = Terminal()
    yield terminal.run
    terminal.close()


def table(lines: list[str]) -> tuple[list[str], dict[str, list[str]], list[str]]:
    """Return columns, whole cells by column, and the names of columns that are not shown."""
    mark = next(i for i, line in enumerate(lines) if "─" in line)
    rules = [found.span() for found in re.finditer("─+", lines[mark])]
    note = next((i for i, line in enumerate(lines) if line.startswith("not shown: ")), len(lines))
    dropped = re.search(r"not shown: (.*?) \(", " ".join(map(str.strip, lines[note:])))
    columns = ["".join(line[begin:end].strip() for line in lines[:mark]) for begin, end in rules]
    body = lines[mark + 1 : note]
    cells = {
        name: [line[begin:end].strip() for line in body]
        for name, (begin, end) in zip(columns, rules, strict=True)
    }
    return columns, cells, dropped[1].split(", ") if dropped else []


@cache
def as_csv(*arguments: str) -> list[dict[str, str]]:
    with redirect_stdout(io.StringIO()) as output:
        assert main(["--quiet", *arguments, "--format", "csv"]) == 0
    return list(csv.DictReader(output.getvalue().splitlines()))


@pytest.mark.parametrize("width", WIDTHS)
def test_evaluate_shows_whole_numbers_and_names_the_rest(in_terminal, width: int) -> None:
    lines = in_terminal(width, *EVALUATE)
    assert max(map(cell_len, lines)) <= width
    assert "…" not in "".join(lines)
    columns, cells, dropped = table(lines)
    expected = (
        *("routing", "status", "pairs", "reachable_pairs", "max_load", "min_load", "sigma4"),
        *("max_hops", "mean_hops", "deadlock", "virtual_channels", "routing_seconds"),
    )
    assert sorted(columns + dropped) == sorted(expected)
    assert columns == [name for name in expected if name in columns]
    assert {"routing", "status", "deadlock", "max_load", "mean_hops"} <= set(columns)
    rows = as_csv(*EVALUATE)
    for name in set(columns) & {"pairs", "max_load", "min_load", "sigma4", "max_hops", "mean_hops"}:
        numbers = [float(row[name]) for row in rows]
        shown = [float(cell) for cell in cells[name] if cell]
        assert shown == pytest.approx(numbers, rel=1e-3)
    names = "".join(cells["routing"])
    assert names == "".join(row["routing"] for row in rows)
    assert (width < 160) == bool(dropped)


@pytest.mark.parametrize("width", WIDTHS)
def test_simulate_shows_whole_numbers_with_their_intervals(in_terminal, width: int) -> None:
    lines = in_terminal(width, *SIMULATE)
    columns, cells, dropped = table(lines)
    begin = next(i for i, line in enumerate(lines) if line.startswith("traffic: "))
    assert max(map(cell_len, lines[:begin])) <= width
    rows = as_csv(*SIMULATE)
    assert set(columns + dropped) <= set(rows[0])
    assert columns[:4] == ["load", "state", "accepted_load", "latency_mean"]
    for name in ("load", "accepted_load", "latency_mean"):
        shown = [float(cell.partition(" ± ")[0]) for cell in cells[name][: len(rows)]]
        assert shown == pytest.approx([float(row[name]) for row in rows], rel=1e-3)
        assert all(re.search(r" ± \d", cell) for cell in cells[name][: len(rows)]) == (
            name != "load"
        )
    assert not dropped if width == 160 else dropped


@pytest.mark.parametrize(
    ("command", "width"),
    [
        (EVALUATE[:3], 80),
        (EVALUATE[:3], 40),
        ((*SIMULATE[:4], "--load", "0.1", *SIMULATE[6:]), 80),
        (("topology", "torus~dims=4x2"), 80),
        (("route", "torus~dims=4x2", "dor"), 80),
    ],
)
def test_a_single_result_is_a_list_of_names_and_values(in_terminal, width: int, command) -> None:
    lines = in_terminal(width, *command)
    columns, cells, _ = table(lines)
    assert columns[:2] == ["fact", "value"]
    end = next((i for i, line in enumerate(lines) if line.startswith("traffic: ")), len(lines))
    assert max(map(cell_len, lines[:end])) <= width
    if width >= 80 and command[0] == "evaluate":
        values = dict(zip(cells["fact"], cells["value"], strict=True))
        (row,) = as_csv(*command)
        assert values["routing"] == "dor"
        assert values["max_load"] == row["max_load"].removesuffix(".0")
        assert re.fullmatch(r"[\d.e-]+ s", values["routing_seconds"])
        assert "load of the busiest channel" in "\n".join(lines)


def test_a_single_result_has_no_empty_values(in_terminal) -> None:
    lines = in_terminal(80, "evaluate", "torus~dims=4x2", "sssp@up-down~root=nope", code=2)
    assert [line.split()[0] for line in lines[2:5]] == ["routing", "status", "pairs"]
    assert lines[5].startswith("sssp@up-down~root=nope: ")


@pytest.mark.parametrize("width", WIDTHS)
def test_plugins_are_two_columns_by_kind(in_terminal, width: int) -> None:
    lines = in_terminal(width, "plugins", "list")
    assert max(map(cell_len, lines)) <= width
    columns, _, dropped = table(lines)
    assert (columns, dropped) == (["name", "summary"], [])
    starts = [line.split()[0] for line in lines[2:] if re.match(r"( {2})?\S", line)]
    rows = as_csv("plugins", "list")
    kinds = dict.fromkeys(row["kind"] for row in rows)
    expected = []
    for kind in kinds:
        expected += [kind, *(row["key"] for row in rows if row["kind"] == kind)]
    assert starts == expected
    text = " ".join(" ".join(lines).split())
    assert all(row["summary"].split()[0] in text for row in rows)


@pytest.mark.parametrize(
    "command",
    [
        ("plugins", "list", "routing"),
        ("plugins", "show", "torus"),
        ("plugins", "columns"),
        ("cluster", "list"),
        ("cluster", "show", "desmos"),
        ("workload", "npb-cg", "--ranks", "4"),
        ("study", "plan", "config/studies/examples/compare-algorithms.yaml"),
    ],
)
def test_other_tables_fit(in_terminal, command) -> None:
    lines = in_terminal(80, *command)
    mark = next(i for i, line in enumerate(lines) if "─" in line)
    end = next(
        (i for i, line in enumerate(lines) if i > mark and (not line or ": " in line[:9])),
        len(lines),
    )
    assert max(map(cell_len, lines[:end])) <= 80
    assert "…" not in "".join(lines[:end])
