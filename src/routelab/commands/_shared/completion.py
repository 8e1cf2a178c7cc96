"""Completion of the command line in shells; argcomplete talks to the shell.

Names of plugins come from the metadata of packages, without importing the plugins; only the
parameters of a plugin (after ``~``) need it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from argcomplete.completers import FilesCompleter
from argcomplete.finders import CompletionFinder

from routelab.commands._shared.parser import Parser
from routelab.commands._shared.settings import PREFIX

Completer = Callable[[str], Iterable[str]]
"""Maps the beginning of a word to the possible words."""

HIDDEN = ("batch", "warm")
"""Commands that only the workflow calls."""

PATHS = ("FILE", "FOLDER", "DIR", "STUDY.yaml")
"""Arguments that are completed by files and folders."""

GROUP = "routelab."


def complete(parser: Parser) -> None:
    """Write the completions of the words in ``COMP_LINE`` and end the process."""
    point = int(os.environ.get("COMP_POINT", len(os.environ["COMP_LINE"])))
    words = os.environ["COMP_LINE"].encode()[:point].decode(errors="ignore").split()
    Parser.strict = False
    for child in parser.commands.values():
        # options of engines take a second: only if the words have an option
        if child.prog.split()[-1] not in words or not any(word[0] == "-" for word in words):
            child.later = None
    for one in parser.descendants():
        for action in one.actions:
            if not action.choices and action.nargs != 0:
                action.completer = _completer(one.prog, action)  # type: ignore[attr-defined]
    Finder()(parser, always_complete_options=False, exclude=HIDDEN)


class Finder(CompletionFinder):
    """Finds completions; in bash, also of words with ``@``."""

    def quote_completions(
        self, completions: list[str], cword_prequote: str, last_wordbreak_pos: int | None
    ) -> list[str]:
        """Return what the shell puts in place of the word, or of its part after a word break.

        Readline counts an ``@`` to the part after it, unlike other word breaks.
        """
        if last_wordbreak_pos is not None and completions:
            last_wordbreak_pos -= completions[0].startswith("@", last_wordbreak_pos)
        return super().quote_completions(completions, cword_prequote, last_wordbreak_pos)


def _completer(prog: str, action: Any) -> Any:
    """Return what completes the values of an argument or option, as argcomplete calls it."""
    name = action.dest.removeprefix(PREFIX)
    known = COMPLETERS.get(f"{prog} {name}") or COMPLETERS.get(name)
    if known is not None:
        return lambda prefix, **_: _with_files(known, prefix)
    if (action.metavar or "").startswith("{"):
        return lambda **_: action.metavar.strip("{}").split(",")
    # a SuppressCompleter would hide the option itself
    return FilesCompleter() if action.metavar in PATHS else lambda **_: []


def _with_files(known: Completer, prefix: str) -> list[str]:
    """Return words, and files if the word is a path."""
    files = FilesCompleter()(prefix) if "/" in prefix or prefix.startswith(".") else ()
    return [*known(prefix), *files]


def _keys(kind: str) -> list[str]:
    return sorted(point.name for point in entry_points(group=GROUP + kind))


def _names(*kinds: str) -> Completer:
    """Return a completer of instance names, with parameters and their values."""

    def complete_name(prefix: str) -> Iterable[str]:
        for kind in kinds:
            if "~" in prefix:
                yield from _parameters(kind, prefix)
            else:
                yield from _keys(kind)

    return complete_name


def _routing(prefix: str) -> Iterable[str]:
    """Complete routings and compositions such as ``sssp@angara~turns=exact``."""
    before, at, part = prefix.rpartition("@")
    kind = ("routing", "rules", "layers")[min(before.count("@") + bool(at), 2)]
    if "~" in part:
        kinds = (kind,) if at else ("routing", "selection")
        for one in kinds:
            yield from (before + at + text for text in _parameters(one, part))
        return
    yield from (before + at + key for key in _keys(kind))
    if not at and prefix:
        rules = _keys("rules")
        yield from (f"{key}@{rule}" for key in _keys("selection") for rule in rules)


def _parameters(kind: str, prefix: str) -> Iterable[str]:
    """Complete the parameters after ``NAME~``."""
    from routelab.api import InputError
    from routelab.registry.catalogue import installed_catalogue
    from routelab.registry.instances import parameter_rows

    key, _, text = prefix.partition("~")
    before, comma, last = text.rpartition(",")
    begin = f"{key}~{before}{comma}"
    catalogue = installed_catalogue()
    if key not in catalogue.keys(kind):
        return
    try:
        rows = parameter_rows(catalogue.plugin(kind, key), catalogue)
    except InputError:
        return
    for row in rows:
        if not last.startswith(f"{row.name}="):
            yield f"{begin}{row.name}="
        elif " | " in row.type:
            yield from (f"{begin}{row.name}={value}" for value in row.type.split(" | "))


def _plugin(prefix: str) -> Iterable[str]:
    """Complete ``NAME`` or ``KIND/NAME``."""
    kinds = _kinds()
    if "/" in prefix:
        return [f"{kind}/{key}" for kind in kinds for key in _keys(kind)]
    return [*(key for kind in kinds for key in _keys(kind)), *(f"{kind}/" for kind in kinds)]


def _kinds(prefix: str = "") -> list[str]:
    groups = [group for group in entry_points().groups if group.startswith(GROUP)]
    return sorted({group.removeprefix(GROUP) for group in groups} - {"columns"})


def _metrics(prefix: str) -> Iterable[str]:
    before, plus, _ = prefix.rpartition("+")
    return [before + plus + key for key in _keys("metric")]


def _files_of(folder: str) -> Completer:
    """Return a completer of the names of the YAML files in a folder of config."""

    def complete_file(prefix: str) -> Iterable[str]:
        top = Path("config", folder)
        return [
            str(file.relative_to(top).with_suffix("")) for file in sorted(top.glob("**/*.yaml"))
        ]

    return complete_file


def _either(*completers: Completer) -> Completer:
    return lambda prefix: [word for one in completers for word in one(prefix)]


COMPLETERS: dict[str, Completer] = {
    "topology": _names("topology"),
    "routing": _routing,
    "routings": _routing,
    "baseline": _routing,
    "rules": _names("rules"),
    "work": _names("traffic", "workload"),
    "workload": _names("workload"),
    "export": _names("export"),
    "routes": _either(_names("topology"), _routing),
    "benchmark": _names("benchmark"),
    "engine": _names("engine"),
    "metrics": _metrics,
    "plugin": _plugin,
    "kind": _kinds,
    "machine": _files_of("clusters"),
    "cluster": _files_of("clusters"),
    "study": _files_of("studies"),
    "files": _files_of("studies"),
    "routelab cluster check name": _files_of("clusters"),
    "routelab cluster show name": _files_of("clusters"),
    "routelab bench parse name": _names("benchmark"),
}
"""By the name of an argument or option, after the command if the name alone is ambiguous."""
