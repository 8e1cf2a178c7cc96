"""`routelab bench parse`: figures and foreign lines, or a named failure."""

from __future__ import annotations

import json
import os

import pytest
from bench_corpus import DATA, GOOD, LIES

from routelab.cli import main
from routelab.cluster.bench import parse as stage


@pytest.mark.parametrize("case", GOOD, ids=str)
def test_figures_are_printed_as_json(case, capsys):
    assert main(["bench", "parse", case.plugin, str(DATA / f"{case}.txt")]) == 0
    figures = json.loads(capsys.readouterr().out)
    keys = ("metric", "value", "unit", "better", "size")
    assert figures == {
        "benchmark": case.plugin,
        "version": case.expected["version"],
        "figures": [dict(zip(keys, row, strict=True)) for row in case.expected["figures"]],
        "facts": case.expected["facts"],
        "foreign": case.expected.get("foreign", []),
    }


def test_where_a_cut_cannot_be_seen_the_largest_size_is_named(tmp_path, capsys):
    text = (DATA / "osu-alltoall" / "real-5.7.txt").read_text(encoding="utf-8")
    rows = text.splitlines(keepends=True)
    end = max(place for place, line in enumerate(rows) if line[0].isdigit())
    file = tmp_path / "cut.txt"
    file.write_text("".join(rows[:end]), encoding="utf-8")
    assert main(["bench", "parse", "osu-alltoall", str(file)]) == 0
    size = rows[end - 1].split()[0]
    assert f"check that the largest messages were of {size} bytes" in capsys.readouterr().err
    # the end of a row may be the end of a number
    file.write_text("".join(rows[:end]).rstrip("\n"), encoding="utf-8")
    assert main(["bench", "parse", "osu-alltoall", str(file)]) == 1
    assert "incomplete: the last line has no end" in capsys.readouterr().err


@pytest.mark.parametrize(
    "case",
    [case for case in LIES if case.expected["ranks"] is None or "lie-empty" in case.name],
    ids=str,
)
def test_a_failure_is_named_in_one_line(case, capsys):
    file = DATA / f"{case}.txt"
    assert main(["bench", "parse", case.plugin, str(file)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert f"{file}: {case.expected['failure']}: " in err
    assert case.expected["message"] in err


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("npb", "none.txt", "cannot read none.txt: No such file or directory"),
        ("npb", ".", "cannot read .: Is a directory"),
        ("npbs", "none.txt", "no benchmark plugin is called 'npbs'; did you mean 'npb'?"),
        ("npb~kernel=ep", "none.txt", "kernel"),
    ],
)
def test_a_wrong_name_or_file_is_the_users_mistake(name, file, message, capsys):
    assert main(["bench", "parse", name, file]) == 2
    assert message in capsys.readouterr().err


def test_bytes_that_are_no_text_are_no_figures(tmp_path, capsys):
    file = tmp_path / "out.txt"
    file.write_bytes(b"\xff\xfe\x00 LU Benchmark Completed.\n\xc3\x28\n")
    assert main(["bench", "parse", "npb", str(file)]) == 1
    assert "no-result" in capsys.readouterr().err


def test_a_parser_that_breaks_is_the_plugins_fault(tmp_path, capsys, monkeypatch):
    class Broken:
        name = "broken"

        def parse(self, output, task):
            return {}["nothing"]

    monkeypatch.setattr(stage, "load", lambda *_: Broken())
    file = tmp_path / "out.txt"
    file.write_text("")
    assert main(["bench", "parse", "broken", str(file)]) == 1
    assert "broken: parse() must return figures" in capsys.readouterr().err


def test_pipes_and_huge_files_are_not_read(tmp_path, capsys):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(2**26 + 1)
    assert main(["bench", "parse", "npb", str(pipe)]) == 2
    assert "it is no regular file" in capsys.readouterr().err
    assert main(["bench", "parse", "npb", str(large)]) == 2
    assert "it is larger than 67108864 bytes" in capsys.readouterr().err
    assert main(["bench", "parse", "npb", "/dev/zero"]) == 2
