"""Completion in bash, zsh and fish, as their users get it."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from routelab.cli import main, make_parser
from routelab.commands._shared.completion import COMPLETERS, HIDDEN

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
    found = completions("routelab ")
    assert {"evaluate", "simulate", "plugins", "completion"} <= set(found)
    assert not set(HIDDEN) & set(found)
    assert completions("routelab eval") == ["evaluate"]
    assert completions("routelab plugins l") == ["list"]
    assert completions("routelab bench p") == ["parse"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("routelab evaluate to", ["torus"]),
        ("routelab evaluate torus~dims=4 dfs", ["dfsssp"]),
        ("routelab evaluate torus~dims=4 dor dfs", ["dfsssp"]),
        ("routelab evaluate torus~sh", ["torus~shape="]),
        ("routelab evaluate torus~dims=4,sh", ["4,shape="]),
        ("routelab evaluate torus~dims=4,shape=b", ["box"]),
        ("routelab evaluate torus~dims=4 sssp@an", ["@angara"]),
        ("routelab evaluate torus~dims=4 p-sssp@unrestricted@cy", ["@cycle-breaking"]),
        ("routelab evaluate torus~dims=4 sssp@angara~turns=e", ["exact"]),
        ("routelab evaluate t d --metrics channel-load+route-l", ["channel-load+route-length"]),
        ("routelab simulate torus~dims=4 dor uni", ["uniform"]),
        ("routelab simulate torus~dims=4 dor npb-c", ["npb-cg"]),
        ("routelab simulate t d u --loa", ["--load"]),
        ("routelab simulate t d u --priority ra", ["random"]),
        ("routelab simulate t d u --engine pa", ["packet"]),
        ("routelab simulate t d u --machine des", ["desmos"]),
        ("routelab simulate t d u --format c", ["csv"]),
        ("routelab plugins list top", ["topology"]),
        ("routelab plugins show routing/dfs", ["routing/dfsssp"]),
        ("routelab plugins show dfs", ["dfsssp"]),
        ("routelab cluster check des", ["desmos"]),
        ("routelab cluster check desmos --benchmark np", ["npb"]),
        ("routelab study check angara-ta", ["angara-table2"]),
        ("routelab bench parse np", ["npb"]),
        ("routelab bench --cluster des", ["desmos"]),
        ("routelab completion z", ["zsh"]),
        ("routelab bench parse npb READ", ["README.md"]),
        ("routelab topology torus~dims=4 -o READ", ["README.md"]),
        ("routelab topology ./READ", ["./README.md"]),
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


def test_nothing_of_it_is_imported_otherwise() -> None:
    code = (
        "import sys; from routelab.cli import main; main(['--version']); "
        "print([name for name in sys.modules if 'complet' in name and 'commands.completion' "
        "not in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "[]"


def test_every_completer_belongs_to_an_argument() -> None:
    known = set()
    for parser in make_parser().descendants():
        for action in parser.actions:
            name = action.dest.removeprefix("setting_")
            known |= {name, f"{parser.prog} {name}"}
    # `study` is the argument of a command that names studies
    assert set(COMPLETERS) <= known | {"study"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_code_for_the_shell(shell: str, capsys) -> None:
    assert main(["completion", shell]) == 0
    assert "routelab" in capsys.readouterr().out


@pytest.fixture
def path(tmp_path) -> dict[str, str]:
    """Environment with a command ``routelab``."""
    program = tmp_path / "bin" / "routelab"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m routelab "$@"\n')
    program.chmod(0o755)
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "TERM": "dumb"}
    return {**os.environ, **home, "PATH": f"{program.parent}:{os.environ['PATH']}"}


SETUP = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(routelab completion bash)"'),
    "zsh": (
        ["zsh", "-f", "-i"],
        'autoload -U compinit; compinit -u -D; eval "$(routelab completion zsh)"',
    ),
}
TYPED = [
    ("routelab eval", "routelab evaluate"),
    ("routelab evaluate torus~dims=4 dfs", "routelab evaluate torus~dims=4 dfsssp"),
    ("routelab evaluate torus~dims=4 sssp@an", "routelab evaluate torus~dims=4 sssp@angara"),
    ("routelab evaluate torus~sh", "routelab evaluate torus~shape="),
    ("routelab plugins list --form", "routelab plugins list --format"),
    ("routelab plugins list --format c", "routelab plugins list --format csv"),
]


@pytest.mark.parametrize("shell", ["bash", pytest.param("zsh", marks=pytest.mark.thorough)])
def test_the_tab_key_completes(shell: str, path) -> None:
    """The keys of a person: a word, tab, then ctrl-a and `echo`, which shows the line."""
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    command, setup = SETUP[shell]
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(REPOSITORY)
        os.execvpe(command[0], command, path)
    try:
        os.write(terminal, f"PS1='> '; {setup}; echo rea''dy\n".encode())
        text = _read_until(terminal, "\nready")
        for typed, expected in TYPED:
            os.write(terminal, f"{typed}\t\x01echo GOT \x05; echo do''ne\n".encode())
            text = _read_until(terminal, "\ndone")
            assert f"GOT {expected}" in text.replace("\r", ""), text
    finally:
        os.write(terminal, b"\x03exit\n")
        os.close(terminal)
        os.waitpid(process, 0)


def _read_until(terminal: int, end: str) -> str:
    text, deadline = "", time.monotonic() + 60
    while end not in text.replace("\r", ""):
        ready, _, _ = select.select([terminal], [], [], deadline - time.monotonic())
        assert ready, f"no answer: {text}"
        text += os.read(terminal, 65536).decode(errors="replace")
    return text


@pytest.mark.thorough
def test_fish_completes(path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("needs fish")
    for typed, expected in TYPED:
        done = subprocess.run(
            [
                "fish",
                "--no-config",
                "-c",
                f"routelab completion fish | source; complete -C '{typed}'",
            ],
            capture_output=True,
            text=True,
            env=path,
            cwd=REPOSITORY,
            timeout=60,
            check=True,
        )
        words = [line.split("\t")[0] for line in done.stdout.splitlines()]
        assert expected.split()[-1] in words, (typed, done.stdout, done.stderr)
