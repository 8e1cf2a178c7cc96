"""npb-ft: the NAS Parallel Benchmark FT, Fourier transforms with all-to-all exchanges.

Up to nz ranks have planes of an nx × ny × nz grid, and one all-to-all among all of them turns a
transform's last dimension into a local one. More ranks have pencils: nz × (ranks / nz) of them, and
two all-to-alls, along columns and along rows. RNR-94-007; NAS-95-020.
"""

from __future__ import annotations

from math import log, log2

import numpy as np

from routelab.api import Block, Collective, Job, Loop, Program, Step
from routelab.api.topology import Int32Array
from routelab.toolkit import BlockBuilder
from routelab_plugins.npb import (
    COMPLEX,
    INTEGER,
    LOGICAL,
    NpbWorkload,
    broadcasts,
    problems_with_model,
)
from routelab_plugins.npb_operations import (
    FT_EVOLVE,
    FT_FIRST,
    FT_SETUP,
    FT_TRANSFORM,
    ft_operations,
)
from routelab_plugins.npb_problems import FT, ft_grid

PROBLEMS = problems_with_model(FT)
"""Grid points, and iterations."""


class NpbFt(NpbWorkload):
    """A model of the messages and operations of NPB's FT."""

    name = "npb-ft"
    summary = "NAS Parallel Benchmark FT: all-to-all exchanges of a 3-D Fourier transform"

    def program(self, job: Job) -> Program:
        """Return the program: inputs, an untimed transform, then the timed part."""
        sizes, class_iterations = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(class_iterations)
        points = float(np.prod(sizes, dtype=np.int64))
        log_points = log(points)
        phases = _PhaseBuilder(sizes, job.ranks)
        # The benchmark runs set-up and first transform twice: without timing, so that all data has
        # been touched, and again as a part of what is timed.
        setup = phases.compute(FT_SETUP * points)
        forward = phases.transform(FT_FIRST * points * log_points, forward=True)
        return Program(
            ranks=job.ranks,
            convention="collective: all ranks, or rows and columns of a grid of ranks",
            before=(
                *broadcasts(*[INTEGER] * 4, LOGICAL),
                setup,
                *forward,
                Collective("barrier"),
            ),
            timed=(
                setup,
                *forward,
                Loop(
                    (
                        phases.compute(FT_EVOLVE * points),
                        *phases.transform(FT_TRANSFORM * points * log_points, forward=False),
                        Collective("reduce", COMPLEX),
                    ),
                    iterations,
                ),
            ),
            operations=ft_operations(points, iterations),
        )


class _PhaseBuilder:
    """Builder of the computations and transforms of ranks in a grid of rows and columns.

    In a grid of one row, each rank has whole planes of points, else pencils: lines of points.
    """

    def __init__(self, sizes: tuple[int, int, int], ranks: int) -> None:
        self.sizes = sizes
        self.ranks = ranks
        self.rows, self.columns = ft_grid(sizes, ranks)

    def compute(self, operations: float) -> Block:
        """Return a block of operations that all ranks share evenly."""
        all_ranks = np.arange(self.ranks)
        return BlockBuilder(self.ranks).compute(all_ranks, operations / self.ranks).build()

    def transform(self, operations: float, *, forward: bool) -> tuple[Step, ...]:
        """Return a transform of all points: x, y, z if `forward`, else z, y, x.

        An exchange before a dimension makes it local: each rank then has all points along it.
        `operations` is the number of all ranks.
        """
        # a transform of n points along a dimension takes n log n operations, so dimensions share
        # the operations by the logarithms of their sizes
        sum_of_logs = sum(map(log2, self.sizes))
        x, y, z = (operations * log2(size) / sum_of_logs for size in self.sizes)
        steps: tuple[Step, ...]
        if self.rows > 1:
            # pencils: each rank has whole lines of points along one dimension only; exchanges are
            # among the ranks of a column of the grid, then among those of a row
            grid = np.arange(self.ranks, dtype=np.int32).reshape(self.rows, self.columns)
            steps = (
                self.compute(x),
                self._all_to_all(tuple(grid.T.copy())),
                self.compute(y),
                self._all_to_all(tuple(grid)),
                self.compute(z),
            )
        elif self.ranks > 1:
            # planes: each rank has whole planes of x and y
            steps = (self.compute(x + y), self._all_to_all(()), self.compute(z))
        else:
            steps = (self.compute(operations),)
        return steps if forward else steps[::-1]

    def _all_to_all(self, groups: tuple[Int32Array, ...]) -> Collective:
        """Return an all-to-all in each group, or of all ranks if there are no groups.

        Every rank divides its points evenly among the ranks of its group.
        """
        group_size = len(groups[0]) if groups else self.ranks
        x, y, z = self.sizes
        points_per_rank = x * y * z // self.ranks
        return Collective("alltoall", COMPLEX * (points_per_rank // group_size), groups=groups)
