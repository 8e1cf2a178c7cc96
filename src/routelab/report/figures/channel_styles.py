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
COLOUR_STEPS = 20
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
MIN_NUMBER_DISTANCE = 0.7
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
    """Return the styles of channels with amounts up to `top`: large ones are darker and thicker."""
    shares = values / top
    return ChannelStyles(scale_map()(shares), THIN + (THICK - THIN) * shares)


def group_styles(topology: Topology, values: Values) -> ChannelStyles:
    """Return the styles of channels in groups: groups that meet at a switch differ in colour.

    Channels of number 0 belong to no group and are thin and grey.
    """
    colour = group_colours(topology, values)
    # The number −1 of channels in no group selects the last colour.
    colours = to_rgba_array([*GROUPS, NO_GROUP])[colour]
    return ChannelStyles(colours, np.where(colour >= 0, THICK_GROUP, THIN_GROUP))


def group_colours(topology: Topology, values: Values) -> Int64Array:
    """Return the number of each channel's colour in `GROUPS`; −1 in no group.

    Groups in ascending order take the first colour that no earlier group has at any of their
    switches. If there is none, they take the colour that the fewest of these earlier groups have.

    Parameters
    ----------
    topology : Topology
    values : float64 array, shape (C,)
        Positive numbers of groups, and 0 for channels in none.
    """
    groups = values.astype(np.int64)
    switches_of: dict[int, set[int]] = {}
    groups_at: list[set[int]] = [set() for _ in range(topology.num_switches)]
    for ends in (topology.channel_source, topology.channel_target):
        for switch, group in zip(ends.tolist(), groups.tolist(), strict=True):
            if group > 0:
                switches_of.setdefault(group, set()).add(switch)
                groups_at[switch].add(group)
    colour_of: dict[int, int] = {}
    for group in sorted(switches_of):
        neighbours = set().union(*(groups_at[switch] for switch in switches_of[group]))
        neighbour_colours = [
            colour_of[neighbour] for neighbour in neighbours if neighbour in colour_of
        ]
        colour_of[group] = min(
            range(len(GROUPS)), key=lambda number: (neighbour_colours.count(number), number)
        )
    return np.array([colour_of.get(group, -1) for group in groups.tolist()], dtype=np.int64)


def group_number_positions(
    topology: Topology, picture: Picture, values: Values
) -> Iterator[tuple[int, Points]]:
    """Yield each group and the position (x, y) of its number: the middle of one of its links.

    It is the link next to the centre of the group, of those that are not close to the number of an
    earlier group if possible. A single group, or more than `MAX_NUMBERS`, have no numbers.
    """
    groups = np.unique(values[values > 0]).astype(np.int64)
    if not 1 < len(groups) <= MAX_NUMBERS:
        return
    middles = _link_middles(topology, picture)
    chosen: list[Points] = []
    for group in groups.tolist():
        candidates = middles[values == group]
        # rounded, so that links at equal distances stay in the order of their channels
        from_centre = np.hypot(*(candidates - candidates.mean(axis=0)).T).round(6)
        is_close = [
            any(np.hypot(*(candidate - other)) < MIN_NUMBER_DISTANCE for other in chosen)
            for candidate in candidates
        ]
        # `lexsort` compares its last key first
        best = np.lexsort((from_centre, is_close))[0]
        chosen.append(candidates[best])
        yield group, candidates[best]


def _link_middles(topology: Topology, picture: Picture) -> Points:
    """Return the middle (x, y) of the link of each channel; shape (C, 2).

    It lies between both directions of the link. A channel without an opposite one, or that is cut,
    has the middle of its own line; a cut one, of the line that leaves.
    """
    # 1. The middle of each channel.
    middles = np.zeros((topology.num_channels, 2))
    drawn: set[int] = set()
    cut: set[int] = set()
    for line, channel in zip(picture.lines, picture.line_channel, strict=True):
        if channel in drawn:  # the second line of a cut channel, which arrives
            cut.add(channel)
            continue
        drawn.add(channel)
        # the last point of a line is its barb, and the one before it the tip
        middles[channel] = (line[0] + line[-2]) / 2
    # 2. The mean of both directions.
    ends = np.stack((topology.channel_source, topology.channel_target), axis=1).tolist()
    opposite_channel = {(b, a): channel for channel, (a, b) in enumerate(ends)}
    link_middles = middles.copy()
    for channel, (a, b) in enumerate(ends):
        opposite = opposite_channel.get((a, b))
        if opposite is not None and not {channel, opposite} & cut:
            link_middles[channel] = (middles[channel] + middles[opposite]) / 2
    return link_middles


def scale_map() -> ListedColormap:
    """Return the colours of `scale_colours` on light pages; SVG files replace each on dark ones."""
    return ListedColormap(scale_colours(dark=False))


def scale_colours(dark: bool) -> list[str]:
    """Return `COLOUR_STEPS` colours from the least to the largest load, for light or dark pages.

    They have even steps of lightness, and the largest load stands out most from the background.
    """
    colours = sns.color_palette("rocket" if dark else "rocket_r", as_cmap=True)
    # Part of the map: colours at its ends are too close to the background.
    first, last = (0.38, 1.0) if dark else (0.10, 0.95)
    return [to_hex(colours(share)) for share in np.linspace(first, last, COLOUR_STEPS)]
