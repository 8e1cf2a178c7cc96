"""Cycle breaking: the layers of DFSSSP.

Domke, Hoefler and Nagel, *Deadlock-Free Oblivious Routing for Arbitrary Topologies*, IPDPS 2011,
doi 10.1109/ipdps.2011.65: all paths begin on the first virtual channel; while its dependency
graph has a cycle, the dependency of the cycle with the fewest paths is chosen and all paths that
cause it are moved to the next virtual channel; then the same is done there. If that needs more
virtual channels than the network has, the paths are assigned again by first fit, those of the last
virtual channel first; ``rounds=0`` leaves that out, as in the paper.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Capabilities, RouteTable, frozen_array, parameter
from routelab.api.topology import Int32Array
from routelab.kernels.dependency import dependency_graph
from routelab.toolkit.forwarding.layers import AcyclicLayers, RoundParameters, fewer_layers
from routelab_plugins import works
from routelab_plugins.layers.cycle_breaking.kernels import (
    Dependencies,
    assign_layers,
    number_dependencies,
    paths_by_dependency,
)


class CycleBreakingParameters(RoundParameters):
    """Parameters of `CycleBreaking`."""

    rounds: int = parameter(
        16,
        ge=0,
        description="Most times that first fit assigns the routes again, as long as they need more "
        "than `max_channels`",
    )


class CycleBreaking(AcyclicLayers):
    """Moves whole paths to further virtual channels until none has a cycle of dependencies.

    A path stays on one virtual channel over all its hops. The search for cycles is depth-first, in
    ascending order of channels, and continues where a cycle was broken; among equal dependencies,
    the first in the cycle is chosen.
    """

    name = "cycle-breaking"
    summary = "Moves paths to further virtual channels until no cycle of dependencies is left"
    citations = (works.DOMKE2011("the assignment of paths to virtual layers by breaking cycles"),)
    capabilities = Capabilities(multipath=True, flow_control="plain", virtual_channels=None)
    Parameters = CycleBreakingParameters
    parameters: CycleBreakingParameters

    def layers(self, table: RouteTable) -> Int32Array:
        """Return the virtual channel of each hop, which is the same for all hops of a path."""
        layer_of_path = assign_layers(_list_dependencies(table))
        options = self.parameters
        # This changes nothing if the paper's assignment needs `max_channels` or fewer.
        layer_of_path = fewer_layers(
            table, layer_of_path, options.rounds, options.order_seed, limit=options.max_channels
        )
        return np.repeat(layer_of_path, table.path_length)


def _list_dependencies(table: RouteTable) -> Dependencies:
    """Return the dependencies that the paths cause if all of them share one virtual channel."""
    one_vc = frozen_array(np.zeros(len(table.hop_vc)), np.int16)
    start, target = dependency_graph(
        table.path_start,
        table.hop_channel,
        hop_vc=one_vc,
        num_channels=table.topology.num_channels,
        vcs=1,
    )
    dependency_of_hop = number_dependencies(table.path_start, table.hop_channel, start, target)
    causing_start, causing_path = paths_by_dependency(
        table.path_start, dependency_of_hop, num_dependencies=start[-1]
    )
    return Dependencies(
        start=start,
        target=target,
        path_start=table.path_start,
        dependency_of_hop=dependency_of_hop,
        causing_start=causing_start,
        causing_path=causing_path,
    )
