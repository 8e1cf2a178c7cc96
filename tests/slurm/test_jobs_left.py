"""Slurm jobs that outlive Snakemake: which do, and how the next run finds them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from site_of_tests import FAKE, Site

from routelab.stages.workflow.slurm_jobs import jobs_in_flight

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


def left(site):
    """State, and what is measured, of the jobs that are left."""
    return [(job.state, job.comparison) for job in jobs_in_flight(site.folder)]


def comparison(site):
    """Id of the study's only comparison."""
    (spec,) = (site.folder / "results/.plan/comparisons").glob("*.json")
    return spec.stem


def test_the_next_run_names_the_job_and_does_not_start_it_again(site, snakemake):
    site.play("waits")
    first = snakemake()
    site.wait_for(lambda: (site.folder / "here.0").exists() or first.poll() is not None)
    first.kill()
    first.wait()
    (number,) = site.slurm.jobs()

    def run(*more):
        """Exit code of a run, once it has ended."""
        return snakemake(*more).wait(300)

    for more in (("--dry-run",), ()):
        assert run(*more) == 0, site.stderr
        (said,) = [line for line in site.stderr.splitlines() if line.startswith("Slurm job")]
        assert said.startswith(
            f"Slurm job {number} of an earlier run still measures measured on torus~dims=4 with "
        )
        assert " (running since 20" in said
        assert said.endswith(
            "; it is not started again: wait for it, or cancel it with "
            f"'scancel {number}', then run again."
        )
        assert "comparisons: measured" not in site.stderr
        assert site.slurm.jobs() == [number]
        assert site.done == 1
    # the report is there all the same, without the numbers
    assert (site.folder / "results/report/measured/index.html").exists()

    site.let_go()
    site.wait_for(lambda: left(site) == [])
    assert run() == 0, site.stderr
    assert "Slurm job" not in site.stderr
    assert "has been submitted" not in site.stderr
    assert site.done == 1
    table = (site.folder / "results/report/measured/tables/numbers.csv").read_text()
    assert table.splitlines()[1].endswith(",1")
    assert run() == 0
    assert "Nothing to be done" in site.stderr
