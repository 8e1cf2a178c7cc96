"""The first page and the published results show what was found, and its plugin works."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

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
        assert sum(shown) == sum(one["numbers"] for one in facts["published"]), study


def test_every_published_study_is_in_the_manual(publish):
    listed = re.findall(r": results/([\w-]+)\.md", (ROOT / "mkdocs.yml").read_text("utf-8"))
    assert listed == list(publish.texts())
    assert all((ROOT / f"config/studies/{study}.yaml").is_file() for study in listed)
    assert README.count("](docs/results/") == 8  # six results, the picture, all results


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
