"""LASH-TOR: layers that routes may change on their way.

Skeie, Lysne, Flich, López, Robles and Duato, *LASH-TOR: A Generic Transition-Oriented Routing
Algorithm*, ICPADS 2004: a route that fits in no layer as a whole changes to higher layers on its
way. Dependencies between layers lead upwards only, so that no cycle passes through several
layers. The paper guarantees an end by up*/down* routes in the last layer; here the routes are
given, and layers are added until all routes fit. With each number of layers, routes stay in one
layer first if they can; if some do not fit then, all follow the first layer as far as they can,
then the next.
"""

from __future__ import annotations

from routelab.api import Capabilities, RouteTable
from routelab.api.topology import Int16Array
from routelab.toolkit.forwarding.layers import AcyclicLayers, layers_of_hops
from routelab_plugins import works


class LashTor(AcyclicLayers):
    """Change the virtual channel on the way where a route fits in no layer as a whole."""

    name = "lash-tor"
    summary = "First fit; routes that fit nowhere change virtual channels on the way (LASH-TOR)"
    citations = (works.SKEIE2004("transitions between layers"),)
    capabilities = Capabilities(multipath=True, flow_control="plain", virtual_channels=None)

    def layers(self, table: RouteTable) -> Int16Array:
        """Return the virtual channel of each hop; it never falls along a path."""
        num_layers = 0
        # ends at the latest with as many layers as paths, because each path fits in an empty layer
        while True:
            num_layers += 1
            # Let each path stay in one layer if one fits it as a whole. If some path then fits
            # nowhere, even with changes of layer, let all paths follow the first layer as far as
            # they can, then the next.
            for whole_first in (True, False):
                layer, num_unplaced = layers_of_hops(table, num_layers, whole_first)
                if not num_unplaced:
                    return layer
