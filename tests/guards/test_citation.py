"""``CITATION.cff`` is valid and agrees with the package, the cited works and the manual."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import routelab
from routelab_plugins import works

ROOT = Path(__file__).parents[2]
KEYS = ("mukosey2020", "camarero2022", "mejia2005", "shastry2016")
TYPES = {"article", "conference-paper", "generic", "report", "software"}
"""Types of references of the format, of those that are used here."""
NAMES = ({"name"}, {"family-names", "given-names"})


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_required_fields_are_there_and_have_the_types_of_the_format(citation):
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert "date-released" not in citation or re.fullmatch(
        r"\d{4}-\d\d-\d\d", str(citation["date-released"])
    )
    for work in (citation, citation["preferred-citation"], *citation["references"]):
        assert isinstance(work["title"], str)
        assert work["type"] in TYPES
        assert all(set(author) in NAMES for author in work["authors"])
        assert isinstance(work.get("year", 2000), int)
        assert all(isinstance(work.get(name, ""), str) for name in ("doi", "issue", "start"))


def test_it_is_about_this_version(citation):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for work in (citation, citation["preferred-citation"]):
        assert work["version"] == routelab.__version__
        assert work["license"] == project["license"]
        assert work["authors"] == project["authors"]
        assert work["title"] == citation["title"]


def test_the_papers_are_those_of_the_published_numbers(citation):
    assert {path.name for path in (ROOT / "config" / "references").iterdir()} == set(KEYS)
    for key, listed in zip(KEYS, citation["references"], strict=True):
        known = getattr(works, key.upper())("numbers")
        names = [
            f"{author['family-names']}, {author['given-names']}" for author in listed["authors"]
        ]
        assert known.text.startswith(f"{'; '.join(names)}. {listed['title']}. ")
        assert known.text.endswith(str(listed.get("year", "")))
        assert listed.get("doi", "") == known.doi


def test_the_manual_cites_the_same_software(citation):
    page = (ROOT / "docs" / "how-to" / "cite.md").read_text(encoding="utf-8")
    (entry,) = re.findall(r"```bibtex\n(.*?)```", page, re.DOTALL)
    plain = entry.replace("{", "").replace("}", "")
    assert f"title = {citation['title']}," in plain
    assert f"author = {citation['authors'][0]['name']}," in plain
