"""The pictures of the report that the documentation shows."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

pytestmark = [pytest.mark.browser, pytest.mark.builtins]

IMAGES = Path(__file__).parents[2] / "docs/images"
STUDY = "angara-small/index.html"
VIEWS = {
    "desktop": {"width": 1200, "height": 1150},
    "phone": {"width": 390, "height": 844},
    "dark": {"width": 1200, "height": 900, "prefers_color_scheme": "dark"},
}
LARGEST = 300_000


@pytest.mark.parametrize("name", VIEWS)
def test_the_documentation_has_a_screenshot(browser, name, request):
    path = IMAGES / f"report-{name}.png"
    if request.config.getoption("update_screenshots"):
        browser.open(STUDY, **VIEWS[name])
        if name != "desktop":
            browser.js(
                """
                const figure = document.querySelector("#figure-torus");
                scrollTo(0, figure.getBoundingClientRect().top + scrollY - 12);
                figure.querySelectorAll("svg[role=img]")[1].focus({focusVisible: true});
                """
            )
        picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png()))
        picture.convert("RGB").save(path, optimize=True)
    with Image.open(path) as picture:
        assert picture.size == (VIEWS[name]["width"], VIEWS[name]["height"])
    assert path.stat().st_size < LARGEST
