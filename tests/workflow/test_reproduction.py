"""The command of a report rebuilds it: with what is stored, and from nothing."""

from __future__ import annotations

import csv
import html
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench_corpus import DATA

from .conftest import ROOT

pytestmark = pytest.mark.workflow

LAUNCHER = """#!/bin/sh
[ "$1" = --version ] && { echo "a launcher for tests 1.2.3"; exit; }
shift; size=$1; shift
i=0
while [ $i -lt $size ]; do PMI_RANK=$i PMI_SIZE=$size "$@" || exit; i=$((i + 1)); done
"""

PROGRAM = "#!/bin/sh\n[ $PMI_RANK != 0 ] || cat {text}\n"

CLUSTER = """\
launcher: mpiexec
program: {folder}/launcher
nodes: 4
benchmarks: {{npb: {folder}}}
fabric:
  apply: [{folder}/hook, apply, "{{routing}}"]
  restore: [{folder}/hook, restore]
"""

STUDY = """\
title: Two routings, measured
topologies: [torus~dims=4]
routings: [angara-bfs, angara-sssp]
benchmarks: [{use: "npb~kernel=lu,class=W", as: lu}]
bench: {cluster: here, repeats: 2, warm_up: 0, seconds: 60, predict: false}
tables:
  speeds: {of: benchmarks, rows: [routing], values: [median, runs, failed, applied]}
"""

FAILED = """#!/bin/sh
echo "ERROR: it does not work today" >&2
exit 3
"""


class Project:
    """A project with a study of one comparison on this machine."""

    def __init__(self, tools, folder, snakemake):
        self.tools, self.folder, self.snakemake = tools, folder, snakemake

    def copy(self, name, *, without=()):
        """Copy the project, also its results, but not some of its folders."""
        folder = self.folder.parent / name
        shutil.copytree(self.folder, folder)
        for part in without:
            shutil.rmtree(folder / part)
        return Project(self.tools, folder, self.snakemake)

    def run(self, program, *words):
        """Exit code and output of Snakemake or routelab in the project."""
        env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        if program == "snakemake":
            done = self.snakemake.run(words, self.folder, env)
            return done.returncode, done.stdout + done.stderr
        done = subprocess.run(
            [program, *words],
            cwd=self.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        return done.returncode, done.stdout

    def page(self):
        return (self.folder / "results/report/measured/index.html").read_text()

    @property
    def command(self):
        """The command that the page prints for the whole report."""
        (command,) = set(re.findall(r"snakemake report --config [^<]*", self.page()))
        return shlex.split(html.unescape(command))

    def table(self):
        path = self.folder / "results/report/measured/tables/speeds.csv"
        with path.open(newline="") as stream:
            return list(csv.DictReader(stream))

    def calls(self):
        """What the fabric was asked to do since the last call."""
        path = self.tools / "calls"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        path.unlink(missing_ok=True)
        return lines


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture(scope="module")
def measured(tmp_path_factory, snakemake):
    """The project after its measurements."""
    tools = tmp_path_factory.mktemp("tools")
    program(tools / "launcher", LAUNCHER)
    program(tools / "lu.W.x", PROGRAM.format(text=DATA / "npb/lu-34.txt"))
    program(tools / "hook", f'#!/bin/sh\necho "$@" >> {tools}/calls\n')
    folder = tmp_path_factory.mktemp("copies") / "first"
    folder.mkdir()
    for name in ("Snakefile", "workflow", "profiles"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
    for name, text in (
        ("config.yaml", "studies: [measured]\n"),
        ("clusters/here.yaml", CLUSTER.format(folder=tools)),
        ("studies/measured.yaml", STUDY),
    ):
        path = folder / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    project = Project(tools, folder, snakemake)
    code, printed = project.run("snakemake", "report", "--config", "apply_routing=true")
    assert code == 0, printed
    assert [call.split()[0] for call in project.calls()] == ["apply"] * 4 + ["restore"]
    return project


def test_the_printed_command_rebuilds_the_report_from_nothing(measured):
    assert measured.command == [
        *("snakemake", "report", "--config", "studies=measured", "apply_routing=true")
    ]
    clean = measured.copy("clean", without=["results", ".snakemake"])
    code, printed = clean.run(*measured.command)
    assert code == 0, printed
    assert clean.table() == measured.table()
    assert [row["applied"] for row in clean.table()] == ["yes", "yes"]
    assert clean.calls()[-1] == "restore"


def test_stored_runs_need_no_permission(measured):
    stored = measured.copy("stored", without=["results/bench/comparisons", "results/report"])
    code, printed = stored.run("snakemake", "report")
    assert code == 0, printed
    assert stored.calls() == []
    assert stored.table() == measured.table()
    assert stored.command == measured.command


def test_only_missing_runs_need_permission(measured):
    partly = measured.copy("partly", without=["results/bench/comparisons"])
    lost = sorted((partly.folder / "results/bench/runs").iterdir())[0]
    shutil.rmtree(lost)
    code, printed = partly.run("snakemake", "report")
    assert code == 1
    assert "1 of 4 runs are missing" in printed
    assert "which is not allowed" in printed
    assert partly.calls() == []
    code, printed = partly.run(*partly.command)
    assert code == 0, printed
    assert [call.split()[0] for call in partly.calls()] == ["apply", "restore"]


def test_stored_failures_are_shown_without_permission(measured):
    failed = measured.copy("failed", without=["results/bench/comparisons"])
    words = ["routelab", "bench", "--cluster=here", "--topology=torus~dims=4", "--warm-up=0"]
    words += ["--routing=angara-bfs", "--benchmark=npb~kernel=lu,class=W", "--repeats=3"]
    whole = (failed.tools / "lu.W.x").read_text()
    try:
        program(failed.tools / "lu.W.x", FAILED)
        code, printed = failed.run(*words, "--apply-routing")
        assert (code, len(failed.calls())) == (1, 4), printed
        # the stored failure is shown, and nothing is switched
        code, printed = failed.run(*words)
        assert code == 1
        assert "3 stored runs failed and are not repeated" in printed
        assert "it does not work today" in printed
        assert failed.calls() == []
    finally:
        program(failed.tools / "lu.W.x", whole)
