"""polarized-escape: Polarized routes with an escape subnetwork that tolerates failures (SurePath).

Camarero, Cano, Martínez and Beivide, *Achieving High-Performance Fault-Tolerant Routing in HyperX
Interconnection Networks*, arXiv 2404.04315: adaptive routes share virtual channels whatever their
length, and an up*/down* subnetwork with shortcuts keeps them free of deadlock. A packet may turn to
an escape at every switch, and then stays on escapes up to its destination. The adaptive routes are
those of Polarized (see the routing `polarized`), by current distances. So it works on every
connected network, with any failures; where no polarized hop exists, the packet escapes.

This is our reading of the abstract and of published descriptions, not of the full text; that of
the escape subnetwork is in `routelab.toolkit.families.escape_levels`. Class 0 of
virtual channels serves escapes; all others are adaptive.

The number of hops is limited: the weight D(c, s) - D(c, t) never shrinks, so that a packet takes at
most 4 D - 1 adaptive hops in a network of diameter D, from wherever it starts, and every escape
lessens the up*/down* distance.
"""

from __future__ import annotations

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
from routelab.toolkit.families.escape_levels import EscapeTurnParameters, escape_levels, no_escape
from routelab.toolkit.families.graph_hops import (
    fewer_than_two,
    graph_tables,
    most_channels,
    switch_distances,
)
from routelab_plugins import works

from .kernels import hop


class Penalties(Parameters):
    """Penalties of hops."""

    p1: int = parameter(
        64, ge=0, le=1 << 19, description="Penalty of hops that increase the weight by 1, in flits"
    )
    p0: int = parameter(
        80, ge=0, le=1 << 19, description="Penalty of hops that leave the weight, in flits"
    )


class PolarizedEscapeParameters(EscapeTurnParameters, Penalties):
    """Penalties, and what a packet does whose best channel has no room."""


class PolarizedEscape(HopRoutingPlugin):
    """Polarized routes on all virtual channels but one, which serves escapes."""

    name = "polarized-escape"
    summary = "Polarized routes with an up*/down* escape subnetwork, on any connected network"
    citations = (
        works.CAMARERO2024("adaptive routes with an escape subnetwork (SurePath)"),
        works.CAMARERO2022("the adaptive routes"),
        works.DUATO1993("freedom from deadlock by escapes"),
    )
    capabilities = Capabilities(
        minimal=False, multipath=True, tolerates_failures=True, virtual_channels=2
    )
    proof = "duato"
    Parameters = PolarizedEscapeParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require a connected network with links in both directions, two virtual channels."""
        return fewer_than_two(virtual_channels) or no_escape(topology)

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        if reason := no_escape(topology):
            raise UnsupportedError(reason)
        options = self.parameters
        distance = switch_distances(topology)
        level, up_down = escape_levels(topology, distance)
        return HopProgram(
            hop=hop,
            tables=graph_tables(
                topology,
                distance,
                # penalties of hops that increase the weight by 0, by 1 and by 2; then 0, because
                # penalties are not relative
                [options.p0, options.p1, 0, 0],
                level,
                up_down,
                topology.channel_source,
            ),
            vc_classes=2,
            rest=1,  # class 0, of escapes, has one virtual channel; class 1 gets the others
            # each channel may be an adaptive hop and an escape
            candidates=2 * most_channels(topology),
            by_occupancy=True,
            detour_penalty=max(options.p0, options.p1),
            **options.choice,  # ranking and so on, from `blocked` and `escape_wait`
            max_hops=4 * int(distance.max()) + int(up_down.max()),
        )
