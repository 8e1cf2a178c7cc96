"""Messages and progress of the command line on standard error; results go to standard output.

Other modules log to ``routelab.<module>`` and do not use terminals; only this module decides which
messages are shown, and how.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from routelab._runtime import progress
from routelab._runtime.numba_hook import when_compiling

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PREFIXES = {
    logging.WARNING: "routelab: warning: ",
    logging.ERROR: "routelab: error: ",
    logging.CRITICAL: "routelab: ",
}
COMPILING = "Compiling kernels; this is needed once per version of the code."
"""What a terminal shows when the first kernel is compiled."""

_STANDARD_FIELDS = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}


@contextmanager
def log_to_stderr(arguments: argparse.Namespace) -> Iterator[None]:
    """Send messages to standard error, according to ``--verbose``, ``--quiet``, ``--log-json``."""
    options = vars(arguments)
    level = logging.WARNING if options.get("quiet") else logging.INFO
    # of both options, --verbose counts
    level = logging.DEBUG if options.get("verbose") else level
    handler = _StandardError()
    handler.setFormatter(_Json() if options.get("log_json") else _Text())
    loggers = [logging.getLogger(name) for name in ("routelab", "routelab_plugins")]
    saved_levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level)
    try:
        yield
    finally:
        for logger, saved_level in zip(loggers, saved_levels, strict=True):
            logger.setLevel(saved_level)
            logger.removeHandler(handler)


@contextmanager
def show_progress(arguments: argparse.Namespace) -> Iterator[None]:
    """Show the current phase of the work in this context, on terminals only.

    ``--quiet`` disables the display, and so do options that print lines instead (``--verbose``,
    ``--log-json``).
    """
    is_off = any(vars(arguments).get(name) for name in ("quiet", "verbose", "log_json"))
    if is_off or not sys.stderr.isatty():
        yield
        return
    when_compiling(lambda: print(COMPILING, file=sys.stderr))
    logger = logging.getLogger(progress.LOGGER)
    display = _Display()
    level, propagate = logger.level, logger.propagate
    logger.addHandler(display)
    # Reports of progress have level DEBUG. They must not reach the handler of `log_to_stderr`,
    # which would print each of them as a line.
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.propagate = propagate
        logger.removeHandler(display)
        display.close()


class _StandardError(logging.Handler):
    """Writes lines to the current standard error, which a live display replaces."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except Exception:
            self.handleError(record)


class _Text(logging.Formatter):
    """The message, with the prefix ``routelab: error:`` for errors."""

    def format(self, record: logging.LogRecord) -> str:
        return _PREFIXES.get(record.levelno, "") + super().format(record)


class _Json(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line of JSON."""
        time = dt.datetime.fromtimestamp(record.created, dt.UTC)
        line: dict[str, Any] = {
            "time": time.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        # the caller's `extra`, such as task and phase
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD_FIELDS}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class _Display(logging.Handler):
    """Display of tasks on a terminal, one line each; it disappears at the end of the work."""

    def __init__(self) -> None:
        super().__init__()
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._show(record.task, record.phase, record.ended)  # type: ignore[attr-defined]
        except Exception:
            self.handleError(record)

    def _show(self, name: str, phase: str, has_ended: bool) -> None:
        """Show the phase of a task, on the line of the task."""
        display = self._progress
        if display is None:
            display = self._progress = _new_display()
            display.start()
        if name not in self._tasks:
            self._tasks[name] = display.add_task(name, start=False, total=None, phase=phase)
        task = self._tasks[name]
        # the clock of a task does not run while it waits
        if phase != progress.WAITING:
            display.start_task(task)
        display.update(task, phase=phase)
        # 1 of 1 steps: this stops spinner and clock
        if has_ended:
            display.update(task, total=1, completed=1)
        display.refresh()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
        super().close()


def _new_display() -> Progress:
    """Return a display of tasks on stderr."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[phase]}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=4,  # more frequent drawing would affect measured times
    )
