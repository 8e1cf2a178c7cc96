"""Network pictures for the page: compact SVG with a tooltip for each channel.

The page's style sheet sets colours and widths, so one picture suits light pages, dark pages and
paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from routelab.api import Topology
from routelab.report.labels import number_text
from routelab.report.network_picture import RADIUS, Picture

UNIT = 40
"""SVG units of the distance between two rows of switches."""
MAX_CHANNELS_IN_PAGE = 4000
"""Limit for all pictures of a figure together; above it, the page shows the figure's file."""
MAX_NAMES = 60
"""Largest number of switches with names in a network without coordinates."""
LETTER = 10
"""Width of a letter of a name, in SVG units."""
MARGIN_LEFT, MARGIN_BELOW = 84, 36
"""Least space for the coordinates of blocks, in SVG units."""
TICK_LETTER = 14
"""Width of a letter of a coordinate or level, in SVG units."""


@dataclass(frozen=True)
class ChannelPath:
    """A channel: an SVG path, its class of style, and name and value as text."""

    path: str
    look: str
    text: str


@dataclass(frozen=True)
class TurnPath:
    """A marked turn: an SVG path and its description."""

    path: str
    text: str


@dataclass(frozen=True)
class Label:
    """A text at a point."""

    x: int
    y: int
    text: str

    @property
    def half_width(self) -> int:
        """Upper limit of half the width of the text, which is centred at the point."""
        return len(self.text) * LETTER // 2


@dataclass(frozen=True)
class Backdrop:
    """Common part of the pictures of one network.

    Attributes
    ----------
    name : str
        The network.
    left, top, width, height : int
        The view box.
    switches : tuple of Label
        Centres, with the texts in the circles.
    names : tuple of Label
        Names beside the circles.
    below, beside : tuple of Label
        Coordinates of blocks.
    """

    name: str
    left: int
    top: int
    width: int
    height: int
    switches: tuple[Label, ...]
    names: tuple[Label, ...]
    below: tuple[Label, ...]
    beside: tuple[Label, ...]


@dataclass(frozen=True)
class InlinePanel:
    """One picture.

    Attributes
    ----------
    title, note : str
    network : int
        Position of its backdrop.
    channels : tuple of ChannelPath
    turns : tuple of TurnPath
    numbers : tuple of Label
        Numbers of groups of channels.
    cycle : tuple of str
        Steps of the cycle that refutes the route table.
    """

    title: str
    note: str
    network: int
    channels: tuple[ChannelPath, ...]
    turns: tuple[TurnPath, ...] = ()
    numbers: tuple[Label, ...] = ()
    cycle: tuple[str, ...] = ()


@dataclass(frozen=True)
class InlinePicture:
    """Small multiples of networks at one colour scale.

    Attributes
    ----------
    label : str
        What the colours mean.
    ticks : tuple of (float, str)
        Place on the scale, from 0 to 100, and number; empty if colours stand for groups.
    backdrops : tuple of Backdrop
    panels : tuple of InlinePanel
    hints : tuple of str
        How to read the pictures.
    """

    label: str
    ticks: tuple[tuple[float, str], ...]
    backdrops: tuple[Backdrop, ...]
    panels: tuple[InlinePanel, ...]
    hints: tuple[str, ...]


def backdrop(topology: Topology, picture: Picture, name: str = "") -> Backdrop:
    """Return the part of a picture that does not depend on loads."""
    left, right, bottom, top = (round(UNIT * edge) for edge in picture.box)
    below, beside = picture.block_ticks
    switches = tuple(
        Label(x, y, mark)
        for (x, y), mark in zip(svg_points(picture.switches), picture.marks, strict=True)
    )
    names = _names(topology, switches) if not beside and not picture.captions else ()
    names += tuple(point_label((x, y), text) for x, y, text in picture.captions)
    margin = max([MARGIN_LEFT, *(TICK_LETTER * len(text) + 8 for _, text in beside)])
    view_left = min([left - (margin if beside else 0), *(n.x - n.half_width for n in names)])
    view_right = max([right, *(n.x + n.half_width for n in names)])
    end = max([-bottom + (MARGIN_BELOW if below else 0), *(n.y + LETTER for n in names)])
    return Backdrop(
        name=name,
        left=view_left,
        top=-top,
        width=view_right - view_left,
        height=end + top,
        switches=switches,
        names=names,
        below=tuple(Label(round(UNIT * at), -bottom + 24, text) for at, text in below),
        beside=tuple(Label(left - 8, -round(UNIT * at), text) for at, text in beside),
    )


def _names(topology: Topology, switches: tuple[Label, ...]) -> tuple[Label, ...]:
    """Return names below the switches without a text inside, if there are few switches."""
    if topology.num_switches > MAX_NAMES:
        return ()
    return tuple(
        Label(switch.x, switch.y + round(UNIT * RADIUS) + 16, name)
        for switch, name in zip(switches, topology.switch_names, strict=True)
        if not switch.text
    )


def channel_paths(
    topology: Topology, picture: Picture, values: NDArray[np.float64], classes: Sequence[str]
) -> tuple[ChannelPath, ...]:
    """Return all channels; the busiest comes last, so it is drawn on top.

    Parameters
    ----------
    values : float64 array, shape (C,)
    classes : sequence of str, length C
        See `routelab.report.figures.channel_styles.ChannelStyles`.
    """
    parts: list[list[str]] = [[] for _ in range(topology.num_channels)]
    for line, channel in zip(picture.lines, picture.line_channel, strict=True):
        parts[channel].append(svg_path(line))
    return tuple(
        ChannelPath(
            path="".join(parts[channel]),
            look=classes[channel],
            text=f"{topology.channel_name(channel)}: {number_text('', values[channel])}",
        )
        for channel in np.argsort(values, kind="stable").tolist()
    )


def svg_path(line: NDArray[np.float64]) -> str:
    """Return a polyline as an SVG path."""
    return "M" + "L".join(f"{x} {y}" for x, y in svg_points(line))


def point_label(point: Sequence[float], text: str) -> Label:
    """Return a text at a point of a picture."""
    ((x, y),) = svg_points(np.array([point]))
    return Label(x, y, text)


def scale_ticks(top: float) -> tuple[tuple[float, str], ...]:
    """Return round numbers from 0 to at most `top`, and their places in percent."""
    at = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(0, top)
    return tuple((round(100 * t / top, 2), number_text("", t)) for t in at if 0 <= t <= top)


def svg_points(points: NDArray[np.float64]) -> Sequence[tuple[int, int]]:
    """Convert points to SVG units; SVG's y runs downwards."""
    return [(round(UNIT * x), -round(UNIT * y)) for x, y in points.tolist()]
