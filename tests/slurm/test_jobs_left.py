"""Slurm jobs that outlive Snakemake, and a run that starts meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from site_of_tests import FAKE, Site

pytestmark = [pytest.mark.workflow, pytest.mark.thorough]

ROOT = Path(__file__).parents[2]

STUDY = f"""\
title: A routing, measured
topologies: [torus~dims=4]
routings: [angara-bfs]
benchmarks: [{{use: "{FAKE}", as: lu}}]
bench: {{cluster: ../../virtual.yaml, repeats: 1, warm_up: 0, seconds: 60, predict: false}}
tables:
  numbers:
    of: benchmarks
    rows: [nodes, benchmark, routing]
    values: [median, runs]
"""

WORDS = (
    *("report", "--cores", "2", "--profile", "profiles/slurm", "--latency-wait", "5"),
    *("--seconds-between-status-checks", "2", "--slurm-init-seconds-before-status-checks", "2"),
    *("--config", "apply_routing=true"),
)


@pytest.fixture
def site(tmp_path, slurm, monkeypatch):
    """A project with a study of one comparison."""
    for name, value in slurm.environ.items():
        monkeypatch.setenv(name, value)
    path = [str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(path))
    site = Site(tmp_path, slurm)
    for name in ("Snakefile", "workflow", "profiles"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    (tmp_path / "config/studies").mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text("studies: [measured]\n")
    (tmp_path / "config/studies/measured.yaml").write_text(STUDY)
    return site


@pytest.fixture
def snakemake(site):
    """A function that starts Snakemake; what it prints goes into `stderr` of the site."""
    started = []

    def start(*more):
        with (site.folder / "stderr").open("w") as printed:
            process = subprocess.Popen(
                ["snakemake", *WORDS, *more],
                cwd=site.folder,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                # as on a terminal; jobs of a shell in the background ignore it
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_run_beside_a_job_that_was_left_measures_nothing_twice(site, snakemake):
    site.play("waits")
    first = snakemake()
    site.wait_for(lambda: (site.folder / "here.0").exists() or first.poll() is not None)
    first.kill()
    first.wait()
    (left,) = site.slurm.jobs()

    second = snakemake()
    site.wait_for(lambda: len(site.slurm.jobs()) == 2 or second.poll() is not None)
    assert site.slurm.jobs().count(left) == 1
    site.let_go()
    assert second.wait(300) == 0, site.stderr
    assert site.done == 1
    table = (site.folder / "results/report/measured/tables/numbers.csv").read_text()
    assert table.splitlines()[1].endswith(",1")
    assert snakemake().wait(300) == 0
    assert "Nothing to be done" in site.stderr
