"""tornado: almost half of the way round.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
table 3.1: d_x = s_x + (ceil(k/2) - 1) mod k for every digit x of the address. On a ring of two
this distance is zero, so on 4x2x2x2 only the first dimension is used. Papers that do not define
their tornado may mean another reading; the parameters offer several.
"""

from __future__ import annotations

from typing import Literal

from routelab.api import parameter
from routelab.toolkit import ShiftParameters, ShiftWorkload
from routelab_plugins import works


class TornadoWorkloadParameters(ShiftParameters):
    """Distance of targets."""

    far: Literal["tornado", "half"] = parameter(
        "tornado", description="tornado: ceil(k/2) - 1 places on a ring of k; half: floor(k/2)"
    )


class TornadoWorkload(ShiftWorkload):
    """The same shift from every rank, modulo the sizes."""

    name = "tornado"
    summary = "Every rank sends almost half-way around, by rank or by position on the grid"
    citations = (works.DALLY2004("tornado (table 3.1)"),)
    Parameters = TornadoWorkloadParameters

    def distance(self, size: int) -> int:
        """Return the distance on a ring: 3 of 8 for `far=tornado`, 4 of 8 for `far=half`."""
        # (size + 1) // 2 is ceil(size / 2)
        return size // 2 if self.parameters.far == "half" else (size + 1) // 2 - 1
