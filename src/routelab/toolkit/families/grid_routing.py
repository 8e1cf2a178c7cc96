"""Base classes of hop-by-hop algorithms on whole tori and meshes."""

from __future__ import annotations

from typing import Any, ClassVar

from routelab.api import parameters
from routelab.api.hops import HopProgram, Proof
from routelab.api.plugin import HopRoutingPlugin
from routelab.api.plugin_base import Capabilities
from routelab.api.topology import Topology
from routelab.toolkit.families.grid_hops import (
    EscapeParameters,
    OrderParameters,
    escape_problem,
    grid_problem,
    quadrant_program,
)


class OrderRouting(HopRoutingPlugin):
    """An algorithm that follows orders of dimensions, each with separate virtual channels.

    Class attributes
    ----------------
    phases : int
        Parts of a route, each with separate classes of virtual channels for every order.
    """

    Parameters = OrderParameters
    proof: Proof = "bubble"
    phases: ClassVar[int] = 1

    def __init__(self, parameters: Any = None, **values: Any) -> None:
        """Take the parameters; with a dateline the proof is ``acyclic``."""
        super().__init__(parameters, **values)
        if self.parameters.deadlock == "dateline":
            self.proof = "acyclic"

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require a whole torus or mesh, and classes for every order in every phase."""
        options = self.parameters
        return grid_problem(
            topology,
            virtual_channels,
            options.deadlock,
            order=options.order,
            phases=self.phases,
        )


class QuadrantRouting(OrderRouting):
    """Randomized Local Balance: packets go to a random switch of a quadrant, then to their target.

    Class attributes
    ----------------
    local : bool
        Whether distances below a quarter of a ring always take the short direction.
    """

    capabilities = Capabilities(
        families=("torus", "mesh"),
        minimal=False,
        multipath=True,
        tolerates_failures=False,
        flow_control="bubble",
        virtual_channels=None,
    )
    phases = 2
    local: ClassVar[bool]

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Return the program; its tables grow with the number of switches.

        Raises
        ------
        UnsupportedError
            If the network is not a whole torus or mesh.
        """
        return quadrant_program(topology, self.parameters, local=self.local)


class EscapeRouting(HopRoutingPlugin):
    """An adaptive algorithm that escapes to dimension order."""

    capabilities = Capabilities(
        families=("torus", "mesh"),
        minimal=True,
        multipath=True,
        tolerates_failures=False,
        virtual_channels=None,
    )
    Parameters: ClassVar[type[parameters.Parameters]] = EscapeParameters
    proof: Proof = "duato"

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require a whole torus or mesh, and a virtual channel besides the escape."""
        return escape_problem(topology, virtual_channels, self.parameters.escape)
