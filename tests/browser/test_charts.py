"""Interactive figures in a real browser."""

from __future__ import annotations

import csv
import re
import shutil

import numpy as np
import pytest

from .test_report_page import SPACE, contrast

pytestmark = pytest.mark.browser

PAGE = "sizes/index.html"
GROWTH, SPREAD = "growth", "spread"
LARGEST = 3_000_000
"""Bytes of a page together with the script that all pages share."""


def show(browser, figure, page=PAGE, **window):
    """Open a page and wait until a figure is interactive."""
    from selenium.webdriver.support.wait import WebDriverWait

    browser.open(page, **window)
    browser.js("arguments[0].scrollIntoView()", browser.one(f"#figure-{figure}"))
    WebDriverWait(browser.driver, 30).until(lambda _: browser.all(f"#figure-{figure}.live"))
    browser.js("arguments[0].scrollIntoView()", browser.one(f"#figure-{figure}"))


def rows(browser, figure, study="sizes"):
    with (browser.report / study / f"figures/{figure}.csv").open() as stream:
        return list(csv.DictReader(stream))


def marks(browser, figure, kind):
    """The middles of the highest layer of marks, and their rows."""
    return browser.js(
        """
        const layers = [...document.querySelectorAll(`#figure-${arguments[0]} .plot .role-mark`)]
          .filter((group) => group.classList.contains(`mark-${arguments[1]}`));
        return [...layers.at(-1).querySelectorAll("path")].map((path) => {
          const box = path.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2, {...path.__data__.datum}];
        });
        """,
        figure,
        kind,
    )


def press(browser, figure, text):
    button = next(b for b in browser.all(f"#figure-{figure} .chart button") if b.text == text)
    button.click()
    browser.driver.execute_async_script("setTimeout(arguments[0], 400)")
    return button


def ticks(browser, figure):
    return browser.texts(f"#figure-{figure} .plot .role-axis-label text")


def hint(browser, figure, x, y):
    """What the tooltip says at a place, by title."""
    browser.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    lines = browser.texts(f"#figure-{figure} .tip span")
    return dict(line.split(": ", 1) for line in lines)


def test_the_pointer_shows_the_values_of_the_file(browser):
    show(browser, GROWTH)
    expected = {(row["routing"], row["nodes"], row["max_load"]) for row in rows(browser, GROWTH)}
    places = marks(browser, GROWTH, "symbol")
    assert len(places) == len(expected) == 6
    seen = set()
    for x, y, datum in places:
        shown = hint(browser, GROWTH, x, y)
        assert (shown["nodes"], shown["maximum load"]) == (
            str(datum["nodes"]),
            f"{datum['max_load']:g}",
        )
        seen.add((shown["routing"], shown["nodes"], shown["maximum load"]))
    # equal points lie on each other
    assert seen <= expected
    assert {row[1:] for row in seen} == {row[1:] for row in expected}
    browser.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    assert not browser.one(f"#figure-{GROWTH} .tip").is_displayed()


def test_boxes_show_their_quartiles(browser):
    show(browser, SPREAD)
    row = next(r for r in rows(browser, SPREAD) if (r["routing"], r["nodes"]) == ("dor", "16"))
    x, y = next(
        (x, y)
        for x, y, datum in marks(browser, SPREAD, "symbol")
        if (datum["@series"], datum["@place"]) == ("dor", "16")
    )
    shown = hint(browser, SPREAD, x, y)
    for name in ("min", "q25", "median", "q75", "max", "count"):
        assert float(shown[name]) == pytest.approx(float(row[name]), rel=1e-5)


def test_a_series_is_hidden_by_click_and_comes_back_from_the_keyboard(browser):
    show(browser, GROWTH)
    before = len(marks(browser, GROWTH, "symbol"))
    button = press(browser, GROWTH, "dor")
    assert button.get_attribute("aria-pressed") == "false"
    left = marks(browser, GROWTH, "symbol")
    assert {datum["@series"] for *_, datum in left} == {"angara-sssp"}
    browser.js("arguments[0].focus()", button)
    browser.press(SPACE)
    browser.driver.execute_async_script("setTimeout(arguments[0], 400)")
    assert button.get_attribute("aria-pressed") == "true"
    assert len(marks(browser, GROWTH, "symbol")) == before


def test_zoom_and_reset(browser):
    show(browser, GROWTH)
    before, places = ticks(browser, GROWTH), marks(browser, GROWTH, "symbol")
    press(browser, GROWTH, "Zoom in")
    assert ticks(browser, GROWTH) != before
    press(browser, GROWTH, "Reset")
    assert ticks(browser, GROWTH) == before
    x, y = places[0][:2]
    for kind, at in (("mousePressed", x), ("mouseMoved", x + 60), ("mouseReleased", x + 60)):
        browser.cdp("Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", clickCount=1)
    browser.driver.execute_async_script("setTimeout(arguments[0], 300)")
    moved = marks(browser, GROWTH, "symbol")
    assert moved[0][0] - x == pytest.approx(60, abs=2)
    press(browser, GROWTH, "Reset")
    assert marks(browser, GROWTH, "symbol")[0][0] == pytest.approx(x, abs=1)


