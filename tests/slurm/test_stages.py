"""Studies whose parts are computed on several nodes, and equal those of one machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.thorough]

ROOT = Path(__file__).parents[2]
SECONDS = 400

LIMITS = "limits: {seconds: 60, memory_gb: 0.5}\n"
PACKETS = f"""\
title: Packets
topologies: [torus~dims=4x4]
routings: [dor, angara-sssp]
traffic: [uniform, tornado, transpose, neighbor]
simulation: {{loads: [0.2, 0.4]}}
{LIMITS}"""

TORI = f"""\
title: Tori
survey: {{runs: 7}}
bound: true
topologies:
  - torus: {{dims: {{boxes: {{dimensions: 2, sizes: [2, 6]}}}}}}
routings: [angara-sssp]
{LIMITS}"""

CLUSTER = (
    *("--profile", "profiles/cluster", "--latency-wait", "5", "--retries", "1"),
    *("--seconds-between-status-checks", "1", "--slurm-init-seconds-before-status-checks", "2"),
    # a node for each part
    *("--default-resources", "slurm_extra='--exclusive'"),
)


class Project:
    """A folder with two studies, and what runs of it print."""

    def __init__(self, folder, slurm):
        self.folder = folder
        self.slurm = slurm
        self.printed = folder / "printed"
        self.places = {}
        for name in ("Snakefile", "workflow", "profiles"):
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
        (folder / "config/studies").mkdir(parents=True)
        (folder / "config/config.yaml").write_text("studies: [packets, tori]\n")
        (folder / "config/studies/packets.yaml").write_text(PACKETS)
        (folder / "config/studies/tori.yaml").write_text(TORI)

    def start(self, *words):
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        with self.printed.open("w") as printed:
            return subprocess.Popen(
                ["snakemake", "report", "--cores", "2", *words],
                cwd=self.folder,
                env=os.environ | self.slurm.environ | {"PATH": path},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                # as on a terminal; jobs of a shell in the background ignore it
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )

    def finish(self, run):
        """Wait for a run; note the nodes of each rule's jobs meanwhile."""
        end = time.monotonic() + SECONDS
        while run.poll() is None:
            assert time.monotonic() < end, self.text
            self.look()
            time.sleep(0.2)
        assert run.returncode == 0, self.text

    def look(self):
        """Return numbers of running jobs by rule."""
        running = {}
        lines = self.slurm.run("squeue", "--noheader", "--states=R", "--format=%i|%N|%k").stdout
        for line in lines.splitlines():
            number, node, comment = line.split("|", 2)
            rule = re.match(r"(?:rule_)?([a-z]+)", comment)[1]
            self.places.setdefault(rule, set()).add(node)
            running.setdefault(rule, []).append(number)
        return running

    def wait_for_jobs(self, number, run):
        """Wait until so many jobs are in the queue."""
        end = time.monotonic() + SECONDS
        while len(self.slurm.jobs()) < number:
            assert run.poll() is None, self.text
            assert time.monotonic() < end, self.text
            time.sleep(0.2)

    @property
    def text(self):
        return self.printed.read_text()

    def log(self, name):
        return (self.folder / "results/logs" / name).read_text()


@pytest.fixture
def project(tmp_path, slurm):
    return Project(tmp_path, slurm)


def test_parts_on_several_nodes_give_the_results_of_one_machine(project):
    run = project.start(*CLUSTER)
    project.finish(run)
    assert "Jobs of the cluster: 8 parts of stages" in project.text
    assert set(project.places) == {"routes", "metrics", "simulations", "surveys"}
    assert (len(project.places["simulations"]), len(project.places["surveys"])) == (2, 4)

    (project.folder / "results").rename(project.folder / "remote")
    project.finish(project.start())
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    compared = subprocess.run(
        ["routelab", "compare", "results", "remote"],
        cwd=project.folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert "differences: 0" in compared.stdout


def start_simulations(project):
    """Start a run, and wait until it has simulated one of four items of a part."""
    log = project.folder / "results/logs/simulations/packets-1.log"
    run = project.start(*CLUSTER, "--config", "studies=packets")
    end = time.monotonic() + SECONDS
    while not (log.exists() and "[2/4]" in log.read_text()):
        assert run.poll() is None
        assert time.monotonic() < end, project.text
        time.sleep(0.02)
    return run


def test_a_cancelled_part_continues_with_its_missing_items(project):
    run = start_simulations(project)
    project.slurm.run("scancel", *project.look()["simulations"])
    project.finish(run)
    assert "[1/3]" in project.log("simulations/packets-1.log")
    assert "CANCELLED" in project.text


def test_an_interrupted_run_cancels_its_jobs_and_the_next_one_continues(project):
    run = start_simulations(project)
    run.send_signal(signal.SIGINT)
    assert run.wait(SECONDS) != 0
    end = time.monotonic() + SECONDS
    while project.slurm.jobs():
        assert time.monotonic() < end, project.text
        time.sleep(0.2)
    assert list((project.folder / "results/.plan/steps").iterdir()) == []
    project.finish(project.start(*CLUSTER, "--config", "studies=packets"))
    assert "[1/3]" in project.log("simulations/packets-1.log")


def test_parts_that_a_killed_run_has_left_in_the_queue_end_when_they_start(project):
    slurm = project.slurm
    slurm.run("scontrol", "update", "NodeName=ALL", "State=DRAIN", "Reason=test")
    words = (*CLUSTER, "--until", "routes", "--config", "studies=packets")
    first = project.start(*words)
    project.wait_for_jobs(1, first)
    (left,) = slurm.jobs()
    first.kill()
    first.wait()
    second = project.start(*words)
    project.wait_for_jobs(2, second)
    slurm.run("scontrol", "update", "NodeName=ALL", "State=RESUME")
    project.finish(second)
    (log,) = (project.folder / "results/logs/slurm").rglob(f"{left}.log")
    assert "The run of this job has ended, so the job does nothing." in log.read_text()
    assert list((project.folder / "results/.plan/steps").iterdir()) == []
