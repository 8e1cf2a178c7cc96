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
from installed_in_place import write_distribution

pytestmark = [pytest.mark.workflow, pytest.mark.thorough]

ROOT = Path(__file__).parents[2]
SECONDS = 900

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

HELD = """\
import time
from pathlib import Path

from routelab.api import Demand, TrafficPlugin


class Held(TrafficPlugin):
    name = "held"
    summary = "Uniform, as soon as a file is there"

    def demand(self, topology, seed):
        # not while kernels are loaded
        while topology.num_switches > 6 and not Path("{go}").exists():
            time.sleep(0.05)
        return Demand.uniform(topology, "")
"""

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
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self.env = os.environ | slurm.environ | {"PATH": path}
        for name in ("Snakefile", "workflow", "profiles"):
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
        (folder / "config/studies").mkdir(parents=True)
        (folder / "config/config.yaml").write_text("studies: [packets, tori]\n")
        (folder / "config/studies/packets.yaml").write_text(PACKETS)
        (folder / "config/studies/tori.yaml").write_text(TORI)

    def start(self, *words):
        with self.printed.open("w") as printed:
            return subprocess.Popen(
                ["snakemake", "report", "--cores", "2", *words],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                # as on a terminal; jobs of a shell in the background ignore it
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )

    def finish(self, run):
        self.wait_for(lambda: run.poll() is not None)
        assert run.returncode == 0, self.text

    def jobs(self, states):
        """Return numbers and nodes of this project's jobs in some states, by rule."""
        form = "--format=%i|%N|%Z|%k"
        listed = self.slurm.run("squeue", "--noheader", f"--states={states}", form)
        assert listed.returncode == 0, listed.stderr
        jobs = {}
        for line in listed.stdout.splitlines():
            number, node, folder, comment = line.split("|", 3)
            if Path(folder) == self.folder:
                rule = re.match(r"(?:rule_)?([a-z]+)", comment)[1]
                jobs.setdefault(rule, []).append((number, node))
        return jobs

    def wait_for(self, done, run=None):
        """Wait until something is so, while a run goes on."""
        end = time.monotonic() + SECONDS
        while not done():
            assert run is None or run.poll() is None, self.text
            assert time.monotonic() < end, self.text
            time.sleep(0.1)

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
    # ended ones are still listed: none is missed, however short it was
    jobs = project.jobs("all")
    assert set(jobs) == {"routes", "metrics", "simulations", "surveys"}
    nodes = {rule: {node for _, node in jobs[rule]} for rule in ("simulations", "surveys")}
    assert (len(nodes["simulations"]), len(nodes["surveys"])) == (2, 4)

    (project.folder / "results").rename(project.folder / "remote")
    project.finish(project.start())
    compared = subprocess.run(
        ["routelab", "compare", "results", "remote"],
        cwd=project.folder,
        env=project.env,
        capture_output=True,
        text=True,
    )
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert "differences: 0" in compared.stdout


def start_simulations(project):
    """Start a run that has simulated one of four items of a part, and waits in the second.

    Without the wait, an item takes 0.2 s: the part might be done before anything happens to it.
    """
    site = project.folder / "site"
    write_distribution(site, "held", {"routelab.traffic": {"held": "held_plugin:Held"}})
    (site / "held_plugin.py").write_text(HELD.format(go=project.folder / "go"))
    project.env["PYTHONPATH"] = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    study = PACKETS.replace("tornado", "held").replace("seconds: 60", "seconds: 300")
    (project.folder / "config/studies/packets.yaml").write_text(study)
    log = project.folder / "results/logs/simulations/packets-1.log"
    run = project.start(*CLUSTER, "--config", "studies=packets")
    project.wait_for(lambda: log.exists() and "[2/4]" in log.read_text(), run)
    return run


def test_a_cancelled_part_continues_with_its_missing_items(project):
    run = start_simulations(project)
    parts = {number for number, _ in project.jobs("R")["simulations"]}
    project.slurm.run("scancel", *parts)
    project.wait_for(lambda: not parts & set(project.slurm.jobs()))
    (project.folder / "go").touch()
    project.finish(run)
    assert "[1/3]" in project.log("simulations/packets-1.log")
    assert "CANCELLED" in project.text


def test_an_interrupted_run_cancels_its_jobs_and_the_next_one_continues(project):
    run = start_simulations(project)
    run.send_signal(signal.SIGINT)
    assert run.wait(SECONDS) != 0
    project.wait_for(lambda: not project.slurm.jobs())
    assert list((project.folder / "results/.plan/steps").iterdir()) == []
    (project.folder / "go").touch()
    project.finish(project.start(*CLUSTER, "--config", "studies=packets"))
    assert "[1/3]" in project.log("simulations/packets-1.log")


def test_parts_that_a_killed_run_has_left_in_the_queue_end_when_they_start(project):
    slurm = project.slurm
    slurm.run("scontrol", "update", "NodeName=ALL", "State=DRAIN", "Reason=test")
    words = (*CLUSTER, "--until", "routes", "--config", "studies=packets")
    first = project.start(*words)
    project.wait_for(slurm.jobs, first)
    (left,) = slurm.jobs()
    first.kill()
    first.wait()
    second = project.start(*words)
    project.wait_for(lambda: len(slurm.jobs()) == 2, second)
    slurm.run("scontrol", "update", "NodeName=ALL", "State=RESUME")
    project.finish(second)
    # nothing says that it ends before the second run
    project.wait_for(lambda: left not in slurm.jobs())
    (log,) = (project.folder / "results/logs/slurm").rglob(f"{left}.log")
    assert "The run of this job has ended, so the job does nothing." in log.read_text()
    assert list((project.folder / "results/.plan/steps").iterdir()) == []
