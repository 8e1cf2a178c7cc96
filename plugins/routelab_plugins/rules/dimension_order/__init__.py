"""Dimension-order routing (e-cube) on tori and meshes.

Dally and Seitz, *Deadlock-Free Message Routing in Multiprocessor Interconnection Networks*, IEEE
Transactions on Computers C-36(5), 1987, doi 10.1109/TC.1987.1676939. All hops of one dimension,
in one direction, come before those of the next. Deadlock-free on meshes; the rings of a torus
take bubble flow control or virtual channels.
"""

from __future__ import annotations

from routelab.api import (
    Capabilities,
    InputError,
    Parameters,
    RoutingGraph,
    RulesPlugin,
    Topology,
    parameter,
)
from routelab.toolkit import DirectionAutomaton, graph_from_automaton, torus_directions
from routelab.toolkit.families import dimension_orders
from routelab_plugins import works


class DimensionOrderParameters(Parameters):
    """Order of the dimensions."""

    order: dimension_orders.DimensionOrder = parameter(
        "natural",
        description="Order of dimensions: natural, reversed, longest or shortest first, or a "
        "list such as 2+0+1",
    )


class DimensionOrderRules(RulesPlugin):
    """Dimension after dimension, each in one direction."""

    name = "dimension-order"
    summary = "All hops of one dimension before those of the next"
    citations = (works.DALLY1987("dimension-order (e-cube) routing"),)
    capabilities = Capabilities(families=("torus", "mesh"), flow_control="bubble")
    Parameters = DimensionOrderParameters

    def supports(self, topology: Topology) -> str | None:
        """Require the direction labels of a torus or mesh."""
        return torus_directions(topology).reason

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Build the automaton of legal routes.

        Raises
        ------
        InputError
            If `order` lists another number of dimensions than the network has.
        """
        n = len(topology.directions) // 2
        sequence = self._dimension_sequence(topology, n)
        rank = {dimension: position for position, dimension in enumerate(sequence)}
        automaton = DirectionAutomaton()
        begin = automaton.state("begin")
        moving = [automaton.state(direction.name) for direction in topology.directions]
        # d and d + n are the two directions of dimension d. A hop goes straight on, or into a later
        # dimension.
        for d in range(2 * n):
            automaton.move(begin, d, moving[d])
            for following in range(2 * n):
                if following == d or rank[following % n] > rank[d % n]:
                    automaton.move(moving[d], following, moving[following])
        return graph_from_automaton(
            topology, automaton, turn_set=f"dimension-order/{self.parameters.order}"
        )

    def _dimension_sequence(self, topology: Topology, n: int) -> list[int]:
        """Return the n dimensions in the order of the parameter."""
        # Only the order of the sizes counts, so largest coordinates (size − 1) serve as well.
        # Without coordinates, all dimensions count as equally long.
        sizes = [0] * n
        if topology.coordinates is not None:
            sizes = topology.coordinates.max(axis=0, initial=0).tolist()
        try:
            return dimension_orders.dimension_sequence(self.parameters.order, sizes)
        except InputError as error:
            raise InputError(f"dimension-order: {error}") from None
