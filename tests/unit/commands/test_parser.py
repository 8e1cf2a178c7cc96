"""The parser: suggestions for typing errors, and help that begins with examples that work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from routelab.cli import main, make_parser
from routelab.commands._shared.completion import HIDDEN

PARSERS = {
    parser.prog: parser
    for parser in make_parser().descendants()
    if not set(HIDDEN) & set(parser.prog.split())
}
"""All parsers by command."""

EXAMPLES = [example for parser in PARSERS.values() for example in parser.examples]


def message(capsys, *arguments: str) -> str:
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.rstrip("\n")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("evalute", "routelab: error: unknown command 'evalute'; did you mean 'evaluate'?"),
        ("zzzz", "routelab: error: unknown command 'zzzz' (see `routelab --help`)"),
        ("cluster chek", "routelab cluster: error: unknown action 'chek'; did you mean 'check'?"),
        ("plugins lst", "routelab plugins: error: unknown action 'lst'; did you mean 'list'?"),
        ("bench prase a", "routelab bench: error: unknown action 'prase'; did you mean 'parse'?"),
        (
            "evaluate a b --fromat csv",
            "routelab evaluate: error: unknown option '--fromat'; did you mean '--format'?",
        ),
        (
            "plugins list --formt=csv",
            "routelab plugins list: error: unknown option '--formt'; did you mean '--format'?",
        ),
        ("topology a --zz", "unknown option '--zz' (see `routelab topology --help`)"),
        ("simulate a b c --se 3", "unknown option '--se'; did you mean '--seed' or '--seeds'?"),
    ],
)
def test_typing_errors_have_suggestions(line: str, text: str, capsys) -> None:
    assert message(capsys, *line.split()).endswith(text)


def test_options_are_never_abbreviated(capsys) -> None:
    """An abbreviation would mean something else as soon as a plugin adds an option."""
    assert "did you mean '--format'?" in message(capsys, "plugins", "list", "--form", "csv")
    assert all(not parser.allow_abbrev for parser in PARSERS.values())


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_valid_command(example: str) -> None:
    command = example.partition("#")[0].strip()
    if found := re.search(r"\$\((.*)\)|(.*)\|", command):
        command = found[1] or found[2]
    program, *words = shlex.split(command)
    assert program == "routelab"
    assert callable(make_parser().parse_args(words).run)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_names_in_examples_exist(example: str) -> None:
    from routelab.registry.catalogue import installed_catalogue
    from routelab.registry.instances import load, load_routing

    if "completion" in example or "plugins new" in example:
        return
    words = shlex.split(example)[1:]
    values = vars(make_parser().parse_args(words))
    kinds = ("topology", "rules", "workload", "export", "engine")
    for kind in kinds:
        if values.get(kind):
            load(kind, values[kind])
    for name in values.get("routings", [values.get("routing")]):
        if isinstance(name, str):
            load_routing(name)
    if "work" in values:
        assert values["work"].partition("~")[0] in (
            *installed_catalogue().keys("traffic"),
            *installed_catalogue().keys("workload"),
        )
    if values.get("kind"):
        assert installed_catalogue().keys(values["kind"])
    for word in words:
        if word.startswith("config/"):
            assert (Path(__file__).parents[3] / word).is_file()
