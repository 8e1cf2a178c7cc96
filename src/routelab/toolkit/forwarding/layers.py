"""Layers of a table's routes by first fit.

    layer        a virtual channel, whose routes must have no cycle of dependencies
    first fit    routes, one after the other, each on the first layer in which it closes no cycle
    rounds       first fit again, the routes of the last layer first: never more layers
    transitions  a route changes to higher layers on its way

No layer can hold a route that crosses a channel twice.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from routelab.api import (
    LayersPlugin,
    Parameters,
    RouteTable,
    Topology,
    UnsupportedError,
    parameter,
)
from routelab.api.topology import Int16Array, Int32Array, Int64Array
from routelab.kernels.dependency import dependency_graph
from routelab.kernels.forwarding.first_fit import first_fit, first_repeating_path
from routelab.kernels.forwarding.transitions import layers_with_transitions

UNLIMITED = 32767
"""More layers than are ever needed: tables number virtual channels by int16."""


def table_of_trees(topology: Topology, trees: Int32Array) -> RouteTable:
    """Return the routes of trees, see `routelab.toolkit.forwarding.search`."""
    return RouteTable.from_next_hops(topology, np.ascontiguousarray(trees.T), per_terminal=True)


def by_destination(table: RouteTable) -> Int64Array:
    """Return the paths in order of destination, then of source; int64, shape (K,)."""
    return np.argsort(table.path_pair % table.num_destinations, kind="stable")


def first_fitting_layers(
    table: RouteTable, order: Int64Array, limit: int = UNLIMITED
) -> tuple[Int32Array, Int32Array]:
    """Put paths, one after another, into the first layer whose dependencies stay acyclic.

    Parameters
    ----------
    table : RouteTable
        No path crosses a channel twice.
    order : int64 array
        Paths in the order of their assignment; others get no layer.
    limit : int
        Most layers.

    Returns
    -------
    layer : int32 array, shape (K,)
        −1 for paths without a layer.
    ranks : int32 array, shape (layers, C)
        An order of the channels that the dependencies of each layer follow.
    """
    one_vc = np.zeros(len(table.hop_channel), np.int16)
    channels = table.topology.num_channels
    start, target = dependency_graph(table.path_start, table.hop_channel, one_vc, channels, 1)
    group_start = np.arange(table.num_paths + 1)  # every path is a group of its own
    layer, ranks = first_fit(
        group_start, table.path_start, table.hop_channel, start, target, order, np.int64(limit)
    )
    return layer, ranks


def fewer_layers(
    table: RouteTable, layer: Int32Array, rounds: int, seed: int, limit: int = 2
) -> Int32Array:
    """Repeat first fit, with the paths of the last layer first, until `limit` layers suffice.

    Paths of one layer stay together, the longest first, otherwise in random order. So no round
    needs more layers than the one before. Culberson and Luo do the same with colours: *Exploring
    the k-colorable landscape with iterated greedy*, DIMACS Series in Discrete Mathematics and
    Theoretical Computer Science 26, 1996.

    Parameters
    ----------
    table : RouteTable
        No path crosses a channel twice.
    layer : int32 array, shape (K,)
        Layer of each path; the dependencies of each layer are acyclic.
    rounds : int
        Most rounds.
    seed : int
        Seed of the random order.
    limit : int
        Number of layers that is low enough. The default is the fewest if one layer had a cycle.

    Returns
    -------
    layer : int32 array, shape (K,)
    """
    generator = np.random.default_rng(seed)
    for _ in range(rounds):
        # layers are numbered from 0
        if layer.max(initial=0) < limit:
            break
        random_order = generator.permutation(table.num_paths)
        # lexsort takes the last key first: descending layer, then descending length
        order = random_order[np.lexsort((-table.path_length[random_order], -layer[random_order]))]
        layer, _ = first_fitting_layers(table, order)
    return layer


def repeated_channel(table: RouteTable) -> str | None:
    """Describe the first path that crosses a channel twice, which no layer can hold."""
    topology = table.topology
    path, channel = first_repeating_path(table.path_start, table.hop_channel, topology.num_channels)
    if path < 0:
        return None
    pair = table.describe_pair(int(table.path_pair[path]))
    return (
        f"the path from {pair} crosses channel {topology.channel_name(channel)} "
        "twice, so it waits for itself on any single virtual channel"
    )


def layers_of_hops(table: RouteTable, limit: int, whole_first: bool) -> tuple[Int16Array, int]:
    """Put every hop into one of `limit` layers, so that layers never fall along a path.

    Parameters
    ----------
    table : RouteTable
        No path crosses a channel twice.
    limit : int
        Number of layers.
    whole_first : bool
        Whether a path stays in one layer if one fits; otherwise it follows each layer, from the
        first on, as far as it goes.

    Returns
    -------
    layer : int16 array, shape (H,)
    num_unplaced : int
        Paths that would need more layers; their hops have no valid layer.
    """
    one_vc = np.zeros(len(table.hop_channel), np.int16)
    channels = table.topology.num_channels
    start, target = dependency_graph(table.path_start, table.hop_channel, one_vc, channels, 1)
    layer, num_unplaced = layers_with_transitions(
        table.path_start,
        table.hop_channel,
        start,
        target,
        by_destination(table),
        np.int64(limit),
        np.bool_(whole_first),
    )
    return layer, int(num_unplaced)


class MaxChannels(Parameters):
    """Virtual channels of the network."""

    max_channels: int = parameter(
        8, ge=1, le=32767, description="Virtual channels available in the network"
    )


class RoundParameters(MaxChannels):
    """Virtual channels, and the effort to need fewer."""

    rounds: int = parameter(
        16,
        ge=0,
        description="Times that first fit runs again, with the routes of the last virtual channel "
        "first, to need fewer",
    )
    order_seed: int = parameter(0, ge=0, description="Seed of the order of routes")


class AcyclicLayers(LayersPlugin):
    """Base of layers plugins that leave no cycle of dependencies: plain flow control is enough."""

    Parameters = MaxChannels
    parameters: MaxChannels

    @abstractmethod
    def layers(self, table: RouteTable) -> Int32Array | Int16Array:
        """Return the virtual channel of each hop, shape (H,), for a table that is supported."""

    def supports(self, table: RouteTable) -> str | None:
        """Name the first path that crosses a channel twice, which no layer can hold."""
        return repeated_channel(table)

    def assign(self, table: RouteTable) -> RouteTable:
        """Put every hop on a virtual channel.

        Raises
        ------
        UnsupportedError
            If the table is not supported, or needs more than `max_channels` virtual channels.
        """
        reason = self.supports(table)
        if reason:
            raise UnsupportedError(reason)
        layer = self.layers(table)
        needed, limit = int(layer.max(initial=0)) + 1, self.parameters.max_channels
        if needed > limit:
            raise UnsupportedError(
                f"needs {needed} virtual channels, max_channels is {limit}: raise it or choose "
                "other rules"
            )
        # plain flow control, because no layer has a cycle of dependencies
        return table.with_vcs(layer, "plain")
