"""Nothing of a run survives the end of any of its processes."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from routelab.jobs.processes import identity, read_process, read_tree, send_signal
from routelab.jobs.run_lifetime import LOCK, RUN, wait_for_jobs

pytestmark = pytest.mark.usefixtures("default_signals")

SECONDS = 5.0
"""Longest time that anything may survive."""

# each process notes its PID; the last is not Python, and in a session of its own
BATCH = """
import os, subprocess, sys, time
from pathlib import Path
from routelab.jobs.child import run_limited
from routelab.jobs.run_lifetime import share_results_lock, watch_run

folder = Path(sys.argv[1])

def note(name, pid=None):
    (folder / f"{name}.new").write_text(str(pid or os.getpid()))
    (folder / f"{name}.new").rename(folder / name)

def job():
    note("job")
    shell = f"echo $$ >{folder}/shell; setsid sleep 1000 & echo $! >{folder}/sleep; wait"
    # what the shell leaves is not the job's own concern
    return subprocess.run(["sh", "-c", shell]).returncode % 200

def prepared():
    note("prepared")
    return int(run_limited(job) != 0)

watch_run()
note("batch")
share_results_lock(folder / "results")
sys.exit(run_limited(prepared))
"""
SNAKEMAKE = """
import os, subprocess, sys
from routelab.jobs.run_lifetime import announce_run

announce_run()
# `true` keeps the shell from replacing itself
command = f"echo $$ >{sys.argv[1]}/sh; {sys.executable} {sys.argv[2]} {sys.argv[1]}; true"
subprocess.run(["sh", "-c", command])
"""
NAMES = ("snakemake", "sh", "batch", "prepared", "job", "shell", "sleep")

Chain: TypeAlias = Callable[[], dict[str, int]]


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def exists(pid: int) -> bool:
    found = read_process(pid)
    return found is not None and not found.ended


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Chain]:
    script = tmp_path / "batch.py"
    script.write_text(BATCH)
    started: list[subprocess.Popen[bytes]] = []
    pids: dict[str, int] = {}

    def begin() -> dict[str, int]:
        command = [sys.executable, "-c", SNAKEMAKE, str(tmp_path), str(script)]
        # a group of its own, as a terminal interrupts all processes of a group
        process = subprocess.Popen(command, process_group=0)
        started.append(process)
        files = [tmp_path / name for name in NAMES[1:]]
        assert wait_until(lambda: all(file.exists() and file.read_text() for file in files), 30)
        pids.update(snakemake=process.pid)
        pids.update({file.name: int(file.read_text()) for file in files})
        assert all(map(exists, pids.values()))
        return pids

    yield begin
    for process in started:
        for each in read_tree([process.pid, *pids.values()]):
            send_signal(each.key, signal.SIGKILL)
        process.wait()


def below(pids: dict[str, int]) -> list[int]:
    """Return the processes of `routelab batch` and those below."""
    return [pids[name] for name in NAMES[NAMES.index("batch") :]]


@pytest.mark.parametrize("name", NAMES[:-1])
def test_nothing_survives_the_end_of_any_process(name: str, chain: Chain, tmp_path: Path) -> None:
    pids = chain()
    assert not wait_for_jobs(tmp_path / "results", 0)
    os.kill(pids[name], signal.SIGKILL)
    assert wait_until(lambda: not any(map(exists, below(pids))), SECONDS), left(pids)
    assert wait_for_jobs(tmp_path / "results", SECONDS)


@pytest.mark.parametrize("name", ["batch", "prepared", "job"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_that_end_a_process_end_its_descendants(
    name: str, number: signal.Signals, chain: Chain
) -> None:
    pids = chain()
    os.kill(pids[name], number)
    assert wait_until(lambda: not any(map(exists, below(pids))), SECONDS), left(pids)


def test_an_interruption_from_the_terminal_ends_everything(chain: Chain) -> None:
    pids = chain()
    os.killpg(pids["snakemake"], signal.SIGINT)
    assert wait_until(lambda: not any(map(exists, pids.values())), SECONDS), left(pids)


def left(pids: dict[str, int]) -> list[str]:
    return [name for name, pid in pids.items() if exists(pid)]


SUPERVISOR = """
import os, signal, sys, time
from routelab.jobs.child import run_limited
if sys.argv[2] == "ignored":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
if sys.argv[2] == "handled":
    signal.signal(signal.SIGHUP, lambda *_: print("handled"))

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
        assert wait_until(lambda: file.exists() and bool(file.read_text()), 20)
        process.send_signal(number)
        output, _ = process.communicate(timeout=30)
    assert not exists(int(file.read_text()))
    return process.returncode, output.strip()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_act_as_usual_after_the_job_is_dead(number: signal.Signals, tmp_path: Path) -> None:
    assert supervise("default", number, tmp_path) == (-number, "")


def test_an_interruption_reaches_the_caller(tmp_path: Path) -> None:
    assert supervise("default", signal.SIGINT, tmp_path) == (0, "interrupted")


def test_signals_that_are_ignored_stay_ignored(tmp_path: Path) -> None:
    assert supervise("ignored", signal.SIGHUP, tmp_path) == (0, "3")


def test_handlers_of_the_caller_are_called(tmp_path: Path) -> None:
    failure = "Failure(status='failed', reason='the process was killed by SIGHUP')"
    assert supervise("handled", signal.SIGHUP, tmp_path) == (0, f"handled\n{failure}")


def test_a_job_dies_with_its_supervisor(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(file), "alone"]) as process:
        assert wait_until(lambda: file.exists() and bool(file.read_text()), 20)
        process.kill()
    assert wait_until(lambda: not exists(int(file.read_text())), SECONDS)


def watch(name: str) -> int:
    script = "from routelab.jobs.run_lifetime import watch_run; watch_run(); raise SystemExit(7)"
    environment = {**os.environ, RUN: name}
    return subprocess.run([sys.executable, "-c", script], env=environment).returncode


def test_a_run_that_has_ended_ends_its_jobs_at_their_start() -> None:
    with subprocess.Popen(["sleep", "60"]) as run:
        name = identity(run.pid)
        assert watch(name) == 7
        run.kill()
    assert watch(name) == 1


@pytest.mark.parametrize("name", ["", "nonsense", "1:2:another-boot"])
def test_runs_elsewhere_are_not_watched(name: str) -> None:
    assert watch(name) == 7


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
        forks += [each.pid for each in read_tree([holder.pid])[1:]]
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
