"""npb-lu: the NAS Parallel Benchmark LU, a wavefront over a grid divided in two dimensions.

Symmetric successive over-relaxation on n × n × n points, which ranks share in columns. An
iteration sweeps up through the planes, where each rank waits for a plane's north and west border.
It then sweeps down, from south and east, and exchanges two layers of the new solution with its four
neighbours. RNR-94-007; NAS-95-020.

The grid of 6 ranks has 3 columns, along x, and 2 rows, along y::

              west
              0  1  2
    north     3  4  5     south
              east
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from routelab.api import Block, Collective, Job, Loop, Program, Step
from routelab.toolkit import BlockBuilder
from routelab_plugins.npb import (
    DOUBLE,
    INTEGER,
    LOGICAL,
    NpbWorkload,
    broadcasts,
    problems_with_model,
)
from routelab_plugins.npb_operations import lu_iteration
from routelab_plugins.npb_problems import LU, lu_grid

PROBLEMS = problems_with_model(LU)
"""Points in each dimension, and iterations."""

VARIABLES = 5
"""Numbers at each point of the solution."""

SWEEP, RESIDUAL = 0.35, 0.30
"""Shares of an iteration's arithmetic: each of the two sweeps, and the right-hand side. Ours, from
operations per point: about 690 with the Jacobians, 690, and 590 with the updates."""

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class GridDivision:
    """The grid of ranks, and the columns of points on each rank.

    Attributes
    ----------
    points : int
        Points of the problem in each dimension.
    columns, rows : int
        Size of the grid of ranks. The neighbour south of rank r is r + 1, the one north r - 1, the
        one east r + columns, and the one west r - columns.
    column, row : int64 array, shape (P,)
        Position of each rank in the grid.
    nx, ny : int64 array, shape (P,)
        Number of points of each rank along x and y; every rank has all points along z.
    first_x, first_y : int64 array, shape (P,)
        Index of each rank's first point along x and y, from 0.
    """

    points: int
    columns: int
    rows: int
    column: IntArray
    row: IntArray
    nx: IntArray
    ny: IntArray
    first_x: IntArray
    first_y: IntArray

    @classmethod
    def of(cls, points: int, ranks: int) -> GridDivision:
        """Divide points among ranks, in the grid of `lu_grid`."""
        # Never (ranks, 1): `supports` has refused the numbers of ranks without such a grid.
        columns, rows = lu_grid(ranks) or (ranks, 1)
        rank = np.arange(ranks)
        column, row = rank % columns, rank // columns
        nx, first_x = _divide(points, columns, column)
        ny, first_y = _divide(points, rows, row)
        return cls(
            points=points,
            columns=columns,
            rows=rows,
            column=column,
            row=row,
            nx=nx,
            ny=ny,
            first_x=first_x,
            first_y=first_y,
        )

    @property
    def inner_x(self) -> IntArray:
        """Number of points of each rank along x that are not on the boundary of the problem."""
        return _num_inner(self.nx, self.column, self.columns)

    @property
    def inner_y(self) -> IntArray:
        """Number of points of each rank along y that are not on the boundary of the problem."""
        return _num_inner(self.ny, self.row, self.rows)

    def with_north(self) -> IntArray:
        """Return the ranks that have a neighbour north."""
        return np.flatnonzero(self.column > 0)

    def with_south(self) -> IntArray:
        """Return the ranks that have a neighbour south."""
        return np.flatnonzero(self.column < self.columns - 1)

    def with_west(self) -> IntArray:
        """Return the ranks that have a neighbour west."""
        return np.flatnonzero(self.row > 0)

    def with_east(self) -> IntArray:
        """Return the ranks that have a neighbour east."""
        return np.flatnonzero(self.row < self.rows - 1)


def _num_inner(num_points: IntArray, part: IntArray, parts: int) -> IntArray:
    """Return the numbers of points that are inside, for each element of `part`.

    The first point of part 0 and the last point of the last part are on the boundary.
    """
    inner: IntArray = num_points - (part == 0) - (part == parts - 1)
    return inner


def _divide(points: int, parts: int, part: IntArray) -> tuple[IntArray, IntArray]:
    """Return number of points and index of the first one, for each element of `part`.

    8 points in 3 parts: 3, 3 and 2 points from 0, 3 and 6.
    """
    length, num_longer = divmod(points, parts)
    return length + (part < num_longer), part * length + np.minimum(part, num_longer)


class NpbLu(NpbWorkload):
    """A model of the messages and operations of NPB's LU."""

    name = "npb-lu"
    summary = "NAS Parallel Benchmark LU: wavefronts of small messages through a 2-D grid of ranks"

    def program(self, job: Job) -> Program:
        """Return the program: inputs, an untimed iteration, timed ones, error, surface integral."""
        points, class_iterations = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(class_iterations)
        division = GridDivision.of(points, job.ranks)
        iteration_operations = lu_iteration(points)
        # the forcing term has the exchanges of a right-hand side; its arithmetic is left out
        forcing = exchange_layers(division, operations=0.0)
        rhs = exchange_layers(division, operations=RESIDUAL * iteration_operations)
        # a sweep visits the planes inside the boundary
        inner_planes = points - 2
        iteration: tuple[Step, ...] = (
            Loop((sweep_plane(division, SWEEP * iteration_operations, up=True),), inner_planes),
            Loop((sweep_plane(division, SWEEP * iteration_operations, up=False),), inner_planes),
            rhs,
        )
        norms = Collective("allreduce", VARIABLES * DOUBLE)
        max_time = Collective("allreduce", DOUBLE)
        start: tuple[Step, ...] = (rhs, norms, Collective("barrier"))
        return Program(
            ranks=job.ranks,
            convention="by rank, the nearest in a grid of ranks; in both directions",
            before=(
                *broadcasts(INTEGER, INTEGER, INTEGER, DOUBLE, DOUBLE, VARIABLES * DOUBLE),
                *broadcasts(INTEGER, INTEGER, INTEGER, LOGICAL),
                forcing,
                *start,
                *iteration,
                max_time,
                *start,
            ),
            # The benchmark computes the first of these two norms before the right-hand side of the
            # last iteration. Here it comes after that, so that all iterations are equal and form a
            # loop.
            timed=(Loop(iteration, iterations), norms, norms),
            after=(max_time, norms, *surface_integral(division)),
            operations=iterations * iteration_operations,
        )


