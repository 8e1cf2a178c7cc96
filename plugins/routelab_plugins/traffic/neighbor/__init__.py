"""neighbor: every coordinate grows by one.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
table 3.1: d_x = s_x + 1 mod k for every digit x of the address.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Citation, Topology
from routelab.api.topology import Int64Array
from routelab.toolkit import FixedPermutation, TerminalGrid


class NeighborTraffic(FixedPermutation):
    """The next place in every dimension at once, a hop away in each; the last sends to the first.

    Also on a mesh, where the way from the last to the first is the longest there is.
    """

    name = "neighbor"
    summary = "Every terminal sends one place further in every dimension"
    citations = (
        Citation(
            key="dally2004",
            title="Principles and Practices of Interconnection Networks",
            authors="Dally, William James and Towles, Brian Patrick",
            year=2004,
            venue="Morgan Kaufmann, ISBN 978-0-12-200751-4",
            cited_for="neighbor (table 3.1)",
        ),
    )

    def send(self, topology: Topology) -> tuple[Int64Array, str]:
        """By coordinates; nobody is silent."""
        grid = TerminalGrid.of(topology)
        targets = grid.targets((grid.place + 1) % np.array(grid.dims))
        return targets, "by coordinates: one further in every dimension, from the last to the first"
