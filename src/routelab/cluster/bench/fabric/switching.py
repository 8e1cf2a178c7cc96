"""Switching the routing of a fabric by commands, which are logged."""

from __future__ import annotations

import logging
import os
import re
import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from routelab.api import InputError
from routelab.api.parameters import bytes_text
from routelab.cluster.bench.fabric.fabric import FabricError
from routelab.cluster.bench.store import MOST_OUTPUT
from routelab.study.cluster.keys import ClusterFile
from routelab.toolkit.programs import NotStartedError, ProgramEnd, run_program

logger = logging.getLogger(__name__)

SHOWN_LINES = 5
"""Number of last output lines of a command in a message."""

MAX_LINE_LENGTH = 200
"""Characters of such a line that are shown."""

MAX_LOGGED_BYTES = 1 << 20
"""Largest part of a command's output that is logged: its end, if the output is longer."""


def require_fabric(file: ClusterFile, num_routings: int) -> None:
    """Refuse to compare several routings on a cluster that has no commands to switch its fabric.

    Parameters
    ----------
    file : ClusterFile
    num_routings : int
        Number of routings to compare.

    Raises
    ------
    InputError
        If there are two or more: all would be measured under the same routes.
    """
    if num_routings < 2 or file.cluster.fabric is not None:
        return
    raise InputError(
        f"{file.path}: fabric: nothing switches between the {num_routings} routings: all would be "
        "measured under the same routes, and their differences would be noise; add what switches "
        "them (fabric: {apply: [...], restore: [...]}), or measure without --apply-routing (in "
        "the workflow without apply_routing=true)"
    )


class LoggedSwitch:
    """Runs the commands that switch a fabric, and logs them, their output and how they ended.

    Commands also run if the log cannot be written: on a full disk a fabric is still restored.

    Parameters
    ----------
    log : Path
        File to append to.
    on_start : callable, optional
        Gets the process group of each command when it has begun, and 0 when it has ended.
    starting : callable, optional
        Returns a context manager in which a command is started, so that no signal comes between its
        start and `on_start`.
    """

    def __init__(
        self,
        log: Path,
        on_start: Callable[[int], None] = lambda _: None,
        starting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._log = log
        self._on_start, self._starting = on_start, starting

    def run(self, arguments: Sequence[str], seconds: float) -> str:
        """Run a command in a new process group, without input; return its output.

        Raises
        ------
        FabricError
            If it cannot be started, ends with another code than 0, prints without end or takes
            longer than `seconds`; then it is ended with its whole group.
        """
        command_line = printable(shlex.join(arguments))
        self._log_line(f"$ {command_line}")
        # A file in memory: a full disk must not make a command fail.
        output = os.memfd_create("output")
        # The log says "interrupted" if an exception, for example a signal's, leaves the block.
        failure, started = "interrupted", True
        try:
            end = run_program(
                arguments,
                stdout=Path(f"/proc/self/fd/{output}"),
                seconds=seconds,
                gentle=True,  # so that it can clean up before it is killed
                max_output=MOST_OUTPUT,
                may_leave=True,  # it may leave a daemon running
                on_start=self._on_start,
                starting=self._starting,
            )
            failure = _failure_text(end, seconds)
        except NotStartedError as error:
            failure, started = f"cannot be started: {error.reason}", False
        finally:
            size = os.fstat(output).st_size
            num_omitted = max(0, size - MAX_LOGGED_BYTES)
            text = os.pread(output, MAX_LOGGED_BYTES, num_omitted).decode(errors="replace")
            if num_omitted:
                text = f"(beginning omitted)\n{text}"
            os.close(output)
            for line in text.splitlines():
                self._log_line(f"| {printable(line)}", stamped=False)
            self._log_line(failure or "exit code 0")
        if failure:
            raise FabricError(f"{command_line}: {failure}{last_lines(text) if started else ''}")
        return text

    def _log_line(self, line: str, *, stamped: bool = True) -> None:
        stamp = f"{datetime.now(UTC).isoformat(timespec='seconds')} " if stamped else ""
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{stamp}{line}\n")
        except OSError as error:
            logger.warning("cannot write %s: %s; it lacks: %s", self._log, error.strerror, line)


def stop_reason(end: ProgramEnd, seconds: float) -> str:
    """Return why a program was ended; empty if it ended by itself."""
    if end.printed_too_much:
        return f"printed more than {bytes_text(MOST_OUTPUT)} and was ended"
    return f"took longer than {seconds:g} s and was ended" if end.timed_out else ""


def _failure_text(end: ProgramEnd, seconds: float) -> str:
    """Return how a command failed; empty if it did not."""
    exit_text = f"exit code {end.exit_code}" if end.exit_code else ""
    # a command that was ended has an exit code, too, but that is not the reason
    failure = stop_reason(end, seconds) or exit_text
    if end.unkilled_group:
        failure += (
            ", and could not be ended, because it runs as another user (process group "
            f"{end.unkilled_group}): end it by hand, and give it its own time limit"
        )
    return failure


def printable(text: str) -> str:
    """Return `text` in one line, without control sequences for terminals."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def last_lines(text: str) -> str:
    """Return the end of a program's output for a message, without separator and blank lines."""
    lines = [
        printable(line)[:MAX_LINE_LENGTH] for line in text.splitlines() if re.search(r"\w", line)
    ]
    if not lines:
        return "; it printed no output"
    return "; its last lines:" + "".join(f"\n    {line}" for line in lines[-SHOWN_LINES:])
