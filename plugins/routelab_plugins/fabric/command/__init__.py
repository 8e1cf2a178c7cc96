"""command: a site's commands change the routing of its fabric and restore it.

They get the routes as files of an export plugin, in a folder. They run without a shell: each item
of a list is one argument, with any content.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from string import Formatter
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from routelab.api import FabricJob, FabricPlugin, Parameters, Switch, parameter
from routelab.api.parameters import split_items

PLACEHOLDERS = ("folder", "routing", "hosts", "topology")


def _split_items(value: Any) -> Any:
    """Return items from a list, or from ``a+b`` in an instance name."""
    if isinstance(value, str):
        return split_items(value)
    if not isinstance(value, (list, tuple)):
        return value
    others = [item for item in value if not isinstance(item, str)]
    if others:
        raise ValueError(f"{others[0]!r} is not text; put it in quotes, '{others[0]}'")
    return tuple(value)


def _check_arguments(arguments: tuple[str, ...]) -> tuple[str, ...]:
    problems = [problem for argument in arguments if (problem := _argument_problem(argument))]
    if arguments and not arguments[0]:
        problems.append("the program (first item) is empty")
    if problems:
        raise ValueError("; ".join(dict.fromkeys(problems)))
    return arguments


def _argument_problem(argument: str) -> str:
    if "\0" in argument:
        return f"{argument!r} has a null character, which is not allowed in arguments"
    try:
        parts = list(Formatter().parse(argument))
    except ValueError:
        return f"{argument!r} has a single brace; write {{{{ or }}}} for one that is meant"
    for _, name, form, conversion in parts:
        if name is not None and (name not in PLACEHOLDERS or form or conversion):
            shown = f"{name}{f'!{conversion}' if conversion else ''}{f':{form}' if form else ''}"
            names = ", ".join(f"{{{word}}}" for word in PLACEHOLDERS)
            return f"there is no placeholder {{{shown}}}, only {names}; write {{{{ for a brace"
    return ""


Arguments = Annotated[
    tuple[str, ...], BeforeValidator(_split_items), AfterValidator(_check_arguments)
]
"""A program and its arguments, which may contain placeholders."""


class CommandParameters(Parameters):
    """Commands; ``{folder}``, ``{routing}``, ``{hosts}``, ``{topology}`` become values."""

    apply: Arguments = parameter(
        min_length=1,
        description="Program and arguments that apply the routes in the files",
    )
    restore: Arguments = parameter(
        min_length=1,
        description="Program and arguments that restore the previous routes; may run twice",
    )
    export: str = parameter(
        "angara", description="Export plugin whose files are in {folder}; empty: none"
    )
    seconds: float = parameter(
        120,
        gt=0,
        le=86_400,
        description="Time limit of each command, in seconds; it is ended with its children",
    )


class CommandFabric(FabricPlugin):
    """Runs the site's commands; the site is responsible for their effect."""

    name = "command"
    summary = "Commands of the site that apply routes from the files of an export"
    Parameters = CommandParameters

    @property
    def export(self) -> str:
        """The export plugin in the parameters."""
        return str(self.parameters.export)

    def problems(self, job: FabricJob) -> list[str]:
        """Report programs that cannot run, and placeholders without a value."""
        found = []
        commands = {name: getattr(self.parameters, name) for name in ("apply", "restore")}
        for name, arguments in commands.items():
            if arguments:
                problem = _program_problem(_fill_placeholders(arguments, job)[0])
                found += [f"{name}: {problem}"] if problem else []
            used = {word for text in arguments for _, word, _, _ in Formatter().parse(text)}
            if "hosts" in used and not job.hosts:
                found.append(f"{name}: {{hosts}} is empty, because the cluster lists no hosts")
            if "topology" in used and not job.topology:
                found.append(f"{name}: {{topology}} is empty, because the network has no name")
        terminals = job.table.topology.num_terminals
        if job.hosts and len(job.hosts) != terminals:
            found.append(f"there are {len(job.hosts)} hosts and {terminals} terminals")
        return found

    def apply(self, job: FabricJob, switch: Switch) -> None:
        """Run the command."""
        self._run(self.parameters.apply, job, switch)

    def restore(self, job: FabricJob, switch: Switch) -> None:
        """Run the command."""
        self._run(self.parameters.restore, job, switch)

    def _run(self, arguments: Sequence[str], job: FabricJob, switch: Switch) -> None:
        switch.run(_fill_placeholders(arguments, job), self.parameters.seconds)


def _fill_placeholders(arguments: Sequence[str], job: FabricJob) -> list[str]:
    """Replace placeholders in arguments by values, which are not searched for placeholders."""
    values = {
        "folder": str(job.folder),
        "routing": job.routing,
        "hosts": ",".join(job.hosts),
        "topology": job.topology,
    }
    return [
        "".join(
            text + ("" if name is None else values[name])
            for text, name, _, _ in Formatter().parse(argument)
        )
        for argument in arguments
    ]


def _program_problem(program: str) -> str:
    if os.sep not in program:
        return "" if shutil.which(program) else f"program {program} is not on the PATH"
    if not Path(program).is_file():
        return f"program {program} does not exist"
    if not os.access(program, os.X_OK):
        return f"{program} cannot be executed; run chmod +x on it, or put its interpreter first"
    return ""
