"""omni-escape: omnidimensional routes with an escape subnetwork that tolerates failures (SurePath).

Camarero, Cano, Martínez and Beivide, *Achieving High-Performance Fault-Tolerant Routing in HyperX
Interconnection Networks*, arXiv 2404.04315: adaptive routes share virtual channels whatever their
length, and an up*/down* subnetwork with shortcuts keeps them free of deadlock. A packet may turn to
an escape at every switch, and then stays on escapes up to its destination.

The adaptive hops are those of OmniWAR (see the routing `omniwar`): in any dimension whose
coordinate is not yet that of the destination, to that coordinate, or to any other (a *deroute*).
A packet takes at most `deroutes` of them; each has a penalty. Links that failed are left out; where
none is left, the packet escapes.

This is our reading of the abstract and of published descriptions, not of the full text; that of
the escape subnetwork is in `routelab.toolkit.families.escape_levels`. Class 0 of
virtual channels serves escapes; all others are adaptive. The number of hops is limited: dimensions,
deroutes, and the longest up*/down* distance.
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
from routelab.toolkit.families.graph_hops import fewer_than_two, most_channels, switch_distances
from routelab.toolkit.families.hamming_hops import (
    coordinates,
    hamming_tables,
    not_partly_hamming,
)
from routelab_plugins import works

from .kernels import hop


class Deroutes(Parameters):
    """Number of deroutes, and their penalty."""

    deroutes: int | None = parameter(
        None,
        ge=0,
        le=64,
        description="Largest number of deroutes of a packet; none: the number of dimensions",
    )
    penalty: int = parameter(64, ge=0, le=1 << 19, description="Penalty of deroutes, in flits")


class OmniEscapeParameters(EscapeTurnParameters, Deroutes):
    """Deroutes, and what a packet does whose best channel has no room."""


class OmniEscape(HopRoutingPlugin):
    """Hops and deroutes in any dimension on all virtual channels but one, which serves escapes."""

    name = "omni-escape"
    summary = "Hops and deroutes in any dimension of a HyperX, with an up*/down* escape subnetwork"
    citations = (
        works.CAMARERO2024("adaptive routes with an escape subnetwork (SurePath)"),
        works.MCDONALD2019("the adaptive routes (OmniWAR)"),
        works.DUATO1993("freedom from deadlock by escapes"),
    )
    capabilities = Capabilities(
        minimal=False, multipath=True, tolerates_failures=True, virtual_channels=2
    )
    proof = "duato"
    Parameters = OmniEscapeParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require a connected Hamming graph, maybe with failures, and two virtual channels."""
        return (
            fewer_than_two(virtual_channels) or not_partly_hamming(topology) or no_escape(topology)
        )

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        # any number of virtual channels will do here; `supports` refuses fewer than two
        if reason := self.supports(topology, max(2, virtual_channels)):
            raise UnsupportedError(reason)
        options = self.parameters
        dimensions = coordinates(topology).shape[1]
        deroutes = dimensions if options.deroutes is None else options.deroutes
        level, up_down = escape_levels(topology, switch_distances(topology))
        return HopProgram(
            hop=hop,
            tables=hamming_tables(
                topology,
                [deroutes, options.penalty],
                level,
                up_down,
                topology.channel_source,
            ),
            vc_classes=2,
            rest=1,  # class 0, of escapes, has one virtual channel; class 1 gets the others
            # each channel may be an adaptive hop and an escape
            candidates=2 * most_channels(topology),
            by_occupancy=True,
            detour_penalty=options.penalty,
            **options.choice,  # ranking and so on, from `blocked` and `escape_wait`
            # all adaptive hops, then escapes, each of which lessens the up*/down* distance
            max_hops=dimensions + deroutes + int(up_down.max()),
        )
