"""A study of benchmarks from its file to its report, on a real Slurm, both ways in."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from site_of_tests import Site, find_imb

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[2]

BENCHMARKS = {
    "neighbor": "mpi-patterns~pattern=neighbor,size=1KiB,iterations=2,warm_up=1",
    "imb": "imb-alltoall~size=1KiB,iterations=2",
}

STUDY = """\
title: Two routings, measured
topologies: {topologies}
routings: [angara-bfs, angara-sssp]
benchmarks:
{benchmarks}
bench: {{cluster: ../../virtual.yaml, repeats: 2, warm_up: 0, seconds: 60, predict: {predict}}}
tables:
  latencies:
    of: benchmarks
    rows: [nodes, benchmark, routing]
    values: [median, unit, runs, failed, applied, within_noise, predicted]
"""


@pytest.fixture
def project(tmp_path, slurm):
    """A project with the study and the cluster of tests."""
    site = Site(tmp_path, slurm)
    for name in ("Snakefile", "workflow", "profiles"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    (tmp_path / "config/studies").mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text("studies: [measured]\n")
    yield site
    # a job needs a moment to leave the queue after its end
    slurm.wait_until(lambda: not slurm.jobs(), "no job is left")


def snakemake(site, *words):
    """Run the workflow, and give what it printed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["snakemake", "report", "--cores", "2", *words],
        cwd=site.folder,
        env=os.environ | site.slurm.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
    )
    return done.returncode, done.stdout


def shown(site):
    table = site.folder / "results/report/measured/tables/latencies.csv"
    with table.open(newline="") as stream:
        return list(csv.DictReader(stream))


SLURM = (
    *("--profile", "profiles/slurm", "--latency-wait", "5"),
    *("--seconds-between-status-checks", "2", "--slurm-init-seconds-before-status-checks", "2"),
)


def write_study(site, topologies, benchmarks, predict):
    uses = "\n".join(f'  - {{use: "{BENCHMARKS[name]}", as: {name}}}' for name in benchmarks)
    text = STUDY.format(topologies=topologies, benchmarks=uses, predict=predict)
    (site.folder / "config/studies/measured.yaml").write_text(text)


def check(site, nodes, benchmarks, predict):
    """What a table, the fabric's record and the page have to say after two rounds."""
    rows = shown(site)
    assert [(row["nodes"], row["benchmark"], row["routing"]) for row in rows] == [
        (number, benchmark, routing)
        for number in nodes
        for benchmark in benchmarks
        for routing in ("angara-bfs", "angara-sssp")
    ]
    for row in rows:
        assert float(row["median"]) > 0
        assert (row["unit"], row["runs"], row["failed"], row["applied"]) == ("us", "2", "0", "yes")
        # two runs a side tell nothing
        assert row["within_noise"] == ("" if row["routing"] == "angara-bfs" else "yes")
        assert (float(row["predicted"] or 0) > 0) == (predict == "true")
    calls = [call.split()[0] for call in site.calls]
    assert calls == len(nodes) * [*["apply"] * 2 * 2, "restore"]
    page = (site.folder / "results/report/measured/index.html").read_text()
    runs = list((site.folder / "results/bench/runs").iterdir())
    assert len(runs) == len(nodes) * len(benchmarks) * 4
    assert all(f"../../bench/runs/{run.name}/stdout.txt" in page for run in runs)


def test_a_study_goes_through_the_executor_of_slurm(project):
    benchmarks = ["neighbor"]
    write_study(project, ["torus~dims=4"], benchmarks, predict="false")
    code, printed = snakemake(project, *SLURM, "--config", "apply_routing=true")
    assert code == 0, printed
    assert "Jobs of the cluster: 1 comparison.\n" in printed
    assert "part of stages" not in printed
    check(project, ("4",), benchmarks, predict="false")


def test_a_job_that_slurm_refuses_does_not_show_the_log_of_an_earlier_run(project):
    write_study(project, ["torus~dims=4"], ["neighbor"], predict="false")
    path = project.folder / "virtual.yaml"
    path.write_text(path.read_text().replace("partition: virtual", "partition: other"))
    logs = project.folder / "results/logs/comparisons"
    for _ in range(2):
        code, printed = snakemake(project, *SLURM, "--config", "apply_routing=true")
        assert code == 1
        assert "FAILED: comparisons: measured on torus~dims=4" in printed
        assert "of an earlier run" not in printed
        (spec,) = (project.folder / "results/.plan/comparisons").iterdir()
        logs.mkdir(parents=True, exist_ok=True)
        (logs / f"{spec.stem}.log").write_text("a message of an earlier run\n")


@pytest.mark.thorough
@pytest.mark.skipif(find_imb() is None, reason="needs IMB-MPI1 of impi-rt from PyPI")
def test_a_study_asks_slurm_by_itself_switches_nothing_unasked_and_measures_once(project):
    benchmarks = ["neighbor", "imb"]
    write_study(project, ["torus~dims=4"], benchmarks, predict="true")
    code, printed = snakemake(project)
    assert code == 1
    assert "add --apply-routing (in the workflow: --config apply_routing=true)" in printed
    assert project.calls == []
    for _ in range(2):
        code, printed = snakemake(project, "--config", "apply_routing=true")
        assert code == 0, printed
        check(project, ("4",), benchmarks, predict="true")
