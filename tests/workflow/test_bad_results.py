"""A results folder that is full, read-only, damaged or left in the middle of a run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess

import pytest
from process_trees import Processes, left_after

pytestmark = pytest.mark.workflow

STUDY = """\
title: Small
topologies: [torus~dims=4x2, torus~dims=4]
routings: [dor]
"""
JOBS = {"topologies/torus~dims=4x2", "topologies/torus~dims=4"} | {
    f"{stage}/torus~dims={dims}/dor" for stage in ("routes", "metrics") for dims in ("4x2", "4")
}


@pytest.fixture
def real(folder):
    """A folder with the real command line."""
    folder.use_real_command()
    folder.write("config/studies/small.yaml", STUDY)
    return folder


@pytest.fixture
def disk(folder):
    """A small file system for results/."""
    results = folder.path / "results"
    results.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small file system")
    mounted = mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(results))
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")

    def remount(options):
        done = mount("-o", f"remount,{options}", str(results))
        assert done.returncode == 0, done.stderr

    yield remount
    subprocess.run(["umount", "--lazy", str(results)], check=True)


def mount(*arguments):
    return subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)


def test_read_only_results_are_one_line(folder, disk):
    disk("ro")
    run = folder.run()
    assert run.returncode == 1
    printed = run.stdout + run.stderr
    assert "cannot write results: Read-only file system" in printed
    assert "Traceback" not in printed
    assert 'File "' not in printed
    assert folder.run("--dry-run").returncode == 0


def test_no_room_for_the_plan_is_one_line(folder, disk):
    disk("size=4k")
    run = folder.run()
    assert run.returncode == 1
    printed = run.stdout + run.stderr
    assert "cannot write results/.plan/" in printed
    assert "No space left on device" in printed
    assert 'File "' not in printed


@pytest.mark.parametrize("size", ["48k", "144k"])
def test_a_disk_that_fills_up_loses_nothing_that_is_done(real, disk, size):
    """The sizes end a run among its networks, and in its report."""
    disk(f"size={size}")
    run = real.run()
    assert run.returncode == 1
    printed = run.stdout + run.stderr
    assert "The disk of results is full. Free some space and run again" in printed
    assert "Traceback" not in printed
    done = real.outcomes()
    times = {name: (real.results / name / "outcome.json").stat().st_mtime_ns for name in done}
    assert not [name for name in done if "." in name]  # half-made folders

    disk("size=20m")
    run = real.run()
    assert run.returncode == 0, run.stdout + run.stderr
    assert real.outcomes() == JOBS
    for name, when in times.items():
        assert (real.results / name / "outcome.json").stat().st_mtime_ns == when


@pytest.mark.usefixtures("default_signals")
def test_an_interrupt_ends_the_run_and_its_jobs_and_the_next_one_goes_on(folder):
    # some job of a routing ends, and a later one is under way
    (folder.path / "wait").write_text("1")
    run = folder.start()
    folder.wait_for(lambda: any(name.startswith("routes/") for name in folder.outcomes()), run)
    folder.wait_for(lambda: len(folder.jobs()) > len(folder.outcomes()), run)
    processes = Processes().identities([run.pid, *Processes().below(run.pid)])
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does
    output, _ = run.communicate(timeout=120)
    assert run.returncode not in (0, None)
    done = folder.outcomes()
    assert left_after(processes, 60.0) == []
    assert not (folder.path / "results/report/small/index.html").exists(), output

    (folder.path / "wait").unlink()
    outputs = folder.ran()
    assert not done & set(outputs)
    assert (folder.path / "results/report/small/index.html").exists()


def test_a_damaged_network_is_reported_with_a_working_fix(real):
    assert real.run().returncode == 0
    network = real.results / "topologies/torus~dims=4"
    file = network / "topology.npz"
    file.write_bytes(b"PK\x03\x04 of another program".ljust(file.stat().st_size))
    shutil.rmtree(real.results / "routes/torus~dims=4")
    run = real.run()
    assert run.returncode == 1
    printed = run.stdout + run.stderr
    assert "remove the folder results/small/topologies/torus~dims=4 and run again" in printed
    shutil.rmtree(network)
    assert real.run().returncode == 0
    assert real.outcomes() == JOBS


def test_names_with_shell_characters_run_nothing(folder):
    """In a file that a network is read from, and in the folder of a study."""
    study = 'title: t\ntopologies: [{use: "graph~file=[%s]", as: net}]\nroutings: [dfsssp]\n'
    name = "a b;$(touch pwned)`touch pwned`&'.txt"
    place = "config/studies/it's; $(touch pwned) & more"
    folder.write("config/config.yaml", f'studies: ["{place}/small.yaml"]\n')
    (folder.path / "config/studies/small.yaml").unlink()
    folder.write(f"{place}/small.yaml", study % name)
    folder.write(f"{place}/{name}", "a b\nb c\n")
    outputs = folder.ran()
    assert "routes/net/dfsssp" in outputs
    assert "report/small" in {name.partition(" ")[0] for name in outputs}
    assert not list(folder.path.rglob("pwned"))
