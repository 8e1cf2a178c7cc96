"""The first shortest legal route, as in simple hardware.

With rules that leave one choice (dimension order) this is the classic algorithm itself: Dally
and Towles, *Principles and Practices of Interconnection Networks*, section 8.4. `ties` selects one
of the two ways round an even ring.
"""

from __future__ import annotations

from typing import Literal

from routelab.api import (
    Capabilities,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    parameter,
)
from routelab.toolkit import TieParameters, search_arrays
from routelab_plugins import works

from .kernels import first_routes


class FirstParameters(TieParameters):
    """Tie handling; balanced by default."""

    ties: Literal["positive", "balanced"] = parameter(
        "balanced",
        description="Choice between equal next hops: always the first in tie order (positive), or "
        "alternately the first and the second by the parity of coordinates (balanced)",
    )


class First(SelectionPlugin):
    """Takes the first channel that comes nearer at every hop, without regard to loads."""

    name = "first"
    summary = "First shortest legal route in tie order; ignores loads"
    citations = (works.DALLY2004("dimension-order routing (section 8.4)"),)
    capabilities = Capabilities(minimal=None)
    Parameters = FirstParameters

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Search backwards from each target and walk once per pair; O(P (V + E) + total hops)."""
        options: FirstParameters = self.parameters
        search = search_arrays(graph, options)
        hops = first_routes(search, graph.topology.parity, options.ties == "balanced")
        return RouteTable.from_lengths(graph.topology, search.lengths, hops)
