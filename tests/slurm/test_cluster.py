"""The private Slurm itself: each test finds it tidy, and it leaves nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from cluster import VirtualSlurm


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
