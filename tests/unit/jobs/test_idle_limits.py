"""A job that does nothing is stopped; one that waits for a processor is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from limited_jobs import TIMEOUT, compute, limits

from routelab.jobs.child import run_limited
from routelab.jobs.limits import Failure

pytestmark = pytest.mark.usefixtures("nothing_is_left")


@pytest.fixture
def one_core() -> Iterator[Callable[[int], None]]:
    """Pin this process, and what it forks, to a core that so many busy loops share."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    loops: list[subprocess.Popen[bytes]] = []

    def begin(number: int) -> None:
        # in sessions of their own the kernel's grouping by session would favor this one
        loops.extend(subprocess.Popen([sys.executable, "-c", "while 1: 0"]) for _ in range(number))

    yield begin
    os.sched_setaffinity(0, cores)
    for loop in loops:
        loop.kill()
        loop.wait()


def test_a_busy_machine_does_not_stop_a_job(one_core: Callable[[int], None]) -> None:
    one_core(6)
    begin = time.monotonic()
    assert run_limited(lambda: compute(0.5), limits(1.5, idle_seconds=1)) == 0
    # otherwise the test has shown nothing
    assert time.monotonic() - begin > 3 * 0.5


def test_a_job_that_waits_for_a_processor_is_not_idle(one_core: Callable[[int], None]) -> None:
    one_core(1)

    def work() -> int:
        # next to any other process it gets a few milliseconds each second
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        end = time.monotonic() + 4
        while time.monotonic() < end:
            pass
        return 0

    assert run_limited(work, limits(60, idle_seconds=0.8)) == 0


def test_a_sleeping_job_ends_at_its_idle_limit() -> None:
    def work() -> int:
        time.sleep(60)
        return 0

    reason = "reached its limit of 0.5 idle seconds (limits.idle_seconds)"
    assert run_limited(work, limits(60, idle_seconds=0.5)) == Failure(TIMEOUT, reason)


def test_a_stopped_job_is_idle() -> None:
    def work() -> int:
        os.kill(os.getpid(), signal.SIGSTOP)
        return 0

    ended = run_limited(work, limits(60, idle_seconds=0.5))
    assert isinstance(ended, Failure)
    assert "idle" in ended.reason


def test_a_job_is_not_idle_while_a_child_or_thread_computes() -> None:
    def work() -> int:
        thread = threading.Thread(target=compute, args=(1,))
        thread.start()
        thread.join()
        child = os.fork()
        if child == 0:
            os._exit(compute(1))
        return os.waitpid(child, 0)[1]

    assert run_limited(work, limits(60, idle_seconds=0.5)) == 0


def test_idle_time_counts_only_without_a_break() -> None:
    def work() -> int:
        for _ in range(5):
            time.sleep(0.3)
            compute(0.1)
        return 0

    assert run_limited(work, limits(60, idle_seconds=0.9)) == 0


STOPPED = """
import os, signal, sys, time
from types import SimpleNamespace
from routelab.jobs.child import run_limited
supervisor = os.getpid()

def work():
    time.sleep(0.3)
    os.kill(supervisor, signal.SIGSTOP)
    time.sleep(2)
    os.kill(supervisor, signal.SIGCONT)
    time.sleep(0.3)
    return 0

print(run_limited(work, SimpleNamespace(seconds=60, memory_gb=4, idle_seconds=1.5)))
"""


def test_a_supervisor_that_was_stopped_does_not_charge_the_gap() -> None:
    ended = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True)
    assert ended.stdout == "0\n", ended.stderr
