"""Large pictures of networks in a real browser: a canvas with the interactions of small ones."""

from __future__ import annotations

import pytest

from .test_network_routes import (
    DOWN,
    ESCAPE,
    HOME,
    details,
    hops_told,
    route,
    status,
    table_of,
    terminal_of,
)
from .test_report_page import contrast

END = "\ue010"
pytestmark = pytest.mark.browser

STUDY, SMALL = "large/index.html", "networks/index.html"


def show(browser, figure="torus", page=STUDY, **window):
    """Open the page and wait until a figure is drawn."""
    from selenium.webdriver.support.wait import WebDriverWait

    browser.open(page, **window)
    browser.js("arguments[0].scrollIntoView()", browser.one(f"#figure-{figure}"))
    WebDriverWait(browser.driver, 30).until(lambda _: browser.all(f"#figure-{figure}.live"))
    browser.js("arguments[0].scrollIntoView()", browser.one(f"#figure-{figure} svg[role=img]"))
    pause(browser)


def pause(browser):
    browser.driver.execute_async_script("setTimeout(arguments[0], 150)")


def place(browser, figure, x, y, panel=0):
    """The place on the screen of a point of the picture."""
    return browser.js(
        """
        const [figure, x, y, panel] = arguments;
        const svg = document.querySelectorAll(`#figure-${figure} svg[role=img]`)[panel];
        const place = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
        return [place.x, place.y];
        """,
        figure,
        x,
        y,
        panel,
    )


def mouse(browser, kind, x, y, **more):
    if kind != "mouseMoved":
        more = {"button": "left", "clickCount": 1, **more}
    browser.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


def click(browser, x, y):
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        mouse(browser, kind, x, y)


def drawing(browser, figure="torus"):
    """Coordinates of the switches, and of the first line of each channel, in the small picture."""
    browser.open(SMALL)
    return browser.js(
        """
        const root = document.querySelector(`#figure-${arguments[0]}`);
        const switches = [...root.querySelectorAll(".backdrop circle")].map(
          ({cx, cy}) => [cx.baseVal.value, cy.baseVal.value]);
        const channels = {};
        for (const path of root.querySelector(".panel").querySelectorAll("path[data-c]")) {
          const [ax, ay, bx, by] = path.getAttribute("d").slice(1).split(/[ LM]/).map(Number);
          channels[path.dataset.c] = [(ax + bx) / 2, (ay + by) / 2, path.getAttribute("d")];
        }
        return [switches, channels];
        """,
        figure,
    )


def view(browser, figure="torus"):
    box = browser.one(f"#figure-{figure} svg[role=img]").get_dom_attribute("viewBox")
    return [float(number) for number in box.replace(",", " ").split()]


def press(browser, text, figure="torus"):
    buttons = browser.all(f"#figure-{figure} .zoom button")
    next(button for button in buttons if button.text == text).click()
    pause(browser)


def pixels(browser, figure="torus"):
    """The colours on the canvas, and how many pixels have them."""
    return browser.js(
        """
        const canvas = document.querySelector(`#figure-${arguments[0]} canvas`);
        const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const found = {};
        for (let at = 0; at < data.length; at += 4) {
          if (data[at + 3] < 255) continue;
          const colour = `rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`;
          found[colour] = (found[colour] ?? 0) + 1;
        }
        return found;
        """,
        figure,
    )


def test_every_channel_under_the_pointer_has_its_name_and_its_load(browser):
    _, channels = drawing(browser)
    show(browser)
    press(browser, "Zoom in")
    table = table_of(browser, "torus", "loops")
    x, y, width, height = view(browser)
    seen = 0
    for number, (cx, cy, _) in channels.items():
        if not (x < cx < x + width and y < cy < y + height):
            continue
        mouse(browser, "mouseMoved", *place(browser, "torus", cx, cy))
        name, _, value = browser.texts("#figure-torus .reading")[0].partition(": channel load ")
        assert name == table.topology.channel_name(int(number))
        crossing = table.path_weight[
            [
                path
                for path, (a, b) in enumerate(
                    zip(table.path_start, table.path_start[1:], strict=False)
                )
                if int(number) in table.hop_channel[a:b]
            ]
        ].sum()
        assert float(value) == pytest.approx(crossing)
        seen += 1
    assert seen > 8


