"""Pictures of damaged networks show what failed."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from routelab.registry.instances import load
from routelab.report.figures.drawing import write_drawing
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.request import FigureRequest
from routelab.report.network_picture import RADIUS, picture_of
from routelab.report.rows.routes import RouteRows
from routelab.routing.route import route_network, write_routes
from routelab.routing.routing import Routing
from routelab.routing.topology_file import save_topology
from routelab.study import Figure

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def draw(world, tmp_path):
    """Draw a network as figures of a study do; return the figure and its picture as XML."""

    def draw(name):
        network = load("topology", name).build()
        result, facts, measured = route_network(network, Routing.from_name("dfsssp"))
        record = world.add("dfsssp", "4", facts=facts)
        write_routes(result, measured, record.directory, {})
        save_topology(network, record.topology_directory / "topology.npz")
        spec = Figure(kind="network", colour="load")
        drawing = draw_figure(FigureRequest(spec, RouteRows(world.records), (), ""))
        write_drawing(drawing, tmp_path / "f.svg")
        return drawing, ET.parse(tmp_path / "f.svg").getroot()

    return draw


def dashed(root):
    """Return the number of dashed lines of each failed link, by its tooltip."""
    paths = root.findall(f".//{SVG}g[@id='failed-0']/{SVG}path")
    assert all("stroke-dasharray" in path.get("style") for path in paths)
    return Counter(path.find(f"{SVG}title").text for path in paths)


def legend(drawing):
    return [text.get_text() for box in drawing.figure.legends for text in box.get_texts()]


def test_each_failed_link_is_dashed_and_one_that_closed_a_ring_has_two_ends(draw):
    drawing, root = draw("torus~dims=4x4,failed_links=0-1+5-6+0-12,failed_switches=10")
    lines = dashed(root)
    assert lines == {
        "failed link 0.0-0.1": 1,
        "failed link 1.1-1.2": 1,
        "failed link 3.0-0.0": 2,
    }
    assert legend(drawing) == ["failed link", "failed switch"]
    assert "3 failed links, 1 failed switch" in drawing.description


def test_a_whole_network_has_no_legend(draw):
    drawing, root = draw("torus~dims=4x4")
    assert dashed(root) == {}
    assert legend(drawing) == []
    assert "failed" not in drawing.description


@pytest.mark.parametrize(
    "name", ["dragonfly~h=1,p=2", "fat-tree~down=2x2x2,up=1x2x1", "random-regular~n=16,degree=4"]
)
def test_failed_links_of_networks_without_rows_join_their_switches(draw, name):
    drawing, root = draw(f"{name},fail_links=3")
    network = load("topology", f"{name},fail_links=3").build()
    assert sum(dashed(root).values()) == len(network.failed_links) == 3
    assert legend(drawing) == ["failed link"]
    picture = picture_of(network)
    number = {switch: at for at, switch in enumerate(network.switch_names)}
    for link, line in picture.failed_links:
        for end, point in zip(link.split("-"), line[[0, -1]], strict=True):
            assert np.hypot(*(picture.switches[number[end]] - point)) < 2 * RADIUS


def test_a_failed_switch_is_where_it_was():
    whole = load("topology", "torus~dims=4x2x2").build()
    damaged = load("topology", "torus~dims=4x2x2,failed_switches=5+15").build()
    assert np.array_equal(picture_of(damaged).failed_switches, picture_of(whole).switches[[5, 15]])


def test_the_ends_of_a_failed_link_that_closed_the_only_ring_are_explained():
    hints = {
        name: picture_of(load("topology", name).build()).hint
        for name in ("mesh~dims=4", "torus~dims=4", "torus~dims=4,failed_links=0-3")
    }
    assert hints["torus~dims=4,failed_links=0-3"] == hints["torus~dims=4"] != hints["mesh~dims=4"]
