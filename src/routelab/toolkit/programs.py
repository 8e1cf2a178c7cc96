"""External programs, each in a process group that ends with it.

run_program          until the program ends, its time is up or it prints too much
start_program        in a group of its own; the caller waits and calls `end_process`
run_in_foreground    in this group, at the terminal of this process
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from routelab.api import RoutelabError

Process: TypeAlias = subprocess.Popen[str]

GRACE_SECONDS = 10.0
"""Time between asking a launcher to end and killing it; in this time it ends its ranks."""

_CHECK_SECONDS = 1.0
"""Longest time between two checks of how much a program has printed."""


class NotStartedError(RoutelabError):
    """A program is missing or cannot be started; the text names it and says why.

    Attributes
    ----------
    reason : str
    """

    def __init__(self, program: str, error: OSError) -> None:
        self.reason = error.strerror or str(error)
        super().__init__(f"cannot start {program}: {self.reason}")


@dataclass(frozen=True)
class ProgramEnd:
    """How a program ended, and what it printed.

    Attributes
    ----------
    exit_code : int
        Negative: the signal that ended it.
    stdout, stderr : str
        Empty if they are in files, or the time was up.
    timed_out, printed_too_much : bool
        Whether it was ended because its time was up or it printed too much.
    unkilled_group : int
        Process group that could not be ended because it runs as another user; 0: none.
    seconds : float
        Wall time.
    """

    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool
    printed_too_much: bool
    unkilled_group: int
    seconds: float

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself and without an error."""
        return not (self.exit_code or self.timed_out or self.printed_too_much)


