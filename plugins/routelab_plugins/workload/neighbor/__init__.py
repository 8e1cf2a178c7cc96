"""neighbor: every rank sends to the next one.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
table 3.1: d_x = s_x + 1 mod k for every digit x of the address. That is `by=coordinate` here; the
exchange of a halo in every dimension is `by=coordinate,digits=each,ways=two`.
"""

from __future__ import annotations

from routelab.toolkit import ShiftWorkload
from routelab_plugins import works


class NeighborWorkload(ShiftWorkload):
    """A shift by one; the last rank or position sends to the first, also on a mesh."""

    name = "neighbor"
    summary = "Every rank sends to the next one, by rank or by position on the grid"
    citations = (works.DALLY2004("neighbor (table 3.1)"),)

    def distance(self, size: int) -> int:
        """Return 1, or 0 on a ring of one, which has no other position."""
        return 1 % size
