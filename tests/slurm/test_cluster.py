"""The private Slurm itself: it runs jobs, breaks where it is told to, and leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cluster import PORTS, VirtualSlurm

HERE = Path(__file__).parent


def ports(slurm: VirtualSlurm) -> set[int]:
    """All that its slurm.conf names."""
    lines = dict(line.split("=", 1) for line in slurm.conf.read_text().splitlines())
    first, last = lines["NodeName"].split("Port=[")[1].split("]")[0].split("-")
    return {int(lines["SlurmctldPort"]), *range(int(first), int(last) + 1)}


@pytest.mark.parametrize("slurm", [32], indirect=True)
def test_all_32_nodes_are_idle_and_take_part_in_a_job(slurm):
    assert slurm.nodes("idle") == [f"n{number:02d}" for number in range(1, 33)]
    done = slurm.run("srun", "-N32", "printenv", "SLURMD_NODENAME")
    assert sorted(done.stdout.split()) == slurm.names
    done = slurm.run("srun", "-N33", "--immediate", "true")
    assert done.returncode == 1
    assert "Unable to allocate resources" in done.stderr


def test_ranks_lie_in_the_order_of_the_host_file(slurm, tmp_path):
    order = ["n03", "n03", "n01", "n01", "n04", "n04", "n02", "n02"]
    hosts = tmp_path / "hosts"
    hosts.write_text("".join(f"{name}\n" for name in order))
    step = ["srun", "--mpi=pmi2", "--distribution=arbitrary", "-n8", "--label", "printenv"]
    done = slurm.run(
        "salloc",
        "--exclusive",
        "--nodelist=n[01-04]",
        "env",
        f"SLURM_HOSTFILE={hosts}",
        *step,
        "SLURMD_NODENAME",
    )
    ranks = sorted(line.split(": ") for line in done.stdout.splitlines())
    assert ranks == [[str(rank), name] for rank, name in enumerate(order)]


def test_nodes_are_drained_lost_and_come_back(slurm):
    slurm.drain("n03")
    assert slurm.nodes("drained") == ["n03"]
    assert "n03" not in slurm.nodes("idle")
    slurm.resume("n03")
    slurm.wait_for("idle")
    before = slurm.pid("n02")
    slurm.kill_node("n02")
    assert slurm.pid("n02") is None
    slurm.start_node("n02")
    assert slurm.pid("n02") not in (None, before)
    assert slurm.run("srun", "--nodelist=n02", "printenv", "SLURMD_NODENAME").stdout == "n02\n"


def test_jobs_outlive_a_restart_of_the_controller(slurm):
    job = subprocess.Popen(
        ["salloc", "--nodes=2", "cat"],
        env=os.environ | slurm.environ,
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    while not (before := slurm.jobs()):
        assert job.poll() is None
    old = slurm.pid("slurmctld")
    slurm.restart_controller()
    assert slurm.pid("slurmctld") not in (None, old)
    assert slurm.jobs() == before
    job.communicate()
    assert job.returncode == 0


def test_tests_find_it_tidy_whatever_the_one_before_did(slurm):
    job = subprocess.Popen(
        ["srun", "--nodes=2", "sleep", "600"],
        env=os.environ | slurm.environ,
        stderr=subprocess.DEVNULL,
    )
    slurm.drain("n07")
    slurm.kill_node("n08")
    while not slurm.jobs():
        assert job.poll() is None
    slurm.stop_controller()
    slurm.tidy()
    assert slurm.nodes("idle") == slurm.names
    assert slurm.jobs() == []
    assert job.wait(30) != 0


def test_two_at_a_time_know_nothing_of_each_other(slurm):
    with VirtualSlurm(2) as other:
        assert not ports(slurm) & ports(other)
        assert min(ports(other)) >= PORTS.start
        other.drain("n01")
        assert slurm.nodes("idle") == slurm.names
        assert not slurm.processes() & other.processes()


def test_nothing_is_left_after_its_end_even_of_steps_whose_daemons_were_killed():
    slurm = VirtualSlurm(2).start()
    job = subprocess.Popen(
        ["srun", "--nodes=2", "sh", "-c", "trap '' TERM; echo up; exec sleep 600"],
        env=os.environ | slurm.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert [job.stdout.readline() for _ in slurm.names] == ["up\n", "up\n"]
    slurm.kill_node("n01")
    job.kill()
    job.communicate()
    started = slurm.processes()
    steps = [pid for pid in started if "slurmstepd" in command(pid)]
    assert len(steps) == 2
    slurm.stop()
    assert slurm.processes() == set()
    assert not any(Path(f"/proc/{pid}/environ").exists() and alive(pid) for pid in started)
    assert not slurm.folder.exists()


def command(pid: int) -> str:
    """Its words; none if it has ended since it was listed."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_start_that_fails_tells_the_log_and_leaves_nothing():
    slurm = VirtualSlurm(2, {"SelectType": "select/nonsense"})
    with pytest.raises(Exception, match=r"select/nonsense"):
        slurm.start()
    assert slurm.processes() == set()
    assert not slurm.folder.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_one_for_people_prints_what_to_export_and_goes_with_a_signal(number):
    script = subprocess.Popen(
        [sys.executable, HERE / "start.py", "2"], stdout=subprocess.PIPE, text=True
    )
    lines = [script.stdout.readline() for _ in range(3)]
    assert lines[0] == "2 nodes are idle; Ctrl-C ends them. In another shell:\n"
    name, _, conf = lines[2].removeprefix("    export ").rstrip("\n").partition("=")
    listed = subprocess.run(
        ["sinfo", "--noheader", "--format=%P %D %T"],
        env=os.environ | {name: conf},
        capture_output=True,
        text=True,
    )
    assert listed.stdout == "virtual* 2 idle\n"
    folder = Path(conf).parent
    assert folder.is_dir()
    script.send_signal(number)
    assert script.wait(60) == 0
    assert not folder.exists()


def test_the_one_for_people_refuses_what_is_no_number_of_nodes():
    for words, code, text in ((["many"], 2, "usage"), (["33"], 1, "1 to 32 nodes, not 33")):
        done = subprocess.run(
            [sys.executable, HERE / "start.py", *words], capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (code, "")
        assert text in done.stderr
