"""Balanced layers: few layers first, then even use of them.

The routes get their layers by first fit, in order of destination and in two more orders; the
order that needs the fewest layers is used. First fit runs again, with the routes of the last layer
first, which never needs more layers. Then routes move from crowded layers to emptier ones
that allow all their turns: each layer has an order of the channels that its dependencies follow,
so that every route in ascending order fits. Domke, Hoefler and Nagel (IPDPS 2011, doi
10.1109/IPDPS.2011.65) balance the layers of DFSSSP, too: they spread routes over layers that
would stay empty.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Capabilities, RouteTable
from routelab.api.topology import Int32Array
from routelab.kernels.forwarding.first_fit import even_layers
from routelab.toolkit.forwarding.layers import (
    AcyclicLayers,
    RoundParameters,
    by_destination,
    fewer_layers,
    first_fitting_layers,
)
from routelab_plugins import works


class BalancedLayers(AcyclicLayers):
    """Assign every route to one of few virtual channels, which share the hops evenly."""

    name = "balanced-layers"
    summary = "First fit in several orders with few virtual channels, which are then used evenly"
    citations = (
        works.SKEIE2002("layers by first fit"),
        works.DOMKE2011("even use of layers"),
    )
    capabilities = Capabilities(multipath=True, flow_control="plain", virtual_channels=None)
    Parameters = RoundParameters
    parameters: RoundParameters

    def layers(self, table: RouteTable) -> Int32Array:
        """Return the virtual channel of each hop, the same for all hops of a path.

        Few virtual channels are used, and all of them for about equally many hops.
        """
        options = self.parameters
        # 1. First fit in three orders; the one with the fewest layers counts, then `fewer_layers`.
        destination_order = by_destination(table)
        by_length = np.argsort(-table.path_length[destination_order], kind="stable")
        longest_first = destination_order[by_length]
        random_order = np.random.default_rng(options.order_seed).permutation(table.num_paths)
        orders = (destination_order, longest_first, random_order)
        results = [first_fitting_layers(table, order) for order in orders]
        # a result is the layer of each path, and the rank of each channel by layer
        layer, _ = min(results, key=lambda result: len(result[1]))
        layer = fewer_layers(table, layer, options.rounds, options.order_seed)
        # 2. First fit once more, only for the ranks, which `fewer_layers` does not return. With the
        #    paths of layer 0 first, then those of layer 1, no path gets a higher layer.
        layer, ranks = first_fitting_layers(table, np.argsort(layer, kind="stable"))
        # 3. Paths move to the emptiest layer in whose order their channels rise; updates `layer`.
        even_layers(table.path_start, table.hop_channel, ranks, layer, order=random_order)
        return np.repeat(layer, table.path_length)
