"""npb-cg: the NAS Parallel Benchmark CG, conjugate gradients with a sparse matrix in blocks.

A matrix of order n is divided among rows and columns of ranks. A product with a vector is summed
along the rows in log2 steps, then exchanged with the rank of the transposed place; scalars are
summed along the rows, too. RNR-94-007; NAS-95-020.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from routelab.api import Block, Collective, Job, Loop, Program
from routelab.toolkit import BlockBuilder
from routelab_plugins.npb import DOUBLE, LOGICAL, NpbWorkload, broadcasts, problems_with_model
from routelab_plugins.npb_operations import CG_STEPS, cg_iteration
from routelab_plugins.npb_problems import CG

PROBLEMS = problems_with_model(CG)
"""Order of the matrix, nonzeros of the vectors that it is made of, and iterations."""

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class MatrixDivision:
    """Blocks of the matrix.

    Attributes
    ----------
    columns, rows : int
        Of the grid of ranks; equally many, or twice as many columns.
    width, height : int64 array, shape (P,)
        Columns and rows of the matrix on each rank.
    piece : int64 array, shape (P,)
        Elements of a summed product on each rank.
    transposed : int64 array, shape (P,)
        The rank with which each rank exchanges pieces; possibly itself.
    """

    columns: int
    rows: int
    width: IntArray
    height: IntArray
    piece: IntArray
    transposed: IntArray

    @classmethod
    def of(cls, order: int, ranks: int) -> MatrixDivision:
        """Divide a matrix among a power of two of ranks."""
        bits = ranks.bit_length() - 1
        rows = 1 << (bits // 2)
        columns = ranks // rows
        rank = np.arange(ranks)
        row, column = rank // columns, rank % columns
        height = _parts(order, rows, row)
        if columns == rows:
            width = _parts(order, columns, column)
            return cls(columns, rows, width, height, height, column * rows + row)
        # two neighbours share a row's part of a vector; the first gets the odd element
        odd = rank % 2
        width = (_parts(order, rows, column // 2) + 1 - odd) // 2
        piece = (height + 1 - odd) // 2
        transposed = 2 * (column // 2 * rows + row) + odd
        return cls(columns, rows, width, height, piece, transposed)

    def partner(self, step: int) -> IntArray:
        """Return each rank's partner for sums; step 0 is the farthest in its row."""
        return np.arange(len(self.width)) ^ (self.columns >> (step + 1))

    @property
    def steps(self) -> int:
        """Number of steps of a sum along a row."""
        return self.columns.bit_length() - 1


def _parts(whole: int, parts: int, which: IntArray) -> IntArray:
    length, more = divmod(whole, parts)
    return length + (which < more)


class NpbCg(NpbWorkload):
    """A model of the messages and operations of NPB's CG."""

    name = "npb-cg"
    summary = "NAS Parallel Benchmark CG: sums along rows of ranks, and a transposition"

    def program(self, job: Job) -> Program:
        """Return the program: one untimed iteration, then the timed ones."""
        order, nonzeros, of_class = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(of_class)
        filling = nonzeros * (nonzeros + 1)
        part = MatrixDivision.of(order, job.ranks)
        begin, step, end = phases(part, order, filling)
        iteration = (begin, Loop((step,), CG_STEPS), end)
        return Program(
            ranks=job.ranks,
            convention="by rank, along rows of a 2-D grid of ranks and to the transposed place; "
            "in both directions, including messages to itself",
            before=(*broadcasts(LOGICAL), *iteration, Collective("barrier")),
            timed=(Loop(iteration, iterations),),
            after=(Collective("reduce", DOUBLE),),
            operations=iterations * cg_iteration(order, nonzeros),
        )


def phases(part: MatrixDivision, order: int, filling: int) -> tuple[Block, Block, Block]:
    """Return start of an iteration, one step of conjugate gradients, and residual with norms.

    Nonzeros are spread evenly. Each row of ranks has a complete vector, so vector operations cost
    each rank its `width`, though the benchmark counts them once.
    """
    ranks = np.arange(len(part.width))
    product = 2.0 * filling * part.width * part.height / order
    begin = BlockBuilder(len(ranks))
    begin.compute(ranks, 2.0 * part.width)
    _sum_scalars(begin, part, 1)
    step = BlockBuilder(len(ranks))
    _multiply(step, part, product)
    step.compute(ranks, 2.0 * part.width)
    _sum_scalars(step, part, 1)
    step.compute(ranks, 6.0 * part.width)
    _sum_scalars(step, part, 1)
    step.compute(ranks, 2.0 * part.width)
    end = BlockBuilder(len(ranks))
    _multiply(end, part, product)
    end.compute(ranks, 3.0 * part.width)
    _sum_scalars(end, part, 1)
    end.compute(ranks, 4.0 * part.width)
    _sum_scalars(end, part, 2)
    end.compute(ranks, 3.0 * part.width)
    return begin.build(), step.build(), end.build()


def _sum_scalars(block: BlockBuilder, part: MatrixDivision, numbers: int) -> None:
    for step in range(part.steps):
        _swap(block, part.partner(step), np.full(len(part.width), numbers), step)


def _multiply(block: BlockBuilder, part: MatrixDivision, amount: NDArray[np.float64]) -> None:
    """Multiply, sum along rows, and exchange with the transposed place."""
    block.compute(np.arange(len(part.width)), amount)
    for step in reversed(range(part.steps)):
        halved = part.columns != part.rows and step == part.steps - 1
        # the first step of a halved row sends the neighbour's part
        _swap(block, part.partner(step), part.height - part.piece if halved else part.piece, step)
    if part.steps:
        _swap(block, part.transposed, part.piece, part.steps)


def _swap(block: BlockBuilder, partner: IntArray, numbers: IntArray, tag: int) -> None:
    """Exchange numbers with a partner; post the receive before sending."""
    ranks = np.arange(len(partner))
    size = DOUBLE * numbers
    block.ireceive(ranks, partner, size[partner], tag)
    block.send(ranks, partner, size, tag)
    block.wait(ranks)
