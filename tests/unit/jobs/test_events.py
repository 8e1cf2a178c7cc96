"""Events of jobs: lines of many processes in one file, and what readers make of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from routelab.jobs import events
from routelab.jobs.events import Reader


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "events.jsonl"
    events.open_log(path)
    yield path
    events.open_log(tmp_path / "no" / "folder")  # closes it, and cannot be opened


def line(name: str, **changes: object) -> str:
    event = {"kind": "routes", "title": name, "status": "ok", "reason": "", "seconds": 1.5}
    return json.dumps(event | changes) + "\n"


def titles(reader: Reader) -> list[str]:
    return [event["title"] for event in reader.read()]


def test_a_reader_gets_each_event_once(log: Path) -> None:
    reader = Reader(log)
    assert reader.read() == []
    events.note_event("routes", "a")
    events.note_event("routes", "b", "failed", "no way\nat all", 2.5)
    assert reader.read() == [
        {"kind": "routes", "title": "a", "status": "", "reason": "", "seconds": 0.0},
        {
            "kind": "routes",
            "title": "b",
            "status": "failed",
            "reason": "no way\nat all",
            "seconds": 2.5,
        },
    ]
    assert reader.read() == []
    events.note_event("routes", "c")
    assert titles(reader) == ["c"]
    assert titles(Reader(log)) == ["a", "b", "c"]


def test_a_file_that_is_not_there_yet_has_no_events(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "none" / "events.jsonl")
    assert reader.read() == []
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "events.jsonl").write_text(line("a"))
    assert titles(reader) == ["a"]


def test_a_line_that_is_being_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    reader = Reader(path)
    whole = line("a") + line("über")
    content = whole.encode()
    seen = []
    with path.open("ab", buffering=0) as stream:
        for byte in content:
            stream.write(bytes([byte]))
            seen += titles(reader)
    assert seen == ["a", "über"]


@pytest.mark.parametrize(
    "torn",
    [
        '{"kind": "routes", "title": "x", "sta\n',
        "\n",
        "\x00\x00\x00\n",
        "[1, 2]\n",
        "5\n",
        "null\n",
        line("x", kind=5),
        line("x", title=None),
        line("x", seconds="soon"),
        line("x", seconds=None),
        '{"kind": "routes"}\n',
        line("x")[:20] + line("y"),
    ],
)
def test_torn_lines_are_left_out_and_others_are_read(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(line("a") + torn + line("b"))
    assert titles(Reader(path)) == ["a", "b"]


def test_bytes_that_are_no_text_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(line("a").encode() + b'{"kind": "\xff\xfe"}\n' + line("b").encode())
    assert titles(Reader(path)) == ["a", "b"]


def test_lines_of_many_processes_do_not_mix(log: Path) -> None:
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            for count in range(200):
                events.note_event("routes", f"{number} {count}", "failed", "long " * 90)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    found = titles(Reader(log))
    assert sorted(found) == sorted(f"{n} {count}" for n in range(4) for count in range(200))


def test_nothing_is_noted_where_no_run_reads_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    events.open_log(tmp_path / "no" / "folder" / "log")
    events.note_event("routes", "a", "ok")
    assert list(tmp_path.iterdir()) == []


def test_a_long_reason_is_cut(log: Path) -> None:
    events.note_event("routes", "a", "failed", "x" * 100_000)
    (event,) = Reader(log).read()
    assert 100 < len(event["reason"]) < 1000
