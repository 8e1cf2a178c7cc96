"""Completion of commands, options and names, as bash asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from routelab.commands._shared.completion import HIDDEN

REPOSITORY = Path(__file__).parents[3]
BREAKS = " \t\n\"'@><=;|&(:"
"""Default of COMP_WORDBREAKS in bash."""


def completions(line: str, code: str = "") -> list[str]:
    """Return bash completions of a line, without the part before the last word break."""
    read, write = os.pipe()
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_SHELL": "bash",
        "_ARGCOMPLETE_COMP_WORDBREAKS": BREAKS,
        "_ARGCOMPLETE_IFS": "\v",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    run = f"{code}\nimport os\nos.dup2({write}, 8)\nfrom routelab.cli import main\nmain()"
    subprocess.run(
        [sys.executable, "-c", run],
        env=environment,
        pass_fds=[write],
        cwd=REPOSITORY,
        check=True,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as answer:
        return [word.rstrip() for word in answer.read().split("\v") if word]


def test_commands_are_completed_without_those_of_the_workflow() -> None:
    offered = completions("routelab ")
    assert {"evaluate", "simulate", "plugins", "completion"} <= set(offered)
    assert not set(HIDDEN) & set(offered)
    assert completions("routelab eval") == ["evaluate"]
    assert completions("routelab plugins l") == ["list"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("routelab evaluate to", ["torus"]),
        ("routelab evaluate torus~dims=4 dor dfs", ["dfsssp"]),
        ("routelab simulate torus~dims=4 dor uni", ["uniform"]),
        ("routelab simulate t d u --loa", ["--load"]),
        ("routelab simulate t d u --priority ra", ["random"]),
        ("routelab simulate t d u --machine des", ["desmos"]),
        ("routelab simulate t d u --format c", ["csv"]),
        ("routelab plugins show dfs", ["dfsssp"]),
        ("routelab study check angara-ta", ["angara-table2"]),
        ("routelab completion z", ["zsh"]),
        ("routelab topology torus~dims=4 -o READ", ["README.md"]),
        ("routelab evaluate torus~dims=4 nothing-like-this", []),
        ("routelab simulate t d u --unknown 3 --loa", ["--load"]),
    ],
)
def test_names_options_and_values_are_completed(line: str, words: list[str]) -> None:
    assert completions(line) == words


def test_completion_of_commands_and_names_imports_nothing_heavy() -> None:
    """A second for every press of the tab key would be too long."""
    heavy = ("numpy", "numba", "pydantic", "rich", "pandas", "routelab.api")
    code = (
        "import os, sys\n"
        "end = os._exit\n"
        f"os._exit = lambda c: end(c + any(name in sys.modules for name in {heavy!r}))"
    )
    for line in ("routelab ev", "routelab evaluate to", "routelab plugins show d"):
        completions(line, code)
