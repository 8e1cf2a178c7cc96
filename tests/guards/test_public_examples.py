"""The examples in the docstrings of public names run, and show what they say."""

from __future__ import annotations

import doctest
import inspect

import pytest

import routelab
import routelab.api
import routelab.toolkit

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (routelab, routelab.api, routelab.toolkit)
    for name in module.__all__
}
EXAMPLES = {
    name: test
    for name, thing in PUBLIC.items()
    if inspect.isclass(thing) or inspect.isfunction(thing)
    for test in doctest.DocTestFinder(recurse=False).find(thing, name, globs={})
    if test.examples
}


def test_many_public_names_have_examples():
    assert len(EXAMPLES) >= 40
    without_output = [n for n, t in EXAMPLES.items() if not any(e.want for e in t.examples)]
    assert without_output == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_shows_what_happens(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = []
    results = doctest.DocTestRunner().run(EXAMPLES[name], out=said.append)
    assert results.failed == 0, "".join(said)
