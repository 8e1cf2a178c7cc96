"""Cycle breaking: the layers of DFSSSP.

Domke, Hoefler and Nagel, *Deadlock-Free Oblivious Routing for Arbitrary Topologies*, IPDPS 2011,
doi 10.1109/ipdps.2011.65: all paths begin on the first virtual channel; while its dependency
graph has a cycle, one dependency of the cycle is chosen and all paths that cause it are moved to
the next virtual channel; then the same is done there.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    Citation,
    LayersPlugin,
    Parameters,
    RouteTable,
    UnsupportedError,
    frozen_array,
    parameter,
)
from routelab.kernels.dependency import dependency_graph
from routelab_plugins.layers.cycle_breaking.kernels import (
    Dependencies,
    assign_layers,
    first_repeating_path,
    number_hops,
    paths_by_dependency,
)

HEURISTICS = ("weakest", "heaviest", "first")
"""Heuristics, in the order of their numbers in the kernel."""


class CycleBreakingParameters(Parameters):
    """Parameters of `CycleBreaking`."""

    max_channels: int = parameter(
        8, ge=1, le=32767, description="Virtual channels that the network has"
    )
    heuristic: Literal["weakest", "heaviest", "first"] = parameter(
        "weakest",
        description="Which dependency of a cycle to break: the one with the fewest paths, with the "
        "most, or the first one found",
    )


class CycleBreaking(LayersPlugin):
    """Moves whole paths to further virtual channels until none has a cycle of dependencies.

    A path stays on one virtual channel over all its hops. The search for cycles is depth-first, in
    ascending order of channels, and continues where a cycle was broken; among equal dependencies,
    the first in the cycle is chosen. A dependency that all paths left on the
    virtual channel cause is not chosen, because that would only move the problem: with ``weakest``
    this never happens.
    """

    name = "cycle-breaking"
    summary = "Moves paths to further virtual channels until no cycle of dependencies is left"
    citations = (
        Citation("domke2011", "the assignment of paths to virtual layers by breaking cycles"),
    )
    capabilities = Capabilities(multipath=True, flow_control="plain", virtual_channels=None)
    Parameters = CycleBreakingParameters

    def supports(self, table: RouteTable) -> str | None:
        """Name the first path that crosses a channel twice, which no layer can hold."""
        topology = table.topology
        path, channel = first_repeating_path(
            table.path_start, table.hop_channel, topology.num_channels
        )
        if path < 0:
            return None
        pair = table.describe_pair(int(table.path_pair[path]))
        return (
            f"the path from {pair} crosses channel {topology.channel_name(channel)} "
            "twice, so it waits for itself on any single virtual channel"
        )

    def assign(self, table: RouteTable) -> RouteTable:
        """Put every path on one virtual channel; the result needs plain flow control only."""
        reason = self.supports(table)
        if reason:
            raise UnsupportedError(reason)
        layer = assign_layers(_dependencies(table), HEURISTICS.index(self.parameters.heuristic))
        needed = int(layer.max(initial=0)) + 1
        if needed > self.parameters.max_channels:
            raise UnsupportedError(
                f"needs {needed} virtual channels, max_channels is "
                f"{self.parameters.max_channels}: raise it or choose other rules"
            )
        return table.with_vcs(np.repeat(layer, table.path_length), "plain")


def _dependencies(table: RouteTable) -> Dependencies:
    one_vc = frozen_array(np.zeros(len(table.hop_vc)), np.int16)
    start, target = dependency_graph(
        table.path_start, table.hop_channel, one_vc, table.topology.num_channels, 1
    )
    hop = number_hops(table.path_start, table.hop_channel, start, target)
    return Dependencies(
        start, target, table.path_start, hop, *paths_by_dependency(table.path_start, hop, start[-1])
    )
