"""The first page and the published results show what was found, and its plugin works."""

from __future__ import annotations

import csv
import importlib
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import yaml

from routelab.deadlock import check_table
from routelab.registry.instances import load
from routelab.toolkit import build_grid

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def publish():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        return importlib.import_module("publish")


def test_pages_of_results_are_made_of_the_kept_results(publish):
    for path, text in publish.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run docs/publish.py"


def test_a_page_counts_all_numbers_that_a_paper_published(publish):
    for study in publish.texts():
        facts = json.loads((ROOT / f"docs/results/{study}/result.json").read_text("utf-8"))
        page = (ROOT / f"docs/results/{study}.md").read_text("utf-8")
        shown = [int(count) for count in re.findall(r": \d+ of (\d+) published numbers are", page)]
        assert sum(shown) == sum(paper["numbers"] for paper in facts["published"]), study


def test_the_table_over_all_studies_has_every_value_of_the_kept_answers(publish):
    page = (ROOT / "docs/results/values.md").read_text("utf-8")
    for study in publish.texts():
        declared = yaml.safe_load((ROOT / f"config/studies/{study}.yaml").read_text("utf-8"))
        table, value = declared["headline"]["table"], declared["headline"]["value"]
        with (ROOT / f"docs/results/{study}/{table}.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        pivot = declared["tables"][table].get("pivot", {}).get("value")
        others = {*declared["tables"][table]["rows"], *declared["tables"][table].get("values", ())}
        names = {
            name
            for name in lines[0]
            if (name not in others if pivot == value else name.startswith(f"{value} ("))
            or (pivot is None and name == value)
        }
        kept = [float(line[name]) for line in lines for name in sorted(names) if line[name]]
        rows = [line.split(" | ") for line in page.splitlines() if f"({study}.md)" in line]
        shown = [float(row[5]) for row in rows]
        assert len(shown) == len(kept) > 0, study
        assert sorted(shown) == pytest.approx(sorted(kept), rel=0.01, abs=0.06), study


def test_small_pictures_are_small_and_say_what_they_show(publish):
    index = (ROOT / "docs/results/index.md").read_text("utf-8")
    pictures = re.findall(r"!\[(.+?)\]\((\S+?/preview\.svg)\)", index)
    assert [path.partition("/")[0] for _, path in pictures] == list(publish.texts())
    for _, path in pictures:
        picture = ROOT / "docs/results" / path
        shapes = ET.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}path")
        assert sum("style" in shape.attrib for shape in shapes) > 5, path
        assert picture.stat().st_size < min(50_000, picture.with_name("figure.svg").stat().st_size)


def test_every_published_study_is_in_the_manual(publish):
    listed = re.findall(r": results/([\w-]+)\.md", (ROOT / "mkdocs.yml").read_text("utf-8"))
    listed.remove("instances")  # the benchmark
    assert listed == list(publish.texts())
    assert all((ROOT / f"config/studies/{study}.yaml").is_file() for study in listed)
    assert (
        README.count("](docs/results/") == 10
    )  # seven results, the picture, all results, the benchmark


def test_the_plugin_of_the_readme_makes_shortest_legal_routes():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert code.count("\n") <= 42
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    topology = build_grid("mesh", (4, 3), wrap=False)
    graph = load("rules", "angara").routing_graph(topology)
    tables = [names["RandomShortest"](seed=seed).select(graph) for seed in (0, 1)]
    shortest = load("selection", "sssp").select(graph)
    for table in tables:
        assert check_table(table).proven
        assert np.array_equal(table.path_length, shortest.path_length)
    assert not np.array_equal(tables[0].hop_channel, tables[1].hop_channel)
