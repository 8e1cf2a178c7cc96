from __future__ import annotations

import re

import numpy as np
from matplotlib.colors import to_rgb

from routelab.report.figures import inline
from routelab.report.figures.channel_styles import STEPS, load_styles
from routelab.report.network_picture import picture_of

PAPER = {"light": "#ffffff", "dark": "#1a1d21"}


def luminance(colour):
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], channels))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


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
