"""Accessibility of every page, by the rules of axe-core."""

from __future__ import annotations

from importlib.resources import files

import pytest

pytestmark = pytest.mark.browser

PAGES = ("index.html", "values.html", "angara-small/index.html", "sizes/index.html")
SERIOUS = ("serious", "critical")
RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then((found) => done(found.violations));
"""


@pytest.fixture(scope="module")
def axe() -> str:
    """Return the script of axe-core."""
    package = pytest.importorskip(
        "axe_playwright_python", reason="needs axe-core: pip install 'routelab[browser]'"
    )
    return (files(package) / "axe.min.js").read_text()


def serious_findings(browser, axe):
    """Return rule, element and advice of each serious finding on the open page."""
    browser.js(axe)
    return [
        (finding["id"], node["html"][:200], node["failureSummary"])
        for finding in browser.driver.execute_async_script(RUN)
        if finding["impact"] in SERIOUS
        for node in finding["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_serious_finding(browser, axe, page, width, scheme):
    browser.open(page, width, prefers_color_scheme=scheme)
    assert serious_findings(browser, axe) == []
