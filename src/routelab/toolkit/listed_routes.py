"""All shortest legal routes of a network, for selections that choose from a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.route_table import RouteTable
from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Float64Array, Int32Array, Int64Array, Topology, frozen_array
from routelab.kernels.enumeration import enumerate_routes
from routelab.kernels.graph import GraphArrays, count_routes, route_lengths

MAX_LISTED_HOPS = 50_000_000
"""Largest total number of hops of listed routes in memory."""


@dataclass(frozen=True, eq=False)
class ListedRoutes:
    """Shortest legal routes of all ordered pairs of endpoints (R routes); arrays are read-only.

    Pair ``i * P + j`` goes from endpoint i to endpoint j. A pair of an endpoint with itself has
    one route of no hops, an unreachable pair has none. A pair's routes are in the edge order of
    the graph.

    Attributes
    ----------
    topology : Topology
    route_start : int64 array, shape (P * P + 1,)
        Routes ``route_start[p]:route_start[p + 1]`` belong to pair p.
    hop_start : int64 array, shape (R + 1,)
        Hops ``hop_start[r]:hop_start[r + 1]`` belong to route r.
    hops : int32 array
        Channels.
    """

    topology: Topology
    route_start: Int64Array
    hop_start: Int64Array
    hops: Int32Array

    @classmethod
    def of(cls, graph: RoutingGraph, arrays: GraphArrays | None = None) -> ListedRoutes:
        """List the routes of a deterministic graph; see `too_many_routes` first.

        Parameters
        ----------
        graph : RoutingGraph
        arrays : GraphArrays, optional
            The graph in another edge order (`routelab.toolkit.ties.tie_order`).
        """
        arrays = graph.arrays if arrays is None else arrays
        endpoints = graph.topology.endpoints
        lengths = route_lengths(arrays, endpoints)
        counts = count_routes(arrays, endpoints)
        route_start, _, hops = enumerate_routes(arrays, endpoints, counts, lengths)
        # All routes of a pair are equally long. Pairs without a route have length -1, and none.
        hops_per_route = np.repeat(np.maximum(lengths.reshape(-1), 0), np.diff(route_start))
        return cls(
            topology=graph.topology,
            route_start=frozen_array(route_start, np.int64),
            hop_start=frozen_array(np.concatenate(([0], np.cumsum(hops_per_route))), np.int64),
            hops=hops,
        )

    @property
    def num_routes(self) -> int:
        """Number of routes of all pairs."""
        return len(self.hop_start) - 1

    @property
    def route_pair(self) -> Int64Array:
        """Pair of each route; int64, shape (R,)."""
        return np.repeat(np.arange(len(self.route_start) - 1), np.diff(self.route_start))

    @property
    def pair_demand(self) -> Int64Array:
        """Number of terminal pairs of each pair of endpoints; int64, shape (P * P,)."""
        demand = self.topology.demand
        return (demand[:, None] * demand[None, :]).reshape(-1)

    def table(
        self,
        routes: ArrayLike,
        weights: ArrayLike | None = None,
        counters: Mapping[str, float] | None = None,
    ) -> RouteTable:
        """Return the table of some of the routes.

        Parameters
        ----------
        routes : array of int
            Ascending; at least one for every reachable pair, exactly one without `weights`.
        weights : array of float, optional
            Share of each route in its pair.
        """
        chosen = np.asarray(routes, dtype=np.int64)
        length = np.diff(self.hop_start)[chosen]
        path_start = np.concatenate(([0], np.cumsum(length)))
        # Hop h of the table is hop ``h + shift[h]`` of `hops`: the routes that were not chosen are
        # skipped.
        shift = np.repeat(self.hop_start[chosen] - path_start[:-1], length)
        return RouteTable.create(
            self.topology,
            # The number of chosen routes before the first route of each pair.
            pair_start=np.searchsorted(chosen, self.route_start),
            path_start=path_start,
            hop_channel=self.hops[shift + np.arange(path_start[-1])],
            path_weight=weights,
            counters=counters,
        )


def too_many_routes(graph: RoutingGraph, limit: float = MAX_LISTED_HOPS) -> str | None:
    """Return why the routes of `graph` cannot be listed in memory; None if they can.

    The text is a reason for ``supports()``.

    Examples
    --------
    >>> from routelab.registry.instances import load
    >>> from routelab.toolkit import build_grid, too_many_routes
    >>> graph = load("rules", "unrestricted").routing_graph(build_grid("torus", (8, 8), wrap=True))
    >>> too_many_routes(graph, limit=1000)
    'lists all shortest legal routes, here 4.07e+05 hops; limit 1e+03'
    """
    hops = count_hops(graph)
    if hops <= limit:
        return None
    return f"lists all shortest legal routes, here {hops:.3g} hops; limit {limit:.3g}"


def count_hops(graph: RoutingGraph) -> float:
    """Return the total number of hops of all shortest legal routes; exact up to 2^53."""
    endpoints = graph.topology.endpoints
    # Pairs without a route have length -1.
    lengths: Float64Array = np.maximum(route_lengths(graph.arrays, endpoints), 0)
    return float((count_routes(graph.arrays, endpoints) * lengths).sum())
