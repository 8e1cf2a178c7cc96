"""Colours and widths of channels in pictures of networks, by amounts or by groups.

An amount is a number such as the load of a channel. A group is a set of channels that a column
numbers from 1, such as a segment of segment-based routing; channels with 0 are in no group.
"""

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
GROUP_COLOURS = (
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
"""Colour of channels in no group."""
MIN_NUMBER_DISTANCE = 0.7
"""Smallest distance between two numbers of groups, in units of a picture."""
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
    """Return the styles of channels that show their group, with colours as in `group_colours`.

    `values` has the number of each channel's group. Channels with 0 are in no group; they are thin
    and grey.
    """
    colour_index = group_colours(topology, values)
    # The index −1 of channels in no group selects the last colour.
    colours = to_rgba_array([*GROUP_COLOURS, NO_GROUP])[colour_index]
    return ChannelStyles(colours, np.where(colour_index >= 0, THICK_GROUP, THIN_GROUP))


def group_colours(topology: Topology, values: Values) -> Int64Array:
    """Return the index in `GROUP_COLOURS` of each channel's colour; −1 for channels in no group.

    Two groups are neighbours if channels of both meet at a switch; they should differ in colour. So
    each group, in ascending order, takes the first colour that none of its earlier neighbours has.
    If they have all colours, it takes the first of those that the fewest of them have.

    Parameters
    ----------
    topology : Topology
    values : float64 array, shape (C,)
        Positive numbers of groups, and 0 for channels in none.
    """
    groups = values.astype(np.int64)
    switches_of: dict[int, set[int]] = {}
    groups_at: list[set[int]] = [set() for _ in range(topology.num_switches)]
    for channel_end in (topology.channel_source, topology.channel_target):
        for switch, group in zip(channel_end.tolist(), groups.tolist(), strict=True):
            if group > 0:
                switches_of.setdefault(group, set()).add(switch)
                groups_at[switch].add(group)
    colour_of: dict[int, int] = {}
    for group in sorted(switches_of):
        neighbours = set().union(*(groups_at[switch] for switch in switches_of[group]))
        neighbour_colours = [
            colour_of[neighbour] for neighbour in neighbours if neighbour in colour_of
        ]
        # a colour that no neighbour has is counted 0 times, so it comes before all others
        colour_of[group] = min(
            range(len(GROUP_COLOURS)), key=lambda colour: (neighbour_colours.count(colour), colour)
        )
    return np.array([colour_of.get(group, -1) for group in groups.tolist()], dtype=np.int64)


def group_number_positions(
    topology: Topology, picture: Picture, values: Values
) -> Iterator[tuple[int, Points]]:
    """Yield each group and the position (x, y) of its number: the middle of one of its links.

    The link is the one next to the centre of the group. Links whose middle is close to the number
    of an earlier group are taken only if all are. Nothing is yielded for a single group, or for
    more than `MAX_NUMBERS`: their numbers are not written.
    """
    groups = np.unique(values[values > 0]).astype(np.int64)
    if not 1 < len(groups) <= MAX_NUMBERS:
        return
    middles = _link_middles(topology, picture)
    positions: list[Points] = []
    for group in groups.tolist():
        candidates = middles[values == group]
        # rounded, so that links at equal distances stay in the order of their channels
        from_centre = np.hypot(*(candidates - candidates.mean(axis=0)).T).round(6)
        is_close = [
            any(np.hypot(*(candidate - other)) < MIN_NUMBER_DISTANCE for other in positions)
            for candidate in candidates
        ]
        # Links that are not close come first, then the distance counts: `lexsort` compares its last
        # key first.
        best = np.lexsort((from_centre, is_close))[0]
        positions.append(candidates[best])
        yield group, candidates[best]


def _link_middles(topology: Topology, picture: Picture) -> Points:
    """Return the middle (x, y) of the link of each channel; shape (C, 2).

    The two channels of a link are drawn side by side, and its middle lies between theirs.

    A channel that closes a ring is cut: it is drawn as two short lines, one that leaves its source
    and one that arrives at its target. Its middle is that of the line that leaves, without regard
    to the opposite channel. A channel without an opposite one has the middle of its own line.
    """
    # 1. The middle of each channel.
    middles = np.zeros((topology.num_channels, 2))
    drawn_channels: set[int] = set()
    cut_channels: set[int] = set()
    for line, channel in zip(picture.lines, picture.line_channel, strict=True):
        if channel in drawn_channels:  # its second line, which arrives
            cut_channels.add(channel)
            continue
        drawn_channels.add(channel)
        # The last point of a line is the end of its barb; the one before it ends the channel.
        middles[channel] = (line[0] + line[-2]) / 2
    # 2. The mean of both directions. Of parallel opposite channels, the last one counts.
    ends = np.stack((topology.channel_source, topology.channel_target), axis=1).tolist()
    opposite_of = {(target, source): channel for channel, (source, target) in enumerate(ends)}
    link_middles = middles.copy()
    for channel, (source, target) in enumerate(ends):
        opposite = opposite_of.get((source, target))
        if opposite is not None and not {channel, opposite} & cut_channels:
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
