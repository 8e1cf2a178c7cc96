"""The pictures of the report that the documentation shows."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.browser

IMAGES = Path(__file__).parents[2] / "docs/images"
VIEWS = {
    "desktop": {"width": 1200, "height": 1150},
    "phone": {"width": 390, "height": 844},
    "dark": {"width": 1200, "height": 900, "prefers_color_scheme": "dark"},
}
LARGEST = 300_000
SCROLL = """
const figure = document.querySelector(`#figure-${arguments[0]}`);
scrollTo(0, figure.getBoundingClientRect().top + scrollY - 12);
"""


@pytest.mark.parametrize("name", VIEWS)
def test_the_documentation_has_a_screenshot(browser, name, request):
    path = IMAGES / f"report-{name}.png"
    if request.config.getoption("update_screenshots"):
        browser.open("angara-small/index.html", **VIEWS[name])
        if name != "desktop":
            browser.js(SCROLL, "torus")
        picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png()))
        picture.convert("RGB").quantize().save(path, optimize=True)
    with Image.open(path) as picture:
        assert picture.size == (VIEWS[name]["width"], VIEWS[name]["height"])
    assert path.stat().st_size < LARGEST
