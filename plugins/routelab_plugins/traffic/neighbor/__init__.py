"""neighbor: every coordinate grows by one.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
table 3.1: d_x = s_x + 1 mod k for every digit x of the address.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Int64Array
from routelab.toolkit import FixedPermutation, TerminalGrid
from routelab_plugins import works


class NeighborTraffic(FixedPermutation):
    """Target one step further in every dimension; the last coordinate sends to the first.

    This also holds on a mesh, where the path from the last to the first is the longest.
    """

    name = "neighbor"
    summary = "Every terminal sends one place further in every dimension"
    citations = (works.DALLY2004("neighbor (table 3.1)"),)

    def send(self, topology: Topology) -> tuple[Int64Array, str]:
        """Return the targets by coordinates; all terminals send."""
        grid = TerminalGrid.of(topology)
        targets = grid.targets((grid.coordinates + 1) % np.array(grid.dims))
        return targets, "by coordinates: one further in every dimension, from the last to the first"
