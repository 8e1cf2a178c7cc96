"""natural: the usual minimal routing of a network's family.

Dimension order on tori and meshes, hierarchical minimal routes on Dragonflies, and any shortest
path with a class of virtual channels for each hop on other networks. Routings through another
switch (`valiant`, `ugal`) use it on both halves of the route unless a study names another base.
"""

from __future__ import annotations

from routelab.api import Capabilities, HopProgram, HopRoutingPlugin, Parameters, Topology
from routelab.api.parameters import RoutingName, parameter
from routelab.api.plugin import RoutingPart


class NaturalParameters(Parameters):
    """Routing of each kind of network."""

    grid: RoutingName = parameter("dimension-order", description="Routing of tori and meshes")
    dragonfly: RoutingName = parameter("dragonfly-minimal", description="Routing of Dragonflies")
    other: RoutingName = parameter("minimal", description="Routing of all other networks")


class Natural(HopRoutingPlugin):
    """Routes each network as is usual for its family."""

    name = "natural"
    summary = "The usual minimal routing of the network's family"
    capabilities = Capabilities(minimal=False, multipath=True, virtual_channels=None)
    # The weakest proof of the three: `bubble` also holds for an acyclic program, which has no rings
    # under bubble flow control.
    proof = "bubble"
    Parameters = NaturalParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Return why the routing of this family does not apply; None if it does."""
        part = self._part(topology)
        reason = part.supports(topology, virtual_channels)
        return reason and f"{part.name}: {reason}"

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Return the program of the routing of this family.

        Raises
        ------
        UnsupportedError
            If it does not apply.
        """
        return self._part(topology).prepare(topology, virtual_channels)

    def _part(self, topology: Topology) -> RoutingPart:
        """Return the routing of the network's family."""
        if topology.family in ("torus", "mesh"):
            return self.parts["grid"]
        return self.parts["dragonfly" if topology.family == "dragonfly" else "other"]
