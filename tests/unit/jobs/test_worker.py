"""Items share a worker until one ends it; an item costs itself only, at its own limits."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import psutil
import pytest
from limited_jobs import compute

from routelab.api import RoutelabError
from routelab.jobs.limits import Failure
from routelab.jobs.processes import has_children
from routelab.jobs.worker import Item, run_items
from routelab.study import Limits

pytestmark = pytest.mark.usefixtures("nothing_is_left")

WITHOUT = "its process ended without a result"


class Results:
    """What became of items, by name: the process that finished it, or a reason."""

    def __init__(self, finished: Path) -> None:
        self.failures: dict[str, Failure] = {}
        self.finished = finished

    def item(self, name: str, work: Callable[[], object], **limits: float) -> Item:
        def run() -> None:
            work()
            with self.finished.open("a") as file:
                file.write(f"{name} {os.getpid()}\n")

        def record(failure: Failure) -> None:
            self.failures[name] = failure

        # the process of the tests is large, and its workers inherit that
        memory_gb = psutil.Process().memory_info().data / 1e9 + limits.pop("more_gb", 4)
        return Item(name, Limits(**{"seconds": 60, "memory_gb": memory_gb, **limits}), run, record)

    def run(self, **deeds: Callable[[], object]) -> None:
        run_items([self.item(name, work) for name, work in deeds.items()])

    def processes(self) -> dict[str, str]:
        words = self.finished.read_text().split()
        return dict(zip(words[::2], words[1::2], strict=True))


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "finished")


def nothing() -> None:
    """An item without work."""


def test_items_share_a_worker(results: Results) -> None:
    results.run(a=nothing, b=nothing, c=nothing)
    assert list(results.processes()) == ["a", "b", "c"]
    assert len(set(results.processes().values())) == 1
    assert results.failures == {}


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


@numba.njit
def endless(n: int) -> int:
    total = 0
    while n > 0:
        total += n % 7
        n += 1 if total % 2 else -1 if n > 5 else 1
    return total


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (lambda: os._exit(0), WITHOUT),
        (lambda: os._exit(3), "its process ended with exit code 3 without a result"),
        (crash, f"the process was killed by SIGSEGV in crash ({__file__}, line "),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "the process was killed by SIGKILL"),
        (lambda: 1 / 0, "its process ended with exit code 1 without a result"),
    ],
)
def test_what_ends_a_worker_costs_its_item_only(
    results: Results, work: Callable[[], object], reason: str
) -> None:
    results.run(a=nothing, bad=work, b=nothing, c=nothing)
    assert list(results.processes()) == ["a", "b", "c"]
    assert results.failures["bad"].status == "failed"
    assert results.failures["bad"].reason.startswith(reason)


@pytest.mark.parametrize("work", [lambda: compute(60), lambda: endless(10)])
def test_the_kernel_limits_cpu_time(results: Results, work: Callable[[], object]) -> None:
    endless(0)  # compiles it here: the time of the worker is for the loop
    items = [results.item("a", lambda: compute(1.5), seconds=2) for _ in range(2)]
    run_items([*items, results.item("bad", work, seconds=1), results.item("z", nothing)])
    failure = results.failures.pop("bad")
    assert failure.status == "timeout"
    assert failure.reason.startswith("reached its limit of 1 CPU-s (limits.seconds) in ")
    assert __file__ in failure.reason or "limited_jobs.py" in failure.reason
    assert results.failures == {}
    assert list(results.processes()) == ["a", "z"]


def test_threads_and_programs_have_the_limit_too(results: Results) -> None:
    def threads() -> None:
        for thread in [threading.Thread(target=compute, args=(60,)) for _ in range(2)]:
            thread.start()
        thread.join()

    def program() -> None:
        ended = subprocess.run(["sh", "-c", "while :; do :; done"])
        assert ended.returncode == -signal.SIGXCPU

    items = [results.item(f.__name__, f, seconds=1) for f in (threads, program)]
    run_items(items)
    assert list(results.failures) == ["threads"]
    assert list(results.processes()) == ["program"]


def test_an_item_that_waits_for_ever_is_ended(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("routelab.jobs.child.LOOK_SECONDS", 0.5)
    busy = ["sh", "-c", "i=0; while [ $i -lt 2000000 ]; do i=$((i + 1)); done"]
    results.run(
        a=lambda: time.sleep(1.6),
        b=lambda: subprocess.run(busy, check=True),
        sleeps=lambda: time.sleep(60),
        stops=lambda: os.kill(os.getpid(), signal.SIGSTOP),
        z=nothing,
    )
    assert list(results.failures) == ["sleeps", "stops"]
    assert {failure.status for failure in results.failures.values()} == {"timeout"}
    assert "hung: used no CPU time" in results.failures["sleeps"].reason
    assert __file__ in results.failures["sleeps"].reason
    assert list(results.processes()) == ["a", "b", "z"]


def test_memory_is_limited_and_an_item_does_not_answer_for_those_before_it(
    results: Results,
) -> None:
    kept = []
    run_items(
        [
            results.item("keeps", lambda: kept.append(np.ones(100_000_000))),
            # too little beside what is kept, so it is tried again in a worker of its own
            results.item("needs", lambda: np.ones(50_000_000), more_gb=0.6),
            results.item("too-much", lambda: np.ones(200_000_000), more_gb=0.6),
            results.item("z", nothing),
        ]
    )
    assert list(results.processes()) == ["keeps", "needs", "z"]
    (failure,) = results.failures.values()
    assert failure.reason.startswith("reached its limit of ")
    assert failure.reason.endswith(" GB (limits.memory_gb)")


def test_nothing_of_an_item_is_left_for_the_next_one(results: Results, tmp_path: Path) -> None:
    def leave() -> None:
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                if os.fork():
                    os._exit(0)
                (folder / str(os.getpid())).touch()
                time.sleep(60)
        while len(list(folder.iterdir())) < 3:
            time.sleep(0.01)
        os.chdir("/")

    def look() -> None:
        assert Path.cwd() == here
        assert not any(psutil.pid_exists(int(file.name)) for file in folder.iterdir())

    def leave_and_crash() -> None:
        leave()
        crash()

    here, folder = Path.cwd(), tmp_path / "pids"
    folder.mkdir()
    results.run(leave=leave, look=look, crash=leave_and_crash, again=look)
    assert list(results.processes()) == ["leave", "look", "again"]


BOMB = """
import os, time
os.setsid()
end = time.monotonic() + 30
while time.monotonic() < end:
    # each process is soon replaced by its child, so that a list of processes is outdated
    if os.fork():
        time.sleep(0.02)
        os._exit(0)