@pytest.mark.parametrize("control", [False, True])
def test_a_wheel_zooms_only_with_the_control_key(browser, control):
    show(browser, GROWTH)
    before = ticks(browser, GROWTH)
    x, y, _ = marks(browser, GROWTH, "symbol")[1]
    browser.cdp(
        "Input.dispatchMouseEvent",
        type="mouseWheel",
        x=x,
        y=y,
        deltaX=0,
        deltaY=-300,
        modifiers=2 * control,
    )
    browser.driver.execute_async_script("setTimeout(arguments[0], 400)")
    assert (ticks(browser, GROWTH) != before) == control


def test_a_logarithmic_axis_has_equal_distances_for_equal_ratios(browser):
    show(browser, GROWTH)

    def residual(function):
        values = [(datum["nodes"], x) for x, _, datum in marks(browser, GROWTH, "symbol")]
        nodes, places = np.array(values).T
        return np.polyfit(function(nodes), places, 1, full=True)[1].sum()

    assert residual(lambda nodes: nodes) < 1
    button = press(browser, GROWTH, "Log x")
    assert button.get_attribute("aria-pressed") == "true"
    assert residual(np.log) < 1
    assert residual(lambda nodes: nodes) > 100
    press(browser, GROWTH, "Log x")
    assert residual(lambda nodes: nodes) < 1


def test_panels_have_equal_scales(browser):
    show(browser, "distribution", "angara-small/index.html")
    panels = browser.js(
        """
        return [...document.querySelectorAll("#figure-distribution .plot .cell > g")].map((cell) =>
          [...cell.querySelectorAll(".role-axis-label text")].map((text) => text.textContent));
        """
    )
    assert len(panels) == 4
    assert all(panel == panels[0] for panel in panels)
    names = {row["routing"] for row in rows(browser, "distribution", "angara-small")}
    assert set(browser.texts("#figure-distribution .keys button")) == names


def test_nothing_is_loaded_from_outside_and_a_page_is_small(browser):
    show(browser, GROWTH)
    asked = browser.requests()
    assert [url for url in asked if not url.startswith((browser.report.as_uri(), "data:"))] == []
    assert browser.complaints() == []
    (script,) = browser.report.glob("*.js")
    assert script.as_uri() in asked
    for page in browser.report.glob("*/index.html"):
        assert page.stat().st_size + script.stat().st_size < LARGEST


def test_the_picture_stays_without_the_script(browser, tmp_path):
    folder = tmp_path / "report"
    shutil.copytree(browser.report, folder)
    for script in folder.glob("*.js"):
        script.unlink()
    page = type(browser)(browser.driver, folder)
    page.open(PAGE)
    picture = page.one(f"#figure-{GROWTH} img")
    page.js("arguments[0].scrollIntoView()", picture)
    assert picture.is_displayed()
    assert picture.get_attribute("alt").startswith("maximum load against nodes")
    assert not page.one(f"#figure-{GROWTH} .chart").is_displayed()


def test_the_picture_stays_without_javascript(browser):
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get((browser.report / PAGE).as_uri())
        root = browser.cdp("DOM.getDocument")["root"]["nodeId"]
        box = {}
        for name in ("img", ".chart"):
            node = browser.cdp(
                "DOM.querySelector", nodeId=root, selector=f"#figure-{GROWTH} {name}"
            )["nodeId"]
            html = browser.cdp("DOM.getOuterHTML", nodeId=node)["outerHTML"]
            box[name] = html
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    assert re.match(r"<img src=.figures/growth.svg. alt=", box["img"])
    assert " hidden" in box[".chart"].partition(">")[0]
    assert "<button" not in box[".chart"]


def test_paper_shows_the_picture(browser):
    show(browser, GROWTH)
    browser.cdp("Emulation.setEmulatedMedia", media="print", features=[])
    assert browser.one(f"#figure-{GROWTH} img").is_displayed()
    assert not browser.one(f"#figure-{GROWTH} .chart").is_displayed()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_series_are_readable(browser, scheme):
    show(browser, GROWTH, prefers_color_scheme=scheme)
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    paper = browser.js(style, f"#figure-{GROWTH} .chart", "backgroundColor")
    plot = f"#figure-{GROWTH} .plot "
    for selector in (".role-axis-label text", ".role-axis-title text"):
        assert contrast(browser.js(style, plot + selector, "fill"), paper) >= 7, selector
    for key in browser.all(f"#figure-{GROWTH} .keys button"):
        assert contrast(browser.js("return getComputedStyle(arguments[0]).color", key), paper) >= 7
    colour = "return getComputedStyle(arguments[0]).stroke"
    strokes = [browser.js(colour, line) for line in browser.all(plot + ".mark-line path")]
    assert len(strokes) == 2
    assert all(contrast(stroke, paper) >= 3 for stroke in strokes)


