"""The box about missing results, on the page of a study whose simulations were all stopped."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from routelab.results.outcome import Outcome, write_outcome
from routelab.workflow import report as report_stage
from routelab.workflow.plan.expansion import expand_studies

pytestmark = pytest.mark.browser

NAME = "patterns-small"
PAGE = f"{NAME}/index.html"
STUDY = """
title: Traffic patterns on a small torus and on Abilene
topologies:
  - torus~dims=4x2
  - {use: "graph~file=abilene.graphml", as: abilene}
routings: [dor, dfsssp, angara-sssp]
traffic: [uniform, tornado, bit-complement]
tables:
  saturation: {of: simulations, rows: [routing, traffic, topology], values: [accepted_load]}
"""
REACHED = "9 of 18 simulations of patterns-small reached their limit of 120 CPU-s"
LIMIT = "reached its limit of 120 CPU-s (limits.seconds) in {}: load 0.3"
WINDOWS = {
    "light": {"width": 1280, "height": 900, "prefers_color_scheme": "light"},
    "dark": {"width": 1280, "height": 900, "prefers_color_scheme": "dark"},
    "phone": {"width": 360, "height": 740, "prefers_color_scheme": "light"},
}


@pytest.fixture(scope="module")
def incomplete(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with the route tables of `report`, and simulations that were stopped or not run."""
    home = tmp_path_factory.mktemp("incomplete") / "home"
    shutil.copytree(report.parent.parent, home)
    path, results = Path("config/studies", f"{NAME}.yaml"), Path("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        path.write_text(STUDY)
        for ids in expand_studies([path], results).of("simulations"):
            topology, routing, *_ = ids
            told = "timeout", LIMIT.format(" ".join(ids[:3]))
            if topology == "abilene":
                if routing != "dor":
                    continue
                told = "unsupported", "dor needs coordinates, and abilene has none"
            outcome = Outcome("simulation", topology, routing, *told)
            write_outcome(outcome, results.joinpath(NAME, "simulations", *ids, "outcome.json"))
        report_stage.write_report(path, results, results / "report" / NAME)
        report_stage.write_report_index(results)
    return home / "results/report"


@pytest.fixture
def shown(browser: Any, incomplete: Path) -> Any:
    """The browser, for this report."""
    return type(browser)(browser.driver, incomplete)


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        values = [int(text) / 255 for text in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in values]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("window", WINDOWS)
def test_missing_results_stand_readable_above_the_finding(shown, window):
    shown.open(PAGE, **WINDOWS[window])
    alert = shown.one("[role=alert]")
    assert alert.is_displayed()
    assert REACHED in alert.text
    assert "6 of 18 simulations of patterns-small have not run yet." in alert.text
    note = shown.one("[role=note]")
    assert "3 of 18 simulations of patterns-small do not apply to their network" in note.text
    ends = [box.rect["y"] + box.rect["height"] for box in (alert, note)]
    assert ends[0] <= shown.one("#answer").rect["y"]
    assert ends[0] <= note.rect["y"]
    # the sentence again would be noise
    assert shown.all(".finding") == []
    # without scrolling
    assert ends[0] <= WINDOWS[window]["height"]
    assert shown.js("return document.documentElement.scrollWidth") <= WINDOWS[window]["width"]
    colour = "return getComputedStyle(arguments[0])[arguments[1]]"
    for box in (alert, note):
        paper = shown.js(colour, box, "backgroundColor")
        for selector in (".heading", "li", "a"):
            ink = shown.js(colour, box.find_element("css selector", selector), "color")
            assert contrast(ink, paper) >= 4.5, selector
    if picture := os.environ.get("SCREENSHOTS"):
        Path(picture, f"banner-{window}.png").write_bytes(shown.driver.get_screenshot_as_png())


def test_the_box_leads_to_the_list_of_lost_runs(shown):
    shown.open(PAGE)
    shown.one("[role=alert] a").click()
    shown.driver.implicitly_wait(2)
    table = shown.one("#lost caption")
    assert table.text == "Runs without a result"
    top = shown.js("return arguments[0].getBoundingClientRect().top", table)
    assert 0 <= top < 900
    words = set(shown.texts("#lost .status"))
    assert {"reached a limit", "not run yet", "unsupported"} <= words


@pytest.mark.parametrize("window", WINDOWS)
def test_the_index_marks_the_study(shown, window):
    shown.open("index.html", **WINDOWS[window])
    (box,) = shown.all(".missing")
    assert box.text.startswith("Results are missing\n9 of 18 simulations reached their limit")
    assert shown.js("return document.documentElement.scrollWidth") <= WINDOWS[window]["width"]
    if picture := os.environ.get("SCREENSHOTS"):
        shown.js("arguments[0].scrollIntoView({block: 'center'})", box)
        Path(picture, f"index-{window}.png").write_bytes(shown.driver.get_screenshot_as_png())
