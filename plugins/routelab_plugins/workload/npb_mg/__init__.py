"""npb-mg: the NAS Parallel Benchmark MG, V-cycles of multigrid on a 3-D grid of ranks.

Grids of n³, (n / 2)³, ... 2³ points with periodic boundaries. On every level ranks exchange borders
with six neighbours; where there are fewer points than ranks, the ranks without points wait, and on
the way back the others give borders to them. RNR-94-007; NAS-95-020.

Points of 8 ranks along one axis, from the finest level to the coarsest (2 points)::

    rank         0  1  2  3  4  5  6  7
    16 points    2  2  2  2  2  2  2  2
     8 points    1  1  1  1  1  1  1  1      ranks 1, 3, 5, 7 give, ranks 0, 2, 4, 6 take
     4 points    -  1  -  1  -  1  -  1      ranks 3 and 7 give, ranks 1 and 5 take
     2 points    -  -  -  1  -  -  -  1
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

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
from routelab_plugins.npb_operations import mg_iteration
from routelab_plugins.npb_problems import MG, mg_grid

PROBLEMS = problems_with_model(MG)
"""Points in each dimension, and iterations."""

RESIDUAL, SMOOTH, RESTRICT, PROLONG, NORM = 15.0, 16.0, 24.0, 20.0, 3.0
"""Additions and multiplications per result point (of the coarser grid for RESTRICT and PROLONG).
Only their ratios matter: the sum is the benchmark's count."""

CHARGES = 10
"""Number of charges of each sign; all ranks together find the point of each."""

IntArray = NDArray[np.int64]
AXES = (0, 1, 2)


@dataclass(frozen=True)
class Level:
    """The parts of a grid on the ranks, and their neighbours.

    Attributes
    ----------
    size : int64 array, shape (3, P)
        Points of each rank along each axis, with the two layers of borders, which a rank without
        points has, too: its size is 2.
    neighbour : dict of int to int64 array, shape (3, P)
        By direction −1 or +1: the neighbour of each rank along each axis, on a ring of ranks. That
        of a rank with points is the next one with points.
    gives : bool array, shape (3, P)
        Whether the rank gives borders along the axis to ranks that have points on this level, but
        none on the next coarser one.
    takes : bool array, shape (3, P)
        Whether the rank is one of those without points on the coarser level, which receive borders.
    """

    size: IntArray
    neighbour: dict[int, IntArray]
    gives: NDArray[np.bool_]
    takes: NDArray[np.bool_]

    @property
    def points(self) -> IntArray:
        """Number of points of each rank, without borders; int64, shape (P,)."""
        inner: IntArray = np.prod(self.size - 2, axis=0)
        return inner

    @property
    def ranks_with_points(self) -> IntArray:
        """Numbers of the ranks with points."""
        return np.flatnonzero((self.size > 2).all(axis=0))


