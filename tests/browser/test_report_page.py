"""The report in a real browser: what readers do with it, at several sizes and in several ways."""

from __future__ import annotations

import base64
import csv
import io
import re

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.browser

STUDY = "angara-small/index.html"
PAGES = ["index.html", STUDY, "networks/index.html", "sizes/index.html"]
TAB, ENTER, SPACE = "\ue004", "\ue007", " "


def luminance(colour):
    values = [int(text) / 255 for text in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in values]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def brightness(element):
    """Mean of an element's pixels, 0 to 255."""
    return float(np.asarray(Image.open(io.BytesIO(element.screenshot_as_png)).convert("L")).mean())


@pytest.mark.parametrize("page", PAGES)
def test_a_page_complains_of_nothing_and_asks_for_nothing_outside(browser, page):
    browser.open(page)
    for picture in browser.all("img"):
        browser.js("arguments[0].scrollIntoView()", picture)
        assert browser.js("return arguments[0].complete && arguments[0].naturalWidth > 0", picture)
    assert browser.complaints() == []
    asked = browser.requests()
    inside = browser.report.as_uri()
    assert (browser.report / page).as_uri() in asked
    assert [url for url in asked if not url.startswith((inside, "data:"))] == []


def test_the_index_leads_to_every_study(browser):
    browser.open("index.html")
    assert len(browser.all(".card")) == 5
    headings = browser.texts("h2")
    assert headings == [
        "Optimized Graph Based Routing Algorithm for the Angara Interconnect",
        "Other studies",
    ]
    finding = browser.texts(".finding")[0]
    assert re.match(r"The maximum channel load of angara-sssp is \d+ % lower than that of", finding)
    browser.one("h3 a").click()
    assert browser.one("h1").text.startswith("Routings of the Angara interconnect")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (360, 740)])
@pytest.mark.parametrize("page", PAGES[1:])
def test_title_answer_and_picture_are_on_the_first_screen(browser, page, width, height):
    browser.open(page, width, height)
    shown = ".answer figure :is(svg, img)"
    title, answer = map(browser.one, ("h1", ".answer .finding"))
    picture = max(browser.all(shown), key=lambda element: element.rect["height"])
    tops = [element.rect["y"] for element in (title, answer, picture)]
    assert tops == sorted(tops)
    assert answer.rect["y"] + answer.rect["height"] <= height
    # on a phone the beginning of the picture, otherwise at least its first row of panels
    visible = min(height - tops[-1], picture.rect["height"])
    assert visible >= (250 if width > 1000 else 100)


def column(browser, number):
    return browser.texts(f"#table-loads tbody tr > :nth-child({number})")


def test_tables_sort_by_click_and_come_back(browser):
    browser.open(STUDY)
    headings = browser.all("#table-loads th[aria-sort]")
    assert {heading.get_attribute("aria-sort") for heading in headings} == {"none"}
    ours = next(h for h in headings if h.get_attribute("data-column") == "2")
    before = column(browser, 1), column(browser, 3)
    expected = sorted(before[1], key=lambda text: float(text.split()[0]))

    ours.find_element("css selector", "button").click()
    assert ours.get_attribute("aria-sort") == "ascending"
    assert [t.split()[0] for t in column(browser, 3)] == [t.split()[0] for t in expected]
    ours.find_element("css selector", "button").click()
    assert ours.get_attribute("aria-sort") == "descending"
    assert [t.split()[0] for t in column(browser, 3)] == [t.split()[0] for t in expected[::-1]]
    ours.find_element("css selector", "button").click()
    assert ours.get_attribute("aria-sort") == "none"
    assert (column(browser, 1), column(browser, 3)) == before


@pytest.mark.parametrize("clicks", [1, 2])
def test_missing_numbers_stand_last_either_way(browser, clicks):
    browser.open(STUDY)
    published = browser.one("#table-loads th[data-column='3'] button")
    for _ in range(clicks):
        published.click()
    texts = column(browser, 4)
    there = [bool(text) for text in texts]
    assert any(there)
    assert there == sorted(there, reverse=True)
    numbers = [float(text.split()[0]) for text in texts if text]
    assert numbers == sorted(numbers, reverse=clicks == 2)


