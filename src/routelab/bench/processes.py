"""One program with a limit: nothing of it is left when this returns."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Process: TypeAlias = subprocess.Popen[bytes]

GRACE_SECONDS = 10.0
"""Between asking a launcher to end and killing it: in this time it ends its ranks."""

_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Ended:
    """How a program ended.

    Attributes
    ----------
    exit_code : int
        Negative: the signal that ended it.
    timed_out : bool
    seconds : float
        Wall time.
    """

    exit_code: int
    timed_out: bool
    seconds: float


def run_program(
    arguments: Sequence[str],
    *,
    folder: Path,
    stdout: Path,
    stderr: Path,
    environment: Mapping[str, str],
    seconds: float,
    began: Callable[[int], None] = lambda _: None,
    end_step: Callable[[], None] = lambda: None,
) -> Ended:
    """Run a program in a process group of its own until it ends or its time is up.

    Parameters
    ----------
    arguments : sequence of str
        No shell reads them.
    folder : Path
        Working directory.
    stdout, stderr : Path
        Files that take what it prints.
    environment : mapping
        All its variables.
    seconds : float
        Limit; then the group is asked to end, and killed if it does not.
    began : callable
        Gets the number of the process group.
    end_step : callable
        Ends what the program has started elsewhere; called when it is killed.

    Raises
    ------
    OSError
        If it cannot be started.
    """
    begin = time.monotonic()
    with stdout.open("wb") as out, stderr.open("wb") as err:
        process = subprocess.Popen(
            list(arguments),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        began(process.pid)
        try:
            exit_code = _wait(process, seconds)
            timed_out = exit_code is None
            if exit_code is None:
                exit_code = _end(process, end_step)
        except BaseException:
            _end(process, end_step)
            raise
        finally:
            began(0)
    return Ended(exit_code, timed_out, time.monotonic() - begin)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _end(process: subprocess.Popen[bytes], end_step: Callable[[], None]) -> int:
    """End a process group, kindly first: launchers then end ranks on other hosts."""
    end_group(process.pid, signal.SIGTERM)
    if _wait(process, GRACE_SECONDS) is None:
        end_step()
    end_group(process.pid, signal.SIGKILL)
    return process.wait()


def end_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group, which may have ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def wait_for_group(group: int, seconds: float) -> bool:
    """Whether all processes of a group have ended within some time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except (ProcessLookupError, PermissionError):
            return True
        time.sleep(_POLL_SECONDS)
    return False


@contextmanager
def passing_signals_on() -> Iterator[Callable[[Process], Process]]:
    """Signals that ask to end go to the one program that is started inside; it decides."""
    started: list[Process] = []

    def pass_on(number: int, _frame: object) -> None:
        for process in started:
            process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGHUP)}
    # a terminal interrupts all of its processes by itself
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)

    def note(process: Process) -> Process:
        started.append(process)
        return process

    try:
        yield note
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
