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

_DEAF = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Guard:
    """A child process that waits for the end of this process.

    This process reports the running group of processes and the turn whose routing is applied. If
    this process ends without `dismiss`, even by ``kill -9``, the child ends that group and calls
    `restore`.

    Parameters
    ----------
    restore : callable
        Restores the fabric after the turn with this number; runs in the child.
    log : Path
        File in which the child logs its actions.
    mark : str
        Of the programs of the session, see `routelab.cluster.bench.processes.marks.MARK`.
    """

    def __init__(self, restore: Callable[[int], None], log: Path, mark: str = "") -> None:
        reading, self._writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._writing)
            _stand_guard(reading, restore, log, mark)
        os.close(reading)

    def set_group(self, number: int) -> None:
        """Report the group of processes that has begun; 0: it has ended."""
        self._tell(f"group {number}")

    def set_turn(self, turn: int) -> None:
        """Report the turn whose routing will be applied next; −1: the fabric was restored."""
        self._tell(f"applied {turn}")

    def dismiss(self) -> None:
        """Let the child end: there is nothing left to do."""
        self._tell("dismissed 0")
        os.close(self._writing)
        with suppress(ChildProcessError):
            os.waitpid(self._child, 0)

    def _tell(self, text: str) -> None:
        with suppress(BrokenPipeError):
            os.write(self._writing, f"{text}\n".encode())


def _stand_guard(reading: int, restore: Callable[[int], None], log: Path, mark: str) -> None:
    """Run the child; never return."""
    code = 1
    try:
        # 1. Outlive the driver: what ends it at its terminal must not end this process as well.
        os.setsid()
        for deaf in _DEAF:
            signal.signal(deaf, signal.SIG_IGN)
        _write_to(log)

        # 2. Keep the last report of each kind, until the driver's end closes the pipe.
        state = {"group": 0, "applied": -1, "dismissed": -1}
        with os.fdopen(reading) as messages:
            for line in messages:
                word, number = line.split()
                state[word] = int(number)

        # 3. End the benchmark before the fabric is restored, as it would run on changing routes.
        if state["dismissed"] < 0:
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
        os._exit(code)


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


def _write_to(log: Path) -> None:
    # a reader of the driver's output must not wait for this process
    sys.stdout = sys.stderr = log.open("a", buffering=1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    for number in (1, 2):
        os.dup2(sys.stdout.fileno(), number)
