"""valiant: every packet by way of a random switch.

Valiant, *A Scheme for Fast Parallel Communication*, SIAM Journal on Computing 11(2), 1982, doi
10.1137/0211027. Any routing, hop by hop or a table, leads to the random switch and from there to
the destination (`base`).

Convention: the switch is drawn uniformly from all switches with terminals, source and destination
among them. So from any source to any destination the mean distance is twice the network's mean over
all ordered pairs, those of a switch with itself included: 8.0 on an 8x8 torus.

Virtual channels: the base's classes twice, once for each half of the way. No packet goes back from
the second half's to the first's, so it is free of deadlock for the reason that the base is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from routelab.api import (
    Capabilities,
    Citation,
    HopProgram,
    HopRoutingPlugin,
    Parameters,
    Proof,
    RoutingPart,
    Topology,
    append_tables,
    parameter,
)
from routelab.api.parameters import RoutingName
from routelab.kernels.distances import hop_distances

from .kernels import inject


class ValiantParameters(Parameters):
    """What leads to the random switch and on."""

    base: RoutingName = parameter(
        "dimension-order",
        description="Routing of both halves of the way: any table, or an algorithm that decides "
        "hop by hop and makes no choices at injection",
    )


class Valiant(HopRoutingPlugin):
    """Two halves of a way, joined at random."""

    name = "valiant"
    summary = "By way of a random switch, with any routing on both halves of the way"
    citations = (
        Citation(
            key="valiant1982",
            title="A Scheme for Fast Parallel Communication",
            authors="Valiant, Leslie G.",
            year=1982,
            venue="SIAM Journal on Computing 11(2), pp. 350-361",
            cited_for="routing by way of a random intermediate node",
            doi="10.1137/0211027",
        ),
    )
    capabilities = Capabilities(minimal=False, multipath=True, virtual_channels=None)
    Parameters = ValiantParameters
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
        return None

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """The base's program with a waypoint.

        Raises
        ------
        UnsupportedError
            If the base does not apply.
        """
        base: HopProgram = self._half.prepare(topology, virtual_channels // 2)
        ends = topology.endpoints
        return replace(
            base,
            inject=inject,
            tables=append_tables(base.tables, [len(ends)], ends),
            phases=2,
            bubble=(*base.bubble, *(vc + base.vc_classes for vc in base.bubble)),
            max_hops=None if base.max_hops is None else 2 * base.max_hops,
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
