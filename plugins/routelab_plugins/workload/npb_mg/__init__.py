"""npb-mg: the NAS Parallel Benchmark MG, V-cycles of multigrid on a 3-D grid of ranks.

Grids of n³, (n / 2)³, ... 2³ points with periodic boundaries. On every level ranks exchange borders
with six neighbours; where there are fewer points than ranks, the ranks without points wait, and on
the way back the others give borders to them. RNR-94-007; NAS-95-020.
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
"""Number of charges of each sign; all ranks together find the place of each."""

IntArray = NDArray[np.int64]
AXES = (0, 1, 2)


@dataclass(frozen=True)
class Level:
    """The parts of a grid on the ranks, and their neighbours.

    Attributes
    ----------
    size : int64 array, shape (3, P)
        Points of each rank along each axis, with the two layers of borders.
    neighbour : dict of int to int64 array, shape (3, P)
        The ranks in direction −1 and +1 along each axis.
    gives, takes : bool array, shape (3, P)
        Whether the rank gives borders to ranks without points on the next coarser level, or is
        such a rank.
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
    parts = np.array(mg_grid(ranks))[:, None]
    rank = np.arange(ranks)
    place = np.stack([rank % parts[0], rank // parts[0] % parts[1], rank // (parts[0] * parts[1])])
    stride = np.array([[1], parts[0], parts[0] * parts[1]], dtype=np.int64).reshape(3, 1)
    base = (place * stride).sum(axis=0)
    step = np.ones((3, ranks), dtype=np.int64)
    nobody = np.zeros((3, ranks), dtype=bool)
    levels: list[Level] = []
    gives = takes = nobody
    side = points
    while side >= 2:
        share = _share(place, side, parts)
        share_ahead = _share(place + step, side, parts)
        # where every second rank has no points any more, neighbours are twice as far apart
        step = np.where((share == 0) | (share_ahead == 0), 2 * step, step)
        if levels:
            gives = (share_ahead == 0) & (share == 1)
            takes = (share_ahead == 1) & (share == 0)
            finer = levels[-1]
            levels[-1] = Level(finer.size, finer.neighbour, gives, takes)
        neighbour = {way: base + ((place + way * step) % parts - place) * stride for way in (-1, 1)}
        levels.append(Level(share + 2, neighbour, nobody, nobody))
        side //= 2
    return levels[::-1]


def _share(place: IntArray, points: int, parts: IntArray) -> IntArray:
    """Return the number of points along an axis on the rank at a place."""
    return (place + 1) * points // parts - place * points // parts


class NpbMg(NpbWorkload):
    """A model of the messages and operations of NPB's MG."""

    name = "npb-mg"
    summary = "NAS Parallel Benchmark MG: borders of a 3-D multigrid, large to tiny"

    def program(self, job: Job) -> Program:
        """Return the program: inputs, charges, an untimed V-cycle, charges, timed V-cycles."""
        points, of_class = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(of_class)
        grids = _Grids(hierarchy(points, job.ranks), job.ranks)
        # The benchmark's count of operations is that of the timed part: V-cycles with a residual
        # each, and a residual and two norms around them. The steps below are scaled to it.
        operations = iterations * mg_iteration(points)
        counted = iterations * (grids.work_of_cycle() + RESIDUAL * points**3)
        counted += (RESIDUAL + 2 * NORM) * points**3
        scale = operations / counted
        cycle, residual = grids.cycle(scale), grids.residual(scale)
        norm = grids.norm(scale)
        charges = grids.charges()
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


class _Grids:
    """Builder of MG's phases on a hierarchy of grids."""

    def __init__(self, levels: list[Level], ranks: int) -> None:
        self.levels = levels
        self.ranks = ranks
        self.every = np.arange(ranks)
        self.finest = levels[-1]

    def charges(self) -> tuple[Step, ...]:
        """Return the right-hand side: the places of the largest and smallest random numbers."""
        search = (Collective("allreduce", DOUBLE), Collective("allreduce", 4 * INTEGER))
        borders = BlockBuilder(self.ranks)
        self._borders(borders, self.finest)
        return (
            Collective("barrier"),
            Loop(search, 2 * CHARGES),
            Collective("barrier"),
            borders.build(),
        )

    def norm(self, scale: float) -> tuple[Step, ...]:
        """Return the largest value and the sum of squares on the finest grid."""
        block = BlockBuilder(self.ranks)
        block.compute(self.every, scale * NORM * self.finest.points)
        value = Collective("allreduce", DOUBLE)
        return block.build(), value, value

    def residual(self, scale: float) -> Block:
        """Return the residual of the equation on the finest grid."""
        block = BlockBuilder(self.ranks)
        self._stencil(block, self.finest, scale * RESIDUAL)
        return block.build()

    def cycle(self, scale: float) -> Block:
        """Return a V-cycle, and the residual after it."""
        block = BlockBuilder(self.ranks)
        for coarse in self.levels[-2::-1]:
            self._stencil(block, coarse, scale * RESTRICT)
        self._stencil(block, self.levels[0], scale * SMOOTH)
        for coarse, fine in pairwise(self.levels):
            block.compute(self.every, scale * PROLONG * coarse.points)
            self._expand(block, fine)
            self._stencil(block, fine, scale * RESIDUAL)
            self._stencil(block, fine, scale * SMOOTH)
        self._stencil(block, self.finest, scale * RESIDUAL)
        return block.build()

    def work_of_cycle(self) -> float:
        """Return the operations of all ranks in a V-cycle, without the residual after it."""
        points = [float(level.points.sum()) for level in self.levels]
        coarse, fine = sum(points[:-1]), sum(points[1:])
        return (RESTRICT + PROLONG) * coarse + (RESIDUAL + SMOOTH) * fine + SMOOTH * points[0]

    def _stencil(self, block: BlockBuilder, level: Level, work: float) -> None:
        """Compute all points of a level from their neighbours, then exchange borders."""
        block.compute(level.ranks_with_points, work * level.points[level.ranks_with_points])
        self._borders(block, level)

    def _borders(self, block: BlockBuilder, level: Level) -> None:
        """Exchange one layer with both neighbours along each axis; corners go via the axes.

        A rank that is its own neighbour sends to itself, unless it is alone.
        """
        if self.ranks == 1:
            return
        x, y, z = level.size
        who = level.ranks_with_points
        for axis, layer in zip(AXES, ((y - 2) * (z - 2), x * (z - 2), x * y), strict=True):
            size = DOUBLE * layer
            behind, ahead = level.neighbour[-1][axis][who], level.neighbour[1][axis][who]
            block.ireceive(who, ahead, size[ahead], _tag(axis, -1))
            block.ireceive(who, behind, size[behind], _tag(axis, 1))
            block.send(who, ahead, size[who], _tag(axis, 1))
            block.send(who, behind, size[who], _tag(axis, -1))
            block.wait(who, 0)
            block.wait(who, 0)

    def _expand(self, block: BlockBuilder, level: Level) -> None:
        """Give borders to ranks that had no points: two layers ahead, one behind."""
        x, y, z = level.size
        for axis, layer in zip(AXES, (y * z, x * z, x * y), strict=True):
            size = DOUBLE * layer
            takers, givers = np.flatnonzero(level.takes[axis]), np.flatnonzero(level.gives[axis])
            behind, ahead = level.neighbour[-1][axis], level.neighbour[1][axis]
            block.ireceive(takers, ahead[takers], size[ahead[takers]], _tag(axis, -1))
            block.ireceive(takers, behind[takers], 2 * size[behind[takers]], _tag(axis, 1))
            block.wait(takers, 0)
            block.wait(takers, 0)
            block.send(givers, ahead[givers], 2 * size[givers], _tag(axis, 1))
            block.send(givers, behind[givers], size[givers], _tag(axis, -1))


def _tag(axis: int, way: int) -> int:
    return 2 * axis + (way > 0)
