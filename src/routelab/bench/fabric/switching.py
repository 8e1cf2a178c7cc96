"""Fabric plugins from cluster files, and the switches that run their commands."""

from __future__ import annotations

import logging
import re
import shlex
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_origin

from routelab.api import FabricError, FabricPlugin, InputError
from routelab.bench.processes.commands import LimitedCommand
from routelab.config.cluster.file import ClusterFile
from routelab.config.cluster.jobs import FabricChoice
from routelab.config.errors import ConfigError
from routelab.registry import compositions
from routelab.registry.catalogue import Catalogue, installed_catalogue
from routelab.registry.instances import load
from routelab.registry.names import parse_name
from routelab.registry.parameters import fields, read_parameters

logger = logging.getLogger(__name__)

SHOWN_LINES = 5
"""Number of last output lines of a command in a message."""

_WAKE_SECONDS = 0.5


def load_fabric(
    choice: FabricChoice | None, place: str, catalogue: Catalogue | None = None
) -> FabricPlugin:
    """Return the fabric plugin that a cluster's file names; `none` if it names none.

    Parameters
    ----------
    choice : FabricChoice or None
    place : str
        File and key, to begin messages with.
    catalogue : Catalogue, optional
        The installed plugins by default.

    Raises
    ------
    InputError
        Lists all mistakes, one per line.
    """
    choice = choice or FabricChoice(use="none")
    catalogue = catalogue or installed_catalogue()
    try:
        part = compositions.make_part("fabric", parse_name(choice.use), catalogue)
    except InputError as error:
        raise ConfigError([f"{place}use: {error}"]) from None
    values = dict(choice.model_extra or {})
    known = fields(part.plugin.Parameters)
    mistakes = [f"{name}: it is also set in 'use'" for name in values if name in part.fixed]
    # a text with blanks would become one argument, which nobody intends
    mistakes += [
        f"{name}: {value!r} is text; write a list: [program, argument, ...]"
        for name, value in values.items()
        if isinstance(value, str) and name in known and get_origin(known[name].annotation) is tuple
    ]
    faulty = {text.partition(":")[0] for text in mistakes}
    given = {name: value for name, value in values.items() if name not in faulty}
    parameters, problems = read_parameters(part.plugin.Parameters, {**part.fixed, **given})
    # a wrong parameter is not a missing one
    missing = {f"parameter {name!r} is required" for name in faulty}
    mistakes += [text for text in problems if text not in missing]
    if parameters is None or mistakes:
        raise ConfigError(f"{place}{text}" for text in mistakes)
    plugin = part.plugin(parameters)
    assert isinstance(plugin, FabricPlugin)
    if plugin.export:
        try:
            load("export", plugin.export, catalogue)
        except InputError as error:
            raise ConfigError([f"{place}export: {error}"]) from None
    return plugin


def require_fabric(file: ClusterFile, fabric: FabricPlugin, routings: int) -> None:
    """Refuse to apply several routings on a cluster where nothing switches between them.

    Parameters
    ----------
    file : ClusterFile
    fabric : FabricPlugin
        The fabric of the file.
    routings : int
        Number of routings to compare.

    Raises
    ------
    InputError
        If there are two or more: all would be measured under the same routes.
    """
    if routings < 2 or fabric.changes:
        return
    raise InputError(
        f"{file.path}: fabric: nothing switches between the {routings} routings (fabric "
        f"{fabric.name}): all would be measured under the same routes, and their differences would "
        "be noise; add what switches them (fabric: {use: command, apply: [...], restore: [...]}), "
        "or measure without --apply-routing (in the workflow without apply_routing=true)"
    )


class DrySwitch:
    """A switch that prints commands and runs none.

    Parameters
    ----------
    tell : callable
        Gets each command as a line for a shell.
    """

    dry = True

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def run(self, arguments: Sequence[str], seconds: float) -> str:
        """Print the command; return an empty text."""
        self._tell(shlex.join(arguments))
        return ""


class LoggedSwitch:
    """A switch that runs commands and logs them, their output and how they ended.

    Commands also run if the log cannot be written: on a full disk a fabric is still restored.

    Parameters
    ----------
    log : Path
        File to append to.
    on_start : callable, optional
        Gets the process group of each command when it has begun, and 0 when it has ended.
    """

    dry = False

    def __init__(self, log: Path, on_start: Callable[[int], None] = lambda _: None) -> None:
        self._log = log
        self._on_start = on_start

    def run(self, arguments: Sequence[str], seconds: float) -> str:
        """Run a command in a new process group, without input; return its output.

        Raises
        ------
        FabricError
            If it cannot be started, ends with another code than 0, or takes longer than
            `seconds`; then it is ended with its whole group.
        """
        shown = shlex.join(arguments)
        self._write(f"$ {printable(shown)}")
        begin = time.monotonic()
        command = LimitedCommand(arguments, seconds, self._on_start)
        try:
            command.start()
            # a signal that arrives just before this thread sleeps would not wake it
            while not command.done.wait(_WAKE_SECONDS):
                pass
        finally:
            # if a signal raises here, end the command first
            command.finish()
            for line in command.text.splitlines():
                self._write(f"| {printable(line)}", stamped=False)
            took = f"after {time.monotonic() - begin:.1f} s"
            self._write(f"{command.failure or 'exit code 0'} {took}")
        if command.failure:
            printed = last_lines(command.text) if command.started else ""
            raise FabricError(f"{printable(shown)}: {command.failure}{printed}")
        return command.text

    def _write(self, line: str, *, stamped: bool = True) -> None:
        stamp = f"{datetime.now(UTC).isoformat(timespec='seconds')} " if stamped else ""
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{stamp}{line}\n")
        except OSError as error:
            logger.warning("cannot write %s: %s; it lacks: %s", self._log, error.strerror, line)


def printable(text: str) -> str:
    """Return `text` in one line, without control sequences for terminals."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def last_lines(text: str) -> str:
    """Return the end of a program's output for a message, without separator and blank lines."""
    lines = [printable(line)[:200] for line in text.splitlines() if re.search(r"\w", line)]
    if not lines:
        return "; it printed no output"
    return "; its last lines:" + "".join(f"\n    {line}" for line in lines[-SHOWN_LINES:])
