"""Base class of routings through another switch, with any routing on both halves of the route.

The classes of virtual channels of the base are used twice, once for each half of the route. No
packet returns from the classes of the second half to those of the first, so the routing is free of
deadlock if the base is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.errors import UnsupportedError
from routelab.api.hops import HopProgram, Proof, append_tables
from routelab.api.parameters import Parameters, RoutingName, parameter
from routelab.api.plugin import HopRoutingPlugin, RoutingPart
from routelab.api.topology import Topology
from routelab.kernels.distances import hop_distances

MAX_VIRTUAL_CHANNELS = 64
"""Largest number of virtual channels of a router."""


class WaypointParameters(Parameters):
    """Routing of both halves of the route."""

    base: RoutingName = parameter(
        "natural",
        description="Routing of both halves of the route: any table, or a hop-by-hop algorithm "
        "that makes no choices at injection and sets no waypoints",
    )


class WaypointRouting(HopRoutingPlugin):
    """Route packets in two halves, through another switch."""

    Parameters = WaypointParameters
    # That of the class, before the base is known; `receive_parts` replaces it.
    proof: Proof = "bubble"

    def receive_parts(self, parts: Mapping[str, RoutingPart]) -> None:
        """Adopt the proof of the base, which holds for both halves."""
        super().receive_parts(parts)
        self._base = parts["base"]
        self.proof = self._base.proof

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require a base that supports the network with half of the virtual channels.

        Also require a path between any two switches, since any may be the waypoint, and a base that
        neither sets waypoints nor chooses at injection, since the waypoint is chosen there. Return
        the first requirement that is not met, as a reason; None if all are.
        """
        if not _is_connected(topology):
            return (
                "some pairs of switches with terminals have no path, and a random switch may be in "
                "such a pair"
            )
        base = self._base
        terminal_routes_reason = (
            f"base {base.name} has routes to terminals, and a waypoint is a switch"
        )
        if not base.hop_by_hop:
            try:
                table = base.table(topology)
            except UnsupportedError as error:
                return f"base {base.name}: {error}"
            if table.per_terminal:
                return terminal_routes_reason
            if (np.diff(table.pair_start) == 0).any():
                return f"base {base.name}: some pairs have no route"
        if reason := self._too_few_channels_reason(topology, virtual_channels):
            return reason
        program = base.prepare(topology, virtual_channels // 2)
        if program.inject is not None:
            return f"base {base.name} makes choices at injection, but only one routing can"
        if program.phases != 1:  # a second phase begins at a waypoint
            return f"base {base.name} sets waypoints, but only one routing can"
        if program.by_terminal:
            return terminal_routes_reason
        return None

    def _too_few_channels_reason(self, topology: Topology, virtual_channels: int) -> str | None:
        """Return why the base does not work with half of the channels, and how many it needs.

        Return None if it works.
        """
        # Each half of the route has half of the virtual channels. Try those of this router, then
        # those of the largest one: what does not work there is no matter of the number.
        too_few, enough = virtual_channels // 2, MAX_VIRTUAL_CHANNELS // 2
        if too_few and self._base.supports(topology, too_few) is None:
            return None
        if reason := self._base.supports(topology, enough):
            return f"base {self._base.name}: {reason}"
        # Bisect for the least number that is enough; `too_few` never is, `enough` always.
        while enough > too_few + 1:
            middle = (too_few + enough) // 2
            if self._base.supports(topology, middle) is None:
                enough = middle
            else:
                too_few = middle
        return (
            f"needs {2 * enough} virtual channels, {enough} for base {self._base.name} on each "
            f"half of the route; the routers have {virtual_channels}: raise vcs to {2 * enough}"
        )

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
            Sets the WAYPOINT of a packet, or no waypoint for a route in one half.
        *arrays : array of int
            Tables of `inject`, appended to those of the base; there, array k begins at
            ``routelab.kernels.hops.appended(tables, k)``.
        **changes
            Other fields of the program that differ from the base's.

        Raises
        ------
        UnsupportedError
            If the base does not support the network.
        """
        base: HopProgram = self._base.prepare(topology, virtual_channels // 2)
        return replace(
            base,
            inject=inject,
            tables=append_tables(base.tables, *arrays),
            phases=2,  # to the waypoint, and from there to the destination
            # The classes under bubble flow control. The second phase has classes of its own,
            # numbered behind those of the first.
            bubble=(*base.bubble, *(vc + base.vc_classes for vc in base.bubble)),
            max_hops=None if base.max_hops is None else 2 * base.max_hops,
            **changes,
        )


def _is_connected(topology: Topology) -> bool:
    """Return whether the network has a path between any two switches with terminals."""
    endpoints = topology.endpoints
    distance, queue = (np.empty(topology.num_switches, np.int32) for _ in range(2))
    # It has if the first endpoint reaches all others, and all others reach it.
    hop_distances(*topology.outgoing, topology.channel_target, endpoints[0], distance, queue)
    if distance[endpoints].min() < 0:
        return False
    hop_distances(*topology.incoming, topology.channel_source, endpoints[0], distance, queue)
    return bool(distance[endpoints].min() >= 0)
