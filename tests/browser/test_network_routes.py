"""Pictures of networks in a real browser: routes of pairs, users of channels, and cycles."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from routelab.artifacts.routes_file import load_routes
from routelab.artifacts.topology_file import load_topology

pytestmark = pytest.mark.browser

STUDY = "networks/index.html"
TAB, ENTER, SPACE, ESCAPE, HOME, DOWN = "\ue004", "\ue007", " ", "\ue00c", "\ue011", "\ue015"
FOLDERS = {"torus": "torus~dims=4x4", "dragonfly": "dragonfly"}


def table_of(browser, figure, routing):
    results = browser.report.parent
    topology = load_topology(results / "topologies" / FOLDERS[figure] / "topology.npz")
    return load_routes(results / "routes" / FOLDERS[figure] / routing / "routes.npz", topology)


def route(table, source, target):
    """Names of the switches of the first path of a pair, by their names."""
    topology = table.topology
    names = list(topology.switch_names)
    endpoints = topology.endpoints.tolist()
    i, j = endpoints.index(names.index(source)), endpoints.index(names.index(target))
    if table.per_terminal:
        j = topology.terminal_switch.tolist().index(names.index(target))
        across = topology.num_terminals
    else:
        across = len(endpoints)
    path = table.pair_start[i * across + j]
    hops = table.hop_channel[table.path_start[path] : table.path_start[path + 1]]
    return [source, *(names[topology.channel_target[hop]] for hop in hops)]


def status(browser, figure):
    selector = f"#figure-{figure} .network > [role=status]"
    return browser.js("return document.querySelector(arguments[0]).textContent", selector)


def details(browser, figure):
    return [e.text for e in browser.all(f"#figure-{figure} .detail") if e.is_displayed()]


def click_switch(browser, figure, switch, panel=0):
    x, y = browser.js(
        """
        const [figure, switchNumber, panel] = arguments;
        const root = document.querySelector(`#figure-${figure}`);
        const svg = root.querySelectorAll("svg[role=img]")[panel];
        svg.scrollIntoView({block: "center"});
        const {cx, cy} = root.querySelectorAll(".backdrop circle")[switchNumber];
        const place = new DOMPoint(cx.baseVal.value, cy.baseVal.value);
        const {x, y} = place.matrixTransform(svg.getScreenCTM());
        return [x, y];
        """,
        figure,
        switch,
        panel,
    )
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        more = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        browser.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


def hops_told(text):
    """Names of switches after the number of hops, for each picture."""
    return [found.split(", ") for found in re.findall(r"hops?: ([^;]+)", text)]


@pytest.mark.parametrize(("figure", "pair"), [("torus", (1, 11)), ("dragonfly", (3, 30))])
def test_two_clicked_switches_show_their_route_in_every_picture(browser, figure, pair):
    browser.open(STUDY)
    names = table_of(browser, figure, "loops").topology.switch_names
    source, target = (names[switch] for switch in pair)
    click_switch(browser, figure, pair[0])
    assert status(browser, figure) == f"Route from {source}: choose a second switch"
    click_switch(browser, figure, pair[1], panel=1)
    expected = [route(table_of(browser, figure, r), source, target) for r in ("loops", "per-host")]
    assert hops_told(status(browser, figure)) == expected
    assert [text.splitlines()[0] for text in details(browser, figure)] == [
        f"Route from {source} to {target}",
        f"Route from {source} to terminal {terminal_of(browser, figure, target)} at {target}",
    ]
    drawn = [path.get_attribute("d") for path in browser.all(f"#figure-{figure} path.route")]
    for path, hops in zip(drawn, expected, strict=True):
        assert path.count("M") >= len(hops) - 1
    click_switch(browser, figure, pair[0])  # the next pair begins
    assert status(browser, figure).endswith("choose a second switch")


def terminal_of(browser, figure, switch):
    topology = table_of(browser, figure, "loops").topology
    return topology.terminal_switch.tolist().index(topology.switch_names.index(switch))


def test_a_pair_is_chosen_from_the_lists_by_keyboard_and_cleared(browser):
    browser.open(STUDY)
    source, target = browser.all("#figure-torus .pair select")
    source.send_keys("0.2")
    target.send_keys("terminal 7")
    told = status(browser, "torus")
    expected = [route(table_of(browser, "torus", r), "0.2", "1.3") for r in ("loops", "per-host")]
    assert hops_told(told) == expected
    target.send_keys(TAB)
    browser.press(ENTER)  # Clear
    assert details(browser, "torus") == []
    assert (source.get_attribute("value"), target.get_attribute("value")) == ("", "")
    assert browser.one("#figure-torus path.route").get_attribute("d") == ""


def test_a_channel_lists_its_pairs_and_each_leads_to_its_route(browser):
    browser.open(STUDY)
    svg = browser.one("#figure-torus svg[role=img]")
    svg.send_keys(DOWN)
    browser.press(HOME)
    name = browser.texts("#figure-torus .reading")[0].partition(":")[0]
    for panel, routing in enumerate(("loops", "per-host")):
        table = table_of(browser, "torus", routing)
        channels = [table.topology.channel_name(c) for c in range(table.topology.num_channels)]
        uses = int((table.hop_channel == channels.index(name)).sum())
        first, *_ = details(browser, "torus")[panel].splitlines()
        assert first == f"{name}: {uses} pairs use it"
        buttons = browser.all(f"#figure-torus .panel:nth-child({panel + 1}) .detail button")
        assert len(buttons) == min(uses, 36)
    button = browser.one("#figure-torus .detail button")
    source, target = button.text.split(" → ")
    button.click()
    first = hops_told(status(browser, "torus"))[0]
    assert (first[0], first[-1]) == (source, target)
    assert name.split()[0] in [f"{a}>{b}" for a, b in pairwise(first)]
    svg.send_keys(ESCAPE)
    assert details(browser, "torus") == []


def test_a_cycle_is_played_channel_by_channel(browser):
    browser.open(STUDY)
    assert len(browser.all("#figure-torus .cycle")) == 1  # per-host has none
    browser.one("#figure-torus .cycle summary").click()
    steps = browser.texts("#figure-torus .cycle li")
    channels = [item.get_attribute("data-channel") for item in browser.all(".cycle li")]
    before, play, after = browser.all("#figure-torus .player button")

    def shown():
        path = browser.one("#figure-torus .panel path.chosen").get_attribute("d")
        selector = "#figure-torus .panel path[data-c]"
        of = {e.get_attribute("d"): e.get_attribute("data-c") for e in browser.all(selector)}
        return browser.one("#figure-torus .step").text, of[path]

    for number in range(len(steps)):
        after.click()
        text = f"{number + 1} of {len(steps)}: {steps[number]}"
        assert shown() == (text, channels[number])
        waits, waited = steps[number].split(" waits for ")
        # the channel that one waits for is the next one
        following = steps[(number + 1) % len(steps)].split(" waits for ")[0]
        assert waited.startswith(following)
        assert waits != following
    before.click()
    assert shown()[0].startswith(f"{len(steps) - 1} of {len(steps)}: ")
    browser.js("window.setInterval = (act) => { window.act = act; return 1; }")
    play.click()
    assert play.text == "Pause"
    for _ in steps[1:]:
        browser.js("window.act()")
    assert play.text == "Play the cycle"  # one round, then it stops
    assert shown()[0].startswith(f"{len(steps) - 1} of {len(steps)}: ")


def test_without_scripts_and_on_paper_the_cycle_is_a_list_without_controls(browser):
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get((browser.report / STUDY).as_uri())
        root = browser.cdp("DOM.getDocument")["root"]["nodeId"]
        text = browser.cdp("DOM.getOuterHTML", nodeId=root)["outerHTML"]
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    assert " waits for " in text
    assert "<select" not in text
    browser.open(STUDY, type="print")
    display = "return getComputedStyle(document.querySelector(arguments[0])).display"
    assert [browser.js(display, one) for one in (".pair", ".player")] == ["none", "none"]
