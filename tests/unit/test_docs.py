"""Generated pages are in step with what they are generated from."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from routelab.bench.comparison import FIGURE_COLUMNS, RUN_COLUMNS

DOCS = Path(__file__).parents[2] / "docs"

pytestmark = pytest.mark.builtins


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_in_step(generator) -> None:
    for path, text in generator.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make pages`"


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
