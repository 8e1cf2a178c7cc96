"""Any routing as a program of the packet engine: hop by hop, or along a table of routes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api import HopProgram, Proof, RouteTable, Topology, UnsupportedError, needed_classes
from routelab.registry.instances import HopRouting, Routing
from routelab.registry.requirements import require_support, require_unchanged
from routelab.routing.apply import reroute
from routelab.simulation.packet.tables import table_program


def program(routing: Routing, topology: Topology, virtual_channels: int) -> HopProgram:
    """Return the program of a routing on one network.

    Parameters
    ----------
    routing : Routing
    topology : Topology
    virtual_channels : int
        Number for every channel.

    Raises
    ------
    UnsupportedError
        If the routing does not apply, or needs more virtual channels; the text is the reason.
    """
    return part_of(routing).prepare(topology, virtual_channels)


def part_of(routing: Routing) -> HopByHopRouting | TableRouting:
    """Return a routing as `routelab.api.RoutingPart`, after passing it the parts it is built on."""
    if not isinstance(routing, HopRouting):
        return TableRouting(routing)
    routing.plugin.hand_in({field: part_of(part) for field, part in routing.parts.items()})
    return HopByHopRouting(routing)


@dataclass(frozen=True)
class _Part:
    """A routing with its name and its table."""

    routing: Routing

    @property
    def name(self) -> str:
        """Canonical name."""
        return self.routing.name

    def table(self, topology: Topology) -> RouteTable:
        """Return the route table.

        Raises
        ------
        UnsupportedError
            If the routing has none, or does not apply.
        """
        return reroute(self.routing, topology)


@dataclass(frozen=True)
class HopByHopRouting(_Part):
    """A routing that decides hop by hop."""

    routing: HopRouting

    @property
    def hop_by_hop(self) -> bool:
        """Whether the routing has no table."""
        return True

    @property
    def proof(self) -> Proof:
        """Why it cannot deadlock."""
        return self.routing.plugin.proof

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Return why the routing does not apply; None if it does."""
        return self.routing.plugin.supports(topology, virtual_channels)

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Return the program of the routing.

        Raises
        ------
        UnsupportedError
            If it does not apply.
        """
        plugin = self.routing.plugin
        require_support(plugin.name, self.supports(topology, virtual_channels))
        prepared = plugin.prepare(topology, virtual_channels)
        require_unchanged(plugin.name, topology)
        return prepared


class TableRouting(_Part):
    """A routing that has a table of routes."""

    @property
    def hop_by_hop(self) -> bool:
        """Whether the routing has no table."""
        return False

    @property
    def proof(self) -> Proof:
        """Kind of the proof: no cycles, or only rings under bubble flow control."""
        return "bubble"

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Return why table or virtual channels do not suffice for all pairs; None if they do."""
        try:
            self.prepare(topology, virtual_channels)
        except UnsupportedError as error:
            return str(error)
        return None

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Return the program of the routing.

        Raises
        ------
        UnsupportedError
            If the table cannot be computed, needs more virtual channels, or lacks routes.
        """
        table = self.table(topology)
        if table.per_terminal:
            raise UnsupportedError(
                f"{self.name}: its routes lead to terminals; an algorithm that is built on it "
                "needs routes to switches"
            )
        if (np.diff(table.pair_start) == 0).any():
            raise UnsupportedError(f"{self.name}: some pairs have no route")
        prepared = table_program(table)
        if needed_classes(prepared) > virtual_channels:
            raise UnsupportedError(
                f"{self.name}: needs {needed_classes(prepared)} virtual channels; "
                f"available: {virtual_channels}"
            )
        return prepared
