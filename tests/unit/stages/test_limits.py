"""Limits act from outside: compiled code, memory, and death of either side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from routelab.stages.limits import Breach, run_limited

SPIN = """
import numba

@numba.njit
def spin():
    x = 0
    while x >= 0:
        x = (x + 1) % 1000
    return x

spin()
"""


def test_a_kernel_that_never_returns_is_stopped() -> None:
    begin = time.monotonic()

    def work() -> int:
        exec(SPIN, {})
        return 0

    ended = run_limited(work, 3, None)
    assert ended == Breach("timeout", "took longer than 3 s")
    assert time.monotonic() - begin < 30


def test_memory_beyond_the_limit_is_a_failure() -> None:
    def work() -> int:
        block = bytearray(400_000_000)
        time.sleep(30)
        return len(block) % 2

    ended = run_limited(work, 60, 0.2)
    assert ended == Breach("failed", "used more than 0.2 GB of memory")


def test_exit_codes_and_signals_come_through() -> None:
    assert run_limited(lambda: 7, 60, 1) == 7

    def die() -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert run_limited(die, 60, 1) == Breach("failed", "the process was killed by SIGKILL")


def test_the_job_dies_with_its_watcher(tmp_path: Path) -> None:
    script = f"""
import os, time
from routelab.stages.limits import run_limited
def work():
    open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
    time.sleep(60)
    return 0
run_limited(work, 60, None)
"""
    watcher = subprocess.Popen([sys.executable, "-c", script])
    pid_file = tmp_path / "pid"
    deadline = time.monotonic() + 20
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    child = int(pid_file.read_text())
    watcher.kill()
    watcher.wait()
    while time.monotonic() < deadline and _alive(child):
        time.sleep(0.05)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
