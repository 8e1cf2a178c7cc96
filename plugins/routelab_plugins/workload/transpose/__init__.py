"""transpose: the digits of a position are reordered.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
table 3.1: d_i = s_(i + b/2 mod b) for the b bits of a rank, which for a square number of ranks is
the transposition of a matrix. For other numbers, papers that do not define it may mean any of the
readings that the parameters offer.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Literal

import numpy as np

from routelab.api import Job, UnsupportedError, parameter
from routelab.api.topology import Int64Array
from routelab.toolkit import PatternParameters, PatternWorkload, RankGrid
from routelab_plugins import works


class TransposeWorkloadParameters(PatternParameters):
    """Digits and their order."""

    digits: Literal["halves", "swap", "reverse"] = parameter(
        "halves",
        description="halves: the second half of the digits before the first (by rank: transposes "
        "the matrix of ranks that is closest to a square, with at least as many columns as rows); "
        "swap: the two halves change places, an odd one in the middle stays; reverse: all in "
        "reverse order. Digits are the bits of a rank, or the coordinates",
    )


class TransposeWorkload(PatternWorkload):
    """Number s, written in digits, sends to the number with these digits in another order.

    By coordinates, sizes go with their digits: on 4x2x2x2 place (a, b, c, d) sends to the place
    with the number that (d, c, b, a) has in a grid of 2x2x2x4.
    """

    name = "transpose"
    summary = "Every rank sends to its transpose, by rank or by position on the grid"
    citations = (works.DALLY2004("transpose (table 3.1)"),)
    Parameters = TransposeWorkloadParameters

    def directions(self, job: Job) -> tuple[list[Int64Array], str]:
        """Return one permutation."""
        if self.parameters.by == "coordinate":
            grid = RankGrid.of(job)
            order = self._order(len(grid.dims))
            words = f"by coordinates ({'x'.join(map(str, grid.dims))}), in the order {_text(order)}"
            return [grid.at_numbers(_reorder_digits(grid.number, grid.dims, order))], words
        ranks = np.arange(job.ranks)
        if self.parameters.digits == "halves":
            rows = next(n for n in range(isqrt(job.ranks), 0, -1) if job.ranks % n == 0)
            columns = job.ranks // rows
            words = f"by rank, a matrix of {rows}x{columns}: r*{columns}+c to c*{rows}+r"
            return [_reorder_digits(ranks, (rows, columns), (1, 0))], words
        bits = job.ranks.bit_length() - 1
        if job.ranks != 1 << bits:
            raise UnsupportedError(
                f"digits={self.parameters.digits} by rank goes by bits and needs a power of two "
                f"of ranks, not {job.ranks}"
            )
        order = self._order(bits)
        words = f"by rank, bits (the highest is 0) in the order {_text(order)}"
        return [_reorder_digits(ranks, (2,) * bits, order)], words

    def _order(self, count: int) -> tuple[int, ...]:
        """Return the source's digit for each position of the target."""
        digits, half = tuple(range(count)), count // 2
        if self.parameters.digits == "reverse":
            return digits[::-1]
        if self.parameters.digits == "swap":
            return digits[count - half :] + digits[half : count - half] + digits[:half]
        return digits[half:] + digits[:half]


def _text(order: Sequence[int]) -> str:
    return " ".join(map(str, order))


def _reorder_digits(number: Int64Array, sizes: Sequence[int], order: Sequence[int]) -> Int64Array:
    """Return the number with its digits in another order, each with its size."""
    if not sizes:
        return number
    digits = np.unravel_index(number, tuple(sizes))
    ranks = np.ravel_multi_index(
        tuple(digits[place] for place in order), tuple(sizes[place] for place in order)
    )
    return np.asarray(ranks, dtype=np.int64)
