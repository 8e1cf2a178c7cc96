"""shuffle: the target's rank is the source's with its bits rotated left.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
table 3.1; the perfect shuffle of sorting and Fourier transforms.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Int64Array
from routelab.toolkit import FixedPermutation, rank_bits
from routelab_plugins import works


class Shuffle(FixedPermutation):
    """d_i = s_(i - 1 mod b) for the b bits of the rank.

    Of T terminals, rank r below T - 1 sends to 2 r mod (T - 1), as 3 to 6 and 6 to 5 of 8. Ranks 0
    and T - 1 are their own targets, so the base class makes them silent.
    """

    name = "shuffle"
    summary = "Every terminal sends to the one whose rank has the bits rotated left by one"
    citations = (works.DALLY2004("shuffle (table 3.1)"),)

    def send(self, topology: Topology) -> tuple[Int64Array, str]:
        """Return the targets by rank, and the rule as a text."""
        bits = rank_bits(topology)
        ranks = np.arange(1 << bits)
        # a single terminal has a rank without bits
        rotated = (ranks << 1 | ranks >> max(bits - 1, 0)) & (len(ranks) - 1)
        return rotated, "rank r to r with its bits rotated left; ranks 0 and T - 1 are silent"
