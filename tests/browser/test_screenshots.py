"""The pictures of the report that the documentation shows."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.browser

IMAGES = Path(__file__).parents[2] / "docs/images"
STUDIES = {"route": "networks/index.html"}
"""Pages of the pictures that do not show the study of Angara."""
VIEWS = {
    "desktop": {"width": 1200, "height": 1150},
    "phone": {"width": 390, "height": 844},
    "dark": {"width": 1200, "height": 900, "prefers_color_scheme": "dark"},
    "route": {"width": 1200, "height": 900},
}
LARGEST = 300_000
SCROLL = """
const figure = document.querySelector(`#figure-${arguments[0]}`);
scrollTo(0, figure.getBoundingClientRect().top + scrollY - 12);
"""


def _choose_route(browser):
    source, target = browser.all("#figure-dragonfly .pair select")
    source.send_keys("g0.s2")
    target.send_keys("terminal 57")
    browser.js(SCROLL, "dragonfly")


@pytest.mark.parametrize("name", VIEWS)
def test_the_documentation_has_a_screenshot(browser, name, request):
    path = IMAGES / f"report-{name}.png"
    if request.config.getoption("update_screenshots"):
        browser.open(STUDIES.get(name, "angara-small/index.html"), **VIEWS[name])
        if name == "route":
            _choose_route(browser)
        elif name != "desktop":
            focus = "figure.querySelectorAll('svg[role=img]')[1].focus({focusVisible: true})"
            browser.js(SCROLL + focus, "torus")
        picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png()))
        picture.convert("RGB").quantize().save(path, optimize=True)
    with Image.open(path) as picture:
        assert picture.size == (VIEWS[name]["width"], VIEWS[name]["height"])
    assert path.stat().st_size < LARGEST
