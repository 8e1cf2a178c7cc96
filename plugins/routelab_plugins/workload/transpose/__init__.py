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

    By coordinates, each digit keeps its size. With `digits=reverse` on a grid of 4x2x2x2, switch
    (a, b, c, d) sends to the switch with the number that (d, c, b, a) has in a grid of 2x2x2x4.
    """

    name = "transpose"
    summary = "Every rank sends to its transpose, by rank or by position on the grid"
    citations = (works.DALLY2004("transpose (table 3.1)"),)
    Parameters = TransposeWorkloadParameters

    def directions(self, job: Job) -> tuple[list[Int64Array], str]:
        """Return one permutation in a list, the target of each rank, and a text that defines it."""
        # 1. Digits are coordinates.
        if self.parameters.by == "coordinate":
            grid = RankGrid.of(job)
            order = self._digit_order(len(grid.dims))
            dims_text = "x".join(map(str, grid.dims))
            convention = f"by coordinates ({dims_text}), in the order {_order_text(order)}"
            target_number = _reorder_digits(grid.number, grid.dims, order)
            return [grid.at_numbers(target_number)], convention
        # 2. Two digits, row and column. The rows are the largest divisor up to the root, so that
        #    any number of ranks has a matrix: 4x8 for 32, 1x7 for 7.
        ranks = np.arange(job.ranks)
        if self.parameters.digits == "halves":
            rows = next(n for n in range(isqrt(job.ranks), 0, -1) if job.ranks % n == 0)
            columns = job.ranks // rows
            convention = f"by rank, a matrix of {rows}x{columns}: r*{columns}+c to c*{rows}+r"
            return [_reorder_digits(ranks, (rows, columns), (1, 0))], convention
        # 3. Digits are the bits of a rank.
        bits = job.ranks.bit_length() - 1
        if job.ranks != 1 << bits:
            raise UnsupportedError(
                f"digits={self.parameters.digits} by rank goes by bits and needs a power of two "
                f"of ranks, not {job.ranks}"
            )
        order = self._digit_order(bits)
        convention = f"by rank, bits (the highest is 0) in the order {_order_text(order)}"
        return [_reorder_digits(ranks, (2,) * bits, order)], convention

    def _digit_order(self, num_digits: int) -> tuple[int, ...]:
        """Return which digit of the source is first in the target, which is second, and so on.

        With 5 digits: 4 3 2 1 0 (reverse), 3 4 2 0 1 (swap), 2 3 4 0 1 (halves).
        """
        digits, half = tuple(range(num_digits)), num_digits // 2
        if self.parameters.digits == "reverse":
            return digits[::-1]
        if self.parameters.digits == "swap":
            second_half = num_digits - half  # after the middle digit, if their number is odd
            return digits[second_half:] + digits[half:second_half] + digits[:half]
        return digits[half:] + digits[:half]


def _order_text(order: Sequence[int]) -> str:
    return " ".join(map(str, order))


def _reorder_digits(numbers: Int64Array, sizes: Sequence[int], order: Sequence[int]) -> Int64Array:
    """Return numbers with their digits in another order; each digit keeps its size.

    With the sizes 4 and 8, 8 r + c has the digits r and c. In the order (1, 0) it becomes 4 c + r.
    """
    # a single rank has no bits, and NumPy refuses a number without digits
    if not sizes:
        return numbers
    digits = np.unravel_index(numbers, tuple(sizes))
    new_digits = tuple(digits[digit] for digit in order)
    new_sizes = tuple(sizes[digit] for digit in order)
    return np.asarray(np.ravel_multi_index(new_digits, new_sizes), dtype=np.int64)
