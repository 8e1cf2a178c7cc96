"""npb-lu: the NAS Parallel Benchmark LU, a wavefront over a grid divided in two dimensions.

Symmetric successive over-relaxation on n × n × n points, which ranks share in columns. An
iteration sweeps up through the planes, where each rank waits for a plane's north and west border.
It then sweeps down, from south and east, and exchanges two layers of the new solution with its four
neighbours. RNR-94-007; NAS-95-020.
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
        Of the problem, in each dimension.
    columns, rows : int
        Size of the grid of ranks; a rank's neighbours south and north are the next and the last
        by number.
    i, j : int64 array, shape (P,)
        Place in the grid, by column and by row.
    nx, ny : int64 array, shape (P,)
        Points in each of the two dimensions.
    first_x, first_y : int64 array, shape (P,)
        Number of points before the rank's first one.
    """

    points: int
    columns: int
    rows: int
    i: IntArray
    j: IntArray
    nx: IntArray
    ny: IntArray
    first_x: IntArray
    first_y: IntArray

    @classmethod
    def of(cls, points: int, ranks: int) -> GridDivision:
        """Divide points among ranks, in the grid of `lu_grid`."""
        columns, rows = lu_grid(ranks) or (ranks, 1)
        rank = np.arange(ranks)
        i, j = rank % columns, rank // columns
        nx, first_x = _part(points, columns, i)
        ny, first_y = _part(points, rows, j)
        return cls(points, columns, rows, i, j, nx, ny, first_x, first_y)

    @property
    def inner_x(self) -> IntArray:
        """Number of points inside the boundary of the problem, in x."""
        return _without_border(self.nx, self.i, self.columns)

    @property
    def inner_y(self) -> IntArray:
        """Number of points inside the boundary of the problem, in y."""
        return _without_border(self.ny, self.j, self.rows)

    def with_north(self) -> IntArray:
        """Ranks that have a neighbour north; it is the rank before."""
        return np.flatnonzero(self.i > 0)

    def with_south(self) -> IntArray:
        """Ranks that have a neighbour south; it is the rank after."""
        return np.flatnonzero(self.i < self.columns - 1)

    def with_west(self) -> IntArray:
        """Ranks that have a neighbour west; it is a row of the grid before."""
        return np.flatnonzero(self.j > 0)

    def with_east(self) -> IntArray:
        """Ranks that have a neighbour east; it is a row of the grid after."""
        return np.flatnonzero(self.j < self.rows - 1)


def _without_border(points: IntArray, place: IntArray, places: int) -> IntArray:
    inner: IntArray = points - (place == 0) - (place == places - 1)
    return inner


def _part(points: int, parts: int, which: IntArray) -> tuple[IntArray, IntArray]:
    length, more = divmod(points, parts)
    return length + (which < more), which * length + np.minimum(which, more)


class NpbLu(NpbWorkload):
    """A model of the messages and operations of NPB's LU."""

    name = "npb-lu"
    summary = "NAS Parallel Benchmark LU: wavefronts of small messages through a 2-D grid of ranks"

    def program(self, job: Job) -> Program:
        """Return the program: inputs, an untimed iteration, timed ones, error, surface integral."""
        points, of_class = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(of_class)
        part = GridDivision.of(points, job.ranks)
        per_iteration = lu_iteration(points)
        forcing = exchange(part, 0.0)
        rhs = exchange(part, RESIDUAL * per_iteration)
        iteration: tuple[Step, ...] = (
            Loop((sweep_plane(part, SWEEP * per_iteration, up=True),), points - 2),
            Loop((sweep_plane(part, SWEEP * per_iteration, up=False),), points - 2),
            rhs,
        )
        norm = Collective("allreduce", VARIABLES * DOUBLE)
        maximum = Collective("allreduce", DOUBLE)
        start: tuple[Step, ...] = (rhs, norm, Collective("barrier"))
        return Program(
            ranks=job.ranks,
            convention="by rank, the nearest in a grid of ranks; in both directions",
            before=(
                *broadcasts(INTEGER, INTEGER, INTEGER, DOUBLE, DOUBLE, VARIABLES * DOUBLE),
                *broadcasts(INTEGER, INTEGER, INTEGER, LOGICAL),
                forcing,
                *start,
                *iteration,
                maximum,
                *start,
            ),
            # the last iteration's first norm comes before its right-hand side in the benchmark
            timed=(Loop(iteration, iterations), norm, norm),
            after=(maximum, norm, *integral(part)),
            operations=iterations * per_iteration,
        )


def _share(part: GridDivision) -> NDArray[np.float64]:
    """Return each rank's share of all inner points."""
    return part.inner_x * part.inner_y / (part.points - 2) ** 2


