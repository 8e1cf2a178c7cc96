"""Names and files that are meant to break: one message, no traceback, nothing waits."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.cli import main
from routelab.jobs.folder_job import perform
from routelab.jobs.job import MAX_ID, folder_name
from routelab.registry.names import parse_name, parse_routing
from routelab.stages.plan.expansion import expand_studies

FAILED = "+".join(map(str, range(120)))
LONG = f"torus~dims=16x16,failed_switches={FAILED}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    return tmp_path


def test_names_longer_than_file_names_work(capfd: Any) -> None:
    assert len(LONG) > 255
    assert main(["topology", LONG, "--format", "json"]) == 0
    facts = json.loads(capfd.readouterr().out)
    assert (facts["topology"], facts["switches"]) == (LONG, 136)
    assert main(["topology", LONG, "-o", "net"]) == 0
    assert json.loads(Path("net/outcome.json").read_text())["topology"] == LONG
    assert main(["study", "check", "study.yaml"]) == 2


def test_studies_take_long_names_without_an_alias() -> None:
    text = f'title: t\ntopologies: ["{LONG}"]\nroutings: [dor]\n'
    Path("study.yaml").write_text(text)
    assert main(["study", "check", "study.yaml"]) == 0
    plan = expand_studies([Path("study.yaml")])
    for job in plan.jobs.values():
        assert perform(job).status == "ok"
        outcome = json.loads(Path(job.folder, "outcome.json").read_text())
        assert outcome["topology"] == LONG
        assert len(Path(job.folder).name) <= MAX_ID
    assert main(["report", "study.yaml"]) == 0
    assert LONG in Path("results/report/study/runs.csv").read_text()
    assert all(job.is_done() for job in expand_studies([Path("study.yaml")]).jobs.values())


def test_folders_of_long_names_are_short_stable_and_different() -> None:
    short = folder_name(LONG)
    assert len(short.encode()) == MAX_ID
    assert short.startswith("torus~dims=16x16,failed_switches=0+1+2+")
    assert short == folder_name(LONG) != folder_name(LONG + "+121")
    assert folder_name("torus~dims=4") == "torus~dims=4"
    assert len(folder_name("ü" * 100).encode()) <= MAX_ID


TORUS = "torus~dims=2x2"
HOSTILE = [
    ["topology", "torus~dims=" + "x".join(["1"] * 3000)],
    ["topology", "torus~dims=" + "9" * 5000],
    ["topology", TORUS + ",seed=" + "9" * 30],
    ["topology", TORUS + ",fail_links=" + "9" * 30],
    ["topology", "a" * 300],
    ["topology", "a" * 100_000],
    ["topology", "a" * 300 + ".npz"],
    ["topology", "graph~format=edges,file=pipe"],
    ["topology", TORUS, "-o", ""],
    ["topology", TORUS, "-o", "a" * 300],
    ["topology", TORUS, "-o", "pipe"],
    ["topology", TORUS, "-o", "/dev/null"],
    ["topology", "pipe"],
    ["evaluate", TORUS, "valiant~base=" + "[" * 3000 + "dor" + "]" * 3000],
    ["evaluate", TORUS, "valiant~base=[" * 1000 + "dor" + "]" * 1000],
    ["evaluate", TORUS, "dor", "--certificate", ""],
    ["evaluate", TORUS, "dor", "--certificate", "pipe"],
    ["evaluate", TORUS, "dor", "--certificate", "a" * 300],
    ["evaluate", TORUS, "dor", "--certificate", "pipe/x"],
    ["route", TORUS, "dor", "--certificate", "pipe"],
    ["workload", "osu-alltoall", "--ranks", "99999999999"],
    ["workload", "osu-alltoall", "--ranks", "9" * 30],
    ["workload", "matrix~file=pipe", "--ranks", "4"],
    ["workload", "trace~file=pipe", "--ranks", "4"],
    ["report", "--index", "--results", "a" * 300],
    ["study", "check", "pipe"],
    ["bench", "parse", "osu-alltoall", "pipe"],
    ["bench", "parse", "osu-alltoall", "a" * 300],
    ["plugins", "new", "topology", "a" * 300],
    ["plugins", "check", ""],
]


@pytest.mark.parametrize("arguments", HOSTILE, ids=lambda words: " ".join(words)[:60])
def test_hostile_arguments_get_one_short_message(arguments: list[str], capfd: Any) -> None:
    assert main(arguments) == 2
    printed = "".join(capfd.readouterr())
    assert "Traceback" not in printed
    assert printed.strip()
    assert len(printed) < 5000
    assert Path("pipe").is_fifo()


def test_a_device_is_not_replaced() -> None:
    try:
        os.mknod("device", 0o20600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    assert main(["evaluate", TORUS, "dor", "--certificate", "device"]) == 2
    assert Path("device").is_char_device()


def test_pipes_in_a_folder_to_verify_are_not_waited_for(capfd: Any) -> None:
    assert main(["export", "angara", TORUS, "angara-bfs", "-o", "files"]) == 0
    first = sorted(Path("files").iterdir())[0]
    first.unlink()
    os.mkfifo(first)
    assert main(["export", "angara", TORUS, "angara-bfs", "--verify", "files"]) == 2
    assert "it is a pipe (FIFO)" in capfd.readouterr().err


ODD = ["", "\0", "a" * 300, "-1", "nan", "1e999", "٣", "\ud800", "\n", "9" * 400, "[", "]", "((("]


@given(st.lists(st.sampled_from([*ODD, *"~,=@+x/.", "key", "a=1"]), max_size=12).map("".join))
@settings(max_examples=500, deadline=None)
def test_every_text_is_a_name_or_gets_a_message(text: str) -> None:
    for parse in (parse_name, parse_routing):
        try:
            name = parse(text)
        except InputError:
            continue
        assert parse(str(name)) == name


def test_a_mistake_in_a_long_name_is_shown_alone() -> None:
    with pytest.raises(InputError) as error:
        parse_name("torus~dims=" + "1" * 5000 + "=" + "2" * 5000)
    message, text, mark = str(error.value).splitlines()
    assert "a value with '=' in it" in message
    assert len(text) < 200
    assert text[mark.index("^")] == "="


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("key", ["dims", "seed", "fail_links", "failed_links", "nodes"])
def test_every_value_of_a_parameter_works_or_gets_a_message(key: str, odd: str, capfd: Any) -> None:
    values = {"dims": "2x2", key: odd}
    inside = ",".join(f"{name}=[{value}]" for name, value in values.items())
    assert main(["topology", f"torus~{inside}"]) in (0, 2)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("odd", ["\x1b[2J", "\x07", "\ud800", "\x9b31m"])
def test_messages_hold_no_control_characters(odd: str, capfd: Any) -> None:
    assert main(["topology", f"torus~dims={odd}"]) == 2
    printed = capfd.readouterr().err
    assert repr(odd)[1:-1] in printed
    assert odd not in printed


@pytest.mark.parametrize("odd", [r'"\0"', r'"\ud800"', "a" * 300, "9" * 400, "[" * 3000, "1e999"])
@pytest.mark.parametrize("key", ["topologies", "routings", "cites", "cluster", "metrics"])
def test_every_value_in_a_study_works_or_gets_a_message(key: str, odd: str, capfd: Any) -> None:
    parts = {"title": "t", "topologies": f"[{TORUS}]", "routings": "[dor]"}
    value = odd if key in ("cites", "cluster") else f"[{odd}]"
    parts[key] = value
    lines = "".join(f"{name}: {text}\n" for name, text in parts.items())
    Path("study.yaml").write_text(lines)
    assert main(["study", "check", "study.yaml"]) == 2
    assert "Traceback" not in "".join(capfd.readouterr())
