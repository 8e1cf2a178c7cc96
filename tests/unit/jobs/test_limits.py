"""Limits hold for a job with all its processes, whatever else the machine does."""

from __future__ import annotations

import faulthandler
import logging
import math
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from routelab._progress import LOGGER, tell
from routelab.config import Limits
from routelab.jobs.limits import Breach, Meter, current, run_limited
from routelab.jobs.processes import Descendants, read_process

TIMEOUT = "timeout"
FAILED = "failed"


def limits(
    seconds: float = math.inf, memory_gb: float = math.inf, idle_seconds: float = math.inf
) -> Limits:
    return Limits(seconds=seconds, memory_gb=memory_gb, idle_seconds=idle_seconds)


def compute(seconds: float) -> int:
    """Use so much CPU time, however long it takes."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return 0


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    tree = Descendants()
    yield
    assert tree.read() == []


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
    one_core(12)
    begin = time.monotonic()
    assert run_limited(lambda: compute(0.5), limits(1.5, idle_seconds=1)) == 0
    # otherwise the test has shown nothing
    assert time.monotonic() - begin > 5 * 0.5


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


def test_a_job_that_computes_now_and_then_is_not_idle() -> None:
    def work() -> int:
        for _ in range(20):
            time.sleep(0.15)
            compute(0.02)
        return 0

    assert run_limited(work, limits(60, idle_seconds=0.9)) == 0


def test_a_sleeping_job_ends_at_its_idle_limit() -> None:
    def work() -> int:
        time.sleep(60)
        return 0

    reason = "reached its limit of 0.5 idle seconds (limits.idle_seconds)"
    assert run_limited(work, limits(60, idle_seconds=0.5)) == Breach(TIMEOUT, reason)


def test_a_stopped_job_is_idle() -> None:
    def work() -> int:
        os.kill(os.getpid(), signal.SIGSTOP)
        return 0

    ended = run_limited(work, limits(60, idle_seconds=0.5))
    assert isinstance(ended, Breach)
    assert "idle" in ended.reason


def test_a_job_that_computes_is_not_idle() -> None:
    assert run_limited(lambda: compute(1.5), limits(60, idle_seconds=0.4)) == 0


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
from routelab.jobs.limits import run_limited
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
    assert run_limited(work, limits(1)) == Breach(TIMEOUT, reason)


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
    assert [file.name for file in tmp_path.iterdir() if read_process(int(file.name))] == []


def test_children_that_the_supervisor_has_already_are_not_touched() -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        assert run_limited(lambda: compute(0.1), limits(10)) == 0
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


COMPILE = """
import sys, time
from types import SimpleNamespace
from routelab.jobs.limits import current, run_limited

def work():
    current().begin(0, spare=60)
    import numba
    import numpy as np
    current().begin(1)
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
    current().begin(0, spare=60)
    import numba
    current().begin(1)
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


def test_what_follows_a_compilation_is_charged(tmp_path: Path) -> None:
    _, outcome = compile_within(0.5, "spin", "inside", tmp_path)
    assert "reached its limit of 0.5 CPU-s" in outcome


def test_a_compilation_that_was_killed_does_not_go_on_in_the_next_job() -> None:
    meter = Meter()

    def work() -> int:
        meter.begin_compile()
        os._exit(0)

    assert run_limited(work, meter=meter) == 0
    ended = run_limited(lambda: compute(60), limits(0.3), meter=meter)
    assert isinstance(ended, Breach)


def allocate(megabytes: int) -> bytearray:
    return bytearray(os.urandom(1 << 20)) * megabytes


def test_memory_that_processes_share_counts_once() -> None:
    # the job shares the memory of these tests, too, which may be large by now
    resident = read_process(os.getpid()).resident

    def work() -> int:
        block = allocate(150)
        for _ in range(4):
            if os.fork() == 0:
                time.sleep(60)
        time.sleep(1.5)
        return len(block) % 2

    assert run_limited(work, limits(memory_gb=0.25 + resident / 1e9)) == 0


def test_private_memory_of_all_processes_counts() -> None:
    def work() -> int:
        for _ in range(4):
            if os.fork() == 0:
                _block = allocate(150)
                time.sleep(60)
        time.sleep(60)
        return 0

    reason = "reached its limit of 0.4 GB (limits.memory_gb)"
    assert run_limited(work, limits(memory_gb=0.4)) == Breach(FAILED, reason)


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
    meter = Meter()

    def work() -> int:
        faulthandler.disable()  # pytest's, which would print where
        os.kill(os.getpid(), number)
        return 0

    reason = f"the process was killed by {number.name}"
    assert run_limited(work) == Breach(FAILED, reason)
    meter.note("phase 2")
    assert run_limited(work, meter=meter) == Breach(FAILED, f"{reason} in phase 2")


