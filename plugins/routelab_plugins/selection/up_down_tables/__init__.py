"""Up*/down* routes that forwarding tables can hold: one next hop per switch and destination.

Shortest up*/down* routes do not fit into InfiniBand's forwarding tables, because what a switch may
do depends on whether a packet has gone down before. Tables made from them anyway mix up and down,
and can deadlock. Here a switch that has a way down to the destination takes a shortest one, and
every other goes up towards the nearest such switch: a packet that goes down stays on its way down.
The root has a way down to every switch, so every pair has a route.

The purpose is that of Sancho, Robles, Duato, *Effective Strategy to Compute Forwarding Tables for
InfiniBand Networks*, ICPP 2001, doi 10.1109/ICPP.2001.952046, of which only the abstract was read;
the rule above is a reading of it.

This is a selection and not a routing, because it chooses among the routes of any rules with the two
states of up*/down*: all trees and roots of `up-down`, and the rules of strangers.
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Capabilities,
    Parameters,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    parameter,
)
from routelab.api.topology import BoolArray
from routelab.toolkit.ties import endpoint_order
from routelab_plugins import works

from .kernels import next_hops


class UpDownTablesParameters(Parameters):
    """Order of the destinations."""

    tie_seed: int = parameter(
        0, ge=0, description="Order of destinations: ascending if 0, else random with this seed"
    )


class UpDownTables(SelectionPlugin):
    """The shortest way down where there is one, otherwise up towards the nearest."""

    name = "up-down-tables"
    summary = "Destination-based up*/down* routes: down where possible, otherwise up"
    citations = (works.SANCHO2001("up*/down* routes in InfiniBand forwarding tables"),)
    capabilities = Capabilities(minimal=False, destination_based=True)
    Parameters = UpDownTablesParameters

    def supports(self, graph: RoutingGraph) -> str | None:
        """Require the two states of up*/down* rules."""
        if _classify_channels(graph) is None:
            return (
                "needs rules with two states per switch, before and after going down, such as "
                "up-down"
            )
        return None

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Choose next hops, the least loaded of equally short ones; O(P C) for P destinations."""
        topology = graph.topology
        up_and_down = _classify_channels(graph)
        assert up_and_down is not None  # `supports` refuses other rules
        next_channels = next_hops(
            incoming=topology.incoming,
            source=topology.channel_source,
            target=topology.channel_target,
            up_and_down=up_and_down,
            endpoints=topology.endpoints,
            terminals=topology.terminals_per_switch.astype(np.int64),
            order=endpoint_order(graph, self.parameters.tie_seed),
        )
        return RouteTable.from_next_hops(topology, next_channels)


def _classify_channels(graph: RoutingGraph) -> tuple[BoolArray, BoolArray] | None:
    """Return which channels go up and which go down; None if the rules have other states.

    Each switch must have two vertices: its begin, where a packet may still go up, and another one,
    for packets that have gone down. A channel up leads from begin to begin. A channel down must be
    open to both kinds of packets: it has an edge from begin to the other vertex, and one from other
    vertex to other vertex.

    Returns
    -------
    up, down : bool array, shape (C,)
    """
    topology = graph.topology
    num_switches = topology.num_switches
    may_go_up = np.zeros(graph.num_vertices, dtype=np.bool_)
    may_go_up[graph.begin] = True
    num_states = np.bincount(graph.vertex_switch, minlength=num_switches)
    if not (num_states == 2).all() or not graph.accepting.all() or not graph.deterministic:
        return None
    source, target, channel = graph.edge_source, graph.edge_target, graph.edge_channel
    goes_up = may_go_up[source] & may_go_up[target]
    goes_on_down = ~may_go_up[source] & ~may_go_up[target]
    starts_down = may_go_up[source] & ~may_go_up[target]
    up, down, first_down = (np.zeros(topology.num_channels, dtype=np.bool_) for _ in range(3))
    up[channel[goes_up]] = True
    down[channel[goes_on_down]] = True
    first_down[channel[starts_down]] = True
    turns_up_again = np.any(~may_go_up[source] & may_go_up[target])
    if turns_up_again or not np.array_equal(down, first_down):
        return None
    return up, down
