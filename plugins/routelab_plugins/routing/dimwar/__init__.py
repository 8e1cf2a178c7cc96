"""dimwar: one deroute at most in each dimension of a HyperX, dimensions in order (DimWAR).

McDonald, Isaev, Flores, Davis and Kim, *Practical and Efficient Incremental Adaptive Routing for
HyperX Networks*, SC 2019, doi 10.1145/3295500.3356151; this is our reading of published
descriptions of the algorithm, not of the full text. A packet aligns its coordinates in order. In
the current dimension, it takes the hop to the coordinate of the destination, or a *deroute* to any
other coordinate. After a deroute only the hop to the destination's coordinate is allowed. The
packet decides at every switch, by congestion times the hops that remain.

Two classes of virtual channels suffice for any number of dimensions: class 0 for the first hop in a
dimension, class 1 for the hop after a deroute. A hop of class 0 depends on hops of class 1 in its
dimension, and both depend on later dimensions only.

Our choices: congestion is the number of packets that wait for the channel in the switch or are in
the buffers of the packet's class behind it, plus the packet itself; so packets in an idle network
are not derouted.
Deroutes lose ties. A packet decides once, when it reaches the front of its buffer.
"""

from __future__ import annotations

from typing_extensions import override

from routelab.api import (
    Capabilities,
    HopProgram,
    HopRoutingPlugin,
    Topology,
    UnsupportedError,
)
from routelab.toolkit.families.graph_hops import fewer_than_two, most_channels
from routelab.toolkit.families.hamming_hops import coordinates, hamming_tables, not_hamming
from routelab_plugins import works

from .kernels import hop


class Dimwar(HopRoutingPlugin):
    """Routes packets in dimension order, with at most one deroute in each dimension."""

    name = "dimwar"
    summary = "Dimension order on a HyperX with at most one deroute per dimension (DimWAR)"
    citations = (works.MCDONALD2019("the algorithm DimWAR"),)
    capabilities = Capabilities(
        minimal=False, multipath=True, tolerates_failures=False, virtual_channels=2
    )
    proof = "acyclic"

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require a Hamming graph without failures, and two virtual channels."""
        return not_hamming(topology) or fewer_than_two(virtual_channels)

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        if reason := not_hamming(topology):
            raise UnsupportedError(reason)
        return HopProgram(
            hop=hop,
            tables=hamming_tables(topology, numbers=[]),
            vc_classes=2,
            candidates=most_channels(topology),
            # a packet takes the candidate of least penalty, whether it has room or not
            ranking="best",
            # penalties count the packets that wait for a channel
            waiting=True,
            # in each dimension a deroute and the hop after it
            max_hops=2 * coordinates(topology).shape[1],
        )
