"""npb-cg: the NAS Parallel Benchmark CG, conjugate gradients with a sparse matrix in blocks.

A matrix of order n is divided among rows and columns of ranks. A product with a vector is summed
along the rows in log2 steps, then exchanged with the rank at the transposed position of the grid;
scalars are summed along the rows, too. RNR-94-007; NAS-95-020.

If there are twice as many columns as rows, two neighbours in a row form a pair, and the pairs form
a square grid. On 8 ranks::

    0-1  2-3        pair (0, 1), the ranks 2 and 3, is transposed to pair (1, 0), the ranks 4 and 5;
    4-5  6-7        2 exchanges with 4, and 3 with 5
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
    """The blocks of the matrix on a grid of ranks, and what each rank exchanges after a product.

    Attributes
    ----------
    columns, rows : int
        Of the grid of ranks; equally many, or twice as many columns.
    width, height : int64 array, shape (P,)
        Columns and rows of the matrix on each rank.
    result_length : int64 array, shape (P,)
        Elements of the product that a rank has after the sum along its row: all elements of the
        row, or half of them if ranks form pairs.
    transposed : int64 array, shape (P,)
        The rank with which each rank exchanges these results; possibly itself.
    """

    columns: int
    rows: int
    width: IntArray
    height: IntArray
    result_length: IntArray
    transposed: IntArray

    @classmethod
    def of(cls, order: int, ranks: int) -> MatrixDivision:
        """Divide a matrix of the given order among ranks, whose number is a power of two."""
        ranks_log2 = ranks.bit_length() - 1
        rows = 1 << (ranks_log2 // 2)
        columns = ranks // rows
        rank = np.arange(ranks)
        row, column = rank // columns, rank % columns
        height = _part_length(order, rows, row)
        if columns == rows:
            width = _part_length(order, columns, column)
            return cls(
                columns=columns,
                rows=rows,
                width=width,
                height=height,
                result_length=height,
                transposed=column * rows + row,
            )
        # Divide among pairs, and then each part among the two ranks of the pair: of 7 elements the
        # first rank gets 4, and the second 3. The pair in (row, pair_column) is transposed to the
        # pair in (pair_column, row); a row has `rows` pairs.
        index_in_pair = rank % 2
        pair_column = column // 2
        pair_width = _part_length(order, rows, pair_column)
        return cls(
            columns=columns,
            rows=rows,
            width=(pair_width + 1 - index_in_pair) // 2,
            height=height,
            result_length=(height + 1 - index_in_pair) // 2,
            transposed=2 * (pair_column * rows + row) + index_in_pair,
        )

    def partner(self, step: int) -> IntArray:
        """Return each rank's partner in a step of a sum along its row.

        In a row of 8, step 0 joins ranks 4 columns apart, step 1 2 apart, and step 2 neighbours.
        """
        # `columns` is a power of two, so a bit below it changes the column and not the row
        return np.arange(len(self.width)) ^ (self.columns >> (step + 1))

    @property
    def steps(self) -> int:
        """Number of steps of a sum along a row."""
        return self.columns.bit_length() - 1


def _part_length(total: int, parts: int, index: IntArray) -> IntArray:
    """Return the lengths of parts of `total` by their index; 8 in 3 parts are 3, 3 and 2."""
    length, num_longer = divmod(total, parts)
    return length + (index < num_longer)


class NpbCg(NpbWorkload):
    """A model of the messages and operations of NPB's CG."""

    name = "npb-cg"
    summary = "NAS Parallel Benchmark CG: sums along rows of ranks, and a transposition"

    def program(self, job: Job) -> Program:
        """Return the program: one untimed iteration, then the timed ones."""
        order, nonzeros, class_iterations = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(class_iterations)
        # the benchmark's own count of operations assumes this number
        nonzeros_per_row = nonzeros * (nonzeros + 1)
        division = MatrixDivision.of(order, job.ranks)
        begin, step, end = phases(division, order, nonzeros_per_row)
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


def phases(
    division: MatrixDivision, order: int, nonzeros_per_row: int
) -> tuple[Block, Block, Block]:
    """Return start of an iteration, one step of conjugate gradients, and residual with norms.

    Nonzeros are spread evenly. Each row of ranks has a complete vector, so vector operations cost
    each rank its `width`, though the benchmark counts them once. Together they are those of
    `cg_iteration`: 10 per element for a step, and 12 for the two other phases.
    """
    ranks = np.arange(len(division.width))
    # a multiplication and an addition for each nonzero; a row has nonzeros_per_row / order of them
    # in each column
    product = 2.0 * nonzeros_per_row * division.width * division.height / order
    # 1. Start, with r = x and z = 0: rho = r·r.
    begin = BlockBuilder(len(ranks))
    begin.compute(ranks, 2.0 * division.width)
    _sum_scalars(begin, division, 1)
    # 2. A step: q = A p, then alpha = rho / p·q.
    step = BlockBuilder(len(ranks))
    _multiply(step, division, product)
    step.compute(ranks, 2.0 * division.width)
    _sum_scalars(step, division, 1)
    #    z = z + alpha p, r = r - alpha q and the new rho = r·r, then p = r + beta p.
    step.compute(ranks, 6.0 * division.width)
    _sum_scalars(step, division, 1)
    step.compute(ranks, 2.0 * division.width)
    # 3. End: r = A z, then the norm of x - r, then the products x·z and z·z in one message.
    end = BlockBuilder(len(ranks))
    _multiply(end, division, product)
    end.compute(ranks, 3.0 * division.width)
    _sum_scalars(end, division, 1)
    end.compute(ranks, 4.0 * division.width)
    _sum_scalars(end, division, 2)
    #    x = z / |z|; with 3 operations here, the start and the end have 12.
    end.compute(ranks, 3.0 * division.width)
    return begin.build(), step.build(), end.build()


def _sum_scalars(block: BlockBuilder, division: MatrixDivision, num_scalars: int) -> None:
    """Add the messages that sum scalars along each row of ranks, all in one message per step."""
    for step in range(division.steps):
        counts = np.full(len(division.width), num_scalars)
        _exchange(block, division.partner(step), counts, tag=step)


def _multiply(
    block: BlockBuilder, division: MatrixDivision, operations: NDArray[np.float64]
) -> None:
    """Multiply, sum along rows, and exchange the sums with the ranks at transposed positions."""
    block.compute(np.arange(len(division.width)), operations)
    has_pairs = division.columns != division.rows
    # Begin with neighbours, the last step of `partner`; sums of scalars begin with the farthest.
    for step in reversed(range(division.steps)):
        # The two ranks of a pair, which are neighbours, divide the row's elements in the first
        # step: each sends the half that it does not keep.
        is_division = has_pairs and step == division.steps - 1
        counts = division.height - division.result_length if is_division else division.result_length
        _exchange(block, division.partner(step), counts, tag=step)
    # a single rank sends nothing to itself
    if division.steps:
        _exchange(block, division.transposed, division.result_length, tag=division.steps)


def _exchange(block: BlockBuilder, partner: IntArray, counts: IntArray, *, tag: int) -> None:
    """Exchange vectors with a partner; `counts` has the number of elements that each rank sends.

    The receive is posted before the send, so that two blocking sends cannot wait for each other.
    """
    ranks = np.arange(len(partner))
    size = DOUBLE * counts
    block.ireceive(ranks, partner, size[partner], tag)
    block.send(ranks, partner, size, tag)
    block.wait(ranks)
