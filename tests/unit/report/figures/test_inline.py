from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from routelab.api import Topology
from routelab.report.figures import inline
from routelab.report.figures.channel_styles import GROUPS, STEPS, load_styles, scale_colours
from routelab.report.figures.drawing import save_drawing
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.request import FigureRequest
from routelab.report.network_picture import picture_of
from routelab.report.rows.routes import RouteRows
from routelab.study import Figure

NETWORK = Figure(kind="network", colour="load")
PAPER = {"light": "#ffffff", "dark": "#1a1d21"}


def luminance(colour):
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], channels))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_lightness_alone_tells_loads_apart(mode):
    """So neither colour blindness nor a grey printer hides an order of loads."""
    colours = scale_colours(dark=mode == "dark")
    against = [contrast(colour, PAPER[mode]) for colour in colours]
    assert against == sorted(against)
    assert min(np.diff([luminance(c) for c in colours]) * (1 if mode == "dark" else -1)) > 0.001
    assert against[0] > 1.5
    assert against[-1] > 12


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colours_of_groups_are_visible_on_any_page(mode):
    assert min(contrast(colour, PAPER[mode]) for colour in GROUPS) > 2


def test_every_channel_is_drawn_once_the_busiest_on_top(grid):
    topology = grid((4, 3, 2))
    picture = picture_of(topology)
    values = np.arange(topology.num_channels)[::-1] % 7.0
    paths = inline.channel_paths(topology, picture, values, load_styles(values, 6.0).classes)
    number = {topology.channel_name(channel): channel for channel in range(topology.num_channels)}
    names, loads = zip(*(path.text.rsplit(": ", 1) for path in paths), strict=True)
    drawn = [values[number[name]] for name in names]
    assert sorted(names) == sorted(number)
    assert drawn == sorted(drawn) == [float(load) for load in loads]
    for path, load in zip(paths, map(int, loads), strict=True):
        assert path.look == f"q{min(STEPS * load // 6, STEPS - 1)}"


def test_paths_are_the_pictures_lines_inside_the_view_box(grid):
    topology = grid((4, 2))
    picture = picture_of(topology)
    box = inline.backdrop(topology, picture)
    lines = {}
    channels = topology.num_channels
    for path in inline.channel_paths(topology, picture, np.zeros(channels), ["q0"] * channels):
        assert re.fullmatch(r"(M-?\d+ -?\d+(L-?\d+ -?\d+)+)+", path.path)
        numbers = np.array(re.findall(r"-?\d+", path.path), dtype=float).reshape(-1, 2)
        lines[path.text] = numbers / [inline.UNIT, -inline.UNIT]
        assert (numbers >= [box.left, box.top]).all()
        assert (numbers <= [box.left + box.width, box.top + box.height]).all()
    for channel in range(topology.num_channels):
        mine = [
            line
            for line, owner in zip(picture.lines, picture.line_channel, strict=True)
            if owner == channel
        ]
        shown = lines[f"{topology.channel_name(channel)}: 0"]
        assert np.abs(shown - np.concatenate(mine)).max() <= 0.5 / inline.UNIT


def test_the_scale_has_round_numbers_at_their_places():
    assert inline.scale_ticks(40.0) == ((0, "0"), (25, "10"), (50, "20"), (75, "30"), (100, "40"))
    assert all(0 <= place <= 100 for place, _ in inline.scale_ticks(0.37))


def test_networks_by_layout_have_their_names_beside_them():
    topology = Topology.create(
        num_switches=3,
        channel_source=[0, 1, 2],
        channel_target=[1, 2, 0],
        switch_names=["Oslo", "Rom", "Berlin"],
    )
    box = inline.backdrop(topology, picture_of(topology))
    assert {label.text for label in box.names} == {"Oslo", "Berlin"}
    assert {label.text for label in box.switches} == {"", "Rom"}
    assert box.below == box.beside == ()
    for label in box.names:
        assert box.left <= label.x - 5 * len(label.text)
        assert label.x + 5 * len(label.text) <= box.left + box.width
        assert label.y < box.top + box.height


def test_pictures_of_one_network_share_a_backdrop_those_of_others_do_not(world):
    for routing, dims in (("a", "4x2"), ("a", "2x2"), ("b", "4x2")):
        world.add(routing, dims, load=[3, 1])
    drawing = draw_figure(FigureRequest(NETWORK, RouteRows(world.records)))
    panels = {panel.title: panel.network for panel in drawing.inline.panels}
    assert panels["a on torus~dims=4x2"] == panels["b on torus~dims=4x2"]
    assert panels["a on torus~dims=2x2"] != panels["a on torus~dims=4x2"]
    assert len(drawing.inline.backdrops) == 2


def test_every_grey_of_a_drawn_figure_has_a_colour_for_dark_pages(world, tmp_path):
    world.add("a", "4x2", load=[3, 1])
    drawing = draw_figure(
        FigureRequest(Figure(kind="ecdf", x="load"), RouteRows(world.records), [], "")
    )
    save_drawing(drawing, tmp_path, "x")
    text = (tmp_path / "x.svg").read_text()
    rules = dict(re.findall(r'style\*="(?:fill|stroke): (#\w+)" i\] \{ \w+: (#\w+)', text))
    used = set(re.findall(r"(?:fill|stroke): (#\w{6})", text.partition("</style>")[2]))
    greys = {colour for colour in used if len(set(to_rgb(colour))) == 1}
    assert greys
    assert greys <= set(rules)
    for colour, dark in rules.items():
        was = contrast(colour, PAPER["light"])
        assert contrast(dark, PAPER["dark"]) > (3 if was > 3 else 1) or colour == "#ffffff"
