"""bit-reversal: the target's rank is the source's with its bits in reverse order.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
table 3.1.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Int64Array
from routelab.toolkit import FixedPermutation, rank_bits
from routelab_plugins import works


class BitReversal(FixedPermutation):
    """d_i = s_(b - i - 1) for the b bits of the rank."""

    name = "bit-reversal"
    summary = "Every terminal sends to the one whose rank has the bits in reverse order"
    citations = (works.DALLY2004("bit reverse (table 3.1)"),)

    def send(self, topology: Topology) -> tuple[Int64Array, str]:
        """Return the targets by rank; ranks that are equal in reverse order are silent."""
        bits = rank_bits(topology)
        ranks = np.arange(1 << bits)
        reversed_ = np.zeros_like(ranks)
        for bit in range(bits):
            reversed_ |= (ranks >> bit & 1) << (bits - 1 - bit)
        return reversed_, "rank r to r with its bits reversed; palindromes are silent"
