"""Dry runs of fabrics: the commands that they would run for a table."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from routelab.api import FabricJob, RouteTable
from routelab.testing.results import Failed

FOLDER = "/the/folder"
"""Replaces the job's folder in recorded commands, so that they are repeatable."""


class Notes:
    """A switch that records commands and runs none."""

    dry = True

    def __init__(self, folder: Path) -> None:
        self.commands: list[list[str]] = []
        self._folder = str(folder)

    def run(self, arguments: Sequence[str], seconds: float) -> str:
        """Record a command; return an empty output."""
        if isinstance(arguments, str) or not all(isinstance(text, str) for text in arguments):
            raise Failed(f"switch.run() takes a list of texts, but got {arguments!r}")
        if not seconds > 0:
            raise Failed(f"switch.run() takes a limit in seconds, but got {seconds!r}")
        self.commands.append([text.replace(self._folder, FOLDER) for text in arguments])
        return ""


def rehearse(plugin: Any, table: RouteTable, *, problems: bool = False) -> Any:
    """Return the commands of `apply`, `restore` and a second `restore`; or the problems.

    Raises
    ------
    Failed
        If it wrote files in a dry run.
    """
    hosts = tuple(f"n{terminal}" for terminal in range(table.topology.num_terminals))
    with tempfile.TemporaryDirectory() as name:
        job = FabricJob("my-routing", table, hosts, Path(name), "my-network")
        found: Any = plugin.problems(job) if problems else []
        for act in () if problems else (plugin.apply, plugin.restore, plugin.restore):
            notes = Notes(job.folder)
            act(job, notes)
            found.append(notes.commands)
        files = sorted(path.name for path in job.folder.iterdir())
    if files:
        raise Failed(f"it wrote {', '.join(files)}; it must not, in a dry run or before a run")
    return found if problems else tuple(found)
