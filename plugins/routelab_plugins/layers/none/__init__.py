"""No layers: every hop on the virtual channel that the rules prescribe, or else on 0."""

from __future__ import annotations

from routelab.api import Capabilities, LayersPlugin, RouteTable


class NoLayers(LayersPlugin):
    """Leaves virtual channels and flow control of a table as the rules and the selection set them.

    For rules that are free of deadlock without layers: on one virtual channel, or on those that
    they prescribe, under the flow control that they declare.
    """

    name = "none"
    summary = "The virtual channels that the rules prescribe; one for everything if they do not"
    capabilities = Capabilities(multipath=True, virtual_channels=None)

    def assign(self, table: RouteTable) -> RouteTable:
        """Return the table as it is."""
        return table
