"""rlbth: Randomized Local Balance with a threshold.

Singh, Dally, Towles and Gupta, *Locality-Preserving Randomized Oblivious Routing on Torus
Networks*, SPAA 2002, doi 10.1145/564870.564873. At injection a direction is drawn for every
dimension: on a ring of k switches a distance of D <= k / 2 is gone the short way with probability
(k - D) / k, else the long way; distances below k / 4 always go the short way. Then a switch is
drawn uniformly from the box that these directions span, corners included, and dimension order leads
to it and on from there, in the drawn directions all the time.

The order of the dimensions is `order`: one for all packets, or drawn anew for each half of the
way. Virtual channels: for each half, and each order that may be drawn, one class under bubble flow
control or two with a dateline. This assignment is ours.
"""

from __future__ import annotations

from typing import Any

from routelab.api import Capabilities, Citation, HopProgram, HopRoutingPlugin, Proof, Topology
from routelab.api.grid_hops import OrderParameters, grid_problem, quadrant_program


class Rlbth(HopRoutingPlugin):
    r"""As \`rlb\`, but near destinations are never gone to the long way round."""

    name = "rlbth"
    summary = "RLB that goes the short way below a quarter of a ring (RLBth)"
    citations = (
        Citation(
            key="singh2002",
            title="Locality-Preserving Randomized Oblivious Routing on Torus Networks",
            authors="Singh, Arjun and Dally, William J. and Towles, Brian and Gupta, Amit K.",
            year=2002,
            venue="ACM Symposium on Parallel Algorithms and Architectures, pp. 9-13",
            cited_for="the algorithm RLBth",
            doi="10.1145/564870.564873",
        ),
    )
    capabilities = Capabilities(
        families=("torus", "mesh"),
        minimal=False,
        multipath=True,
        tolerates_failures=False,
        flow_control="bubble",
        virtual_channels=None,
    )
    Parameters = OrderParameters
    proof: Proof = "bubble"

    def __init__(self, parameters: Any = None, **values: Any) -> None:
        """Two classes a ring need no bubble."""
        super().__init__(parameters, **values)
        if self.parameters.deadlock == "dateline":
            self.proof = "acyclic"

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """It needs a whole torus or mesh, and classes for every order in both halves."""
        options = self.parameters
        return grid_problem(topology, virtual_channels, options.deadlock, options.order, 2)

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """The program; its tables grow with the number of switches.

        Raises
        ------
        UnsupportedError
            If the network is no whole torus or mesh.
        """
        return quadrant_program(topology, self.parameters, local=True)
