"""A process that survives the driver's death, ends its benchmark and restores the fabric."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from routelab.cluster.bench.processes.marks import kill_marked
from routelab.toolkit.programs import GRACE_SECONDS, signal_group

_POLL_SECONDS = 0.02

_IGNORED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Guard:
    """A child process that waits for the end of this process.

    This process sends it, through a pipe, the running process group and the turn whose routing is
    applied. If this process ends without `dismiss`, even by ``kill -9``, the child ends that group
    and calls `restore`.

    Parameters
    ----------
    restore : callable
        Restores the fabric after the turn with this number; runs in the child.
    log : Path
        File in which the child logs its actions.
    mark : str
        Mark of the session's programs, see `routelab.cluster.bench.processes.marks.MARK`.
    """

    def __init__(self, restore: Callable[[int], None], log: Path, mark: str = "") -> None:
        read_end, self._write_end = os.pipe()
        # The child has a copy of the buffers: what is still in them would be printed twice.
        sys.stdout.flush()
        sys.stderr.flush()
        self._child = os.fork()
        if self._child == 0:
            # The pipe ends when no process can write to it any more. So the child closes its own
            # copy of the writing end, and sees the driver's end as the end of the pipe.
            os.close(self._write_end)
            _run_guard(read_end, restore, log, mark)  # never returns
        os.close(read_end)

    def set_group(self, group: int) -> None:
        """Send the number of a process group that has begun, or 0 when it has ended."""
        self._send(f"group {group}")

    def set_turn(self, turn: int) -> None:
        """Send the turn whose routing will be applied next, or −1 after restoring the fabric."""
        self._send(f"applied {turn}")

    def dismiss(self) -> None:
        """Let the child end without doing anything, and wait for its end."""
        self._send("dismissed 1")
        os.close(self._write_end)
        with suppress(ChildProcessError):
            os.waitpid(self._child, 0)

    def _send(self, message: str) -> None:
        with suppress(BrokenPipeError):
            os.write(self._write_end, f"{message}\n".encode())


def _run_guard(read_end: int, restore: Callable[[int], None], log: Path, mark: str) -> None:
    """Wait for the driver's end, then end its benchmark and restore the fabric; never return."""
    code = 1
    try:
        # 1. Outlive the driver. Ctrl-C or a closed terminal ends the driver; a process in a session
        #    of its own that ignores these signals goes on. Input and output are replaced by nothing
        #    and the log: a program that reads the driver's output from a pipe would otherwise wait
        #    until this process closes it, too.
        os.setsid()
        for number in _IGNORED_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        sys.stdout = sys.stderr = log.open("a", buffering=1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for standard_stream in (1, 2):
            os.dup2(sys.stdout.fileno(), standard_stream)

        # 2. Keep the last message of each kind, until the driver's end closes the pipe.
        #    "group 0": no program runs. "applied 3": the routing of turn 3 is applied or will be;
        #    "applied -1": the fabric is not switched, or the driver has tried to restore it.
        state = {"group": 0, "applied": -1, "dismissed": 0}
        with os.fdopen(read_end) as messages:
            for line in messages:
                key, value = line.split()
                state[key] = int(value)

        # 3. End the benchmark before the fabric is restored, as it would run on changing routes.
        if not state["dismissed"]:
            print("the driver has ended; ending its benchmark", flush=True)
            if group := state["group"]:
                signal_group(group, signal.SIGTERM)
                wait_for_group(group, GRACE_SECONDS)
                signal_group(group, signal.SIGKILL)
            kill_marked(mark)
            if state["applied"] >= 0:
                restore(state["applied"])
                print("the fabric was restored", flush=True)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # never return into the driver's code


def wait_for_group(group: int, seconds: float) -> bool:
    """Wait for the end of all processes of a group; return False if some run after `seconds`.

    False also, without waiting, if they run as another user.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            os.killpg(group, 0)  # signal 0 only asks whether the group exists
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
