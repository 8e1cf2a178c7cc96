"""Pictures of networks on dark pages."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from matplotlib.colors import to_rgb

from routelab.report.figures.channel_styles import GROUP_COLOURS
from routelab.report.figures.drawing import DARK, write_drawing
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.request import FigureRequest
from routelab.report.rows.routes import RouteRows
from routelab.study import Figure

SVG = "{http://www.w3.org/2000/svg}"
RULE = re.compile(r'\[style\*="(stroke|fill): (#\w+)" i\] { (?:stroke|fill): (#\w+) ')


@pytest.fixture
def draw(world, tmp_path):
    def draw(**spec):
        world.add("bfs", "3x4", load=range(40))
        figure = Figure(kind="network", **spec)
        drawing = draw_figure(FigureRequest(figure, RouteRows(world.records), (), ""))
        write_drawing(drawing, tmp_path / "f.svg")
        return drawing, ET.parse(tmp_path / "f.svg").getroot()

    return draw


def brightness(colour):
    return sum(to_rgb(colour)) / 3


def test_every_colour_is_replaced_and_loads_stand_out_from_the_page(draw):
    drawing, root = draw(colour="load")
    assert not drawing.on_paper
    rules = {rule[:2]: rule[2] for rule in RULE.findall(root.find(f"{SVG}style").text)}
    styles = " ".join(element.get("style", "") for element in root.iter())
    used = set(re.findall(r"(stroke|fill): (#\w+)", styles))
    assert used <= rules.keys()
    page = brightness(DARK["#ffffff"])
    lines = root.findall(f".//{SVG}g[@id='channels-0']/{SVG}path")
    shown = [rules["stroke", re.search(r"stroke: (#\w+)", line.get("style"))[1]] for line in lines]
    assert all(brightness(colour) > page + 0.2 for colour in shown)
    # lines are drawn in ascending order of load, and the busiest is the brightest
    assert brightness(shown[-1]) == max(map(brightness, shown)) > brightness(shown[0])


def test_groups_keep_colours_that_are_visible_on_both(draw):
    assert not draw(colour="cycle")[0].on_paper
    assert all(brightness(colour) > brightness(DARK["#ffffff"]) + 0.2 for colour in GROUP_COLOURS)


def test_a_picture_with_an_image_stays_on_paper(draw, monkeypatch):
    monkeypatch.setattr("routelab.report.figures.kinds.network.MAX_VECTOR_CHANNELS", 10)
    drawing, root = draw(colour="load")
    assert drawing.on_paper
    assert root.find(f".//{SVG}image") is not None
    assert root.find(f"{SVG}style") is None
