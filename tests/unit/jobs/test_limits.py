"""How a job ends: its exit code, its output, and that nothing is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from limited_jobs import FAILED, compute, limits

from routelab.jobs.child import run_limited
from routelab.jobs.limits import Failure

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def test_a_job_that_ends_leaves_nothing_behind(tmp_path: Path) -> None:
    def work() -> int:
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                if os.fork():
                    os._exit(0)
                (tmp_path / str(os.getpid())).touch()
                time.sleep(60)
        while len(list(tmp_path.iterdir())) < 3:
            time.sleep(0.01)
        return 5

    assert run_limited(work) == 5
    assert not any(psutil.pid_exists(int(file.name)) for file in tmp_path.iterdir())


def test_children_that_the_supervisor_has_already_are_not_touched() -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        assert run_limited(lambda: compute(0.1), limits(10)) == 0
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def leave_with(error: BaseException | None) -> int:
    if error is None:
        os._exit(0)
    raise error


@pytest.mark.parametrize(
    ("error", "code"),
    [(SystemExit(0), 1), (SystemExit(3), 1), (KeyboardInterrupt(), 1), (OSError(), 1), (None, 0)],
)
def test_only_a_return_value_is_success(error: BaseException | None, code: int) -> None:
    assert run_limited(lambda: leave_with(error), limits(60)) == code


@pytest.mark.parametrize(("value", "code"), [(7, 7), (0, 0), (256, 1), (-1, 1), (None, 1)])
def test_exit_codes_come_through(value: int, code: int) -> None:
    assert run_limited(lambda: value) == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_signals_come_through(number: signal.Signals) -> None:
    def work() -> int:
        os.kill(os.getpid(), number)
        return 0

    ended = run_limited(work)
    assert isinstance(ended, Failure)
    assert ended.status == FAILED
    assert ended.reason.startswith(f"the process was killed by {number.name}")


def test_interruptions_do_not_reach_the_job() -> None:
    def work() -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return 4

    assert run_limited(work) == 4


def test_output_of_job_and_caller_appears_once() -> None:
    script = """
from routelab.study import Limits
from routelab.jobs.child import run_limited
print("before")
print(run_limited(lambda: print("inside") or 0))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.stdout.split() == ["before", "inside", "0"]


def test_closed_output_is_no_failure() -> None:
    def work() -> int:
        sys.stdout.close()
        return 3

    assert run_limited(work) == 3


def test_a_thread_cannot_supervise() -> None:
    errors: list[BaseException] = []

    def supervise() -> None:
        try:
            run_limited(lambda: 0)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=supervise)
    thread.start()
    thread.join()
    assert "main thread" in str(errors[0])


def test_ignored_children_of_the_caller_do_not_disturb() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert run_limited(lambda: subprocess.run(["false"]).returncode + 4) == 5
    finally:
        signal.signal(signal.SIGCHLD, before)
