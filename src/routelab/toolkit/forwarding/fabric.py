"""Networks, and which routes are legal in them, as the kernels of forwarding tables take them."""

from __future__ import annotations

import numpy as np

from routelab.api import RoutingGraph, Topology
from routelab.api.topology import Int32Array, Int64Array
from routelab.kernels.forwarding.trees import Fabric, Legality
from routelab.kernels.forwarding.turns import turns_of_orders


def fabric_of(topology: Topology) -> Fabric:
    """Return a network as kernels take it; see the fields of `Fabric`."""
    out_start, out_channel = topology.outgoing
    in_start, in_channel = topology.incoming
    # the index of a channel in `out_channel`, less that of the first channel of the same switch
    port = np.empty(topology.num_channels, np.int32)
    port[out_channel] = np.arange(len(out_channel)) - np.repeat(out_start[:-1], np.diff(out_start))
    # a channel has one turn into each channel that leaves its target
    turn_start = np.zeros(topology.num_channels + 1, np.int64)
    np.cumsum(np.diff(out_start)[topology.channel_target], out=turn_start[1:])
    _, capacity_class = np.unique(topology.channel_capacity, return_inverse=True)
    return Fabric(
        source=topology.channel_source,
        target=topology.channel_target,
        out_start=out_start,
        out_channel=out_channel,
        in_start=in_start,
        in_channel=in_channel,
        port=port,
        turn_start=turn_start,
        hosts=topology.terminals_per_switch.astype(np.int64),
        root=topology.terminal_switch,
        capacity_class=capacity_class.astype(np.int16),
    )


def legality_of_rules(graph: RoutingGraph) -> Legality:
    """Return the legality of routes under rules, whose routing graph is deterministic."""
    topology = graph.topology
    # 1. The arrivals are the graph's vertices, sorted by switch.
    order = np.argsort(graph.vertex_switch, kind="stable")
    arrival = np.empty(graph.num_vertices, np.int64)
    arrival[order] = np.arange(graph.num_vertices)
    first = np.zeros(topology.num_switches + 1, np.int64)
    np.cumsum(np.bincount(graph.vertex_switch, minlength=topology.num_switches), out=first[1:])
    # 2. Over the channel of an edge, the arrival at its source (by its index among those of the
    #    switch) becomes the arrival at its target.
    max_arrivals = int(np.diff(first).max(initial=1))
    step = np.full((topology.num_channels, max_arrivals), -1, np.int32)
    index = arrival[graph.edge_source] - first[graph.vertex_switch[graph.edge_source]]
    step[graph.edge_channel, index] = arrival[graph.edge_target]
    return Legality(
        turns=np.zeros(0, np.int64),
        full=np.int64(1),
        first=first,
        begin=arrival[graph.begin].astype(np.int32),
        accepting=graph.accepting[order],
        step=step,
    )


def legality_of_orders(fabric: Fabric, ranks: Int32Array) -> Legality:
    """Return which routes are legal if each layer has an order of the channels.

    A route is legal in a layer if each of its channels comes later in the layer's order than the
    one before. It is legal if that holds in at least one layer.

    Parameters
    ----------
    fabric : Fabric
    ranks : int32 array, shape (layers, C)
        Position of each channel in the order of each layer. There are at most 62 layers, because
        each is a bit of an int64 in `Legality.turns`.
    """
    return _legality_of_turns(fabric, turns_of_orders(fabric, ranks), len(ranks))


def all_routes(fabric: Fabric) -> Legality:
    """Return the legality of networks without rules: every route is legal."""
    return _legality_of_turns(fabric, np.ones(int(fabric.turn_start[-1]), np.int64), 1)


def _legality_of_turns(fabric: Fabric, turns: Int64Array, num_layers: int) -> Legality:
    """Return the legality of routes that any of some layers may allow, turn by turn.

    `turns`: the layers in which each turn is legal, as bits.
    """
    num_switches = len(fabric.hosts)
    # Kernels take an empty array of turns for an automaton, so a network without turns gets one.
    return Legality(
        turns=turns if len(turns) else np.zeros(1, np.int64),
        full=np.int64((1 << num_layers) - 1),
        first=np.arange(num_switches + 1),
        begin=np.arange(num_switches, dtype=np.int32),
        accepting=np.ones(num_switches, np.bool_),
        step=np.zeros((0, 1), np.int32),
    )
