"""valiant: every packet goes via a random switch.

Valiant, *A Scheme for Fast Parallel Communication*, SIAM Journal on Computing 11(2), 1982, doi
10.1137/0211027. Any routing, hop by hop or a table, leads to the random switch and from there to
the destination (`base`).

Convention: the switch is drawn uniformly from all switches with terminals, source and destination
among them. So from any source to any destination the mean distance is twice the network's mean over
all ordered pairs, those of a switch with itself included: 8.0 on an 8x8 torus.

Virtual channels: the base's classes twice, once for each half of the way. No packet goes back from
the second half's to the first's, so it is free of deadlock for the reason that the base is.
"""

from __future__ import annotations

from routelab.api import Capabilities, HopProgram, Topology
from routelab.toolkit.waypoint_routing import WaypointRouting
from routelab_plugins import works

from .kernels import inject


class Valiant(WaypointRouting):
    """Routes every packet via a random switch."""

    name = "valiant"
    summary = "Routes through a random switch, with any routing on both halves"
    citations = (works.VALIANT1982("routing through a random intermediate node"),)
    capabilities = Capabilities(minimal=False, multipath=True, virtual_channels=None)

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Build the base's program with a waypoint.

        Raises
        ------
        UnsupportedError
            If the base does not apply.
        """
        ends = topology.endpoints
        return self.two_halves(topology, virtual_channels, inject, [len(ends)], ends)