def test_interruptions_do_not_reach_the_job() -> None:
    def work() -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return 4

    assert run_limited(work) == 4


def test_output_of_job_and_caller_appears_once() -> None:
    script = """
from routelab.jobs.limits import run_limited
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


def test_released_limits_do_not_hold() -> None:
    meter = Meter()

    def work() -> int:
        meter.begin(1)
        return compute(1)

    assert run_limited(work, limits(0.3), meter=meter, released=lambda: meter.position == 1) == 0


def test_each_item_has_the_time_of_the_limit() -> None:
    meter = Meter()

    def work() -> int:
        for position in range(4):
            meter.begin(position)
            meter.note(f"item {position}")
            compute(0.4 if position < 3 else 60)
        return 0

    reason = "reached its limit of 1 CPU-s (limits.seconds) in item 3"
    assert run_limited(work, limits(1), meter=meter) == Breach(TIMEOUT, reason)
    assert meter.position == 3


def test_an_item_that_ended_meanwhile_is_not_the_one_that_is_stopped() -> None:
    """The job goes on to the next item after the supervisor has looked at it."""
    meter = Meter()
    flags = mmap.mmap(-1, 2)

    def work() -> int:
        compute(0.6)
        flags[0] = 1
        while not flags[1]:
            pass
        meter.begin(1)
        return compute(0.3)

    def released() -> bool:
        late = bool(flags[0])
        while not flags[0]:
            time.sleep(0.01)
        flags[1] = late
        while late and meter.position == 0:
            time.sleep(0.01)
        return False

    assert run_limited(work, limits(0.5), meter=meter, released=released) == 0


def test_spare_time_is_that_of_one_item() -> None:
    meter = Meter()

    def work() -> int:
        meter.begin(0, spare=1.5)
        compute(1.2)
        meter.begin(1)
        compute(1.2)
        return 0

    reason = "reached its limit of 0.6 CPU-s (limits.seconds)"
    assert run_limited(work, limits(0.6), meter=meter) == Breach(TIMEOUT, reason)
    assert meter.position == 1


def test_phases_become_notes_and_reach_no_other_handler() -> None:
    meter = Meter()

    class Counter(logging.Handler):
        number = 0

        def emit(self, record: logging.LogRecord) -> None:
            Counter.number += 1

    logger = logging.getLogger()
    handler = Counter()
    logger.addHandler(handler)

    def work() -> int:
        tell("dfsssp", "waiting")
        tell("dfsssp", "layers")
        tell("dfsssp", "done", ended=True)
        silent = Counter.number
        logging.getLogger("routelab").setLevel(logging.DEBUG)
        tell("sssp", "routes")
        logging.getLogger(LOGGER).setLevel(logging.INFO)
        tell("sssp", "nothing hears that")
        return 10 * silent + Counter.number

    try:
        assert run_limited(work, meter=meter) == 1
    finally:
        logger.removeHandler(handler)
    assert meter.text == "sssp: routes"
    assert logging.getLogger(LOGGER).level == logging.NOTSET


def test_only_the_job_itself_has_a_meter() -> None:
    meter = Meter()

    def work() -> int:
        child = os.fork()
        if child == 0:
            os._exit(0 if current() is None else 1)
        return 10 * (current() is meter) + os.waitpid(child, 0)[1]

    assert current() is None
    assert run_limited(work, meter=meter) == 10


def test_a_job_can_supervise_jobs() -> None:
    outer, inner = Meter(), Meter()

    def job() -> int:
        meter = current()
        assert meter is inner
        meter.note("below")
        return compute(60)

    def work() -> int:
        outer.note("above")
        ended = run_limited(job, limits(0.5), meter=inner)
        assert isinstance(ended, Breach)
        assert ended.reason.endswith("in below")
        assert current() is outer
        # time that an inner supervisor has waited for counts in the outer one
        return compute(60)

    reason = "reached its limit of 1 CPU-s (limits.seconds) in above"
    assert run_limited(work, limits(1), meter=outer) == Breach(TIMEOUT, reason)


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


def test_an_error_in_the_supervisor_ends_the_job(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    def work() -> int:
        pid.write_text(str(os.getpid()))
        return compute(60)

    def released() -> bool:
        if pid.exists() and pid.read_text():
            raise ValueError("not now")
        return False

    with pytest.raises(ValueError, match="not now"):
        run_limited(work, limits(60), released=released)
    assert read_process(int(pid.read_text())) is None


def test_ignored_children_of_the_caller_do_not_disturb() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert run_limited(lambda: subprocess.run(["false"]).returncode + 4) == 5
        assert signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_supervision_is_cheap() -> None:
    begin = time.process_time()
    assert run_limited(lambda: compute(3), limits(60, 4, 300)) == 0
    assert time.process_time() - begin < 0.05 * 3
