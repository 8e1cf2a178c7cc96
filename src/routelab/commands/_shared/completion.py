"""Completion of the command line in shells; argcomplete talks to the shell.

Names of plugins come from the metadata of packages, without importing the plugins.
"""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from argcomplete.completers import FilesCompleter
from argcomplete.finders import CompletionFinder

from routelab.commands._shared.parser import Parser
from routelab.commands._shared.settings import PREFIX

HIDDEN = ("batch", "warm")
"""Commands that only the workflow calls."""

PATHS = ("FILE", "FOLDER", "DIR", "STUDY.yaml")
"""Arguments that are completed by files and folders."""

PLUGINS = {
    "topology": ("topology",),
    "routing": ("routing", "selection"),
    "routings": ("routing", "selection"),
    "baseline": ("routing",),
    "rules": ("rules",),
    "work": ("traffic", "workload"),
    "workload": ("workload",),
    "export": ("export",),
    "routes": ("topology", "routing"),
    "benchmark": ("benchmark",),
    "engine": ("engine",),
    "metrics": ("metric",),
    "plugin": ("topology", "routing", "rules", "selection", "layers", "metric", "traffic"),
}
"""Kinds of the plugins that an argument or option names."""

FOLDERS = {"machine": "clusters", "cluster": "clusters", "study": "studies", "files": "studies"}
"""Folders of config with the files that an argument or option names."""


def complete(parser: Parser) -> None:
    """Write the completions of the command line in ``COMP_LINE`` and end the process."""
    # 1. The words before the cursor, whose position is in bytes.
    cursor = int(os.environ.get("COMP_POINT", len(os.environ["COMP_LINE"])))
    words = os.environ["COMP_LINE"].encode()[:cursor].decode(errors="ignore").split()
    # 2. The options of all engines take a second to determine. They are needed only if their
    #    command is among the words, and an option, as words without one are arguments.
    has_option = any(word[0] == "-" for word in words)
    for name, child in parser.commands.items():
        if name not in words or not has_option:
            child.add_late_options = None
    # 3. What completes each argument. argcomplete itself completes choices; flags have no value.
    for command in parser.descendants():
        for action in command.actions:
            is_flag = action.nargs == 0
            if not action.choices and not is_flag:
                action.completer = _completer(action)  # type: ignore[attr-defined]
    CompletionFinder()(parser, always_complete_options=False, exclude=HIDDEN)


def _completer(action: Any) -> Any:
    """Return the function with which argcomplete lists the values of an argument or option.

    argcomplete passes what is typed so far by keywords (``**_``). The functions here list all
    values, and argcomplete itself drops those that do not begin with the typed text.
    """
    name, metavar = action.dest.removeprefix(PREFIX), action.metavar or ""
    # 1. Names of plugins, which are names of entry points such as those of "routelab.topology".
    if name in PLUGINS:
        groups = [f"routelab.{kind}" for kind in PLUGINS[name]]
        return lambda **_: [entry.name for group in groups for entry in entry_points(group=group)]
    # 2. Names of files: config/studies/examples/ring.yaml is the study examples/ring.
    if name in FOLDERS:
        top = Path("config", FOLDERS[name])
        return lambda **_: [
            str(path.relative_to(top).with_suffix("")) for path in top.rglob("*.yaml")
        ]
    # 3. Choices of a setting, which only its placeholder in the help lists, as in `{a,b}`.
    if metavar.startswith("{"):
        return lambda **_: metavar.strip("{}").split(",")
    # 4. Paths, or nothing: argcomplete's SuppressCompleter would hide the option itself.
    return FilesCompleter() if metavar in PATHS else lambda **_: []
