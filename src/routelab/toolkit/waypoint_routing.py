"""Routings that send packets by way of another switch, over any routing on both halves of the way.

Virtual channels: the base's classes twice, once for each half of the way. No packet goes back from
the second half's to the first's, so it is free of deadlock for the reason that the base is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.hops import HopProgram, Proof, append_tables
from routelab.api.parameters import Parameters, RoutingName, parameter
from routelab.api.plugin import HopRoutingPlugin, RoutingPart
from routelab.api.topology import Topology
from routelab.kernels.distances import hop_distances


class WaypointParameters(Parameters):
    """What leads to the other switch and on."""

    base: RoutingName = parameter(
        "dimension-order",
        description="Routing of both halves of the way: any table, or an algorithm that decides "
        "hop by hop, makes no choices at injection and sets no waypoints",
    )


class WaypointRouting(HopRoutingPlugin):
    """Two halves of a way, joined at another switch."""

    Parameters = WaypointParameters
    proof: Proof = "bubble"

    def hand_in(self, parts: Mapping[str, RoutingPart]) -> None:
        """Two copies of the base cannot deadlock for the reason that one cannot."""
        super().hand_in(parts)
        self._half = parts["base"]
        self.proof = self._half.proof

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """The base has to serve the network with half of the virtual channels."""
        if virtual_channels < 2:
            return f"needs virtual channels for both halves of the way, there is {virtual_channels}"
        reason = self._half.supports(topology, virtual_channels // 2)
        if reason is not None:
            return f"base {self._half.name}, on half of the virtual channels: {reason}"
        if not _joined(topology):
            return (
                "some pairs of switches with terminals have no way: a random one may be among them"
            )
        base = self._half.prepare(topology, virtual_channels // 2)
        if base.inject is not None:
            return f"base {self._half.name} makes choices at injection, which only one can"
        if base.phases != 1:
            return f"base {self._half.name} sets waypoints, which only one can"
        if base.by_terminal:
            return f"base {self._half.name} has routes to terminals, and a waypoint is a switch"
        return None

    def two_halves(
        self,
        topology: Topology,
        virtual_channels: int,
        inject: Any,
        *arrays: ArrayLike,
        **changes: Any,
    ) -> HopProgram:
        """Return the base's program with a choice of a waypoint at injection.

        Parameters
        ----------
        topology : Topology
        virtual_channels : int
        inject : compiled function
            Chooses the WAYPOINT, or none.
        *arrays : array of int
            What it reads: array k begins at ``appended(tables, k)``.
        **changes
            Other fields of the program.

        Raises
        ------
        UnsupportedError
            If the base does not apply.
        """
        base: HopProgram = self._half.prepare(topology, virtual_channels // 2)
        return replace(
            base,
            inject=inject,
            tables=append_tables(base.tables, *arrays),
            phases=2,
            bubble=(*base.bubble, *(vc + base.vc_classes for vc in base.bubble)),
            max_hops=None if base.max_hops is None else 2 * base.max_hops,
            **changes,
        )


def _joined(topology: Topology) -> bool:
    """Whether the network has a way between any two switches with terminals."""
    ends = topology.endpoints
    distance, queue = (np.empty(topology.num_switches, np.int32) for _ in range(2))
    # all can be reached from the first of them, and it from all
    hop_distances(*topology.outgoing, topology.channel_target, ends[0], distance, queue)
    if distance[ends].min() < 0:
        return False
    hop_distances(*topology.incoming, topology.channel_source, ends[0], distance, queue)
    return bool(distance[ends].min() >= 0)
