"""CPU time of a job with all its processes counts, but for that of compilation."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from limited_jobs import TIMEOUT, compute, limits

from routelab.jobs.child import run_limited
from routelab.jobs.limits import Failure
from routelab.jobs.meter import Meter

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def waited_for() -> int:
    for _ in range(1000):
        child = os.fork()
        if child == 0:
            os._exit(compute(0.05))
        os.waitpid(child, 0)
    return 0


def not_waited_for() -> int:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in range(100):
        if os.fork() == 0:
            os._exit(compute(0.5))
        time.sleep(0.5)
    return 0


def daemons() -> int:
    for _ in range(100):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os._exit(compute(0.3))
            os._exit(0)
        time.sleep(0.3)
    return 0


def threads() -> int:
    for _ in range(100):
        thread = threading.Thread(target=compute, args=(0.1,))
        thread.start()
        thread.join()
    return 0


@pytest.mark.parametrize("work", [waited_for, not_waited_for, daemons, threads])
def test_cpu_time_of_children_and_threads_counts(work: Callable[[], int]) -> None:
    reason = "reached its limit of 1 CPU-s (limits.seconds)"
    assert run_limited(work, limits(1)) == Failure(TIMEOUT, reason)


@pytest.mark.parametrize("work", [waited_for, daemons])
def test_no_time_is_counted_twice(work: Callable[[], int]) -> None:
    def some() -> int:
        for _ in range(4):
            if os.fork() == 0:
                os._exit(compute(0.25))
            if work is waited_for:
                os.wait()
        time.sleep(2)
        return 0

    assert run_limited(some, limits(1.5)) == 0


COMPILE = """
import sys, time
from types import SimpleNamespace
from routelab.jobs.child import run_limited
from routelab.jobs.meter import current_meter

def work():
    current_meter().begin(0, spare=60)
    import numba
    import numpy as np
    current_meter().begin(1)
    begin = time.process_time()

    @numba.njit
    def inner(values):
        return np.sort(values)[::-1].cumsum()

    @numba.njit
    def outer(values):
        return inner(values) + np.argsort(values)

    outer(np.ones(3))
    print(time.process_time() - begin, flush=True)
    # long enough that the supervisor looks once more
    end = time.process_time() + (0.3 if sys.argv[2] == "return" else 100)
    while time.process_time() < end:
        pass
    return 0

limits = SimpleNamespace(seconds=float(sys.argv[1]), memory_gb=4, idle_seconds=300)
if sys.argv[3] == "before":
    import numba.core.event


def supervise():
    current_meter().begin(0, spare=60)
    import numba
    current_meter().begin(1)
    return run_limited(work)

print(run_limited(supervise if sys.argv[3] == "below" else work, limits))
assert sys.argv[3] == "before" or "numba" not in sys.modules
"""


def compile_within(seconds: float, then: str, imported: str, folder: Path) -> tuple[float, str]:
    """Return the CPU time of a compilation, and the outcome."""
    command = [sys.executable, "-c", COMPILE, str(seconds), then, imported]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    compiled, outcome = ended.stdout.splitlines()
    return float(compiled), outcome


@pytest.mark.parametrize("imported", ["before", "inside"])
def test_compilation_is_not_charged(imported: str, tmp_path: Path) -> None:
    compiled, outcome = compile_within(0.5, "return", imported, tmp_path)
    assert compiled > 1
    assert outcome == "0"


def test_a_supervisor_does_not_charge_compilation_in_jobs_of_a_job(tmp_path: Path) -> None:
    compiled, outcome = compile_within(0.7, "return", "below", tmp_path)
    assert compiled > 1
    assert outcome == "0"
    _, outcome = compile_within(0.7, "spin", "below", tmp_path)
    assert "reached its limit" in outcome


def test_work_after_a_compilation_is_charged(tmp_path: Path) -> None:
    _, outcome = compile_within(0.5, "spin", "inside", tmp_path)
    assert "reached its limit of 0.5 CPU-s" in outcome


def test_a_compilation_that_was_killed_does_not_go_on_in_the_next_job() -> None:
    meter = Meter()

    def work() -> int:
        meter.begin_compile()
        os._exit(0)

    assert run_limited(work, meter=meter) == 0
    ended = run_limited(lambda: compute(60), limits(0.3), meter=meter)
    assert isinstance(ended, Failure)


def test_supervision_is_cheap() -> None:
    begin = time.process_time()
    assert run_limited(lambda: compute(3), limits(60, 4, 300)) == 0
    assert time.process_time() - begin < 0.05 * 3
