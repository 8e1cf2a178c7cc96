"""Large pictures of networks: what the page's script unpacks is the drawing of small ones."""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import pytest

from routelab.config import Figure
from routelab.report.figures import inline
from routelab.report.figures.channel_looks import load_looks
from routelab.report.figures.drawing import save_drawing
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.packed import network_json, pack, values_json
from routelab.report.frames.runs import Frames
from routelab.report.network_picture import picture_of

NETWORK = Figure(kind="network", colour="load")
KIND = "routelab.report.figures.kinds.network"


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


def paths_of(data):
    """The SVG path of each channel, in the order of the channels."""
    points, sizes = iter(data["points"]), iter(data["sizes"])
    found = []
    for channel, count in enumerate(data["lines"]):
        path = ""
        for _ in range(count):
            at = data["source"][channel]
            x, y = data["places"][2 * at : 2 * at + 2]
            corners = []
            for _ in range(next(sizes)):
                x, y = x + next(points), y + next(points)
                corners.append(f"{x} {y}")
            path += "M" + "L".join(corners)
        found.append(path)
    return found


@pytest.mark.parametrize("sizes", [(4, 2), (4, 3, 2), (2, 2)])
def test_lines_names_and_values_are_those_of_a_small_picture(grid, sizes):
    topology = grid(sizes)
    picture = picture_of(topology)
    values = np.arange(topology.num_channels) % 5 / 3
    classes = load_looks(values, float(values.max())).classes
    expected = {
        path.channel: path for path in inline.channel_paths(topology, picture, values, classes)
    }
    network = unpacked(pack(network_json(topology, picture)))
    shown = unpacked(pack(values_json(values, classes)))
    assert paths_of(network) == [expected[c].path for c in range(topology.num_channels)]
    for channel in range(topology.num_channels):
        ends = (network["source"][channel], network["target"][channel])
        direction = network["directions"][network["direction"][channel]]
        name = "{}>{}".format(*(network["switches"][end] for end in ends))
        at = shown["at"][channel]
        assert f"{name} {direction}: {shown['texts'][at]}" == expected[channel].text
        assert shown["looks"][at] == expected[channel].look
    box = inline.backdrop(topology, picture)
    places = np.array(network["places"]).reshape(-1, 2).tolist()
    assert places == [[label.x, label.y] for label in box.switches]


def test_above_the_limit_the_page_gets_compressed_data(world, monkeypatch):
    for routing in ("a", "b"):
        world.add(routing, "4x2", load=[3, 1])
    monkeypatch.setattr(f"{KIND}.MAX_CHANNELS_IN_PAGE", 47)
    drawing = draw_figure(NETWORK, Frames(world.records), [], "")
    (network,) = drawing.inline.packed.values()
    assert len(unpacked(network)["lines"]) == 24
    for panel in drawing.inline.panels:
        assert panel.channels == ()
        assert unpacked(panel.packed)["texts"] == ["1", "3"]
    monkeypatch.setattr(f"{KIND}.MAX_CHANNELS_IN_PAGE", 48)
    drawing = draw_figure(NETWORK, Frames(world.records), [], "")
    assert not drawing.inline.packed
    assert all(panel.channels for panel in drawing.inline.panels)


def test_a_page_is_not_made_too_large(world, monkeypatch):
    world.add("a", "4x2")
    monkeypatch.setattr(f"{KIND}.MAX_CHANNELS_IN_PAGE", 23)
    monkeypatch.setattr(f"{KIND}.MAX_PACKED", 300)
    drawing = draw_figure(NETWORK, Frames(world.records), [], "")
    assert drawing.inline is None
    assert "its 24 channels need more than 0 kB" in drawing.description


@pytest.mark.parametrize("limit", [23, 24])
def test_files_of_very_large_networks_have_an_image(world, grid, monkeypatch, tmp_path, limit):
    world.add("a", "4x2")
    monkeypatch.setattr(f"{KIND}.MAX_VECTOR", limit)
    save_drawing(draw_figure(NETWORK, Frames(world.records), [], ""), tmp_path, "f")
    svg = (tmp_path / "f.svg").read_text()
    lines = len(picture_of(grid((4, 2))).lines)
    assert lines > 24
    assert svg.count("<title>") == (lines if limit == 24 else 0)
    assert svg.count("<image") == (1 if limit == 24 else 3)  # one is the colour scale