def test_the_drawing_is_that_of_the_small_picture(browser):
    _, channels = drawing(browser)
    show(browser)
    svg = browser.one("#figure-torus svg[role=img]")
    svg.send_keys(DOWN)
    browser.press(HOME)
    names = set()
    for _ in channels:
        name = browser.texts("#figure-torus .reading")[0].partition(":")[0]
        names.add(name)
        topology = table_of(browser, "torus", "loops").topology
        number = [topology.channel_name(c) for c in range(topology.num_channels)].index(name)
        d = browser.one("#figure-torus path.chosen").get_attribute("d")
        assert d == channels[str(number)][2]
        browser.press(DOWN)
    assert len(names) == len(channels)


@pytest.mark.parametrize(("figure", "pair"), [("torus", (1, 11)), ("dragonfly", (3, 30))])
def test_two_clicked_switches_show_their_route(browser, figure, pair):
    switches, _ = drawing(browser, figure)
    show(browser, figure)
    names = table_of(browser, figure, "loops").topology.switch_names
    source, target = (names[switch] for switch in pair)
    click(browser, *place(browser, figure, *switches[pair[0]]))
    assert status(browser, figure) == f"Route from {source}: choose a second switch"
    click(browser, *place(browser, figure, *switches[pair[1]]))
    expected = [route(table_of(browser, figure, r), source, target) for r in ("loops", "per-host")]
    assert hops_told(status(browser, figure)) == expected
    assert [text.splitlines()[0] for text in details(browser, figure)] == [
        f"Route from {source} to {target}",
        f"Route from {source} to terminal {terminal_of(browser, figure, target)} at {target}",
    ]
    drawn = browser.one(f"#figure-{figure} path.route").get_attribute("d")
    assert drawn.count("M") >= len(expected[0]) - 1


def test_a_clicked_channel_lists_its_pairs_until_escape(browser):
    _, channels = drawing(browser)
    show(browser)
    number, (x, y, _) = next(iter(channels.items()))
    click(browser, *place(browser, "torus", x, y))
    table = table_of(browser, "torus", "loops")
    uses = int((table.hop_channel == int(number)).sum())
    first, *_ = details(browser, "torus")[0].splitlines()
    assert first == f"{table.topology.channel_name(int(number))}: {uses} pairs use it"
    browser.one("#figure-torus .detail button").click()
    assert status(browser, "torus").startswith("Route from ")
    browser.one("#figure-torus svg[role=img]").send_keys(ESCAPE)
    assert details(browser, "torus") == []


def test_a_cycle_is_played(browser):
    show(browser)
    browser.one("#figure-torus .cycle summary").click()
    steps = browser.texts("#figure-torus .cycle li")
    _, _, after = browser.all("#figure-torus .player button")
    after.click()
    assert browser.one("#figure-torus .step").text == f"1 of {len(steps)}: {steps[0]}"
    assert browser.one("#figure-torus path.chosen").get_attribute("d")
    marked = browser.one("#figure-torus path.route").get_attribute("d")
    assert marked.count("M") >= len(steps)


def test_buttons_and_keys_zoom_around_the_middle_and_reset(browser):
    show(browser)
    home = view(browser)
    press(browser, "Zoom in")
    near = view(browser)
    assert near[2] == pytest.approx(0.6 * home[2], rel=1e-3)
    for at in (0, 1):
        assert near[at] + near[at + 2] / 2 == pytest.approx(home[at] + home[at + 2] / 2, abs=1)
    press(browser, "Reset")
    assert view(browser) == pytest.approx(home, abs=0.5)
    browser.one("#figure-torus svg[role=img]").send_keys("+")
    assert view(browser) == pytest.approx(near, abs=0.5)
    browser.press("0")
    assert view(browser) == pytest.approx(home, abs=0.5)