def hierarchy(points: int, ranks: int) -> list[Level]:
    """Return all grids, the coarsest (two points in each dimension) first."""
    # 1. The position of each rank in a grid of x, y and z ranks: rank = x + y * X + z * X * Y.
    #    All arrays have a row for each axis.
    shape = np.array(mg_grid(ranks))[:, None]
    rank = np.arange(ranks)
    position = np.stack(
        [rank % shape[0], rank // shape[0] % shape[1], rank // (shape[0] * shape[1])]
    )
    stride = np.array([[1], shape[0], shape[0] * shape[1]], dtype=np.int64).reshape(3, 1)
    # 2. The levels from the finest to the coarsest. `distance` is how many ranks the neighbour is
    #    away along each axis: 1, then 2, 4 ... where a level has fewer points than ranks.
    distance = np.ones((3, ranks), dtype=np.int64)
    no_ranks = np.zeros((3, ranks), dtype=bool)
    levels: list[Level] = []
    side = points
    while side >= 2:
        num_points = _num_points(position, side, shape)
        num_points_ahead = _num_points(position + distance, side, shape)
        if levels:
            # `distance` is still that of the finer level. If this level has fewer points than ranks
            # along an axis, every second rank with points there has none here: it takes borders
            # from both sides, and the others give.
            finer = levels[-1]
            levels[-1] = Level(
                size=finer.size,
                neighbour=finer.neighbour,
                gives=(num_points == 1) & (num_points_ahead == 0),
                takes=(num_points == 0) & (num_points_ahead == 1),
            )
        # If a rank or its neighbour on the finer level has no points here, only every second of the
        # ranks with points there has some here. So the next one of these is twice as far away.
        distance = np.where((num_points == 0) | (num_points_ahead == 0), 2 * distance, distance)
        # The neighbour's position along an axis is `distance` away, modulo the number of ranks
        # there. Its rank differs by the stride for each step between the two positions.
        neighbour = {
            direction: rank + ((position + direction * distance) % shape - position) * stride
            for direction in (-1, 1)
        }
        # `gives` and `takes` are known with the next level; on the coarsest nobody does
        levels.append(Level(num_points + 2, neighbour, gives=no_ranks, takes=no_ranks))
        side //= 2
    return levels[::-1]


def _num_points(position: IntArray, side: int, parts: IntArray) -> IntArray:
    """Return how many of `side` points along an axis the rank at a position has.

    Position p has the points from floor(p side / parts) on. Positions repeat after `parts`, as the
    grid is periodic.
    """
    return (position + 1) * side // parts - position * side // parts


class NpbMg(NpbWorkload):
    """A model of the messages and operations of NPB's MG."""

    name = "npb-mg"
    summary = "NAS Parallel Benchmark MG: borders of a 3-D multigrid, large to tiny"

    def program(self, job: Job) -> Program:
        """Return the program: inputs, an untimed V-cycle, then the timed V-cycles.

        Before both, the benchmark sets the charges: the right-hand side of its equation.
        """
        points, class_iterations = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(class_iterations)
        phases = _PhaseBuilder(hierarchy(points, job.ranks), job.ranks)
        # The timed part has a V-cycle and a residual in each iteration, and a residual and two
        # norms around them. Of the operations per point only the ratios matter: all of them are
        # multiplied by `scale`, so that the timed part has as many as the benchmark counts.
        operations = iterations * mg_iteration(points)
        unscaled_operations = iterations * (phases.cycle_operations() + RESIDUAL * points**3)
        unscaled_operations += (RESIDUAL + 2 * NORM) * points**3
        scale = operations / unscaled_operations
        cycle, residual = phases.cycle(scale), phases.residual(scale)
        norm = phases.norm(scale)
        charges = phases.charges()
        return Program(
            ranks=job.ranks,
            convention="by rank, the nearest in a periodic 3-D grid of ranks; in both directions",
            before=(
                Collective("barrier"),
                *broadcasts(*[INTEGER] * 5, 8 * INTEGER, LOGICAL),
                *charges,
                *norm,
                residual,
                *norm,
                cycle,
                *charges,
                Collective("barrier"),
            ),
            timed=(residual, *norm, Loop((cycle,), iterations), *norm),
            after=(Collective("reduce", DOUBLE),),
            operations=operations,
        )


class _PhaseBuilder:
    """Builder of MG's phases on a hierarchy of grids, the coarsest first.

    `scale` is the factor from the numbers of operations at the top of this module to the
    benchmark's count.
    """

    def __init__(self, levels: list[Level], ranks: int) -> None:
        self.levels = levels
        self.ranks = ranks
        self.all_ranks = np.arange(ranks)
        self.finest = levels[-1]

    def charges(self) -> tuple[Step, ...]:
        """Return the phase that sets the right-hand side.

        It is 0 but for charges of both signs, at the points with the largest and the smallest
        random numbers.
        """
        # for each charge: the largest number of all ranks, then the rank and the point that have it
        search = (Collective("allreduce", DOUBLE), Collective("allreduce", 4 * INTEGER))
        borders = BlockBuilder(self.ranks)
        self._exchange_borders(borders, self.finest)
        return (
            Collective("barrier"),
            Loop(search, 2 * CHARGES),
            Collective("barrier"),
            borders.build(),
        )

    def norm(self, scale: float) -> tuple[Step, ...]:
        """Return the largest value and the sum of squares on the finest grid."""
        block = BlockBuilder(self.ranks)
        block.compute(self.all_ranks, scale * NORM * self.finest.points)
        value = Collective("allreduce", DOUBLE)
        return block.build(), value, value

    def residual(self, scale: float) -> Block:
        """Return the residual of the equation on the finest grid."""
        block = BlockBuilder(self.ranks)
        self._apply_stencil(block, self.finest, scale * RESIDUAL)
        return block.build()

    def cycle(self, scale: float) -> Block:
        """Return a V-cycle, and the residual after it."""
        block = BlockBuilder(self.ranks)
        # 1. Down: restrict to each level but the finest from the next finer one.
        for coarse in self.levels[-2::-1]:
            self._apply_stencil(block, coarse, scale * RESTRICT)
        # 2. Solve on the coarsest level, by one smoothing.
        self._apply_stencil(block, self.levels[0], scale * SMOOTH)
        # 3. Up: interpolate to each level from the next coarser one, and correct the result.
        for coarse, fine in pairwise(self.levels):
            block.compute(self.all_ranks, scale * PROLONG * coarse.points)
            self._give_borders(block, fine)
            self._apply_stencil(block, fine, scale * RESIDUAL)
            self._apply_stencil(block, fine, scale * SMOOTH)
        # 4. The residual after the cycle.
        self._apply_stencil(block, self.finest, scale * RESIDUAL)
        return block.build()

    def cycle_operations(self) -> float:
        """Return the operations of all ranks in a V-cycle, without scale and last residual."""
        points = [float(level.points.sum()) for level in self.levels]
        # all levels but the finest are coarse for a finer one, all but the coarsest are fine
        coarse, fine = sum(points[:-1]), sum(points[1:])
        return (RESTRICT + PROLONG) * coarse + (RESIDUAL + SMOOTH) * fine + SMOOTH * points[0]

    def _apply_stencil(self, block: BlockBuilder, level: Level, per_point: float) -> None:
        """Compute all points of a level from their neighbours, then exchange borders.

        `per_point` is the number of operations per point.
        """
        ranks = level.ranks_with_points
        block.compute(ranks, per_point * level.points[ranks])
        self._exchange_borders(block, level)

    def _exchange_borders(self, block: BlockBuilder, level: Level) -> None:
        """Exchange one layer with both neighbours along each axis; corners go via the axes.

        A rank that is its own neighbour sends to itself, unless it is alone.
        """
        if self.ranks == 1:
            return
        x, y, z = level.size
        ranks = level.ranks_with_points
        # Sizes include the two borders; a layer has the borders along the axes that were exchanged
        # before: none for x, those along x for y, both for z. So a corner arrives with the last
        # axis, via two other ranks.
        layers = ((y - 2) * (z - 2), x * (z - 2), x * y)
        for axis, layer in zip(AXES, layers, strict=True):
            size = DOUBLE * layer
            behind, ahead = level.neighbour[-1][axis][ranks], level.neighbour[1][axis][ranks]
            block.ireceive(ranks, ahead, size[ahead], _tag(axis, direction=-1))
            block.ireceive(ranks, behind, size[behind], _tag(axis, direction=1))
            block.send(ranks, ahead, size[ranks], _tag(axis, direction=1))
            block.send(ranks, behind, size[ranks], _tag(axis, direction=-1))
            # The benchmark waits for each request. 0 is the oldest open one, so both waits have it.
            block.wait(ranks, 0)
            block.wait(ranks, 0)

    def _give_borders(self, block: BlockBuilder, level: Level) -> None:
        """Give borders to ranks that have points on this level, but none on the coarser one.

        A taker has one point along the axis, so three layers with its two borders. It receives all
        three, as it has no points on the coarser level to compute them from: two from the giver
        behind it, one from the giver ahead. With 8 ranks and 8 points (the module's table), rank 1
        sends two layers to rank 2 and one to rank 0. Layers are complete, with borders along the
        two other axes. No rank gives and takes along the same axis, so takers can wait before
        givers send.
        """
        x, y, z = level.size
        for axis, layer in zip(AXES, (y * z, x * z, x * y), strict=True):
            size = DOUBLE * layer
            takers, givers = np.flatnonzero(level.takes[axis]), np.flatnonzero(level.gives[axis])
            behind, ahead = level.neighbour[-1][axis], level.neighbour[1][axis]
            block.ireceive(takers, ahead[takers], size[ahead[takers]], _tag(axis, direction=-1))
            # what a taker receives from behind, its giver sends ahead: two layers
            block.ireceive(
                takers, behind[takers], 2 * size[behind[takers]], _tag(axis, direction=1)
            )
            block.wait(takers, 0)
            block.wait(takers, 0)
            block.send(givers, ahead[givers], 2 * size[givers], _tag(axis, direction=1))
            block.send(givers, behind[givers], size[givers], _tag(axis, direction=-1))


def _tag(axis: int, *, direction: int) -> int:
    """Return the tag of messages that travel in a direction (-1 or +1) along an axis.

    With two ranks along an axis both neighbours are one rank; its messages differ in the tag.
    """
    return 2 * axis + (direction > 0)
