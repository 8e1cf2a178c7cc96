"""The private Slurm itself: each test finds it tidy, and it leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from cluster import VirtualSlurm

HERE = Path(__file__).parent


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


def test_the_one_for_people_prints_what_to_export_and_goes_with_a_signal():
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
    script.send_signal(signal.SIGTERM)
    assert script.wait(60) == 0
    assert not folder.exists()
