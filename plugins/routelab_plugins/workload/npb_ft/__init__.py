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
        sizes, of_class = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(of_class)
        points = float(np.prod(sizes, dtype=np.int64))
        logarithm = log(points)
        phases = _Phases(sizes, job.ranks)
        # The benchmark runs set-up and first transform twice: without timing, so that all data has
        # been touched, and again as a part of what is timed.
        setup = phases.compute(FT_SETUP * points)
        forward = phases.transform(FT_FIRST * points * logarithm, forward=True)
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
                        *phases.transform(FT_TRANSFORM * points * logarithm, forward=False),
                        Collective("reduce", COMPLEX),
                    ),
                    iterations,
                ),
            ),
            operations=ft_operations(points, iterations),
        )


class _Phases:
    """Builder of transforms on a grid of ranks."""

    def __init__(self, sizes: tuple[int, int, int], ranks: int) -> None:
        self.sizes = sizes
        self.ranks = ranks
        self.rows, self.columns = ft_grid(sizes, ranks)

    def compute(self, amount: float) -> Block:
        """Return operations that all ranks share evenly."""
        all_ranks = np.arange(self.ranks)
        return BlockBuilder(self.ranks).compute(all_ranks, amount / self.ranks).build()

    def transform(self, amount: float, *, forward: bool) -> tuple[Step, ...]:
        """Return steps by dimension, x first if `forward`, else last, with exchanges."""
        x, y, z = (amount * log2(size) / sum(map(log2, self.sizes)) for size in self.sizes)
        steps: tuple[Step, ...]
        if self.rows > 1:
            grid = np.arange(self.ranks, dtype=np.int32).reshape(self.rows, self.columns)
            steps = (
                self.compute(x),
                self._exchange(tuple(grid.T.copy())),
                self.compute(y),
                self._exchange(tuple(grid)),
                self.compute(z),
            )
        elif self.ranks > 1:
            steps = (self.compute(x + y), self._exchange(()), self.compute(z))
        else:
            steps = (self.compute(amount),)
        return steps if forward else steps[::-1]

    def _exchange(self, groups: tuple[Int32Array, ...]) -> Collective:
        """Return the exchange of a rank's points, in equal parts for its group."""
        among = len(groups[0]) if groups else self.ranks
        x, y, z = self.sizes
        return Collective("alltoall", COMPLEX * (x * y * z // self.ranks // among), groups=groups)
