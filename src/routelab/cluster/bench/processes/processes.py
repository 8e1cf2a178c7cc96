"""Programs with a time limit, of which no process is left afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Process: TypeAlias = subprocess.Popen[bytes]

GRACE_SECONDS = 10.0
"""Time between asking a launcher to end and killing it; in this time it ends its ranks."""

MOST_OUTPUT = 64 * 2**20
"""Bytes that a program may print: benchmarks print some kilobytes, and a disk is soon full."""

MARK = "ROUTELAB_SESSION"
"""Variable that all programs of a session have. Launchers put ranks into sessions and groups of
their own; this tells whose they are when the launcher is gone."""

_POLL_SECONDS = 0.02
_LOOK_SECONDS = 1.0
_EXEC_SECONDS = 0.5


@dataclass(frozen=True)
class ProgramEnd:
    """How a program ended.

    Attributes
    ----------
    exit_code : int
        Negative: the signal that ended it.
    timed_out, flooded : bool
        Whether it was ended because its time was up or it printed more than `MOST_OUTPUT`.
    left : int
        Process group that could not be ended because it runs as another user; 0: none.
    seconds : float
        Wall time.
    """

    exit_code: int
    timed_out: bool
    flooded: bool
    left: int
    seconds: float


def run_program(
    arguments: Sequence[str],
    *,
    folder: Path,
    stdout: Path,
    stderr: Path | None,
    environment: Mapping[str, str],
    seconds: float,
    on_start: Callable[[int], None] = lambda _: None,
    end_step: Callable[[], None] = lambda: None,
    starting: Callable[[], AbstractContextManager[None]] = nullcontext,
    mark: str = "",
    may_leave: bool = False,
) -> ProgramEnd:
    """Run a program in a new process group until it ends or its time is up.

    Parameters
    ----------
    arguments : sequence of str
        They are not interpreted by a shell.
    folder : Path
        Working directory.
    stdout, stderr : Path
        Files for its output; without one for errors, they go where the other output goes.
    environment : mapping
        All its variables.
    seconds : float
        Limit; then the group is asked to end, and killed if it does not.
    on_start : callable
        Gets the number of the process group.
    end_step : callable
        Ends what the program has started elsewhere; called when it is killed.
    starting : callable
        Context in which no signal raises: otherwise a program that was just started could be left.
    mark : str
        A unique text; after the program's end, processes that have it as `MARK` are killed.
    may_leave : bool
        Whether a program that succeeds may leave others running, such as a daemon.

    Raises
    ------
    OSError
        If the program cannot be started.
    """
    begin = time.monotonic()
    with ExitStack() as files:
        streams = [files.enter_context(file.open("wb")) for file in (stdout, stderr) if file]
        process = None
        flooded = False
        group = 0
        try:
            with starting():
                process = subprocess.Popen(
                    list(arguments),
                    cwd=folder,
                    env={**environment, MARK: mark} if mark else dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=streams[0],
                    stderr=streams[-1],
                    start_new_session=True,
                )
                on_start(process.pid)
            until = begin + seconds
            while not (
                ended := _wait_for_end(process, min(_LOOK_SECONDS, until - time.monotonic()))
            ):
                flooded = any(os.fstat(stream.fileno()).st_size > MOST_OUTPUT for stream in streams)
                if flooded or time.monotonic() >= until:
                    break
            if not ended and not end_process(process, GRACE_SECONDS, killing=end_step):
                group = process.pid
            # processes that it left would disturb the next run
            if not ended or process.returncode or not may_leave:
                end_group(process.pid, signal.SIGKILL)
            exit_code = -signal.SIGKILL if group else process.wait()
            for stream in streams if flooded else ():
                stream.truncate(min(os.fstat(stream.fileno()).st_size, MOST_OUTPUT))
        except BaseException:
            if process is not None:
                end_process(process, GRACE_SECONDS, killing=end_step)
            raise
        finally:
            kill_marked(mark)
            on_start(0)
    return ProgramEnd(exit_code, not (ended or flooded), flooded, group, time.monotonic() - begin)


def end_process(
    process: Process,
    seconds: float,
    *,
    killing: Callable[[], None] = lambda: None,
) -> bool:
    """End a process with its group, gently at first: launchers then end ranks on other hosts.

    Parameters
    ----------
    process : Process
        The first one of a process group.
    seconds : float
        Time between asking it to end and killing its group, and at most as long after that.
    killing : callable
        Called before it is killed because its time is up.

    Returns
    -------
    ended : bool
        False if it could not be ended because it runs as another user.
    """
    end_group(process.pid, signal.SIGTERM)
    if not _wait_for_end(process, seconds):
        killing()
    end_group(process.pid, signal.SIGKILL)
    return _wait_for_end(process, seconds) and not _is_foreign(process.pid)


def _wait_for_end(process: Process, seconds: float) -> bool:
    try:
        process.wait(max(0.0, seconds))
    except subprocess.TimeoutExpired:
        return False
    return True


def _is_foreign(group: int) -> bool:
    """Return whether the remaining processes of a group run as another user."""
    try:
        os.killpg(group, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        pass
    return False


def end_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group, which may have ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def kill_marked(mark: str) -> int:
    """Kill the processes of this machine that have a mark, and return their number.

    A process shows no variables while it changes to another program, and one that was just killed
    may have started others: then all are examined again, for at most half a second after the last
    one that was found.
    """
    if not mark:
        return 0
    killed: set[int] = set()
    until = time.monotonic() + _EXEC_SECONDS
    while True:
        marked, hidden = _find_marked(f"{MARK}={mark}".encode())
        if marked - killed:
            until = time.monotonic() + _EXEC_SECONDS
        for number in marked:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
                killed.add(number)
        if not marked and hidden <= _ALWAYS_HIDDEN:
            return len(killed)
        if time.monotonic() >= until:
            _ALWAYS_HIDDEN.update(hidden)
            return len(killed)
        time.sleep(_POLL_SECONDS)


_ALWAYS_HIDDEN: set[tuple[str, str]] = set()
"""Processes of this user, with their starting times, that never show their variables."""


def _find_marked(wanted: bytes) -> tuple[set[int], set[tuple[str, str]]]:
    """Return the processes that have a variable, and those of this user that show none."""
    marked, hidden = set(), set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes()
        except PermissionError:
            variables = b""
        except OSError:  # it has just ended, or belongs to the kernel
            continue
        if wanted in variables.split(b"\0"):
            marked.add(int(folder.name))
        elif not variables and (began := _own_start(folder)):
            hidden.add((folder.name, began))
    return marked, hidden


def _own_start(folder: Path) -> str:
    """Return when a process began; empty if it is not of this user or has no program (any more)."""
    try:
        lines = (folder / "status").read_text(errors="replace").splitlines()
        began = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""
    status = dict(line.partition(":")[::2] for line in lines)
    is_own = status.get("Uid", "").split()[:1] == [str(os.getuid())]
    # processes of the kernel, and ended ones, have no memory
    return began if is_own and "VmSize" in status else ""


def wait_for_group(group: int, seconds: float) -> bool:
    """Return whether all processes of a group end within some time; False if unknown."""
    until = time.monotonic() + seconds
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        if time.monotonic() >= until:
            return False
        time.sleep(_POLL_SECONDS)


@contextmanager
def pass_signals_on() -> Iterator[Callable[[Process], Process]]:
    """Pass signals that ask to end on to the one program that the block starts."""
    started: list[Process] = []

    def pass_on(number: int, _frame: object) -> None:
        for process in started:
            process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGHUP)}
    # a terminal itself interrupts all of its processes
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)

    def note(process: Process) -> Process:
        started.append(process)
        return process

    try:
        yield note
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
