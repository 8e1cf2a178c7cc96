"""No layers: every hop on virtual channel 0."""

from __future__ import annotations

import numpy as np

from routelab.api import Capabilities, LayersPlugin, RouteTable


class NoLayers(LayersPlugin):
    """Leaves the routes unchanged.

    For rules that are deadlock-free on one virtual channel under the flow control that their table
    declares, which also stays unchanged.
    """

    name = "none"
    summary = "One virtual channel for everything"
    capabilities = Capabilities(multipath=True)

    def assign(self, table: RouteTable) -> RouteTable:
        """Return the same routes on virtual channel 0."""
        return table.with_vcs(np.zeros(len(table.hop_vc), dtype=np.int16))
