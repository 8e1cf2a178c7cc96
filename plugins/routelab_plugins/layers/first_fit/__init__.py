"""First fit: the layers of LASH.

Skeie, Lysne and Theiss, *Layered Shortest Path (LASH) Routing in Irregular System Area Networks*,
IPDPS 2002: each pair of switches goes to the first layer whose
dependencies stay acyclic with its route. Here each route does, in order of destination, then of
source; with separate routes to each terminal of a switch every one of them is assigned separately.
First fit then runs again, with the routes of the last layer first, which never needs more layers.
``rounds=0`` leaves that out, as in the paper.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Capabilities, RouteTable
from routelab.api.topology import Int32Array
from routelab.toolkit.forwarding.layers import (
    AcyclicLayers,
    RoundParameters,
    by_destination,
    fewer_layers,
    first_fitting_layers,
)
from routelab_plugins import works


class FirstFit(AcyclicLayers):
    """Assigns each route to the first virtual channel whose dependencies stay acyclic."""

    name = "first-fit"
    summary = "Each route on the first virtual channel that stays free of cycles (LASH)"
    citations = (works.SKEIE2002("the assignment of routes to the first layer possible"),)
    capabilities = Capabilities(multipath=True, flow_control="plain", virtual_channels=None)
    Parameters = RoundParameters
    parameters: RoundParameters

    def layers(self, table: RouteTable) -> Int32Array:
        """Return the virtual channel of each hop, which is the same for all hops of a path."""
        layer, _ = first_fitting_layers(table, by_destination(table))
        layer = fewer_layers(table, layer, self.parameters.rounds, self.parameters.order_seed)
        return np.repeat(layer, table.path_length)
