"""Wrong and hostile input ends with exit code 2 and one message, and writes nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from process_trees import Processes, left_after

from routelab.api import InputError
from routelab.cli import main
from routelab.jobs.folder_job import run_job
from routelab.jobs.job import MAX_ID, folder_name
from routelab.registry.names import compose, parse_name, parse_routing
from routelab.results.array_files import read_arrays, write_arrays
from routelab.workflow.plan.expansion import expand_studies

TORUS = "torus~dims=4x2"
ODD = ["", "\0", "a" * 300, "-1", "nan", "1e999", "٣", "\ud800", "\n", "9" * 400, "[", "]", "((("]

FILES = {
    "wrong.yaml": "title: t\n",
    "twice.txt": "a b\nb c\na b 3\n",
    "back.txt": "a b\nb a\n",
    "twice.csv": "source,target,capacity\na,b,2\na,b,2\n",
    "twice.json": '{"nodes": [{"id": 0}, {"id": 1}], "links": ['
    '{"source": 0, "target": 1}, {"source": 0, "target": 1}]}',
    "bytes.csv": "source,target,bytes\n0,1,1_000\n",
    "bomb.graphml": "<!DOCTYPE graphml ["
    + "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha" * 100}">' for i in range(9))
    + "]><graphml><key id='l' for='node' attr.name='label'/><graph><node id='a'>"
    "<data key='l'>&e8;</data></node></graph></graphml>",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    for name, text in FILES.items():
        Path(name).write_text(text)
    return tmp_path


@pytest.fixture
def refused(folder, capfd):
    """Run a command that has to fail with code 2, and return its message."""

    def run(*arguments: object) -> str:
        before = sorted(folder.rglob("*"))
        try:
            code = main(list(map(str, arguments)))
        except SystemExit as end:  # argparse
            code = end.code
        printed = "".join(capfd.readouterr())
        assert code == 2
        assert printed.strip()
        assert "Traceback" not in printed
        assert len(printed) < 5000
        assert sorted(folder.rglob("*")) == before
        assert Path("pipe").is_fifo()
        return printed

    return run


WRONG = [
    ("topology torus~dims=1x4", "at least 2"),
    ("topology mesh~dims=0", "at least 2"),
    ("topology torus~dims=-4", "list of dimensions"),
    ("topology mesh~dims=4x", "list of dimensions"),
    ("topology torus~dims=٤x2", "list of dimensions"),
    ("topology torus~dims=4,2", "value for parameter '2'"),
    ("topology torus~dims=2000x2000", "4000000 switches"),
    (f"topology {TORUS},failed_switches=1++2", "empty item"),
    (f"topology {TORUS},fail_links=1_0", "'1_0' is not a number"),
    (f"topology {TORUS},failed_links=0-1+1-0", "listed twice"),
    (f"topology {TORUS},nodes=0+1+0", "listed twice"),
    (f"topology {TORUS},seed={'9' * 30}", "seed"),
    ("topology torsu~dims=4", "did you mean 'torus'?"),
    ("topology torus~dim=4", "did you mean 'dims'?"),
    ("topology torus", "'dims' is required"),
    ("topology graph~file=twice.txt", "already listed at"),
    ("topology graph~file=back.txt", "already listed at"),
    ("topology graph~file=twice.csv", "already listed at"),
    ("topology graph~file=twice.json", "already listed at"),
    ("topology graph~file=bomb.graphml", "limit on input amplification"),
    ("topology graph~format=edges,file=pipe", "pipe"),
    (f"topology {'a' * 100_000}", "..."),
    ("topology pipe", "pipe"),
    (f"topology {TORUS} -o /proc/x", "cannot write /proc/x"),
    (f"topology {TORUS} -o pipe", "pipe"),
    (f"topology {TORUS} -o /dev/null", "/dev/null"),
    (f"topology {TORUS} -o {'a' * 300}", ""),
    (f"topology {TORUS} -o {'a/' * 2000}b", "too deep"),
    (f"evaluate {TORUS} dorr", "did you mean 'dor'?"),
    (f"evaluate {TORUS} dor~odrer=natural", "did you mean 'order'?"),
    (f"evaluate {TORUS} ssp@angara", "did you mean 'sssp'?"),
    (f"evaluate {TORUS} sssp", "sssp@RULES"),
    ("evaluate tours~dims=3 nope", "'tours' 'nope'"),
    ("bound tours~dims=3 nope", "'tours' 'nope'"),
    ("route torus~dims=3 nope --metrics load+effective-bisection~samples=1", "'nope' 'load'"),
    (f"evaluate {TORUS} dor --metrics +", "empty"),
    (f"evaluate {TORUS} dor --metrics traffic-load~matrix=bytes.csv", "'1_000'"),
    (f"evaluate {TORUS} dor --certificate pipe", "pipe"),
    (f"evaluate {TORUS} dor --bound --bound-seconds 1_0", "0 to 9"),
    (f"evaluate {TORUS} sssp@up-down~root=nope", "nope"),
    (f"evaluate {TORUS} valiant~base={'[' * 3000}dor{']' * 3000}", "nest"),
    (f"evaluate {TORUS} balanced~seed=9223372036854775808@up-down", "seed"),
    (f"evaluate {TORUS} balanced~effort=1e300@up-down", "effort"),
    (f"bound {TORUS} --seconds nan", "not a number above 0"),
    (f"route {TORUS} dor -o out --seconds 0", "not a number above 0"),
    (f"route {TORUS} dor --metrics channel-load++route-length", "empty"),
    (f"simulate {TORUS} dor uniform --load 0.1+", "empty item"),
    (f"simulate {TORUS} dor hotspot~spots=99 --load 0.1", "terminal 99"),
    (f"simulate {TORUS} dor tornado~shift=1x1x1 --load 0.1", "3 dimensions"),
    ("workload tornado --ranks ٤", "0 to 9"),
    ("workload osu-alltoall --ranks 99999999999", ""),
    ("workload matrix~file=pipe --ranks 4", "pipe"),
    (f"report --index --results {'a' * 300}", ""),
    ("study check pipe", "pipe"),
    ("study check wrong.yaml", "'topologies' is missing"),
    ("bench parse osu-alltoall pipe", "pipe"),
    (f"plugins new topology {'a' * 300}", ""),
]
"""Commands, and what their message says, among others."""


@pytest.mark.parametrize(("command", "words"), WRONG, ids=lambda text: text[:60])
def test_wrong_input_is_refused(refused, command, words):
    error = refused(*command.split(" "))
    assert all(word in error for word in (words.split(" ") if "' '" in words else [words]))


@pytest.mark.parametrize("command", ["topology torus~dims=4 -o out", "init x", "workload x"])
def test_a_removed_working_directory_is_refused(monkeypatch, capfd, command):
    Path("gone").mkdir()
    monkeypatch.chdir("gone")
    Path("../gone").rmdir()
    assert main(command.split()) == 2
    assert "the working directory was removed; change to another one" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["dor;ls", "dor\n", "../dor", "$(touch pwned)", "a b", ""])
def test_names_that_a_shell_would_take_apart(refused, name):
    assert "bad name: " in refused("evaluate", TORUS, name)


@given(st.lists(st.sampled_from([*ODD, *"~,=@+x/.", "key", "a=1"]), max_size=12).map("".join))
def test_every_text_is_a_name_or_gets_a_message(text):
    for parse, write in ((parse_name, str), (parse_routing, compose)):
        with suppress(InputError):
            name = parse(text)
            assert parse(write(name)) == name


@pytest.mark.parametrize("odd", [*ODD, "\x1b[2J", "\x9b31m"])
@pytest.mark.parametrize("key", ["dims", "fail_links"])
def test_every_value_of_a_parameter_works_or_gets_a_message(key, odd, capfd):
    values = {"dims": "2x2", key: odd}
    inside = ",".join(f"{name}=[{value}]" for name, value in values.items())
    assert main(["topology", f"torus~{inside}"]) in (0, 2)
    printed = capfd.readouterr().err
    assert "Traceback" not in printed
    assert printed.replace("\n", "").isprintable()


@pytest.mark.parametrize("odd", [r'"\0"', r'"\ud800"', "a" * 300, "9" * 400, "[" * 3000, "1e999"])
@pytest.mark.parametrize("key", ["topologies", "routings", "cites", "metrics"])
def test_every_value_in_a_study_works_or_gets_a_message(key, odd, refused):
    parts = {"title": "t", "topologies": f"[{TORUS}]", "routings": "[dor]"}
    parts[key] = odd if key == "cites" else f"[{odd}]"
    Path("study.yaml").write_text("".join(f"{name}: {text}\n" for name, text in parts.items()))
    refused("study", "check", "study.yaml")


def test_parallel_links_may_be_listed_twice(capfd):
    for name, channels in (("twice.txt", 6), ("back.txt", 4), ("twice.csv", 4)):
        command = ["topology", f"graph~file={name},repeats=parallel", "--format", "json"]
        assert main(command) == 0
        assert json.loads(capfd.readouterr().out)["channels"] == channels


def test_a_routing_that_does_not_apply_is_no_wrong_input(capfd):
    assert main(["evaluate", "mesh~dims=3x3", "valiant"]) == 1
    capfd.readouterr()
    assert main(["evaluate", TORUS, "sssp@up-down~root=nope", "dor", "--format", "json"]) == 2
    bad, good = json.loads(capfd.readouterr().out)
    assert (bad["status"], bad["wrong_input"], good["status"]) == ("unsupported", True, "ok")


@pytest.mark.parametrize("routing", ["dor", "dfsssp", "sssp@up-down"])
def test_pairs_between_parts_have_no_route(capfd, routing):
    """Rings of four cut twice: switches 0.0 to 1.1 without the links along X that join them."""
    apart = f"{TORUS},failed_links=0-2+1-3+4-6+5-7"
    assert main(["evaluate", apart, routing]) == 0
    printed = capfd.readouterr().out
    assert "the network is not connected: 4 switches with 0.0, 4 switches with 1.0" in printed
    # 8 × 7 pairs, of which 2 × 4 × 3 within a part
    assert f"{routing}: 32 of 56 pairs have no route" in printed


def test_further_files_of_figures_are_png_and_pdf_of_a_study():
    assert main(["report", "study.yaml", "--also", "pdf,gif"]) == 2
    assert main(["report", "--index", "--also", "pdf"]) == 2
    assert not Path("results").exists()


def test_names_longer_than_file_names_work():
    long = "torus~dims=16x16,failed_switches=" + "+".join(map(str, range(120)))
    Path("study.yaml").write_text(f'title: t\ntopologies: ["{long}"]\nroutings: [dor]\n')
    plan = expand_studies([Path("study.yaml")])
    for job in plan.jobs.values():
        assert run_job(job).status == "ok"
        assert json.loads(Path(job.folder, "outcome.json").read_text())["topology"] == long
    assert main(["report", "study.yaml"]) == 0
    assert long in Path("results/report/study/runs.csv").read_text()
    short = folder_name(long)
    assert len(short.encode()) == MAX_ID
    assert short == folder_name(long) != folder_name(f"{long}+121")
    assert len(folder_name("ü" * 100).encode()) <= MAX_ID


def rewrite(file: Path, **changes: object) -> None:
    metadata, arrays = read_arrays(file, "topology/1", ())
    write_arrays(file, metadata | changes, arrays)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:-30]), "is damaged"),
        (lambda file: file.unlink(), "No such file"),
        (lambda file: np.savez(file, a=np.arange(3)), "was not written by routelab"),
        (lambda file: rewrite(file, format="topology/2"), "a newer routelab wrote it"),
        (lambda file: rewrite(file, format="routes/1"), "give a file of that format"),
        (lambda file: rewrite(file, num_switches=3), "names a switch outside 0..2"),
        (lambda file: file.with_name("outcome.json").write_text('{"a": '), "not JSON"),
        (lambda file: file.with_name("outcome.json").write_text('{"format": "x/1"}'), "format"),
    ],
    ids=["cut", "missing", "foreign", "too new", "other kind", "inconsistent", "torn", "other"],
)
def test_a_damaged_network_is_named(refused, capfd, damage, message):
    assert main(["topology", TORUS, "-o", "net"]) == 0
    capfd.readouterr()
    damage(Path("net/topology.npz"))
    error = refused("evaluate", "net", "dor")
    assert message in error
    assert "net/" in error


@pytest.mark.usefixtures("default_signals")
def test_an_interrupt_is_heeded_inside_a_kernel():
    # a selection that takes minutes on this network, in one kernel
    command = [sys.executable, "-m", "routelab", "evaluate", "torus~dims=12x12x12"]
    with Path("out").open("w+") as out:
        process = subprocess.Popen(
            [*command, "p2-sssp@up-down"], stdout=out, stderr=out, start_new_session=True
        )
        deadline = time.monotonic() + 120
        # the kernel is at work when the last descendant has used some seconds of processor time
        while time.monotonic() < deadline:
            assert process.poll() is None
            with suppress(OSError):  # a process may end between two looks
                if processor_seconds(last_descendant(process.pid)) > 4:
                    break
            time.sleep(0.1)
        processes = Processes().identities(Processes().below(process.pid))
        assert processes
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=120) == 130
        out.seek(0)
        assert out.read() == "routelab: interrupted\n"
    assert left_after(processes, 60.0) == []


def last_descendant(pid: int) -> int:
    """The process that works: all others above it wait for their only child."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return last_descendant(int(children[0])) if children else pid


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
