"""bit-complement: the target's rank is the source's with all bits flipped.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
table 3.1.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Int64Array
from routelab.toolkit import FixedPermutation, rank_bits
from routelab_plugins import works


class BitComplement(FixedPermutation):
    """d_i = not s_i for every bit i of the rank: T - 1 - rank."""

    name = "bit-complement"
    summary = "Every terminal sends to the one whose rank has all bits flipped"
    citations = (works.DALLY2004("bit complement (table 3.1)"),)

    def send(self, topology: Topology) -> tuple[Int64Array, str]:
        """Return the targets by rank; all terminals send."""
        ranks = np.arange(1 << rank_bits(topology))
        return ranks[::-1], "rank r to T - 1 - r"