def test_the_section_follows_the_channel_chosen_by_keyboard(browser):
    _, channels = drawing(browser)
    show(browser)
    for _ in range(4):
        press(browser, "Zoom in")
    browser.one("#figure-torus svg[role=img]").send_keys(DOWN)
    topology = table_of(browser, "torus", "loops").topology
    names = [topology.channel_name(c) for c in range(topology.num_channels)]
    starts = set()
    for key in (HOME, DOWN, END, HOME):
        browser.press(key)
        pause(browser)
        name = browser.texts("#figure-torus .reading")[0].partition(":")[0]
        cx, cy, _ = channels[str(names.index(name))]
        x, y, width, height = view(browser)
        assert x <= cx <= x + width
        assert y <= cy <= y + height
        starts.add((x, y))
    assert len(starts) > 1


@pytest.mark.parametrize("control", [False, True])
def test_a_wheel_zooms_at_the_pointer_only_with_the_control_key(browser, control):
    switches, _ = drawing(browser)
    show(browser)
    before = view(browser)
    x, y = place(browser, "torus", *switches[5])
    mouse(browser, "mouseWheel", x, y, deltaX=0, deltaY=-200, modifiers=2 * control)
    pause(browser)
    assert (view(browser) != before) == control
    if control:
        assert place(browser, "torus", *switches[5]) == pytest.approx([x, y], abs=1.5)


def test_dragging_moves_the_picture_and_chooses_nothing(browser):
    switches, _ = drawing(browser)
    show(browser)
    press(browser, "Zoom in")
    x, y = place(browser, "torus", *switches[5])
    mouse(browser, "mouseMoved", x, y)
    mouse(browser, "mousePressed", x, y)
    for step in (10, 30, 50):
        mouse(browser, "mouseMoved", x + step, y - step, button="left", buttons=1)
    mouse(browser, "mouseReleased", x + 50, y - 50)
    pause(browser)
    assert place(browser, "torus", *switches[5]) == pytest.approx([x + 50, y - 50], abs=2)
    assert details(browser, "torus") == []
    assert "choose a second switch" not in status(browser, "torus")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_canvas_has_the_colours_of_the_page(browser, scheme):
    show(browser, prefers_color_scheme=scheme)
    press(browser, "Zoom in")
    found = pixels(browser)
    style = "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0])"
    colours = {browser.js(style, f"--q{step}") for step in range(20)}
    drawn = {
        colour
        for colour, count in found.items()
        if count > 20
        and "#{:02x}{:02x}{:02x}".format(*map(int, colour[4:-1].split(", "))) in colours
    }
    assert drawn
    paper = browser.js(
        "return getComputedStyle(document.querySelector('#figure-torus .panel')).backgroundColor"
    )
    assert all(contrast(colour, paper) > 1.5 for colour in drawn)


def test_without_the_needed_browser_and_on_paper_the_file_is_shown(browser):
    show(browser, type="print")
    assert browser.one("#figure-torus img").is_displayed()
    assert not browser.one("#figure-torus .network").is_displayed()
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get((browser.report / STUDY).as_uri())
        root = browser.cdp("DOM.getDocument")["root"]["nodeId"]
        node = browser.cdp("DOM.querySelector", nodeId=root, selector="#figure-torus .network")
        html = browser.cdp("DOM.getOuterHTML", nodeId=node["nodeId"])["outerHTML"]
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    assert " hidden" in html.partition(">")[0]


def test_large_pictures_fit_a_phone(browser):
    show(browser, "dragonfly", width=360, height=740)
    assert browser.js("return document.documentElement.scrollWidth") <= 360
    canvas = browser.one("#figure-dragonfly canvas").rect
    svg = browser.one("#figure-dragonfly svg[role=img]").rect
    for side in ("x", "y", "width", "height"):
        assert canvas[side] == pytest.approx(svg[side], abs=1)
    assert browser.complaints() == []
