"""Generated pages are in step with what they are generated from."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from routelab.cli import make_parser
from routelab.cluster.bench.comparison import FIGURE_COLUMNS, RUN_COLUMNS
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


def test_the_gallery_is_in_step(generator) -> None:
    text = generator.gallery_page(generator.installed_catalogue())
    assert (DOCS / "reference/gallery.md").read_text("utf-8") == text, "run `make pages`"


INTERNAL = {"batch", "batch-outcomes", "fingerprint"}
"""Kinds of formats that only the version that wrote them reads."""


def test_the_reference_lists_entry_points_formats_and_the_abi() -> None:
    text = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    groups = {name for name in entry_points().groups if name.startswith("routelab.")}
    assert groups == set(re.findall(r"`(routelab\.\w+)`", text))
    sources = (DOCS.parent / "src" / "routelab").rglob("*.py")
    formats = {
        name
        for path in sources
        for name in re.findall(r'^[A-Z_]+ = "([a-z-]+/\d+)"$', path.read_text(), re.MULTILINE)
        if name.partition("/")[0] not in INTERNAL
    }
    assert len(formats) > 8
    assert formats == set(re.findall(r"`([a-z-]+/\d+)` \|$", text, re.MULTILINE))
    assert f"ABI {hops.ABI}:" in text
    for name, signature in (("hop", hops.HOP), ("inject", hops.INJECT)):
        types = ", ".join(map(machine_type, signature.args))
        result = machine_type(signature.return_type)
        assert f"| `{name}` | `{hops._ARGUMENTS[name]}` | `{types}` | `{result}` |" in text


def machine_type(type_) -> str:
    if hasattr(type_, "ndim"):
        return f"{type_.dtype}[{', '.join(':' * type_.ndim)}]"
    if hasattr(type_, "instance_class"):
        return type_.instance_class.__name__
    return "function" if hasattr(type_, "get_call_type") else str(type_)


def test_every_plugin_has_its_place(generator) -> None:
    catalogue = generator.installed_catalogue()
    gallery, details = generator.gallery_page(catalogue), generator.plugins_page(catalogue)
    for entry in catalogue.entries():
        if entry.distribution == "routelab":
            assert f"\n| `{entry.key}` | " in gallery
            assert f"\n### {entry.key}\n" in details
    for name in re.findall(r"images/gallery/(\S+\.png)", details):
        assert (DOCS / "images" / "gallery" / name).stat().st_size > 1000


def test_the_columns_of_measurements_stand_in_the_page_of_artifacts():
    page = (DOCS / "concepts" / "artifacts.md").read_text(encoding="utf-8")
    for columns in (RUN_COLUMNS, FIGURE_COLUMNS):
        assert f"`{','.join(columns)}`" in page


def commands_of(text):
    """Arguments of ``routelab`` in indented lines and in blocks of the language ``sh``."""
    text = text.replace("\\\n", " ")
    fences = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for line in INDENTED.findall(text) + [line for text in fences for line in text.splitlines()]:
        if command := COMMAND.match(line):
            words = shlex.split(re.split(r" (?:\||\|\||>) ", command[1])[0], comments=True)
            yield [word for word in words if word != "..."]


def test_every_command_of_the_manual_is_one_of_routelab(generator, capsys):
    parser, wrong, count = make_parser(), [], 0
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    texts["commands"] = generator.commands_page()
    for name, text in texts.items():
        for words in commands_of(text):
            count += 1
            try:
                parser.parse_args(words)
            except SystemExit as ended:
                if ended.code:
                    wrong.append(f"{name}: {shlex.join(words)}: {capsys.readouterr().err}")
    assert wrong == []
    assert count > 150


def test_pictures_name_no_file_of_one_machine(generator):
    assert not [network for network, _ in generator.SHOWN.values() if "=/" in network]


def test_flow_charts_are_drawn_without_a_script(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    charts = importlib.import_module("flow_charts")
    text = (DOCS / "concepts/runs.md").read_text("utf-8")
    edges = re.findall(r"^ +(\w+) --> (\w+)$", text, re.MULTILINE)
    page = charts.on_page_markdown(text)
    assert "```mermaid" not in page
    drawing = page[page.index("<svg") : page.index("</svg>")]
    assert drawing.count("<path") == len(edges)
    names = {name for edge in edges for name in edge}
    assert sorted(re.findall(r"(\w+)</text>", drawing)) == sorted(names)


def test_the_job_for_ci_fails_when_routes_get_a_cycle(tmp_path):
    page = (DOCS / "how-to/check-in-ci.md").read_text()
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert block.count("\n") <= 12
    command = yaml.safe_load(block)["jobs"]["prove"]["steps"][-1]["run"]
    for lines, code, text in (
        ("A,C,B,C\nB,D,C,D\nC,A,D,A\nD,B,A,B\n", 1, "::error file=routes.csv::"),
        ("A,C,B,C\nC,A,B,A\n", 0, "proven"),
    ):
        (tmp_path / "routes.csv").write_text(f"source,target,switches\n{lines}")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        ended = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == code
        assert text in ended.stdout
        assert ("exit code 5" in ended.stdout) == bool(code)
