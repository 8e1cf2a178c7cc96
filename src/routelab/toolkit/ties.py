"""Parameters and orders with which all selections break ties.

The order in which a search visits channels decides between equally good routes. The natural order
is by channel number, which on a torus means positive directions first.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from routelab.api.parameters import Parameters, parameter
from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import BoolArray, Int64Array, frozen_array
from routelab.kernels.graph import GraphArrays, SearchArrays, route_lengths


class TieParameters(Parameters):
    """Parameters for ties, the base of the parameters of selections."""

    ties: Literal["positive", "balanced"] = parameter(
        "positive",
        description="Choice between equal routes: always the first in tie order (positive), or "
        "alternately the first and the last by the parity of coordinates (balanced)",
    )
    tie_seed: int = parameter(
        0, ge=0, description="Seed of the order in which ties are broken; 0: natural order"
    )


def tie_order(graph: RoutingGraph, tie_seed: int) -> GraphArrays:
    """Return the graph's arrays with edges in the tie order of `tie_seed`.

    If channels have direction labels, a tie order is an order of the directions, the same at
    every switch, as in a program that loops over directions; otherwise it is an order of the
    channels.
    """
    topology = graph.topology
    if tie_seed == 0:
        return graph.arrays
    random = np.random.default_rng(tie_seed)
    if topology.num_channels and topology.channel_direction.min() >= 0:
        direction_rank = random.permutation(len(topology.directions))[topology.channel_direction]
        # Channels of one direction keep the order of their numbers.
        channels = np.arange(topology.num_channels)
        return graph.ordered(direction_rank.astype(np.int64) * topology.num_channels + channels)
    return graph.ordered(random.permutation(topology.num_channels))


def endpoint_order(graph: RoutingGraph, tie_seed: int) -> Int64Array:
    """Return the order in which a selection visits endpoints, by index; int64, shape (P,)."""
    return visit_order(tie_seed, len(graph.topology.endpoints))


def visit_order(tie_seed: int, count: int) -> Int64Array:
    """Return the order in which `count` items are visited: ascending for seed 0, else random."""
    if tie_seed == 0:
        return frozen_array(np.arange(count), np.int64)
    # The second word of the seed makes the stream differ from that of `tie_order`.
    return frozen_array(np.random.default_rng((tie_seed, 1)).permutation(count), np.int64)


def backwards_at(graph: RoutingGraph, ties: str) -> BoolArray:
    """Return whether the search from each endpoint visits edges backwards; bool, shape (P,).

    With "balanced" ties, endpoints of odd `Topology.parity` do, so they take the last of several
    equal routes where the others take the first. With "positive" ties none does.
    """
    topology = graph.topology
    is_odd = topology.parity[topology.endpoints] == 1
    return frozen_array(is_odd & (ties == "balanced"), np.bool_)


def search_arrays(graph: RoutingGraph, options: TieParameters) -> SearchArrays:
    """Return the arrays for tree searches, in the tie order that `options` request."""
    topology = graph.topology
    arrays = tie_order(graph, options.tie_seed)
    return SearchArrays(
        graph=arrays,
        endpoints=topology.endpoints,
        lengths=frozen_array(route_lengths(arrays, topology.endpoints), np.int32),
        demand=topology.demand,
        order=endpoint_order(graph, options.tie_seed),
        backwards=backwards_at(graph, options.ties),
    )