def test_tables_sort_from_the_keyboard(browser):
    browser.open(STUDY)
    for _ in range(60):
        browser.press(TAB)
        reached = browser.js(
            "return document.activeElement.closest('#table-loads th')?.dataset.column ?? null"
        )
        if reached == "1":
            break
    else:
        pytest.fail("the heading of the nodes cannot be reached by Tab")
    assert (
        browser.js("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    )  # the focus can be seen
    nodes = column(browser, 2)
    for key, order in ((ENTER, sorted), (SPACE, lambda n, key: sorted(n, key=key, reverse=True))):
        browser.press(key)
        assert column(browser, 2) == order(nodes, key=int)


def test_the_skip_link_comes_first_and_leads_to_the_content(browser):
    browser.open(STUDY)
    browser.press(TAB)
    skip = browser.driver.switch_to.active_element
    assert skip.text == "Skip to the content"
    assert skip.rect["x"] >= 0
    browser.press(ENTER)
    assert browser.js("return document.activeElement.id") == "content"


def box(browser, selector):
    """Left, top, right and bottom of an element on the screen."""
    script = "const b = document.querySelector(arguments[0]).getBoundingClientRect();"
    return browser.js(f"{script} return [b.left, b.top, b.right, b.bottom]", selector)


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("table", ["wide", "grouped"])
def test_headings_first_column_and_verdict_stay_while_a_table_scrolls(browser, table, width):
    browser.open(STUDY, width, 700)
    frame = browser.one(f"#table-{table}").find_element("xpath", "..")
    browser.js("arguments[0].style.maxHeight = '12rem'; arguments[0].scrollIntoView()", frame)
    most = browser.js(
        "const f = arguments[0]; return [f.scrollWidth - f.clientWidth, f.scrollHeight]", frame
    )
    assert most[0] > 0 or width > 360  # a phone has to scroll
    browser.js("arguments[0].scrollTo(1e4, 150)", frame)
    left, top, right, _ = browser.js(
        "const b = arguments[0].getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]",
        frame,
    )
    heading = box(browser, f"#table-{table} thead tr:first-child > :first-child")
    assert heading[:2] == pytest.approx([left, top], abs=2)
    first = box(browser, f"#table-{table} tbody tr:nth-child(4) > :first-child")
    assert first[0] == pytest.approx(left, abs=2)
    assert first[2] - first[0] < 0.5 * (right - left)
    last = box(browser, f"#table-{table} thead tr:last-child > :last-child")
    assert last[1] >= top
    # what stays covers what scrolls below it
    covered = browser.js(
        "return document.elementFromPoint(arguments[0], arguments[1]).closest('thead') !== null",
        heading[2] + 8,
        heading[1] + 8,
    )
    assert covered
    if table == "wide":
        browser.js("arguments[0].scrollTo(0, 150)", frame)
        for part in ("thead .pinned", "tbody tr:nth-child(8) > .pinned"):
            assert box(browser, f"#table-wide {part}")[2] == pytest.approx(right, abs=2) or (
                most[0] == 0
            )
        assert browser.texts("#table-wide thead .pinned")[0].startswith("deadlock")


def test_a_pivot_has_two_lines_of_headings_that_sort(browser):
    browser.open(STUDY)
    upper = browser.all("#table-grouped thead tr:first-child th[scope=colgroup]")
    assert [heading.text for heading in upper] == ["angara-bfs", "angara-sssp", "dor", "dfsssp"]
    assert {heading.get_attribute("colspan") for heading in upper} == {"2"}
    button = browser.one("#table-grouped thead tr:last-child th[data-column='1'] button")
    button.click()
    loads = [
        float(text) for text in browser.texts("#table-grouped tbody tr > :nth-child(2)") if text
    ]
    assert loads == sorted(loads)
    assert len(loads) > 1


# --- Pictures of networks ---


def loads(browser, figure):
    """``{routing: {channel: (name, load)}}`` from the figure's file."""
    found = {}
    with (browser.report / f"angara-small/figures/{figure}.csv").open() as file:
        for row in csv.DictReader(file):
            name = f"{row['source']}>{row['target']} {row['direction']}".strip()
            load = f"{float(row['load']):g}"
            found.setdefault(row["routing"], {})[int(row["channel"])] = name, load
    return list(found.values())


def test_pictures_name_channels_and_loads_and_large_ones_are_files(browser):
    browser.open(STUDY)
    panels = browser.all("#figure-torus .panel")
    for panel, channels in zip(panels, loads(browser, "torus"), strict=True):
        titles = panel.find_elements("css selector", ".channels title")
        shown = sorted(title.get_attribute("textContent") for title in titles)
        assert shown == sorted(f"{name}: {load}" for name, load in channels.values())
    browser.open("large/index.html")
    (picture,) = browser.all("#figure-torus .picture img")
    assert browser.js("return arguments[0].complete && arguments[0].naturalWidth > 0", picture)


def test_the_cycle_of_a_refuted_table_is_a_list(browser):
    browser.open("networks/index.html")
    browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
    steps = browser.texts("#figure-torus .cycle li")
    assert len(steps) > 1
    ends = [re.fullmatch(r"(\S+ \S+) vc \d+ waits for (\S+ \S+) vc \d+.*", one) for one in steps]
    assert all(ends)
    assert [end[2] for end in ends] == [*(end[1] for end in ends[1:]), ends[0][1]]


def test_without_scripts_tables_and_tooltips_are_there(browser):
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get((browser.report / STUDY).as_uri())
        root = browser.cdp("DOM.getDocument")["root"]["nodeId"]
        text = browser.cdp("DOM.getOuterHTML", nodeId=root)["outerHTML"]
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    assert "<button" not in text
    name, load = loads(browser, "torus")[0][0]
    assert f"<title>{name.replace('>', '&gt;')}: {load}</title>" in text
    assert 'id="table-loads"' in text


# --- Numbers, again ---


def test_a_command_is_copied(browser):
    browser.open(STUDY)
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    command = browser.one("#reproduce ~ p [data-copy]")
    button = browser.one("#reproduce ~ p .copy")
    button.click()
    browser.driver.implicitly_wait(2)
    assert command.text == "snakemake report --config studies=angara-small"
    copied = browser.driver.execute_async_script(
        "const done = arguments[0]; navigator.clipboard.readText().then(done, (e) => done(`${e}`))"
    )
    assert copied == command.text
    assert button.text == "Copied"


# --- Sizes, colours, paper ---


@pytest.mark.parametrize("width", [320, 360, 768, 1600])
@pytest.mark.parametrize("page", PAGES)
def test_no_page_is_wider_than_the_screen(browser, page, width):
    browser.open(page, width, 740)
    browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
    assert browser.js("return document.documentElement.scrollWidth") <= width
    outside = browser.js(
        """
        return [...document.querySelectorAll("main *")].filter((element) =>
          element.getBoundingClientRect().right > innerWidth + 1
          && !element.closest(".scroll, .pane, .picture, pre, .unseen")
        ).map((element) => element.outerHTML.slice(0, 80))
        """
    )
    assert outside == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_is_readable_in_light_and_dark(browser, scheme):
    browser.open(STUDY, prefers_color_scheme=scheme)
    colour = "return getComputedStyle(arguments[0])[arguments[1]]"
    paper = browser.js(colour, browser.one("body"), "backgroundColor")
    assert (luminance(paper) < 0.05) == (scheme == "dark")
    for selector, least in (("h1", 12), (".legend", 4.5), ("nav a", 4.5), ("td.number", 7)):
        ink = browser.js(colour, browser.one(selector), "color")
        assert contrast(ink, paper) >= least, selector
    for selector in ("#figure-distribution .picture", "#figure-torus .panel", ".scroll"):
        element = browser.one(selector)
        browser.js("arguments[0].scrollIntoView()", element)
        mean = brightness(element)
        assert mean < 90 if scheme == "dark" else mean > 200, selector


def test_paper_gets_no_controls_no_dark_and_whole_tables(browser):
    browser.open(STUDY, prefers_color_scheme="dark", type="print")
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    assert browser.js(style, "body", "backgroundColor") == "rgb(255, 255, 255)"
    assert browser.js(style, ".scroll", "overflow") == "visible"
    for selector in ("nav", ".copy", ".skip"):
        assert browser.js(style, selector, "display") == "none"
    pdf = base64.b64decode(browser.cdp("Page.printToPDF", paperWidth=8.3, paperHeight=11.7)["data"])
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 12
