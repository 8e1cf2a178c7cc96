"""No layers: every hop on the virtual channel that the rules prescribe, or else on 0."""

from __future__ import annotations

from routelab.api import Capabilities, LayersPlugin, RouteTable


class NoLayers(LayersPlugin):
    """Leaves the routes unchanged.

    For rules that are deadlock-free on one virtual channel, or on those that they prescribe, under
    the flow control that their table declares, which also stays unchanged.
    """

    name = "none"
    summary = "The virtual channels that the rules prescribe; one for everything if they do not"
    capabilities = Capabilities(multipath=True, virtual_channels=None)

    def assign(self, table: RouteTable) -> RouteTable:
        """Return the table."""
        return table
