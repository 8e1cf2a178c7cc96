"""Colours and widths of channels in pictures of networks, by amounts or by groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import seaborn as sns
from matplotlib.colors import ListedColormap, to_hex, to_rgba_array
from numpy.typing import NDArray

from routelab.api import Topology
from routelab.api.topology import Int64Array
from routelab.report.network_picture import Picture, Points

Values = NDArray[np.float64]

THIN, THICK = 0.7, 3.0
"""Points of the least and the most loaded channel in small networks."""
THIN_GROUP, THICK_GROUP = 1.0, 2.2
"""Points of channels in no group and in a group."""
STEPS = 20
"""Number of colours on pages from zero load to the largest."""
GROUPS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#8e63b5",
    "#8c6d31",
)
"""Colours of groups, all visible on white; the first six are Okabe and Ito's."""
NO_GROUP = "#cfcfcf"
NUMBER_SIZE = 0.7
"""Smallest distance between two numbers of groups."""
MAX_NUMBERS = 200
"""Largest number of groups whose numbers are written into a picture."""


@dataclass(frozen=True)
class ChannelStyles:
    """How each channel is drawn.

    Attributes
    ----------
    colours : float64 array, shape (C, 4)
    widths : float64 array, shape (C,)
        Points in small networks.
    """

    colours: Values
    widths: Values


def load_styles(values: Values, top: float) -> ChannelStyles:
    """Return the styles of channels with amounts: darker and thicker up to the amount `top`."""
    shares = values / top
    return ChannelStyles(scale_map()(shares), THIN + (THICK - THIN) * shares)


def group_styles(topology: Topology, values: Values) -> ChannelStyles:
    """Return the styles of channels in groups: groups that meet at a switch have other colours.

    Channels with 0 belong to no group and are thin and grey.
    """
    colour = group_colours(topology, values)
    inside = colour >= 0
    return ChannelStyles(
        to_rgba_array([*GROUPS, NO_GROUP])[colour],
        np.where(inside, THICK_GROUP, THIN_GROUP),
    )


def group_colours(topology: Topology, values: Values) -> Int64Array:
    """Return the number of each channel's colour in `GROUPS`; −1 in no group.

    Groups take the first colour that no earlier group has at any of their switches. If there is
    none, they take the one that the fewest of these groups have.

    Parameters
    ----------
    topology : Topology
    values : float64 array, shape (C,)
        Positive numbers of groups, and 0 for channels in none.
    """
    groups = values.astype(np.int64)
    members: dict[int, set[int]] = {}
    at_switch: list[set[int]] = [set() for _ in range(topology.num_switches)]
    for ends in (topology.channel_source, topology.channel_target):
        for switch, group in zip(ends.tolist(), groups.tolist(), strict=True):
            if group > 0:
                members.setdefault(group, set()).add(switch)
                at_switch[switch].add(group)
    colour_of: dict[int, int] = {}
    for group in sorted(members):
        neighbours = set().union(*(at_switch[switch] for switch in members[group]))
        neighbour_colours = [
            colour_of[neighbour] for neighbour in neighbours if neighbour in colour_of
        ]
        colour_of[group] = min(
            range(len(GROUPS)), key=lambda number: (neighbour_colours.count(number), number)
        )
    return np.array([colour_of.get(group, -1) for group in groups.tolist()], dtype=np.int64)


def group_places(
    topology: Topology, picture: Picture, values: Values
) -> Iterator[tuple[int, Points]]:
    """Yield each group and a place for its number: the middle of a link.

    It is the most central link that is not close to the number of an earlier group. There are none
    for a single group or more than `MAX_NUMBERS`.
    """
    groups = np.unique(values[values > 0]).astype(np.int64)
    if not 1 < len(groups) <= MAX_NUMBERS:
        return
    middles = _link_middles(topology, picture)
    number_places: list[Points] = []
    for group in groups.tolist():
        channels = np.flatnonzero(values == group).tolist()
        places = np.array([middles[channel] for channel in channels])
        distances = np.hypot(*(places - places.mean(axis=0)).T).round(6)
        overlaps = [
            any(np.hypot(*(at - place)) < NUMBER_SIZE for place in number_places) for at in places
        ]
        number_places.append(places[np.lexsort((distances, overlaps))[0]])
        yield group, number_places[-1]


def _link_middles(topology: Topology, picture: Picture) -> Points:
    """Return the middle of the link of each channel; of a cut one, of the end that leaves."""
    middles = np.zeros((topology.num_channels, 2))
    drawn: set[int] = set()
    cut: set[int] = set()
    for line, channel in zip(picture.lines, picture.line_channel, strict=True):
        if channel in drawn:
            cut.add(channel)
            continue
        drawn.add(channel)
        # the last point of a line is its barb
        middles[channel] = (line[0] + line[-2]) / 2
    ends = np.stack((topology.channel_source, topology.channel_target), axis=1).tolist()
    channel_between = {(b, a): channel for channel, (a, b) in enumerate(ends)}
    link_middles = middles.copy()
    for channel, (a, b) in enumerate(ends):
        reverse = channel_between.get((a, b))
        if reverse is not None and not {channel, reverse} & cut:
            link_middles[channel] = (middles[channel] + middles[reverse]) / 2
    return link_middles


def scale_map() -> ListedColormap:
    """Return the colours of `scale_colours` on light pages; SVG files replace each on dark ones."""
    return ListedColormap(scale_colours(dark=False))


def scale_colours(dark: bool) -> list[str]:
    """Return the colours in even steps of lightness; the busiest stands out most.

    Colours that are too close to the background are left out at either end.
    """
    colours = sns.color_palette("rocket" if dark else "rocket_r", as_cmap=True)
    ends = (0.38, 1.0) if dark else (0.10, 0.95)
    return [to_hex(colours(at)) for at in np.linspace(*ends, STEPS)]
