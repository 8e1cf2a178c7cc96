"""The studies that measure Table 3 and Figure 6 anew, on a Slurm of 32 nodes: nothing is measured.

What they have to plan follows from the paper: its tables (config/references/mukosey2020) and
section 5.2, by which each benchmark was run five times for each number of nodes.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.parametrize("slurm", [32], indirect=True),
]

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "config/references/mukosey2020"
PATTERNS = ("transpose", "neighbor", "tornado", "osu-alltoall")
RUNS = 5 + 1
"""Those of the paper, and a warm-up."""

HOOK = """\
fabric:
  apply: [{hook}, apply, "{{routing}}", "{{folder}}"]
  restore: [{hook}, restore]
benchmarks: {{npb: {programs}, osu-alltoall: {programs}}}
"""


def column(table, name):
    with (PAPER / table).open(newline="") as stream:
        return list(dict.fromkeys(row[name] for row in csv.DictReader(stream)))


NODES = [int(text) for text in column("table2.csv", "nodes")]
ROUTINGS = column("table3.csv", "routing")
PROGRAMS = [f"{name.lower()}.C.{32 * 4}" for name in column("table3.csv", "benchmark")]


@pytest.fixture
def project(tmp_path, slurm):
    """A project with the virtual cluster, and programs that do nothing."""
    for name in ("Snakefile", "workflow", "profiles", "config"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    for name in (*PROGRAMS, "osu_alltoall", "hook"):
        program = tmp_path / "programs" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    cluster = tmp_path / "config/clusters/virtual-desmos.yaml"
    programs = tmp_path / "programs"
    cluster.write_text(cluster.read_text() + HOOK.format(hook=programs / "hook", programs=programs))

    def run(*words, code=0):
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env=os.environ | slurm.environ | {"PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    yield tmp_path, run
    assert slurm.jobs() == []


def check(run, name, code=0):
    """What `routelab cluster check` says, by what was checked and its state."""
    words = ("cluster", "check", "virtual-desmos", "--study", name, "--format", "json")
    rows = json.loads(run("routelab", *words, code=code))
    return {(row["what"], row["state"]): row["found"] for row in rows}


def test_they_take_the_allocations_and_runs_of_the_paper(project):
    folder, run = project
    names = ("desmos-rerun-table3", "desmos-rerun-figure6")
    nodes = [max(NODES), *NODES]
    benchmarks = [len(PROGRAMS), *[len(PATTERNS)] * len(NODES)]
    runs = [count * len(ROUTINGS) * RUNS for count in benchmarks]
    assert (len(runs), sum(runs)) == (6, 450)
    hours = [n * (count * 120 // 60 + 10) / 60 for n, count in zip(nodes, runs, strict=True)]
    findings = check(run, names[0])
    total = f"1 allocation, {runs[0]} runs, {hours[0]:.1f} node-hours at most"
    assert findings["study", "ok"].endswith(total)
    findings = check(run, names[1])
    total = f"5 allocations, {sum(runs[1:])} runs, {sum(hours[1:]):.1f} node-hours at most"
    assert findings["study", "ok"].endswith(total)
    assert "missing" not in {state for _, state in findings}
    assert findings["partition virtual", "ok"] == "up, 32 nodes"

    (folder / "config/config.yaml").write_text(f"studies: [{', '.join(names)}]\n")
    words = ("report", "--config", "cluster=virtual-desmos", "apply_routing=true")
    planned = run("snakemake", "-n", "--quiet", "host", "--cores", "2", *words)
    requested = sorted(map(int, re.findall(r"\bfabric=1, nodes=(\d+)", planned)))
    assert requested == sorted(nodes), planned
