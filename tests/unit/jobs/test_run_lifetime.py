"""Nothing of a run survives the end of any of its processes."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from routelab.jobs.run_lifetime import LOCK, RUN, wait_for_jobs

pytestmark = pytest.mark.usefixtures("default_signals")

SECONDS = 30.0
"""Longest time that anything may survive."""


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return holds


def exists(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


SUPERVISOR = """
import os, signal, sys, time
from routelab.jobs.child import run_limited
if sys.argv[2] == "ignored":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

def work():
    if sys.argv[2] == "alone" or os.fork() == 0:
        os.setsid()
        open(sys.argv[1], "w").write(str(os.getpid()))
        time.sleep(60)
    time.sleep(2 if sys.argv[2] == "ignored" else 60)
    return 3

try:
    print(run_limited(work))
except KeyboardInterrupt:
    print("interrupted")
"""


def supervise(handling: str, number: signal.Signals, folder: Path) -> tuple[int, str]:
    file = folder / "pid"
    command = [sys.executable, "-c", SUPERVISOR, str(file), handling]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert wait_until(lambda: file.exists() and bool(file.read_text()), 60)
        process.send_signal(number)
        output, _ = process.communicate(timeout=60)
    assert not exists(int(file.read_text()))
    return process.returncode, output.strip()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_act_as_usual_after_the_job_is_dead(number: signal.Signals, tmp_path: Path) -> None:
    assert supervise("default", number, tmp_path) == (-number, "")


def test_an_interruption_reaches_the_caller(tmp_path: Path) -> None:
    assert supervise("default", signal.SIGINT, tmp_path) == (0, "interrupted")


def test_signals_that_are_ignored_stay_ignored(tmp_path: Path) -> None:
    assert supervise("ignored", signal.SIGHUP, tmp_path) == (0, "3")


def test_a_job_dies_with_its_supervisor(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(file), "alone"]) as process:
        assert wait_until(lambda: file.exists() and bool(file.read_text()), 60)
        process.kill()
    assert wait_until(lambda: not exists(int(file.read_text())), SECONDS)


ENDS_WITH_RUN = """
import sys, time
from routelab.jobs.run_lifetime import end_with_run
end_with_run()
print("begun", flush=True)
time.sleep(float(sys.argv[1]))
"""

RUN_OF_JOB = f"""
import subprocess, sys, time
from routelab.jobs.run_lifetime import announce_run
announce_run()
job = subprocess.Popen([sys.executable, "-c", {ENDS_WITH_RUN!r}, "60"], stdout=subprocess.PIPE)
print(job.stdout.readline().decode(), job.pid, flush=True)
time.sleep(60)
"""


def test_a_job_ends_with_its_run() -> None:
    run = subprocess.Popen([sys.executable, "-c", RUN_OF_JOB], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline() == "begun\n"
    job = int(run.stdout.readline())
    assert exists(job)
    run.kill()
    run.wait()
    assert wait_until(lambda: not exists(job), SECONDS)


def begin(run: str) -> int:
    environment = {**os.environ, RUN: run}
    return subprocess.run([sys.executable, "-c", ENDS_WITH_RUN, "0"], env=environment).returncode


def test_a_run_that_has_ended_ends_its_jobs_at_their_start() -> None:
    here = os.uname().nodename
    with subprocess.Popen(["sleep", "60"]) as run:
        assert begin(f"{here} {run.pid}") == 0
        run.kill()
    assert begin(f"{here} {run.pid}") == 1


@pytest.mark.parametrize("run", ["", "elsewhere 2"])
def test_runs_elsewhere_are_not_watched(run: str) -> None:
    assert begin(run) == 0


HOLD = """
import os, sys, time
from pathlib import Path
from routelab.jobs.run_lifetime import share_results_lock
share_results_lock(Path(sys.argv[1]))
if os.fork() == 0:
    time.sleep(60)
print("held", flush=True)
sys.stdin.read()
"""


def test_results_are_held_until_the_last_fork_has_ended(tmp_path: Path) -> None:
    results = tmp_path / "results"
    assert wait_for_jobs(results, 0)  # there is no such folder yet
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", HOLD, str(results)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    forks = []
    for holder in holders:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        forks += [child.pid for child in psutil.Process(holder.pid).children()]
    assert len(forks) == 2
    for pid, holder in zip(forks, holders, strict=True):
        begin = time.monotonic()
        assert not wait_for_jobs(results, 0.2)
        assert time.monotonic() - begin >= 0.2
        assert holder.stdin is not None
        holder.stdin.close()
        holder.wait(SECONDS)
        assert not wait_for_jobs(results, 0)
        os.kill(pid, signal.SIGKILL)
    assert wait_for_jobs(results, SECONDS)
    # the lock is released again
    with (results / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)


def test_results_can_be_held_again(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from routelab.jobs.run_lifetime import share_results_lock
share_results_lock(Path(sys.argv[1]))
share_results_lock(Path(sys.argv[1]))
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, timeout=30)
    assert wait_for_jobs(tmp_path, SECONDS)
