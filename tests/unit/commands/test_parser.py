"""The parser: typing errors, and help that begins with examples that work."""

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


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("evalute", "'evalute'"),
        ("evalute", "; did you mean 'evaluate'?"),
        ("cluster chek", "; did you mean 'check'?"),
        ("evaluate a b --fromat csv", "--fromat csv; did you mean '--format'?"),
        ("simulate a b c --loads=0.3", "--loads=0.3; did you mean '--load'?"),
        ("plugins list --form csv", "--form"),
        ("simulate a b c --se 3", "--se"),
    ],
)
def test_typing_errors_and_abbreviations_are_refused(line: str, text: str, capsys) -> None:
    """An abbreviation would mean something else as soon as a plugin adds an option."""
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert text in err.splitlines()[-1]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_valid_command(example: str) -> None:
    command = example.partition("#")[0].strip()
    if inner := re.search(r"\$\((.*)\)|(.*)\|", command):
        command = inner[1] or inner[2]
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
