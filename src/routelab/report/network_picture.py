"""Layout of a network in the plane: positions of switches and paths of channels.

A grid of any number of dimensions is unrolled: dimension 0 runs to the right and dimension 1
upwards, in blocks; the other dimensions are inside a block. There, every switch has a separate row
and column, so that channels of the first two dimensions never overlap (two inner dimensions give a
square that is turned by about 27°).

Both directions of a link run side by side, like traffic on the right; a barb on the outer side
marks the end of a channel. A channel that closes a ring is cut: one end sticks out at each side of
the grid, for inner dimensions at each side of the block. In dimensions that are not rings, because
channels skip some switches of a row, a channel that passes over switches is an arc.

A network is a grid if its switches have coordinates, unless these describe levels or groups. See
`routelab.report.network_layout` for all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.api import Topology
from routelab.report.network_layout import lay_out_switches, switch_levels
from routelab.toolkit.failures import failed_link_ends
from routelab.toolkit.families.groups import coordinate_name, switch_groups

Points = NDArray[np.float64]
"""One position (x, y) or several, a row for each."""
Ticks = tuple[list[tuple[float, str]], list[tuple[float, str]]]

RADIUS = 0.20
"""Radius of a switch; the unit of lengths is the distance between rows inside a block."""
CHANNEL_OFFSET = 0.13
"""Distance of a channel from the line between its switches."""
BLOCK_GAP = 2.4
"""Distance between the outermost columns of neighbouring blocks."""
STUB_LENGTH = 0.9
"""Length by which the ends of a channel that closes a ring stick out."""
BARB_BACK, BARB_OUT = 0.24, 0.13
"""Length of a barb along its channel and across it."""
ARC_HEIGHT = 0.16
"""Height of an arc over switches of a row, relative to the distance between its ends."""
ARC_POINTS = 12
"""Points of the polyline that stands for an arc."""


@dataclass(frozen=True)
class Picture:
    """A network in the plane.

    Attributes
    ----------
    switches : float64 array, shape (S, 2)
        Position (x, y) of each switch.
    lines : tuple of float64 arrays, each of shape (k, 2)
        Polylines of channels. The last point but one is the end of the channel, and the last point
        the end of the barb there. A channel that is cut has two lines: first the one that leaves
        its source, then the one that arrives at its target.
    line_channel : tuple of int
        Channel of each line.
    marks : tuple of str, length S
        Text inside each switch: its coordinates in its block, a short name, or empty.
    block_ticks : tuple of two lists of (float, str)
        Positions and texts of the ticks of the horizontal and of the vertical axis. In a grid,
        coordinates of dimension 0 and of dimension 1; in a network with levels, none and the
        levels; otherwise none.
    hint : str
        Sentences for readers on how to read the picture.
    captions : tuple of (float, float, str)
        Position (x, y) and name of each group of switches.
    failed_links : tuple of (str, float64 array)
        Name and line of each failed link between remaining switches; a cut link has two lines.
    failed_switches : float64 array, shape (F, 2)
        Positions of the failed switches of a grid whose switches are named by their coordinates.
    """

    switches: Points
    lines: tuple[Points, ...]
    line_channel: tuple[int, ...]
    marks: tuple[str, ...]
    block_ticks: Ticks
    hint: str
    captions: tuple[tuple[float, float, str], ...] = ()
    failed_links: tuple[tuple[str, Points], ...] = ()
    failed_switches: Points = field(default_factory=lambda: np.zeros((0, 2)))

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the drawing, with a margin."""
        caption_points = np.array([(x, y) for x, y, _ in self.captions]).reshape(-1, 2)
        failed_lines = [line for _, line in self.failed_links]
        points = np.concatenate(
            [self.switches, self.failed_switches, caption_points, *self.lines, *failed_lines]
        )
        (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
        return left - 0.5, right + 0.5, bottom - 0.5, top + 0.5


def picture_of(topology: Topology) -> Picture:
    """Lay out a network: unrolled if it is a grid, otherwise by its levels, groups or distances."""
    # 1. Positions of the switches. `sizes` stays None if the network is not a grid.
    grid = topology.coordinates
    sizes: tuple[int, ...] | None = None
    channel_ends = np.stack((topology.channel_source, topology.channel_target), axis=1)
    steps = _row_steps(topology, channel_ends)
    captions: list[tuple[float, float, str]] = []
    hint = "Traffic keeps to the right; a barb is at the end of a channel."
    if grid is None or not _is_grid(topology, steps):
        layout = lay_out_switches(topology)
        switches, marks, captions = layout.switches, layout.marks, layout.captions
        ticks: Ticks = ([], layout.level_ticks)
        hint = f"{hint} {layout.hint}".rstrip()
    else:
        sizes = grid_sizes(topology)
        switches, ticks = unroll(grid, sizes), _block_ticks(topology, sizes)
        # A circle has room for three digits: at most three inner coordinates, each below 10.
        is_marked = 2 < len(sizes) <= 5 and max(sizes[2:]) <= 10
        marks = tuple("".join(map(str, row[2:])) if is_marked else "" for row in grid.tolist())
        if is_marked:
            axes = ", ".join(coordinate_name(topology, i) for i in range(2, len(sizes)))
            hint += f" In the circles: {axes}."
    # 2. Lines of the channels. Of parallel channels between two switches, each is further to the
    #    right than the one before it.
    lines: list[Points] = []
    line_channel: list[int] = []
    num_drawn: Counter[tuple[int, int]] = Counter()  # channels so far, by source and target
    rings = _ring_dimensions(steps, sizes) if sizes is not None else set()
    for channel, step in enumerate(steps):
        ends = int(channel_ends[channel, 0]), int(channel_ends[channel, 1])
        offset = CHANNEL_OFFSET * (1 + 1.6 * num_drawn[ends])
        num_drawn[ends] += 1
        channel_lines = _channel_lines(
            switches, ends, step, sizes=sizes, rings=rings, offset=offset
        )
        lines += channel_lines
        line_channel += [channel] * len(channel_lines)
    # 3. Failed links and switches, and a hint if any channel or failed link is cut into two lines.
    failed_links = tuple(_failed_links(topology, switches, sizes, rings))
    num_failed_links = len({name for name, _ in failed_links})
    if len(lines) > topology.num_channels or len(failed_links) > num_failed_links:
        hint += " Open ends close a ring with those at the other side."
    failed_switches = np.zeros((0, 2))
    if sizes is not None:
        failed_switches = unroll(_failed_switch_coordinates(topology, sizes), sizes)
    return Picture(
        switches=switches,
        lines=tuple(lines),
        line_channel=tuple(line_channel),
        marks=marks,
        block_ticks=ticks,
        hint=hint,
        captions=tuple(captions),
        failed_links=failed_links,
        failed_switches=failed_switches,
    )


def _failed_links(
    topology: Topology, switches: Points, sizes: Sequence[int] | None, rings: set[int]
) -> Iterator[tuple[str, Points]]:
    """Yield the name and the line of each failed link, two lines if it is cut.

    The line runs from switch to switch, between the lines that its two channels would have.
    """
    links = list(failed_link_ends(topology))
    # The array of no links has the shape (0,), and `_row_steps` needs (0, 2).
    link_ends = np.array([(a, b) for a, b, _ in links], dtype=int).reshape(-1, 2)
    steps = _row_steps(topology, link_ends)
    for (a, b, name), step in zip(links, steps, strict=True):
        for line in _channel_lines(switches, (a, b), step, sizes=sizes, rings=rings, offset=0.0):
            yield name, line[:-1]  # without the barb, because both directions failed


def _failed_switch_coordinates(topology: Topology, sizes: Sequence[int]) -> NDArray[np.int32]:
    """Return the coordinates of the failed switches of a grid; int32, shape (F, n).

    A network has no coordinates for failed switches, only their names. If the name of every other
    switch is made of its coordinates (``0.2`` for (0, 2)), those of the failed ones are, too; else
    the result is empty.
    """
    assert topology.coordinates is not None
    names = [".".join(map(str, row)) for row in topology.coordinates.tolist()]
    failed = []
    if tuple(names) == topology.switch_names:
        for name in topology.failed_switches:
            coordinates = tuple(int(text) for text in name.split(".") if text.isdecimal())
            # A name without a coordinate for each dimension, or outside the grid, has no position.
            if len(coordinates) == len(sizes) and all(np.less(coordinates, sizes)):
                failed.append(coordinates)
    return np.array(failed, dtype=np.int32).reshape(-1, len(sizes))


def _is_grid(topology: Topology, steps: Sequence[tuple[int, int]]) -> bool:
    """Return whether the coordinates are positions in a grid, and not levels or groups.

    `steps`: dimension and length of the step of each channel, from `_row_steps`.
    """
    if topology.coordinates is None or topology.coordinates.shape[1] == 0:
        return False
    # If every channel runs along a row, it is a grid, whatever else the coordinates mean.
    if all(dimension >= 0 for dimension, _ in steps):
        return True
    return switch_levels(topology) is None and switch_groups(topology) is None


def grid_sizes(topology: Topology) -> tuple[int, ...]:
    """Return the size of each dimension of a grid.

    It is the declared size (``attributes["dims"]``), which includes switches at the edge that have
    failed. If the network declares no sizes, or a different number of them than it has dimensions,
    it is the largest coordinate plus 1.
    """
    grid = topology.coordinates
    assert grid is not None
    # a grid without any switch has no largest coordinate
    largest = grid.max(axis=0) if len(grid) else np.zeros(grid.shape[1], dtype=np.int32)
    occupied = tuple(int(coordinate) + 1 for coordinate in largest)
    dims = topology.attributes.get("dims", ())
    if isinstance(dims, Sequence) and len(dims) == len(occupied):
        return tuple(max(int(dim), size) for dim, size in zip(dims, occupied, strict=True))
    return occupied


def unroll(grid: NDArray[np.int32], sizes: Sequence[int]) -> Points:
    """Return the positions of the switches of a grid; float64, shape (S, 2).

    Blocks are `BLOCK_GAP` apart; coordinate 0 is the column of the block, and coordinate 1 its row.

    Parameters
    ----------
    grid : int array, shape (S, n)
        Coordinates.
    sizes : sequence of int, length n
    """
    columns, rows = _position_in_block(grid[:, 2:], sizes[2:])
    # a block of k switches has k columns and k rows, at distance 1
    switches_per_block = int(np.prod(sizes[2:], dtype=np.int64))
    pitch = switches_per_block - 1 + BLOCK_GAP
    x = grid[:, 0] * pitch + columns
    y = (grid[:, 1] * pitch if len(sizes) > 1 else 0.0) + rows
    return np.column_stack([x, y]).astype(np.float64)


def _position_in_block(grid: NDArray[np.int32], sizes: Sequence[int]) -> tuple[Points, Points]:
    """Return column and row inside a block; no two switches of a block share either.

    Both are numbers in mixed radix with a digit for each inner dimension. For the row, the first
    inner dimension is the lowest digit; for the column it is the highest one. Every second
    dimension counts its columns backwards, which turns two dimensions into a square and not into a
    parallelogram. Sizes (2, 2):

        coordinates   0,0   1,0   0,1   1,1
        row             0     1     2     3
        column          1     3     0     2
    """
    columns, rows = np.zeros(len(grid)), np.zeros(len(grid))
    row_weight, column_weight = 1, int(np.prod(sizes, dtype=np.int64))
    for dimension, size in enumerate(sizes):
        digit = grid[:, dimension]
        rows += digit * row_weight
        row_weight *= size
        column_weight //= size
        columns += (digit if dimension % 2 == 0 else size - 1 - digit) * column_weight
    return columns, rows


def _block_ticks(topology: Topology, sizes: Sequence[int]) -> Ticks:
    """Return the ticks of both axes: position and text at the middle of each block."""
    # a block of k switches is k - 1 wide and high; see `unroll`
    block_width = int(np.prod(sizes[2:], dtype=np.int64)) - 1
    ticks: Ticks = ([], [])
    for dimension, size in enumerate(sizes[:2]):
        name = coordinate_name(topology, dimension)
        for block in range(size):
            middle = block * (block_width + BLOCK_GAP) + block_width / 2
            ticks[dimension].append((middle, f"{name} = {block}" if block == 0 else str(block)))
    return ticks


def _row_steps(topology: Topology, ends: NDArray[np.integer[Any]]) -> list[tuple[int, int]]:
    """Return dimension and length of each step along a row of the grid.

    A step from (0, 1) to (0, 3) is (1, 2). A step that changes several coordinates or none, or
    whose switches have no coordinates, is (−1, 0).

    Parameters
    ----------
    topology : Topology
    ends : int array, shape (k, 2)
        First and last switch of each step.
    """
    if topology.coordinates is None or topology.coordinates.shape[1] == 0:
        return [(-1, 0)] * len(ends)
    coordinates = topology.coordinates
    differences = np.abs(coordinates[ends[:, 1]] - coordinates[ends[:, 0]])
    is_along_row = np.count_nonzero(differences, axis=1) == 1
    dimension = np.where(is_along_row, differences.argmax(axis=1), -1)
    length = np.where(is_along_row, differences.max(axis=1), 0)
    return list(zip(dimension.tolist(), length.tolist(), strict=True))


def _ring_dimensions(steps: Sequence[tuple[int, int]], sizes: Sequence[int]) -> set[int]:
    """Return the dimensions in which a step from the first to the last switch closes a ring.

    With fewer than 3 switches in a row, the first and the last are neighbours, so nothing closes. A
    dimension in which some channel skips a switch without going from end to end is a complete graph
    or the like, where the channel from end to end is one of many.
    """
    skipping = {
        dimension
        for dimension, length in steps
        if dimension >= 0 and 1 < length < sizes[dimension] - 1
    }
    return {dimension for dimension, size in enumerate(sizes) if size >= 3} - skipping


def _channel_lines(
    switches: Points,
    ends: tuple[int, int],
    step: tuple[int, int],
    *,
    sizes: Sequence[int] | None,
    rings: set[int],
    offset: float,
) -> list[Points]:
    """Return the lines of a channel, each with a barb.

    In a ring, a channel between the first and the last switch is cut into two lines. In other
    dimensions, a channel that passes over switches of its row is an arc. All other channels are
    straight.

    Parameters
    ----------
    switches : float64 array, shape (S, 2)
        Positions.
    ends : (int, int)
        First and last switch.
    step : (int, int)
        Dimension and length of the step along a row, or (−1, 0) if it is not along a row.
    sizes : sequence of int or None
        Size of each dimension; None if the network is not a grid, where all are straight.
    rings : set of int
        Dimensions in which a step of length size − 1 closes a ring.
    offset : float
        Distance to the right of the line between the switches.
    """
    start, end = switches[ends[0]], switches[ends[1]]
    dimension, length = step
    if sizes is not None and dimension in rings and length == sizes[dimension] - 1:
        return _cut_lines(start, end, offset, switches, dimension)
    if sizes is not None and dimension not in rings and length > 1:
        return [_arc_line(start, end, offset)]
    return [_straight_line(start, end, offset)]


def _straight_line(start: Points, end: Points, offset: float) -> Points:
    """Draw a channel parallel to the line between its switches, and to its right."""
    along = _unit_vector(end - start)
    shift = offset * _right_of(along)
    return _with_barb(start + RADIUS * along + shift, end - RADIUS * along + shift, along)


def _arc_line(start: Points, end: Points, offset: float) -> Points:
    """Draw a channel that bends to its right, round the switches between its ends."""
    # A quadratic Bézier curve reaches half the height of its control point.
    height = ARC_HEIGHT * float(np.hypot(*(end - start))) + offset
    control = (start + end) / 2 + 2 * height * _right_of(_unit_vector(end - start))
    # Its ends are at the borders of the circles of both switches.
    curve_start, curve_end = (
        start + RADIUS * _unit_vector(control - start),
        end - RADIUS * _unit_vector(end - control),
    )
    t = np.linspace(0, 1, ARC_POINTS)[:, np.newaxis]
    curve = (1 - t) ** 2 * curve_start + 2 * t * (1 - t) * control + t**2 * curve_end
    # The curve arrives in the direction from the control point, and so does its barb.
    along = _unit_vector(end - control)
    return np.vstack([curve, curve_end - BARB_BACK * along + BARB_OUT * _right_of(along)])


def _cut_lines(
    start: Points, end: Points, offset: float, switches: Points, dimension: int
) -> list[Points]:
    """Draw both ends of a channel that closes a ring: the one that leaves, the one that arrives.

        --> end  o  o  start -->

    In dimensions 0 and 1 they stick out of the whole grid, in others out of their block.
    """
    # A channel that closes a ring leaves its source in the direction away from its target.
    along = -_unit_vector(end - start)
    shift = offset * _right_of(along)
    leaving_length = arriving_length = STUB_LENGTH
    if dimension < 2:
        # In this direction, the switches with the largest and the least projection are at the
        # borders of the grid; the lines stick out beyond these.
        projections = switches @ along
        leaving_length = float(projections.max() - start @ along) + STUB_LENGTH
        arriving_length = float(end @ along - projections.min()) + STUB_LENGTH
    leaving_start, arriving_tip = start + RADIUS * along + shift, end - RADIUS * along + shift
    leaving = _with_barb(leaving_start, start + leaving_length * along + shift, along)
    arriving = _with_barb(end - arriving_length * along + shift, arriving_tip, along)
    return [leaving, arriving]


def _with_barb(start: Points, tip: Points, along: Points) -> Points:
    """Return a line from `start` to `tip` and back to the end of a barb at its right."""
    return np.array([start, tip, tip - BARB_BACK * along + BARB_OUT * _right_of(along)])


def _unit_vector(vector: Points) -> Points:
    """Return the direction of a vector; zero for the zero vector of switches at one position."""
    return vector / max(float(np.hypot(*vector)), 1e-9)


def _right_of(along: Points) -> Points:
    """Return the direction that is to the right of another one."""
    return np.array([along[1], -along[0]])
