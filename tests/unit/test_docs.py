"""Generated pages are in step with what they are generated from."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import pytest

import routelab
from routelab.bench.comparison import FIGURE_COLUMNS, RUN_COLUMNS
from routelab.cli import make_parser
from routelab.commands._shared.arguments import add_format_option
from routelab.kernels import hops

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
INDENTED = re.compile(r"^    (.+)$", re.MULTILINE)
COMMAND = re.compile(r"(?:\.venv/bin/)?routelab (.+)")


@pytest.fixture(scope="module")
def generator():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        return importlib.import_module("generate")


def test_generated_pages_are_in_step(generator) -> None:
    for path, text in generator.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make pages`"


@pytest.mark.slow
def test_the_json_output_of_every_command_is_as_listed(generator) -> None:
    assert generator.JSON_PAGE.read_text(encoding="utf-8") == generator.json_page(), (
        "the keys or types of a JSON output have changed: run `make pages`"
    )


def test_every_command_with_json_output_is_listed() -> None:
    page = (DOCS / "reference" / "json.md").read_text(encoding="utf-8")
    commands = [
        parser.prog
        for parser in make_parser().descendants()
        if "json" in (getattr(parser.options.get("--format"), "choices", None) or ())
    ]
    # what `schema` prints is the schema itself
    listed = {command for command in commands if not command.endswith(" schema")}
    assert set(re.findall("^## (.*)$", page, re.MULTILINE)) == listed
    assert len(listed) > 15


def more(self, table, channel):
    """Stand for a method with another parameter."""


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        (routelab, "route", lambda topology: None),
        (routelab.api.RouteTable, "loads", more),
        (
            importlib.import_module("routelab.deadlock.certificate"),
            "FORMAT",
            "deadlock-certificate/3",
        ),
        (hops, "ABI", 3),
        (hops, "HOP", hops.INJECT),
    ],
)
def test_a_change_of_an_interface_is_noticed(generator, monkeypatch, owner, name, value) -> None:
    before = generator.api_page()
    monkeypatch.setattr(owner, name, value, raising=False)
    assert generator.api_page() != before


def test_every_format_is_listed_or_internal() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        page = importlib.import_module("api_page")
    text = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    sources = (DOCS.parent / "src" / "routelab").rglob("*.py")
    formats = {
        name
        for path in sources
        for name in re.findall(r'^[A-Z_]+ = "([a-z-]+/\d+)"$', path.read_text(), re.MULTILINE)
    }
    assert len(formats) > 10
    for name in formats:
        assert f"`{name}`" in text or name.partition("/")[0] in page.INTERNAL, name


def test_a_changed_option_is_noticed(generator, monkeypatch) -> None:
    before = generator.commands_page()
    monkeypatch.setattr(add_format_option, "__defaults__", ("csv",))
    assert generator.commands_page() != before


def test_a_changed_key_of_json_is_noticed(generator) -> None:
    pages = importlib.import_module("json_page")
    before = pages.output_of("cluster list")
    changed = before | {"[].nodes": {"integer"}}
    assert before["[].nodes"] == {"text"}
    page = generator.JSON_PAGE.read_text(encoding="utf-8")
    assert pages.json_section("cluster list", before) in page
    assert pages.json_section("cluster list", changed) not in page


def test_every_plugin_and_command_has_its_place(generator) -> None:
    gallery = generator.gallery_page(generator.installed_catalogue())
    for entry in generator.installed_catalogue().entries():
        if entry.distribution == "routelab":
            assert f"\n### {entry.key}\n" in gallery
    for name in re.findall(r"images/gallery/(\S+\.png)", gallery):
        assert (DOCS / "images" / "gallery" / name).stat().st_size > 1000


def test_the_columns_of_measurements_stand_in_the_page_of_artifacts():
    page = (DOCS / "concepts" / "artifacts.md").read_text(encoding="utf-8")
    for columns in (RUN_COLUMNS, FIGURE_COLUMNS):
        assert f"`{','.join(columns)}`" in page


def commands_of(page):
    """Arguments of ``routelab`` in indented lines and in blocks of the language ``sh``."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    fences = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for line in INDENTED.findall(text) + [line for text in fences for line in text.splitlines()]:
        if command := COMMAND.match(line):
            words = shlex.split(command[1].split(" | ")[0].split(" > ")[0], comments=True)
            yield [word for word in words if word != "..."]


def test_every_command_of_the_manual_is_one_of_routelab(capsys):
    parser, wrong, found = make_parser(), [], 0
    for page in PAGES:
        for words in commands_of(page):
            found += 1
            try:
                parser.parse_args(words)
            except SystemExit as ended:
                if ended.code:
                    wrong.append(f"{page.name}: {shlex.join(words)}: {capsys.readouterr().err}")
    assert wrong == []
    assert found > 150


def test_pictures_name_no_file_of_one_machine(generator):
    assert not [network for network, _ in generator.SHOWN.values() if "=/" in network]
