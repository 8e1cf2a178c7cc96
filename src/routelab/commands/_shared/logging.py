"""Messages and progress of the command line: all on standard error, results go to standard output.

Everything below logs to ``routelab.<module>`` and knows nothing of terminals; this is the one
place that decides what is seen, and how.
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

from routelab import _progress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PREFIXES = {
    logging.WARNING: "routelab: warning: ",
    logging.ERROR: "routelab: error: ",
    logging.CRITICAL: "routelab: ",
}
_STANDARD_FIELDS = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}


@contextmanager
def log_to_stderr(arguments: argparse.Namespace) -> Iterator[None]:
    """Send messages to standard error, as ``--verbose``, ``--quiet`` and ``--log-json`` ask."""
    asked = vars(arguments)
    level = logging.WARNING if asked.get("quiet") else logging.INFO
    level = logging.DEBUG if asked.get("verbose") else level
    handler = _StandardError()
    handler.setFormatter(_Json() if asked.get("log_json") else _Text())
    logger = logging.getLogger("routelab")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


@contextmanager
def show_progress(arguments: argparse.Namespace) -> Iterator[None]:
    """Show on a terminal what phase the work inside is in; elsewhere nothing.

    Nothing is shown either where it is unwanted (``--quiet``) or is told in lines
    (``--verbose``, ``--log-json``).
    """
    otherwise = any(vars(arguments).get(name) for name in ("quiet", "verbose", "log_json"))
    if otherwise or not sys.stderr.isatty():
        yield
        return
    logger = logging.getLogger(_progress.LOGGER)
    display = _Display()
    level, propagate = logger.level, logger.propagate
    logger.addHandler(display)
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
    """Writes lines to what is standard error at that moment: a live display replaces it."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except Exception:
            self.handleError(record)


class _Text(logging.Formatter):
    """The message, after ``routelab: error:`` where it is one."""

    def format(self, record: logging.LogRecord) -> str:
        return _PREFIXES.get(record.levelno, "") + super().format(record)


class _Json(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        time = dt.datetime.fromtimestamp(record.created, dt.UTC)
        line: dict[str, Any] = {
            "time": time.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD_FIELDS}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class _Display(logging.Handler):
    """Tasks on a terminal, one line each; it is gone when the work is done."""

    def __init__(self) -> None:
        super().__init__()
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._show(record.task, record.phase, record.ended)  # type: ignore[attr-defined]
        except Exception:
            self.handleError(record)

    def _show(self, name: str, phase: str, ended: bool) -> None:
        display = self._progress
        if display is None:
            display = self._progress = _new_display()
            display.start()
        if name not in self._tasks:
            self._tasks[name] = display.add_task(name, start=False, total=None, phase=phase)
        task = self._tasks[name]
        if phase != _progress.WAITING:
            display.start_task(task)
        display.update(task, phase=phase)
        if ended:
            display.update(task, total=1, completed=1)
        display.refresh()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
        super().close()


def _new_display() -> Progress:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[phase]}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=4,  # a display that is drawn more often shows in measured times
    )