def run_program(
    arguments: Sequence[str],
    *,
    seconds: float = math.inf,
    stdin: str = "",
    stdout: Path | None = None,
    stderr: Path | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    gentle: bool = False,
    max_output: float = math.inf,
    may_leave: bool = False,
    on_start: Callable[[int], None] = lambda _: None,
    end_step: Callable[[], None] = lambda: None,
    starting: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> ProgramEnd:
    """Run a program in a new process group until it ends or its time is up.

    Parameters
    ----------
    arguments : sequence of str
        They are not interpreted by a shell.
    seconds : float
        Limit; then the group is ended.
    stdin : str
        Its input.
    stdout, stderr : Path, optional
        Files for its output. With `stdout` alone, both outputs go there; without any, the result
        has them. A program that leaves others running needs files: they inherit its pipes, and
        reading a pipe ends only when all of them have ended.
    environment : mapping, optional
        All its variables; those of this process if omitted.
    folder : Path, optional
        Working directory; that of this process if omitted.
    gentle : bool
        Whether the group is asked to end and has `GRACE_SECONDS` before it is killed.
    max_output : float
        Bytes that it may print into a file.
    may_leave : bool
        Whether a program that succeeds may leave others running, such as a daemon.
    on_start : callable
        Gets the number of the process group, and 0 when it has ended.
    end_step : callable
        Ends what the program has started elsewhere; called when it is killed.
    starting : callable
        Returns a context in which no signal raises an exception. The program starts inside it: an
        exception between the start and `on_start` would leave a program running that nobody knows.

    Raises
    ------
    NotStartedError
        If the program cannot be started, or a file for its output cannot be written.
    """
    begin = time.monotonic()
    grace_seconds = GRACE_SECONDS if gentle else 0.0
    with ExitStack() as opened:
        process = None
        try:
            # 1. Start it, and report its group before any signal is heeded. One file gets both
            #    outputs: it is the first and the last.
            try:
                files = [opened.enter_context(file.open("wb")) for file in (stdout, stderr) if file]
            except OSError as error:
                raise NotStartedError(arguments[0], error) from error
            with starting():
                process = start_program(
                    arguments,
                    stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                    stdout=files[0] if files else subprocess.PIPE,
                    stderr=files[-1] if files else subprocess.PIPE,
                    environment=environment,
                    folder=folder,
                )
                on_start(process.pid)

            # 2. Wait. Nothing reports that a file has grown, so its size is checked regularly.
            ended, printed_too_much, printed = False, False, ("", "")
            deadline = begin + seconds
            unsent: str | None = stdin or None
            while not (ended or printed_too_much or time.monotonic() >= deadline):
                try:
                    printed = process.communicate(
                        unsent, max(0.0, min(_CHECK_SECONDS, deadline - time.monotonic()))
                    )
                    ended = True
                except subprocess.TimeoutExpired:
                    unsent = None  # After a timeout, the next call sends the remaining input.
                    sizes = [os.fstat(file.fileno()).st_size for file in files]
                    printed_too_much = any(size > max_output for size in sizes)

            # 3. End its group, also behind a program that has ended: processes that it left running
            #    would disturb the next run. Only a success with `may_leave` keeps them.
            unkilled_group = 0
            if not ended and not end_process(process, grace_seconds, before_kill=end_step):
                unkilled_group = process.pid
            if not ended or process.returncode or not may_leave:
                signal_group(process.pid, signal.SIGKILL)
            # A program that cannot be killed may never end, so do not wait for it.
            exit_code = -signal.SIGKILL if unkilled_group else process.wait()
            # Cut off what it printed above the limit.
            for file in files if printed_too_much else ():
                file.truncate(min(os.fstat(file.fileno()).st_size, int(max_output)))
        except BaseException:
            if process is not None:
                end_process(process, grace_seconds, before_kill=end_step)
            raise
        finally:
            for pipe in (process.stdin, process.stdout, process.stderr) if process else ():
                if pipe:
                    with suppress(BrokenPipeError):  # The program has not read all of its input.
                        pipe.close()
            on_start(0)
    output, errors = (text or "" for text in printed)
    timed_out = not (ended or printed_too_much)
    return ProgramEnd(
        exit_code=exit_code,
        stdout=output,
        stderr=errors,
        timed_out=timed_out,
        printed_too_much=printed_too_much,
        unkilled_group=unkilled_group,
        seconds=time.monotonic() - begin,
    )


def start_program(
    arguments: Sequence[str],
    *,
    stdout: IO[bytes] | int,
    stderr: IO[bytes] | int,
    stdin: int = subprocess.DEVNULL,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Process:
    """Start a program in a new process group, and do not wait for it.

    A shell does not interpret the arguments. If `environment` or `folder` is omitted, the program
    has that of this process.

    Raises
    ------
    NotStartedError
    """
    try:
        return subprocess.Popen(
            list(arguments),
            cwd=folder,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise NotStartedError(arguments[0], error) from error


def run_in_foreground(arguments: Sequence[str]) -> int:
    """Run a program at the terminal of this process, and return its exit code.

    Signals that ask this process to end are passed on to the program, which decides.
    """
    # A list, because the handler is set before the program starts: until then it passes on nothing.
    started: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _frame: object) -> None:
        for process in started:
            process.send_signal(number)

    to_pass_on = signal.SIGTERM, signal.SIGHUP
    handlers = {number: signal.signal(number, pass_on) for number in to_pass_on}
    # A terminal itself interrupts all of its processes, so this one only has to survive.
    handlers[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        started.append(subprocess.Popen(list(arguments)))
        return started[0].wait()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def end_process(
    process: Process, seconds: float = 0.0, *, before_kill: Callable[[], None] = lambda: None
) -> bool:
    """End a process with its group, gently at first: launchers then end ranks on other hosts.

    Parameters
    ----------
    process : Process
        The first one of a process group.
    seconds : float
        Time between asking it to end and killing its group; 0: kill it without asking.
    before_kill : callable
        Called before it is killed because its time is up.

    Returns
    -------
    ended : bool
        False if it could not be ended because it runs as another user.
    """
    if seconds:
        signal_group(process.pid, signal.SIGTERM)
    if not _wait_for_end(process, seconds):
        before_kill()
    # Also if the process itself has ended: others of its group may not have.
    signal_group(process.pid, signal.SIGKILL)
    return _wait_for_end(process, GRACE_SECONDS) and not _runs_as_other_user(process.pid)


def _wait_for_end(process: Process, seconds: float) -> bool:
    """Wait until a process ends; return False if it has not after some seconds."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _runs_as_other_user(group: int) -> bool:
    """Return whether the remaining processes of a group run as another user."""
    # Signal 0 sends nothing: it only checks whether a signal may be sent.
    try:
        os.killpg(group, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        pass
    return False


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group, which may have ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