"""


def test_processes_that_keep_forking_do_not_escape(results: Results) -> None:
    def leave() -> None:
        for _ in range(3):
            subprocess.Popen([sys.executable, "-c", BOMB])
        time.sleep(1)

    results.run(leave=leave, look=lambda: 1 / (not has_children()))
    assert list(results.processes()) == ["leave", "look"]


def test_a_thread_that_is_left_ends_the_worker(results: Results) -> None:
    def leave() -> None:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()

    results.run(a=nothing, leave=leave, b=nothing)
    a, leaver, b = results.processes().values()
    assert a == leaver != b
    assert results.failures == {}


def test_a_result_that_cannot_be_written_stops_everything(results: Results) -> None:
    def write() -> None:
        raise RoutelabError("disk full")

    with pytest.raises(RoutelabError, match="bad: no outcome was written"):
        results.run(a=nothing, bad=write, b=nothing)
    assert list(results.processes()) == ["a"]


def test_limits_are_those_of_one_item(results: Results) -> None:
    def check() -> None:
        import resource

        assert resource.getrlimit(resource.RLIMIT_CPU)[0] == resource.RLIM_INFINITY

    run_items(
        [
            results.item("a", lambda: compute(0.5), seconds=1),
            results.item("b", check, seconds=math.inf, memory_gb=math.inf),
        ]
    )
    assert results.failures == {}


def test_waiting_costs_nothing(results: Results) -> None:
    def cost(work: Callable[[], object]) -> float:
        begin = time.process_time()
        results.run(a=work)
        return time.process_time() - begin

    # a fork of a large process is not for nothing
    assert cost(lambda: compute(3)) < cost(nothing) + 0.1
