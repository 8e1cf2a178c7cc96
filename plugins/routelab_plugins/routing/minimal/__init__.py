"""minimal: adaptive shortest paths on any network.

At every switch a packet takes any channel that comes nearer to its destination, the one with the
shortest queue first. The n-th hop uses the n-th class of virtual channels, so dependencies go from
one class to the next only: the loop-free buffer graph of Merlin and Schweitzer, *Deadlock
Avoidance in Store-and-Forward Networks - I*, IEEE Transactions on Communications 28(3), 1980, doi
10.1109/TCOM.1980.1094666. The number of classes is the longest distance between two switches with
terminals.
"""

from __future__ import annotations

from typing import Literal

from typing_extensions import override

from routelab.api import (
    Capabilities,
    HopProgram,
    HopRoutingPlugin,
    Parameters,
    Topology,
    UnsupportedError,
    parameter,
)
from routelab.toolkit.families.graph_hops import (
    endpoint_diameter,
    graph_tables,
    most_channels,
    switch_distances,
    too_large,
)
from routelab_plugins import works

from .kernels import hop


class MinimalParameters(Parameters):
    """What a packet does whose best channel has no room."""

    blocked: Literal["skip", "wait"] = parameter(
        "skip",
        description="Packets whose best channel is full take the next best (skip), or wait",
    )


class Minimal(HopRoutingPlugin):
    """Routes packets over all shortest paths, hop by hop."""

    name = "minimal"
    summary = "Adaptive shortest paths on any network, by queue length; a virtual channel per hop"
    citations = (works.MERLIN1980("a class of buffers for each hop"),)
    capabilities = Capabilities(minimal=True, multipath=True, virtual_channels=None)
    proof = "acyclic"
    Parameters = MinimalParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require paths between all switches with terminals, and a virtual channel per hop."""
        if reason := too_large(topology):
            return reason
        diameter = endpoint_diameter(topology, switch_distances(topology))
        if diameter is None:
            return "some pairs of switches with terminals have no path"
        if virtual_channels < diameter:
            return (
                f"the longest shortest path has {diameter} hops and needs a virtual channel for "
                f"each, but the routers have {virtual_channels}; raise vcs to {diameter}"
            )
        return None

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        distance = switch_distances(topology)
        diameter = endpoint_diameter(topology, distance)
        if diameter is None:
            raise UnsupportedError("some pairs of switches with terminals have no path")
        return HopProgram(
            hop=hop,
            tables=graph_tables(topology, distance, numbers=[]),
            # a class for each hop; 1 for a single switch with terminals, where packets take no hop
            vc_classes=max(1, diameter),
            candidates=most_channels(topology),
            by_occupancy=True,
            # `hop` reads no queues, so the candidates of a packet at a switch never change
            fixed=True,
            # "room" skips full channels. "best" waits for the best one, which is chosen again
            # whenever the engine examines the packet.
            ranking="room" if self.parameters.blocked == "skip" else "best",
            again=self.parameters.blocked == "wait",
            max_hops=diameter,
        )
