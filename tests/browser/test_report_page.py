"""The report in a real browser: what readers do with it, at several sizes and in several ways."""

from __future__ import annotations

import base64
import csv
import html
import io
import re

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.browser

STUDY = "angara-small/index.html"
PAGES = ["index.html", "values.html", STUDY, "networks/index.html", "sizes/index.html"]
LOADED = "return arguments[0].complete && arguments[0].naturalWidth > 0"
TAB, ENTER, SPACE = "\ue004", "\ue007", " "


@pytest.mark.parametrize("page", PAGES)
def test_a_page_complains_of_nothing_and_asks_for_nothing_outside(browser, page):
    browser.open(page)
    for picture in browser.all("img"):
        browser.js("arguments[0].scrollIntoView()", picture)
        browser.wait(lambda shown=picture: browser.js(LOADED, shown))
    assert browser.complaints() == []
    requests = browser.requests()
    inside = browser.report.as_uri()
    assert (browser.report / page).as_uri() in requests
    assert [url for url in requests if not url.startswith((inside, "data:"))] == []


def test_the_index_leads_to_every_study(browser):
    browser.open("index.html")
    assert len(browser.all(".card")) == 4
    headings = browser.texts("h2")
    assert headings == [
        "Optimized Graph Based Routing Algorithm for the Angara Interconnect",
        "Other studies",
    ]
    finding = browser.texts(".finding")[0]
    assert re.match(r"The maximum channel load of angara-sssp is \d+ % lower than that of", finding)
    browser.element("h3 a").click()
    assert browser.element("h1").text.startswith("Routings of the Angara interconnect")


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
    published = browser.element("#table-loads th[data-column='3'] button")
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


def test_the_table_over_all_studies_filters_and_sorts(browser):
    browser.open("values.html")

    def shown():
        rows = browser.all("#values tbody tr")
        cells = [row.find_elements("css selector", "th, td") for row in rows if row.is_displayed()]
        return [[cell.text for cell in row] for row in cells]

    everything = shown()
    box, routing = (
        browser.element(".filter input"),
        browser.element(".filter select[aria-label$=routing]"),
    )
    box.send_keys("SIZES dor")
    expected = [row for row in everything if row[0] == "sizes" and "dor" in row[1]]
    assert 0 < len(expected) < len(everything)
    assert shown() == expected
    box.clear()
    routing.send_keys("dor")
    expected = [row for row in everything if row[1] == "dor"]
    assert {row[0] for row in expected} == {"angara-small", "sizes"}
    assert shown() == expected
    assert browser.element(".filter output").text == f"{len(expected)} of {len(everything)} rows"
    value = browser.all("#values thead button")[2]
    for reverse in (False, True):
        value.click()
        numbers = [float(row[2]) for row in expected]
        assert [float(row[2]) for row in shown()] == sorted(numbers, reverse=reverse)


# --- Pictures of networks ---


def loads(browser, figure):
    """``{routing: {channel: (name, load)}}`` from the figure's file."""
    loads_by_routing = {}
    with (browser.report / f"angara-small/figures/{figure}.csv").open() as file:
        for row in csv.DictReader(file):
            name = f"{row['source']}>{row['target']} {row['direction']}".strip()
            load = f"{float(row['load']):g}"
            loads_by_routing.setdefault(row["routing"], {})[int(row["channel"])] = name, load
    return list(loads_by_routing.values())


def test_pictures_name_channels_and_loads_and_large_ones_are_files(browser):
    browser.open(STUDY)
    (picture,) = browser.all("#figure-torus .picture object")
    file = (browser.report / STUDY).parent / "figures/torus.svg"
    assert picture.get_attribute("data") == file.as_uri()
    assert picture.size["width"] > 100
    titles = set(re.findall(r"<title>(.*): .* (\S+)</title>", html.unescape(file.read_text())))
    for channels in loads(browser, "torus"):
        assert set(channels.values()) <= titles
    browser.open("large/index.html")
    (picture,) = browser.all("#figure-torus .picture img")
    assert browser.js("return arguments[0].complete && arguments[0].naturalWidth > 0", picture)


def test_the_cycle_of_a_refuted_table_is_a_list(browser):
    browser.open("networks/index.html")
    browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
    steps = browser.texts("#figure-torus .cycle li")
    assert len(steps) > 1
    ends = [re.fullmatch(r"(\S+ \S+) vc \d+ waits for (\S+ \S+) vc \d+.*", step) for step in steps]
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
    assert '<object type="image/svg+xml" data="figures/torus.svg"' in text
    assert 'id="table-loads"' in text


