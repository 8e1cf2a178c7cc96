"""omniwar: deroutes in any dimension of a HyperX while virtual channels remain (OmniWAR).

McDonald, Isaev, Flores, Davis and Kim, *Practical and Efficient Incremental Adaptive Routing for
HyperX Networks*, SC 2019, doi 10.1145/3295500.3356151; this is our reading of published
descriptions of the algorithm, not of the full text. At every switch, a packet takes a hop in any
dimension whose coordinate is not yet that of the destination: to the destination's coordinate, or
to any other (a *deroute*). It takes the channel with the least congestion times remaining hops.

Every hop uses the next class of virtual channels (distance classes). A deroute is allowed while
enough classes remain for the minimal hops that are left. By default, the n-th hop uses the n-th
class, and all virtual channels are classes: the shorter the minimal route, the more deroutes. With
`deroutes=M` and N dimensions there are N + M classes. A packet at distance d starts in class N - d,
counted from 0, so d + M classes remain and M is the largest number of deroutes.

Our choices: congestion is the number of packets that wait for the channel in the switch or are in
the buffers of the packet's class behind it, plus the packet itself; so packets in an idle network
are not derouted. Deroutes lose ties. A packet decides once, when it reaches the front of its
buffer. Deroutes in the same dimension may follow each other.

SuperSim, the simulator of the paper's first author (github.com/ssnetsim/supersim,
src/network/hyperx), also adds up the congestion of the class that the packet would use; its sensor
reports it by virtual channel or by port. Packets that count the buffers of all classes wait for a
full class of a channel that looks empty, and accept much less under bit complement.
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
from routelab.toolkit.families.graph_hops import most_channels
from routelab.toolkit.families.hamming_hops import coordinates, hamming_tables, not_hamming
from routelab_plugins import works

from .kernels import hop


class OmniwarParameters(Parameters):
    """Number of deroutes."""

    deroutes: int | None = parameter(
        None,
        ge=0,
        le=64,
        description="Largest number of deroutes of a packet, which needs as many virtual channels "
        "in addition to one for each dimension; none: no limit while virtual channels remain",
    )


class Omniwar(HopRoutingPlugin):
    """Routes packets in any dimension, minimally or not, by congestion times remaining hops."""

    name = "omniwar"
    summary = "Hops and deroutes in any dimension of a HyperX, a virtual channel each (OmniWAR)"
    citations = (
        works.MCDONALD2019("the algorithm OmniWAR"),
        works.MERLIN1980("a class of buffers for each hop"),
    )
    capabilities = Capabilities(
        minimal=False, multipath=True, tolerates_failures=False, virtual_channels=None
    )
    proof = "acyclic"
    Parameters = OmniwarParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require a Hamming graph without failures, and a virtual channel for each hop."""
        if reason := not_hamming(topology):
            return reason
        dimensions = coordinates(topology).shape[1]
        needed = dimensions + (self.parameters.deroutes or 0)
        if virtual_channels < needed:
            return (
                f"{dimensions} minimal hops and {self.parameters.deroutes or 0} deroutes need a "
                f"virtual channel each, but the routers have {virtual_channels}; raise vcs to "
                f"{needed}"
            )
        return None

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        if reason := not_hamming(topology):
            raise UnsupportedError(reason)
        deroutes, dimensions = self.parameters.deroutes, coordinates(topology).shape[1]
        # A packet at distance d starts in class max(0, reference - d). Without a limit, this is
        # class 0, and all virtual channels are classes.
        classes, reference = virtual_channels, 0
        if deroutes is not None:
            # class N - d, so that N + M classes allow M deroutes
            classes, reference = dimensions + deroutes, dimensions
        return HopProgram(
            hop=hop,
            tables=hamming_tables(topology, [classes, reference]),
            vc_classes=classes,
            candidates=most_channels(topology),
            ranking="best",
            waiting=True,
            max_hops=classes,
        )
