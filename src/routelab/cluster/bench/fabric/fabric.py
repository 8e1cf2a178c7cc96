"""The fabric of a cluster: the site's commands change its routing and restore it.

They get the routes as files of an export plugin, in a folder. They run without a shell: each item
of a list is one argument, with any content.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import TypeAlias

from routelab.api import RoutelabError, RouteTable
from routelab.study.cluster.fabric import FabricCommands

RunCommand: TypeAlias = Callable[[Sequence[str], float], object]
"""Runs a command, or shows it, with its time limit in seconds."""


class FabricError(RoutelabError):
    """The routing of the fabric could not be changed or restored; the text is the reason."""


@dataclass(frozen=True, eq=False)
class FabricJob:
    """A routing to apply, and the hosts that it is for.

    Attributes
    ----------
    routing : str
        Canonical name.
    table : RouteTable
        Its routes; terminals are in the order of `hosts`.
    hosts : tuple of str
        Host of each terminal; empty if everything runs on this machine.
    folder : Path
        Existing folder, stored with the results; files for the fabric's tools go here.
    topology : str
        Instance name of the network; empty if it has none.
    """

    routing: str
    table: RouteTable
    hosts: tuple[str, ...]
    folder: Path
    topology: str = ""


class Fabric:
    """The commands of a site; the site is responsible for their effect.

    Parameters
    ----------
    commands : FabricCommands
    """

    def __init__(self, commands: FabricCommands) -> None:
        self._commands = commands

    @property
    def export(self) -> str:
        """Instance name of the export plugin whose files the commands need; empty: none.

        The files are in the job's folder before `apply` or `restore` is called, and have been
        read back and compared with the routes.
        """
        return self._commands.export

    def problems(self, job: FabricJob) -> list[str]:
        """Return what keeps the commands from running for a job; one line each.

        These are missing programs, placeholders without a value, and a wrong number of hosts.
        """
        lines = self.program_problems(job)
        for name in ("apply", "restore"):
            arguments: list[str] = getattr(self._commands, name)
            # of "load {folder}/lft" the parser yields ("load ", "folder", ...), ("/lft", None, ...)
            placeholders = {
                placeholder
                for argument in arguments
                for _text, placeholder, *_format in Formatter().parse(argument)
            }
            if "hosts" in placeholders and not job.hosts:
                lines.append(f"{name}: {{hosts}} is empty, because the cluster lists no hosts")
            if "topology" in placeholders and not job.topology:
                lines.append(f"{name}: {{topology}} is empty, because the network has no name")
        num_terminals = job.table.topology.num_terminals
        if job.hosts and len(job.hosts) != num_terminals:
            lines.append(f"there are {len(job.hosts)} hosts and {num_terminals} terminals")
        return lines

    def program_problems(self, job: FabricJob) -> list[str]:
        """Return programs of the commands that cannot run on this machine; one line each."""
        # the first of the arguments is the program
        problems = {
            name: program_problem(_fill_placeholders(getattr(self._commands, name), job)[0])
            for name in ("apply", "restore")
        }
        return [f"{name}: {problem}" for name, problem in problems.items() if problem]

    def apply(self, job: FabricJob, run: RunCommand) -> None:
        """Make the fabric route as `job` says, whatever it did before.

        Parameters
        ----------
        job : FabricJob
        run : callable
            Gets the command with its time limit, and runs it or only shows it.

        Raises
        ------
        FabricError
            If that failed; the state of the fabric is then unknown, and the caller restores it.
        """
        run(_fill_placeholders(self._commands.apply, job), self._commands.seconds)

    def restore(self, job: FabricJob, run: RunCommand) -> None:
        """Make the fabric route as before the first `apply`; may be called twice.

        Parameters
        ----------
        job : FabricJob
            The job that was applied last, completely or in part.
        run : callable
            As for `apply`.

        Raises
        ------
        FabricError
        """
        run(_fill_placeholders(self._commands.restore, job), self._commands.seconds)


def _fill_placeholders(arguments: Sequence[str], job: FabricJob) -> list[str]:
    """Replace placeholders in arguments by values: ``load {folder}/lft`` -> ``load /x/lft``.

    A value is not searched for placeholders, so it may have braces.
    """
    values = {
        "folder": str(job.folder),
        "routing": job.routing,
        "hosts": ",".join(job.hosts),
        "topology": job.topology,
    }
    return [
        "".join(
            # a text comes with the placeholder directly behind it, or with None
            text + ("" if placeholder is None else values[placeholder])
            for text, placeholder, *_format in Formatter().parse(argument)
        )
        for argument in arguments
    ]


def program_problem(program: str) -> str:
    """Return why a program cannot run on this machine; empty if it can."""
    return "" if shutil.which(program) else f"program {program} is not found or not executable"