# --- Numbers, again ---


def test_a_command_is_copied(browser):
    browser.open(STUDY)
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    command = browser.element("#reproduce ~ p [data-copy]")
    button = browser.element("#reproduce ~ p .copy")
    # the label is there for a moment only
    browser.js(
        "const [button] = arguments; window.labels = [];"
        "new MutationObserver(() => labels.push(button.textContent))"
        "  .observe(button, {childList: true})",
        button,
    )
    button.click()
    browser.wait(lambda: browser.js("return labels.length") > 0)
    assert browser.js("return labels[0]") == "Copied"
    assert command.text == "snakemake report --config studies=angara-small"
    copied = browser.driver.execute_async_script(
        "const done = arguments[0]; navigator.clipboard.readText().then(done, (e) => done(`${e}`))"
    )
    assert copied == command.text


# --- Sizes, colours, paper ---


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_of_networks_have_the_colours_of_the_page(browser, scheme):
    browser.open(STUDY, prefers_color_scheme=scheme)
    picture = browser.element("#figure-torus .picture object")
    browser.js("arguments[0].scrollIntoView()", picture)

    def grey():
        return np.array(Image.open(io.BytesIO(picture.screenshot_as_png)).convert("L"))

    browser.wait(lambda: np.ptp(grey()) > 150)  # texts and channels are there, too
    assert (np.median(grey()) > 128) == (scheme == "light")


BROKEN_WORDS = """
const broken = [];
for (const element of document.querySelectorAll("h1, h2:not(.unseen), h3, caption, th")) {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    for (const word of texts.currentNode.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => box.top));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
}
return broken;
"""
RIGHT_ENDS = "return arguments[0].map((element) => element.getBoundingClientRect().right)"
PAPER = 703
"""Pixels between the margins of a sheet of A4."""


@pytest.mark.parametrize("page", PAGES)
def test_a_phone_shows_whole_headings_and_never_scrolls_sideways(browser, page):
    browser.open(page, 390, 844, touch=True)
    width, visible = browser.js(
        "const root = document.documentElement; return [root.scrollWidth, root.clientWidth]"
    )
    assert width <= visible == 390
    headings = browser.all("h1, h2:not(.unseen), h3, caption span")
    assert headings
    assert max(browser.js(RIGHT_ENDS, headings)) <= visible
    assert browser.js(BROKEN_WORDS) == []


def test_values_are_in_view_on_a_phone(browser):
    browser.open("values.html", 390, 844, touch=True)
    headings = browser.all("#values thead th")
    number = next(n for n, heading in enumerate(headings, 1) if heading.text.startswith("value"))
    ends = browser.js(RIGHT_ENDS, browser.all(f"#values tr > :nth-child({number})"))
    assert 0 < max(ends) <= 390


def test_published_results_fit_their_frame(browser):
    browser.open("index.html", 1440, 900)
    cell = browser.element(".published-results td")
    assert browser.js(
        "const [cell] = arguments; cell.textContent = '8 of 60 differ, '.repeat(20);"
        "const frame = cell.closest('.scroll'); return frame.scrollWidth <= frame.clientWidth",
        cell,
    )


@pytest.mark.parametrize("page", PAGES)
def test_paper_shows_all_columns(browser, page):
    browser.open(page, PAPER, type="print")
    blocks = browser.all("table, pre, .picture :is(img, object)")
    assert blocks
    assert max(browser.js(RIGHT_ENDS, blocks)) <= PAPER
    assert browser.js(BROKEN_WORDS) == []


def test_tables_with_many_columns_have_sheets_across(browser):
    browser.open(STUDY)
    sheets = sheet_sizes(browser)
    assert {width < height for width, height in sheets} == {True}
    browser.js(
        "for (const row of document.querySelectorAll('#table-loads tr'))"
        "  for (let i = 0; i < 12; i++) row.append(row.lastElementChild.cloneNode(true))"
    )
    across = [width > height for width, height in sheet_sizes(browser)]
    assert any(across)
    assert not all(across)


def sheet_sizes(browser):
    """Return width and height of the sheets of a printed page."""
    printed = browser.cdp("Page.printToPDF", preferCSSPageSize=True)["data"]
    boxes = re.findall(rb"/MediaBox \[0 0 (\S+) (\S+)\]", base64.b64decode(printed))
    return [(float(width), float(height)) for width, height in boxes]
