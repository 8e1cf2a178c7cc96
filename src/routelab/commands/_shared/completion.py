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
    """Write the completions of the words in ``COMP_LINE`` and end the process."""
    point = int(os.environ.get("COMP_POINT", len(os.environ["COMP_LINE"])))
    words = os.environ["COMP_LINE"].encode()[:point].decode(errors="ignore").split()
    for child in parser.commands.values():
        # options of engines take a second: only if the words have an option
        if child.prog.split()[-1] not in words or not any(word[0] == "-" for word in words):
            child.later = None
    for command in parser.descendants():
        for action in command.actions:
            if not action.choices and action.nargs != 0:
                action.completer = _completer(action)  # type: ignore[attr-defined]
    CompletionFinder()(parser, always_complete_options=False, exclude=HIDDEN)


def _completer(action: Any) -> Any:
    """Return what completes the values of an argument or option, as argcomplete calls it."""
    name, metavar = action.dest.removeprefix(PREFIX), action.metavar or ""
    if name in PLUGINS:
        return lambda **_: [
            point.name for kind in PLUGINS[name] for point in entry_points(group=f"routelab.{kind}")
        ]
    if name in FOLDERS:
        top = Path("config", FOLDERS[name])
        return lambda **_: [str(p.relative_to(top).with_suffix("")) for p in top.rglob("*.yaml")]
    if metavar.startswith("{"):
        return lambda **_: metavar.strip("{}").split(",")
    # a SuppressCompleter would hide the option itself
    return FilesCompleter() if metavar in PATHS else lambda **_: []
