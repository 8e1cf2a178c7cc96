"""However a run ends, its local jobs end with it: the real chain of processes, link by link."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

import pytest
from installed_in_place import write_distribution
from process_trees import Processes, left_after, thoroughly, wait_until

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.usefixtures("default_signals"),
]

SECONDS = 30.0
"""In which nothing of a run's jobs may be left."""

PLUGIN = """\
import subprocess

from routelab.api import Column, Measurement, MetricPlugin


class Waits(MetricPlugin):
    name = "waits"
    summary = "Runs a program that waits for a program, as smpirun does"
    by_default = False

    columns = (Column("waits", "1, after a long time"),)

    def measure(self, table, graph):
        if table.topology.num_switches > 6:  # not while kernels are loaded
            subprocess.run(["sh", "-c", "sleep 1000; true"], check=True)
        return [Measurement("waits", 1.0)]
"""

STUDY = """\
title: Waits
topologies: [torus~dims=4x2]
routings: [dor]
metrics: [waits]
limits: {seconds: 60, memory_gb: 2}
"""

LINKS = ("snakemake", "batch", "worker", "program", "its child")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the plugin, the same for all tests: a plugin elsewhere is warmed up anew."""
    site = tmp_path_factory.mktemp("site")
    write_distribution(site, "waits", {"routelab.metric": {"waits": "waits_plugin:Waits"}})
    return site


@pytest.fixture
def waiting(folder, site):
    """A real run whose only job waits; the run, and its processes by link."""
    folder.use_real_command()
    (site / "waits_plugin.py").write_text(PLUGIN)
    path = os.environ.get("PYTHONPATH", "")
    folder.env["PYTHONPATH"] = f"{site}{os.pathsep}{path}" if path else str(site)
    folder.write("config/studies/small.yaml", STUDY)
    run = folder.start()
    try:
        chain: list[int] = []

        def job_waits() -> bool:
            processes = Processes()
            below = processes.below(run.pid)
            chain[:] = [pid for pid in below if "routelab warm" not in processes.command[pid]]
            # before, a child may not have become its program yet, or others may run for a moment
            return len(chain) == len(LINKS) - 1 and processes.command[chain[-1]] == "sleep 1000"

        wait_until(
            lambda: run.poll() is not None or job_waits(), 240, "the job's program does not start"
        )
        assert run.poll() is None, run.communicate()[0]
        yield folder, run, dict(zip(LINKS, [run.pid, *chain], strict=True))
    finally:
        if run.poll() is None:  # else its number may be that of another process
            for pid in [*Processes().below(run.pid), run.pid]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        run.communicate()


@pytest.mark.parametrize(
    "link",
    ["snakemake", "worker", *thoroughly("program", "its child")],
)
def test_whichever_link_is_killed_nothing_below_snakemake_is_left(waiting, link):
    _, run, chain = waiting
    commands = Processes().command
    words = ("snakemake", "routelab batch", "routelab batch", "sh -c")
    for name, word in zip(LINKS, words, strict=False):
        assert word in commands[chain[name]], (name, commands[chain[name]])
    assert commands[chain["its child"]] == "sleep 1000"
    jobs = Processes().identities([pid for name, pid in chain.items() if name != "snakemake"])
    assert len(jobs) == len(LINKS) - 1
    os.kill(chain[link], signal.SIGKILL)
    assert left_after(jobs, SECONDS) == []
    if link != "snakemake":
        # the others of the chain are ended because the job is over, the run goes on
        run.wait(120)


def test_without_a_batch_its_worker_ends_and_the_next_run_completes_it(waiting, site):
    """A program that a plugin runs at this moment goes on until its own limit."""
    folder, run, chain = waiting
    jobs = Processes().identities([chain["batch"], chain["worker"]])
    os.kill(chain["batch"], signal.SIGKILL)
    assert left_after(jobs, SECONDS) == []
    run.wait(120)
    try:
        assert chain["its child"] in Processes().command
        complete(folder, site)
    finally:
        os.killpg(os.getpgid(chain["its child"]), signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, *thoroughly(signal.SIGTERM, signal.SIGHUP)])
def test_a_signal_of_the_terminal_ends_the_whole_run(waiting, number):
    _, run, chain = waiting
    jobs = Processes().identities([pid for name, pid in chain.items() if name != "snakemake"])
    os.killpg(run.pid, number)
    assert left_after(jobs, SECONDS) == []
    run.wait(60)


@pytest.mark.thorough
def test_ctrl_c_of_snakemake_alone_ends_its_jobs(waiting):
    _, run, chain = waiting
    jobs = Processes().identities([pid for name, pid in chain.items() if name != "snakemake"])
    os.kill(run.pid, signal.SIGINT)
    assert left_after(jobs, SECONDS) == []
    run.wait(60)


def test_no_run_starts_beside_an_orphan_and_the_next_completes_it(waiting, site):
    folder, run, chain = waiting
    # an orphan that does not notice its run's end, as it is stopped
    os.kill(chain["batch"], signal.SIGSTOP)
    os.kill(chain["snakemake"], signal.SIGKILL)
    run.wait(60)
    second = folder.start()
    output, _ = second.communicate(timeout=120)
    assert second.returncode == 1
    lines = [line for line in output.splitlines() if "still working in results" in line]
    assert len(lines) == 1, output
    assert "Traceback" not in output
    os.kill(chain["batch"], signal.SIGCONT)
    left = Processes().identities([pid for name, pid in chain.items() if name != "snakemake"])
    assert left_after(left, SECONDS) == []

    complete(folder, site)


def complete(folder, site):
    """Run again, with a program that ends."""
    (site / "waits_plugin.py").write_text(PLUGIN.replace("sleep 1000", "sleep 0"))
    again = subprocess.run(
        folder.command(), cwd=folder.path, env=folder.env, capture_output=True, text=True
    )
    assert again.returncode == 0, again.stdout + again.stderr
    assert (folder.path / "results/report/small/index.html").is_file()
