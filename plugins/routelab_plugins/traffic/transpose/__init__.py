"""transpose: (x, y) sends to (y, x), as a matrix is transposed.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
table 3.1: d_i = s_(i + b/2 mod b) for the b bits of an address. Here the halves of the coordinates
are swapped, or those of a square number of ranks; both agree if all sizes are powers of two.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from routelab.api import Topology, UnsupportedError
from routelab.api.topology import Int64Array
from routelab.toolkit import FixedPermutation, TerminalGrid
from routelab_plugins import works


class TransposeTraffic(FixedPermutation):
    """The target has the source's two halves of the address swapped; the diagonal is silent."""

    name = "transpose"
    summary = "Every terminal sends to the one at the transposed position"
    citations = (works.DALLY2004("transpose (table 3.1)"),)

    def send(self, topology: Topology) -> tuple[Int64Array, str]:
        """Return the targets by coordinates if both halves have the same sizes, else by rank."""
        try:
            return _swap_coordinates(TerminalGrid.of(topology))
        except UnsupportedError as reason:
            return _transpose_ranks(topology.num_terminals, str(reason))


def _swap_coordinates(grid: TerminalGrid) -> tuple[Int64Array, str]:
    """Return the target of each rank, at the coordinates with swapped halves; and a text for that.

    Raises
    ------
    UnsupportedError
        If the halves of the dimensions differ.
    """
    half = len(grid.dims) // 2
    if len(grid.dims) % 2 or grid.dims[:half] != grid.dims[half:]:
        text = "x".join(map(str, grid.dims))
        raise UnsupportedError(f"the two halves of the dimensions {text} are not the same")
    targets = grid.targets(np.roll(grid.coordinates, half, axis=1))
    return targets, "by coordinates: (x, y) to (y, x), halves of them; the diagonal is silent"


def _transpose_ranks(count: int, why_by_rank: str) -> tuple[Int64Array, str]:
    """Return the target of each rank, in a square matrix of ranks; and a text for that.

    `why_by_rank` is why coordinates cannot be swapped, for the message.

    Raises
    ------
    UnsupportedError
        If the number of ranks is no square.
    """
    side = isqrt(count)
    if side * side != count:
        raise UnsupportedError(
            f"needs a square grid or a square number of terminals; this network has {count} "
            f"({why_by_rank})"
        )
    # rank i · side + j is row i, column j of a square
    ranks = np.arange(count)
    targets = ranks % side * side + ranks // side
    return targets, f"by rank: {side} i + j to {side} j + i; the diagonal is silent"