def sweep_plane(part: GridDivision, amount: float, *, up: bool) -> Block:
    """Return one plane of a sweep: borders from two sides, the plane, borders to the others.

    Parameters
    ----------
    part : GridDivision
    amount : float
        Operations of all ranks in all planes.
    up : bool
        From north and west; otherwise from south and east.
    """
    block = BlockBuilder(len(part.i))
    row, column = VARIABLES * DOUBLE * part.inner_y, VARIABLES * DOUBLE * part.inner_x
    north, south = part.with_north(), part.with_south()
    west, east = part.with_west(), part.with_east()
    wide = part.columns
    if up:
        block.receive(north, north - 1, row[north])
        block.receive(west, west - wide, column[west])
    else:
        block.receive(south, south + 1, row[south])
        block.receive(east, east + wide, column[east])
    block.compute(np.arange(len(part.i)), amount / (part.points - 2) * _share(part))
    if up:
        block.send(south, south + 1, row[south])
        block.send(east, east + wide, column[east])
    else:
        block.send(north, north - 1, row[north])
        block.send(west, west - wide, column[west])
    return block.build()


def exchange(part: GridDivision, amount: float) -> Block:
    """Exchange two layers with all neighbours: south, north, 1/3 of the work, east, west, rest."""
    block = BlockBuilder(len(part.i))
    ranks = np.arange(len(part.i))
    layers = 2 * VARIABLES * DOUBLE * part.points
    for_rows, for_columns = layers * part.ny, layers * part.nx
    north, south = part.with_north(), part.with_south()
    west, east = part.with_west(), part.with_east()
    wide = part.columns
    _shift(block, south, 1, north, for_rows)
    _shift(block, north, -1, south, for_rows)
    if amount:
        block.compute(ranks, amount / 3 * _share(part))
    _shift(block, east, wide, west, for_columns)
    _shift(block, west, -wide, east, for_columns)
    if amount:
        block.compute(ranks, amount * 2 / 3 * _share(part))
    return block.build()


def _shift(
    block: BlockBuilder, senders: IntArray, by: int, receivers: IntArray, size: IntArray
) -> None:
    """Send to the rank at a distance; post the receive from the other side before."""
    block.ireceive(receivers, receivers - by, size[receivers])
    block.send(senders, senders + by, size[senders])
    block.wait(receivers)


def integral(part: GridDivision) -> tuple[Step, ...]:
    """Return the messages of the surface integral: borders of its faces, and its three sums.

    The faces are at points 2 and n − 1 in x, 2 and n − 2 in y, counted from 1; a rank that has
    points of a face on both sides of its border gets the first layer of the next rank.
    """
    x = _Range.of(part.first_x, part.nx, 2, part.points - 1)
    y = _Range.of(part.first_y, part.ny, 2, part.points - 2)
    total = Collective("allreduce", DOUBLE)
    everywhere = np.ones(len(part.i), dtype=bool)
    first = BlockBuilder(len(part.i))
    _pull(first, y, part.columns, 2 * DOUBLE * part.nx, everywhere)
    _pull(first, x, 1, 2 * DOUBLE * (part.ny + 2), everywhere)
    height = np.full(len(part.i), DOUBLE * part.points)
    second, third = BlockBuilder(len(part.i)), BlockBuilder(len(part.i))
    for face in (y.low, y.high):
        _pull(second, x, 1, height, face)
    for face in (x.low, x.high):
        _pull(third, y, part.columns, height, face)
    return (first.build(), total, second.build(), total, third.build(), total)


@dataclass(frozen=True)
class _Range:
    """Position of ranks relative to the faces in one dimension.

    Attributes
    ----------
    low, high : bool array, shape (P,)
        Whether the rank has the first or the last face.
    after, before : bool array, shape (P,)
        Whether the range continues on the next rank, or begins on a rank before.
    """

    low: NDArray[np.bool_]
    high: NDArray[np.bool_]
    after: NDArray[np.bool_]
    before: NDArray[np.bool_]

    @classmethod
    def of(cls, first: IntArray, count: IntArray, low: int, high: int) -> _Range:
        last = first + count
        return cls(
            low=(first < low) & (low <= last),
            high=(first < high) & (high <= last),
            after=(last >= low) & (last < high),
            before=(first >= low) & (first < high),
        )


def _pull(
    block: BlockBuilder, where: _Range, step: int, size: IntArray, which: NDArray[np.bool_]
) -> None:
    """Receive a layer from the next rank, and send one to the rank before."""
    getting = np.flatnonzero(where.after & which)
    giving = np.flatnonzero(where.before & which)
    block.ireceive(getting, getting + step, size[getting])
    block.wait(getting)
    block.send(giving, giving - step, size[giving])