def _share(division: GridDivision) -> NDArray[np.float64]:
    """Return each rank's share of all inner points."""
    return division.inner_x * division.inner_y / (division.points - 2) ** 2


def sweep_plane(division: GridDivision, operations: float, *, up: bool) -> Block:
    """Return one plane of a sweep: receive borders from two sides, compute, send to the others.

    Every rank waits for its borders, so a wavefront runs over the grid of ranks.

    Parameters
    ----------
    division : GridDivision
    operations : float
        Operations of a whole sweep: of all ranks in all planes.
    up : bool
        Whether borders come from north and west; otherwise from south and east.
    """
    num_ranks = len(division.column)
    block = BlockBuilder(num_ranks)
    # bytes of the border to the north or south, which lies along y, and of that to the west or east
    border_y = VARIABLES * DOUBLE * division.inner_y
    border_x = VARIABLES * DOUBLE * division.inner_x
    north, south = division.with_north(), division.with_south()
    west, east = division.with_west(), division.with_east()
    columns = division.columns
    if up:
        block.receive(north, north - 1, border_y[north])
        block.receive(west, west - columns, border_x[west])
    else:
        block.receive(south, south + 1, border_y[south])
        block.receive(east, east + columns, border_x[east])
    inner_planes = division.points - 2
    block.compute(np.arange(num_ranks), operations / inner_planes * _share(division))
    if up:
        block.send(south, south + 1, border_y[south])
        block.send(east, east + columns, border_x[east])
    else:
        block.send(north, north - 1, border_y[north])
        block.send(west, west - columns, border_x[west])
    return block.build()


def exchange_layers(division: GridDivision, *, operations: float) -> Block:
    """Return a right-hand side: two layers of points to each neighbour, and arithmetic.

    `operations` is the number of all ranks. The order is: layers to south and north, a third of the
    operations, layers to east and west, the other operations.
    """
    num_ranks = len(division.column)
    block = BlockBuilder(num_ranks)
    ranks = np.arange(num_ranks)
    # Bytes of two layers for one point of the border, with all points along z. The border to the
    # north or south lies along y, that to the west or east along x.
    layer_bytes = 2 * VARIABLES * DOUBLE * division.points
    border_y, border_x = layer_bytes * division.ny, layer_bytes * division.nx
    north, south = division.with_north(), division.with_south()
    west, east = division.with_west(), division.with_east()
    columns = division.columns
    _shift(block, senders=south, receivers=north, distance=1, size=border_y)
    _shift(block, senders=north, receivers=south, distance=-1, size=border_y)
    if operations:
        block.compute(ranks, operations / 3 * _share(division))
    _shift(block, senders=east, receivers=west, distance=columns, size=border_x)
    _shift(block, senders=west, receivers=east, distance=-columns, size=border_x)
    if operations:
        block.compute(ranks, operations * 2 / 3 * _share(division))
    return block.build()


