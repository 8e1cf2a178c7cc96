"""tornado: almost half of the way round every ring.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
table 3.1: d_x = s_x + (ceil(k/2) - 1) mod k for every digit x of the address. The worst traffic for
minimal routing on a ring: all of it goes one way round.
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Dims,
    InputError,
    Parameters,
    Topology,
    parameter,
)
from routelab.api.topology import Int64Array
from routelab.toolkit import FixedPermutation, TerminalGrid
from routelab_plugins import works


class TornadoTrafficParameters(Parameters):
    """Distance of targets."""

    shift: Dims | None = parameter(
        None,
        description="Shift in each dimension, e.g. 3x0; none: ceil(k/2) - 1 in a dimension of "
        "size k",
    )


class TornadoTraffic(FixedPermutation):
    """The same shift from every switch, modulo the sizes."""

    name = "tornado"
    summary = "Every terminal sends almost half-way around every ring, or by a given shift"
    citations = (works.DALLY2004("tornado (table 3.1)"),)
    Parameters = TornadoTrafficParameters

    def send(self, topology: Topology) -> tuple[Int64Array, str]:
        """Return the targets by coordinates; all terminals send."""
        grid = TerminalGrid.of(topology)
        shift = self.parameters.shift
        if shift is None:
            shift = tuple((size + 1) // 2 - 1 for size in grid.dims)
        text = "x".join(map(str, shift))
        if len(shift) != len(grid.dims):
            raise InputError(
                f"tornado: shift={text} is for {len(shift)} dimensions, but this network has "
                f"{len(grid.dims)}"
            )
        targets = grid.targets((grid.coordinates + np.array(shift)) % np.array(grid.dims))
        return targets, f"by coordinates: {text} places further, modulo the sizes"
