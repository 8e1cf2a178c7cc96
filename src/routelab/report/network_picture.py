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
from routelab.report.network_layout import layout_of, switch_levels
from routelab.toolkit.failures import failed_link_ends
from routelab.toolkit.families.groups import coordinate_name, switch_groups

Points = NDArray[np.float64]
Ticks = tuple[list[tuple[float, str]], list[tuple[float, str]]]

RADIUS = 0.20
"""Radius of a switch; the unit of lengths is the distance between rows inside a block."""
SIDE = 0.13
"""Distance of a channel from the line between its switches."""
GAP = 2.4
"""Distance between the outermost columns of neighbouring blocks."""
STUB = 0.9
"""Length by which the ends of a channel that closes a ring stick out."""
BARB_BACK, BARB_OUT = 0.24, 0.13
BULGE = 0.16
"""Height of an arc over switches of a row, relative to its length."""
ARC_POINTS = 12


@dataclass(frozen=True)
class Picture:
    """A network in the plane.

    Attributes
    ----------
    switches : float64 array, shape (S, 2)
    lines : tuple of float64 arrays, each of shape (k, 2)
        Polylines; a cut channel has two.
    line_channel : tuple of int
        Channel of each line.
    marks : tuple of str, length S
        Texts inside the switches: inner coordinates, a short name, or nothing.
    block_ticks : tuple of two lists of (float, str)
        Positions and texts of the coordinates of dimensions 0 (below) and 1 (at the left), or of
        levels (at the left).
    hint : str
        How to read the picture.
    captions : tuple of (float, float, str)
        Places and names of groups of switches.
    failed_links : tuple of (str, float64 array)
        Name and line of each failed link between remaining switches; a cut link has two lines.
    failed_switches : float64 array, shape (F, 2)
        Places of the failed switches of a grid whose switches are named by their coordinates.
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
        """Return left, right, bottom and top of the drawing, with a margin."""
        caption_points = np.array([place[:2] for place in self.captions]).reshape(-1, 2)
        failed_lines = [line for _, line in self.failed_links]
        points = np.concatenate(
            [self.switches, self.failed_switches, caption_points, *self.lines, *failed_lines]
        )
        (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
        return left - 0.5, right + 0.5, bottom - 0.5, top + 0.5


def picture_of(topology: Topology) -> Picture:
    """Lay out a network: unrolled if it is a grid, otherwise by its levels, groups or distances."""
    # 1. Places of the switches.
    grid = topology.coordinates
    channel_ends = np.stack((topology.channel_source, topology.channel_target), axis=1)
    steps = _row_steps(topology, channel_ends)
    captions: list[tuple[float, float, str]] = []
    hint = "Traffic keeps to the right; a barb is at the end of a channel."
    if grid is None or not _is_grid(topology, steps):
        layout, sizes = layout_of(topology), None
        switches, marks, captions = layout.switches, layout.marks, layout.captions
        ticks: Ticks = ([], layout.rows)
        hint = f"{hint} {layout.hint}".rstrip()
    else:
        sizes = grid_sizes(topology)
        switches, ticks = unroll(grid, sizes), _block_ticks(topology, sizes)
        # circles have room for the inner coordinates if these are at most three digits
        inner = len(sizes) > 2 and max(sizes[2:]) <= 10 and len(sizes) <= 5
        marks = tuple("".join(map(str, row[2:])) if inner else "" for row in grid.tolist())
        if inner:
            axes = ", ".join(coordinate_name(topology, i) for i in range(2, len(sizes)))
            hint += f" In the circles: {axes}."
    # 2. Lines of the channels. Parallel channels of two switches have a lane each, further out.
    lines: list[Points] = []
    owners: list[int] = []
    lanes: Counter[tuple[int, int]] = Counter()
    rings = _ring_dimensions(steps, sizes) if sizes is not None else set()
    for channel, step in enumerate(steps):
        ends = int(channel_ends[channel, 0]), int(channel_ends[channel, 1])
        side = SIDE * (1 + 1.6 * lanes[ends])
        lanes[ends] += 1
        channel_lines = _channel_lines(switches, ends, step, sizes, rings, side)
        lines += channel_lines
        owners += [channel] * len(channel_lines)
    # 3. Failed parts, and hints for what is in this picture.
    failed = tuple(_failed_links(topology, switches, sizes, rings))
    if len(lines) > topology.num_channels or len(failed) > len(dict(failed)):
        hint += " Open ends close a ring with those at the other side."
    return Picture(
        switches,
        tuple(lines),
        tuple(owners),
        marks,
        ticks,
        hint,
        tuple(captions),
        failed,
        np.zeros((0, 2)) if sizes is None else unroll(_failed_cells(topology, sizes), sizes),
    )


def _failed_links(
    topology: Topology, switches: Points, sizes: Sequence[int] | None, rings: set[int]
) -> Iterator[tuple[str, Points]]:
    """Yield the lines of failed links, in the middle between the places of their channels."""
    ends = list(failed_link_ends(topology))
    steps = _row_steps(topology, np.array([pair[:2] for pair in ends], dtype=int).reshape(-1, 2))
    for (a, b, name), step in zip(ends, steps, strict=True):
        for line in _channel_lines(switches, (a, b), step, sizes, rings, side=0.0):
            yield name, line[:-1]  # without the barb, because both directions failed


def _failed_cells(topology: Topology, sizes: Sequence[int]) -> NDArray[np.int32]:
    """Return the coordinates of failed switches, which are known if they are the names.

    Returns
    -------
    cells : int32 array, shape (F, n)
    """
    assert topology.coordinates is not None
    names = [".".join(map(str, row)) for row in topology.coordinates.tolist()]
    cells = []
    if tuple(names) == topology.switch_names:
        for name in topology.failed_switches:
            cell = tuple(int(digit) for digit in name.split(".") if digit.isdecimal())
            if len(cell) == len(sizes) and all(np.less(cell, sizes)):
                cells.append(cell)
    return np.array(cells, dtype=np.int32).reshape(-1, len(sizes))


def _is_grid(topology: Topology, steps: Sequence[tuple[int, int]]) -> bool:
    """Return whether the coordinates are places in a grid, and not levels or groups."""
    if topology.coordinates is None or topology.coordinates.shape[1] == 0:
        return False
    if all(dimension >= 0 for dimension, _ in steps):
        return True
    return switch_levels(topology) is None and switch_groups(topology) is None


def grid_sizes(topology: Topology) -> tuple[int, ...]:
    """Return the size of each dimension, from ``attributes["dims"]`` if it fits the coordinates."""
    grid = topology.coordinates
    assert grid is not None
    extents = (
        tuple(int(size) for size in grid.max(axis=0) + 1) if len(grid) else (1,) * grid.shape[1]
    )
    attribute = topology.attributes.get("dims", ())
    if isinstance(attribute, Sequence) and len(attribute) == len(extents):
        return tuple(max(int(size), least) for size, least in zip(attribute, extents, strict=True))
    return extents


def unroll(grid: NDArray[np.int32], sizes: Sequence[int]) -> Points:
    """Return the positions of the switches of a grid; float64, shape (S, 2).

    Parameters
    ----------
    grid : int array, shape (S, n)
        Coordinates.
    sizes : sequence of int, length n
    """
    columns, rows = _inner(grid[:, 2:], sizes[2:])
    inner = int(np.prod(sizes[2:], dtype=np.int64))
    pitch = inner - 1 + GAP
    x = grid[:, 0] * pitch + columns
    y = (grid[:, 1] * pitch if len(sizes) > 1 else 0.0) + rows
    return np.column_stack([x, y]).astype(np.float64)


def _inner(grid: NDArray[np.int32], sizes: Sequence[int]) -> tuple[Points, Points]:
    """Return column and row inside a block; no two switches of a block share either.

    The row counts in mixed radix with the first inner dimension as the lowest digit, the column
    with the first as the highest; every second dimension counts its columns backwards, which
    turns two dimensions into a square and not into a parallelogram.
    """
    columns, rows = np.zeros(len(grid)), np.zeros(len(grid))
    below, above = 1, int(np.prod(sizes, dtype=np.int64))
    for m, size in enumerate(sizes):
        above //= size
        digit = grid[:, m]
        rows += digit * below
        columns += (digit if m % 2 == 0 else size - 1 - digit) * above
        below *= size
    return columns, rows


def _block_ticks(topology: Topology, sizes: Sequence[int]) -> Ticks:
    """Return the ticks of both axes: places and texts at the middle of each block."""
    inner = int(np.prod(sizes[2:], dtype=np.int64))
    ticks: Ticks = ([], [])
    for dimension, size in enumerate(sizes[:2]):
        name = coordinate_name(topology, dimension)
        for block in range(size):
            middle = block * (inner - 1 + GAP) + (inner - 1) / 2
            ticks[dimension].append((middle, f"{name} = {block}" if block == 0 else str(block)))
    return ticks


def _row_steps(topology: Topology, ends: NDArray[np.integer[Any]]) -> list[tuple[int, int]]:
    """Return dimension and length of each step along a row of the grid; (−1, 0) for others.

    Parameters
    ----------
    topology : Topology
    ends : int array, shape (k, 2)
        First and last switch of each step.
    """
    if topology.coordinates is None or topology.coordinates.shape[1] == 0:
        return [(-1, 0)] * len(ends)
    places = topology.coordinates
    step = np.abs(places[ends[:, 1]] - places[ends[:, 0]])
    along = np.count_nonzero(step, axis=1) == 1
    dimension = np.where(along, step.argmax(axis=1), -1)
    length = np.where(along, step.max(axis=1), 0)
    return list(zip(dimension.tolist(), length.tolist(), strict=True))


def _ring_dimensions(steps: Sequence[tuple[int, int]], sizes: Sequence[int]) -> set[int]:
    """Return the dimensions of size 3 and more whose channels do not skip switches of a row."""
    skipping = {d for d, length in steps if d >= 0 and 1 < length < sizes[d] - 1}
    return {d for d, size in enumerate(sizes) if size >= 3} - skipping


def _channel_lines(
    switches: Points,
    ends: tuple[int, int],
    step: tuple[int, int],
    sizes: Sequence[int] | None,
    rings: set[int],
    side: float,
) -> list[Points]:
    """Return the lines of a channel, each with a barb: straight, an arc, or cut in two.

    Parameters
    ----------
    switches : float64 array, shape (S, 2)
    ends : (int, int)
        First and last switch.
    step : (int, int)
        Dimension and length; see `_row_steps`.
    sizes : sequence of int or None
        Of the grid; None if the network is none.
    rings : set of int
        Dimensions whose longest step closes a ring.
    side : float
        Distance from the line between the switches.
    """
    start, end = switches[ends[0]], switches[ends[1]]
    dimension, length = step
    if sizes is not None and dimension in rings and length == sizes[dimension] - 1:
        return _cut_channel(start, end, side, switches, dimension)
    if sizes is not None and dimension not in rings and length > 1:
        return [_arc(start, end, side)]
    return [_straight(start, end, side)]


def _straight(start: Points, end: Points, side: float) -> Points:
    along = _unit(end - start)
    shift = side * _right_of(along)
    return _with_barb(start + RADIUS * along + shift, end - RADIUS * along + shift, along)


def _arc(start: Points, end: Points, side: float) -> Points:
    """Draw a channel that bends to its right, round the switches between its ends."""
    height = BULGE * float(np.hypot(*(end - start))) + side
    control = (start + end) / 2 + 2 * height * _right_of(_unit(end - start))
    curve_start, curve_end = (
        start + RADIUS * _unit(control - start),
        end - RADIUS * _unit(end - control),
    )
    t = np.linspace(0, 1, ARC_POINTS)[:, np.newaxis]
    curve = (1 - t) ** 2 * curve_start + 2 * t * (1 - t) * control + t**2 * curve_end
    along = _unit(end - control)
    return np.vstack([curve, curve_end - BARB_BACK * along + BARB_OUT * _right_of(along)])


def _cut_channel(
    start: Points, end: Points, side: float, switches: Points, dimension: int
) -> list[Points]:
    """Draw both ends of a channel that closes a ring; outer dimensions end at one border."""
    way = -_unit(end - start)
    shift = side * _right_of(way)
    reach = [STUB, STUB]
    if dimension < 2:
        along = switches @ way
        reach = [float(along.max() - start @ way) + STUB, float(end @ way - along.min()) + STUB]
    leaving = _with_barb(start + RADIUS * way + shift, start + reach[0] * way + shift, way)
    arriving = _with_barb(end - reach[1] * way + shift, end - RADIUS * way + shift, way)
    return [leaving, arriving]


def _with_barb(start: Points, tip: Points, along: Points) -> Points:
    return np.array([start, tip, tip - BARB_BACK * along + BARB_OUT * _right_of(along)])


def _unit(vector: Points) -> Points:
    return vector / max(float(np.hypot(*vector)), 1e-9)


def _right_of(along: Points) -> Points:
    return np.array([along[1], -along[0]])