def _shift(
    block: BlockBuilder, *, senders: IntArray, receivers: IntArray, distance: int, size: IntArray
) -> None:
    """Send from every rank r in `senders` to r + distance; receives are posted before.

    `receivers` are the ranks to which somebody sends. `size` has the bytes of each rank's border,
    which is as long as its neighbour's.
    """
    block.ireceive(receivers, receivers - distance, size[receivers])
    block.send(senders, senders + distance, size[senders])
    block.wait(receivers)


def surface_integral(division: GridDivision) -> tuple[Step, ...]:
    """Return the messages of the surface integral: borders of its faces, and its three sums.

    The integral goes over the faces of a box: two along x and y, two along y and z, two along x and
    z. Along x the box has the points 2 to n − 1, along y 2 to n − 2, counted from 1. Where it
    crosses the border of two ranks, the first rank receives the first layer of the second one.
    """
    num_ranks = len(division.column)
    box_x = _BoxRange.of(division.first_x, division.nx, low=2, high=division.points - 1)
    box_y = _BoxRange.of(division.first_y, division.ny, low=2, high=division.points - 2)
    total = Collective("allreduce", DOUBLE)
    all_ranks = np.ones(num_ranks, dtype=bool)
    # 1. Both faces along x and y at once, so with two numbers for a point. A layer along y also has
    #    a point beyond each end of the rank's own points, from its borders.
    first = BlockBuilder(num_ranks)
    layer_x, layer_y = 2 * DOUBLE * division.nx, 2 * DOUBLE * (division.ny + 2)
    columns = division.columns
    _receive_next_layer(first, box_y, distance=columns, size=layer_x, takes_part=all_ranks)
    _receive_next_layer(first, box_x, distance=1, size=layer_y, takes_part=all_ranks)
    # 2. The faces along x and z, on the ranks that have points of the face; then those along y and
    #    z. A layer is a line of points along z.
    line_z = np.full(num_ranks, DOUBLE * division.points)
    second, third = BlockBuilder(num_ranks), BlockBuilder(num_ranks)
    for has_face in (box_y.has_low, box_y.has_high):
        _receive_next_layer(second, box_x, distance=1, size=line_z, takes_part=has_face)
    for has_face in (box_x.has_low, box_x.has_high):
        _receive_next_layer(third, box_y, distance=columns, size=line_z, takes_part=has_face)
    return (first.build(), total, second.build(), total, third.build(), total)


@dataclass(frozen=True)
class _BoxRange:
    """How the points of each rank and those of the box overlap along one dimension.

    Attributes
    ----------
    has_low, has_high : bool array, shape (P,)
        Whether the rank has the first or the last point of the box.
    crosses_end : bool array, shape (P,)
        Whether the box has both the last point of the rank and the first of the next rank.
    crosses_start : bool array, shape (P,)
        Whether the box has both the first point of the rank and the last of the rank before.
    """

    has_low: NDArray[np.bool_]
    has_high: NDArray[np.bool_]
    crosses_end: NDArray[np.bool_]
    crosses_start: NDArray[np.bool_]

    @classmethod
    def of(cls, first: IntArray, count: IntArray, *, low: int, high: int) -> _BoxRange:
        """Compare the points of each rank with the points `low` to `high`, counted from 1.

        `first` is the index of each rank's first point, from 0. So the rank has the points
        first + 1 to first + count, and `first` is the last point of the rank before.
        """
        # A border is crossed if the box has the points on both sides: `last` and last + 1 at the
        # end of the rank, `first` and first + 1 at its start.
        last = first + count
        return cls(
            has_low=(first < low) & (low <= last),
            has_high=(first < high) & (high <= last),
            crosses_end=(last >= low) & (last < high),
            crosses_start=(first >= low) & (first < high),
        )


def _receive_next_layer(
    block: BlockBuilder,
    box: _BoxRange,
    *,
    distance: int,
    size: IntArray,
    takes_part: NDArray[np.bool_],
) -> None:
    """Receive the first layer of the next rank, where the box crosses the border to it.

    The next rank of r is r + distance, so rank r sends its own first layer to r - distance. Only
    ranks with `takes_part` receive and send. `size` has the bytes of each rank's layer.
    """
    receivers = np.flatnonzero(box.crosses_end & takes_part)
    senders = np.flatnonzero(box.crosses_start & takes_part)
    block.ireceive(receivers, receivers + distance, size[receivers])
    block.wait(receivers)
    block.send(senders, senders - distance, size[senders])
