"""Commands with a time limit in a thread, where no signal interrupts between start and end."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence

from routelab.bench.processes.processes import end_process

GRACE_SECONDS = 5.0
"""Time between asking a command at its limit to end and killing it."""

KEPT_BYTES = 1 << 20
"""Largest size of a command's stored output, of which the end is stored."""

_POLL_SECONDS = 0.02

_UNENDED = (
    ", and could not be ended, because it runs as another user (process group {}): end it by "
    "hand, and give it its own time limit"
)


class LimitedCommand:
    """A command in a new process group, without input.

    A signal handler that raises interrupts the waiting thread, never the one that runs the command.

    Attributes
    ----------
    done : threading.Event
        Set when the command has ended.
    started : bool
        Whether the command could be started.
    text : str
        Its output.
    failure : str
        How it failed, or why it was not started; empty if it succeeded.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        seconds: float,
        on_start: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._tell_group = on_start
        self.done = threading.Event()
        self.started = False
        self.text, self.failure = "", "not started"
        self._begun, self._stop = threading.Event(), threading.Event()
        self._arguments, self._seconds = list(arguments), seconds

    def start(self) -> None:
        """Start the command."""
        thread = threading.Thread(target=self._run)
        try:
            thread.start()
        except RuntimeError as error:
            self.failure = f"cannot be started: {error}"
            self.done.set()

    def finish(self) -> None:
        """End the command if it runs, wait for its end, and prevent a later start."""
        self._stop.set()
        # a thread that has not started the command yet will see that it must stop
        if self._begun.is_set():
            self.done.wait()

    def _run(self) -> None:
        self._begun.set()
        try:
            if not self._stop.is_set():
                self._follow()
        except Exception as error:
            # the waiting thread gets any error
            what = "followed" if self.started else "started"
            self.failure = f"cannot be {what}: {getattr(error, 'strerror', None) or error}"
        finally:
            self.done.set()

    def _follow(self) -> None:
        process = subprocess.Popen(
            self._arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.started = True
        self._tell_group(process.pid)
        try:
            output = _Output(process)
        except RuntimeError:
            end_process(process, GRACE_SECONDS, all_of_it=True)
            raise
        failure = self._ended(process)
        if failure and not end_process(process, GRACE_SECONDS, all_of_it=True):
            failure += _UNENDED.format(process.pid)
        self._tell_group(0)
        self.text = output.text()
        self.failure = failure

    def _ended(self, process: subprocess.Popen[bytes]) -> str:
        until = time.monotonic() + self._seconds
        while process.poll() is None:
            if self._stop.is_set():
                return "interrupted"
            if time.monotonic() >= until:
                return f"took longer than {self._seconds:g} s and was ended"
            self._stop.wait(_POLL_SECONDS)
        code = process.returncode
        if code < 0:
            return f"ended by {_signal_name(-code)}"
        return f"exit code {code}" if code else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Output:
    """Output of a process, read while it runs; other holders of the pipe may outlive it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self._stream = process.stdout
        self._kept = bytearray()
        self._lost = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._stream:
            while chunk := os.read(self._stream.fileno(), 1 << 16):
                with self._lock:
                    self._kept += chunk
                    if len(self._kept) > 2 * KEPT_BYTES:
                        del self._kept[:-KEPT_BYTES]
                        self._lost = True

    def text(self) -> str:
        """Return the output of the ended process, with undecodable bytes replaced."""
        self._thread.join(1.0)
        with self._lock:
            text = bytes(self._kept).decode(errors="replace")
        return f"(beginning omitted)\n{text}" if self._lost else text