@pytest.mark.parametrize(
    ("page", "figure"),
    [(PAGE, GROWTH), (PAGE, SPREAD), ("angara-small/index.html", "distribution")],
)
def test_figures_fit_a_phone(browser, page, figure):
    show(browser, figure, page, width=360, height=740)
    assert browser.js("return document.documentElement.scrollWidth") <= 360
    width = browser.js("return arguments[0].clientWidth", browser.one(f"#figure-{figure} .plot"))
    assert browser.one(f"#figure-{figure} .plot svg").rect["width"] <= width
    for button in browser.all(f"#figure-{figure} .chart button"):
        assert button.rect["x"] + button.rect["width"] <= 360


def test_controls_have_names_and_roles(browser):
    show(browser, GROWTH)
    groups = browser.all(f"#figure-{GROWTH} .chart [role=group]")
    assert [group.get_attribute("aria-label") for group in groups] == [
        "Show or hide: routing",
        "Change the view",
    ]
    label = browser.one(f"#figure-{GROWTH} .plot svg").get_attribute("aria-label")
    assert label == browser.one(f"#figure-{GROWTH} img").get_attribute("alt")


FIELDS = "fields/index.html"


def fields(browser, figure):
    """The middles of the coloured fields with their colours, and their rows."""
    return browser.js(
        """
        const plot = document.querySelector(`#figure-${arguments[0]} .plot`);
        return [...plot.querySelectorAll(".mark-rect.role-mark path")].map((path) => {
          const {x, y, width, height} = path.getBoundingClientRect();
          const {fill} = getComputedStyle(path);
          return [x + width / 2, y + height / 2, fill, {...path.__data__.datum}];
        });
        """,
        figure,
    )


@pytest.mark.parametrize("figure", ["overview", "heat", "matrix"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_field_shows_its_value_and_stands_out(browser, figure, scheme):
    show(browser, figure, FIELDS, prefers_color_scheme=scheme)
    expected = rows(browser, figure, "fields")
    found = fields(browser, figure)
    assert len(found) == len(expected) > 3
    paper = browser.js(
        "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor",
        f"#figure-{figure} .chart",
    )
    for x, y, fill, datum in found:
        assert contrast(fill, paper) > 1.5
        row = next(
            row
            for row in expected
            if all(str(datum[k]) == row[k] for k in row if k in KEYS[figure])
        )
        shown = hint(browser, figure, x, y)
        (value,) = (float(row[name]) for name in VALUES if name in row)
        assert any(_is_number(text, value) for text in shown.values()), (shown, row)
    assert browser.all(f"#figure-{figure} .keys") == []
    assert len(browser.texts(f"#figure-{figure} .bar span")) >= 2


KEYS = {
    "overview": ("workload", "routing"),
    "heat": ("workload", "at_x", "at_y"),
    "matrix": ("workload", "sender", "receiver"),
}
VALUES = ("timed_s", "share", "bytes")


def _is_number(text, value):
    try:
        return float(text) == pytest.approx(value, rel=1e-5)
    except ValueError:
        return False


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_in_fields_are_readable_on_their_colours(browser, scheme):
    show(browser, "overview", FIELDS, prefers_color_scheme=scheme)
    texts = browser.js(
        """
        const plot = document.querySelector("#figure-overview .plot");
        return [...plot.querySelectorAll(".mark-text.role-mark text")].map((text) => {
          const {x, y, width, height} = text.getBoundingClientRect();
          return [x + width / 2, y + height / 2, getComputedStyle(text).fill, text.textContent];
        });
        """
    )
    found = fields(browser, "overview")
    assert len(texts) == len(found)
    for x, y, ink, text in texts:
        fill = min(found, key=lambda one: abs(one[0] - x) + abs(one[1] - y))[2]
        assert contrast(ink, fill) > 3.5, text


def test_a_matrix_is_zoomed_and_reset(browser):
    show(browser, "matrix", FIELDS)
    before = ticks(browser, "matrix")
    assert before[0] == "0"
    press(browser, "matrix", "Zoom in")
    assert ticks(browser, "matrix") != before
    press(browser, "matrix", "Reset")
    assert ticks(browser, "matrix") == before
    assert [button.text for button in browser.all("#figure-overview .chart button")] == []


@pytest.mark.parametrize("figure", ["overview", "heat", "matrix"])
def test_fields_fit_a_phone(browser, figure):
    show(browser, figure, FIELDS, width=360, height=740)
    assert browser.js("return document.documentElement.scrollWidth") <= 360
