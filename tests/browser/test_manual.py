"""The manual as a reader opens it from a disk: search, themes, copy buttons, narrow screens."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Browser

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
"""Pages with long lines, wide tables and pictures."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The manual, built with its own settings."""
    pytest.importorskip("material", reason="needs the theme: pip install 'routelab[docs]'")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder)))
    return folder


@pytest.fixture
def manual(_driver, site):
    """Chromium for pages of the manual, its logs empty."""
    page = Browser(_driver, site)
    _driver.get("about:blank")  # the page of the last test may still be loading pictures
    page.requests()
    page.complaints()
    return page


# results are replaced while one types: so they are found and used in one step
FOUND = """
const titles = [...document.querySelectorAll(".md-search-result__item h1")];
return titles.some((title) => title.textContent.includes("latency curve"));
"""
FOLLOW = "document.querySelector('.md-search-result__link').click()"


def test_search_finds_a_page_without_a_server(manual):
    manual.open("index.html")
    manual.element(".md-search__input").send_keys("latency curve")
    manual.wait(lambda: manual.js(FOUND))
    index = manual.driver.current_url
    manual.js(FOLLOW)
    manual.wait(lambda: manual.driver.current_url != index)
    assert manual.driver.current_url.startswith("file://")
    assert all(url.startswith(("file:", "data:", "about:")) for url in manual.requests())
    assert manual.complaints() == []
