"""Distinct shortest legal routes that a selection chooses from, once per class of sources."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Int32Array, Int64Array, Topology
from routelab.kernels.choices import ChoiceArrays, list_routes
from routelab.kernels.graph import GraphArrays
from routelab.kernels.translations import (
    image_rows,
    single_route_load,
    source_hop_offsets,
    translate_routes,
    write_chosen_routes,
)
from routelab.toolkit.parallel import over_ranges
from routelab.toolkit.symmetry import SourceSymmetry, source_symmetry


@dataclass(frozen=True, eq=False)
class RouteChoices:
    """Distinct shortest legal routes out of one switch of each class.

    The P endpoints are the switches with terminals. They form Q classes, each with one of its
    switches as the representative; all others have translated copies of its routes.

    Attributes
    ----------
    symmetry : SourceSymmetry
        Classes of switches whose routes are translations of one another.
    arrays : ChoiceArrays
        Row ``q * P + j`` describes the routes from the representative of class q to endpoint j:
        ``length`` (hops of each route; −1: no route, 0: the endpoint itself), ``routes`` (number
        of listed routes), ``first_hop`` (index in ``hops`` of the first channel of the first
        route; the routes follow one another) and ``sampled`` (whether more routes exist).

    Examples
    --------
    Row 3 of a 2x2 mesh, from switch 0 to switch 3: two routes of two hops, as their channels. A
    selection passes the number of one of them, 0 or 1, to `table`:

    >>> from routelab.registry.instances import load
    >>> from routelab.toolkit import build_grid, determinized, route_choices
    >>> rules = load("rules", "unrestricted")
    >>> graph = determinized(rules.routing_graph(build_grid("mesh", (2, 2), wrap=False)))
    >>> length, routes, first_hop, hops, _ = route_choices(graph).arrays
    >>> hops[first_hop[3] :][: routes[3] * length[3]].reshape(-1, length[3]).tolist()
    [[0, 4], [1, 2]]
    """

    symmetry: SourceSymmetry
    arrays: ChoiceArrays

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.symmetry.topology

    @property
    def complete(self) -> bool:
        """Whether all routes of all pairs are listed, instead of a sample."""
        return not bool(self.arrays.sampled.any())

    @property
    def row_weight(self) -> Int64Array:
        """Number of terminal pairs from source to endpoint of each row; int64, shape (Q · P,)."""
        terminals = self.topology.terminals_per_switch[self.symmetry.arrays.representative]
        weights: Int64Array = np.outer(terminals.astype(np.int64), self.topology.demand).reshape(-1)
        return weights

    @cached_property
    def single_load(self) -> Int64Array:
        """Load on each channel of a class by all pairs with only one route; int64, per class.

        A selection cannot change it, because these pairs have no choice.
        """
        # Rows have one source per class. Its load on all channels of a class together is the load
        # of all of its images on one of them.
        channel_class = self.symmetry.channel_class
        num_classes = int(channel_class.max(initial=-1)) + 1
        load: Int64Array = single_route_load(
            self.arrays, self.row_weight, channel_class[self.arrays.hops], num_classes
        )
        return load

    def refined(self, symmetry: SourceSymmetry) -> RouteChoices:
        """Return the same routes, with one row for each class of a subgroup of the symmetry.

        A subgroup moves each switch to fewer others, so there are more classes and more rows: the
        choice of a route may then differ between sources that were in one class.
        """
        if symmetry.order == self.symmetry.order:  # A subgroup of equal order is the whole group.
            return self
        return RouteChoices(symmetry, self._translate(symmetry.arrays.representative))

    def each_source(self) -> RouteChoices:
        """Return the same routes with one class per endpoint: row ``i * P + j`` is a pair."""
        # Translations by whole periods move nothing, so each class has one switch.
        return self.refined(self.symmetry.subgroup(self.symmetry.arrays.period))

    def rows_of(self, refined_choices: RouteChoices) -> Int64Array:
        """Return, for each row of `refined_choices`, the row here that was translated to it; int64.

        `refined_choices` is a result of `refined`. Indexing with the rows carries the chosen routes
        over: ``chosen[choices.rows_of(refined_choices)]``.
        """
        rows: Int64Array = image_rows(
            self.symmetry.arrays,
            refined_choices.symmetry.arrays.representative,
            self.topology.endpoints,
            self.topology.num_channels,
        )
        return rows

    def _translate(self, sources: Int32Array) -> ChoiceArrays:
        """Return the routes out of `sources`: the representatives' routes, translated to them."""
        routes: ChoiceArrays = translate_routes(
            self.arrays,
            self.symmetry.arrays,
            sources,
            self.topology.endpoints,
            self.topology.num_channels,
        )
        return routes

    def table(self, chosen: Int32Array, *, by_pair: bool = False) -> tuple[Int32Array, Int32Array]:
        """Return lengths and hops of the table in which every pair has one of its routes.

        Parameters
        ----------
        chosen : int32 array, shape (Q * P,) or (P * P,)
            Number of the route, from 0, for each row, or for each pair ``i * P + j``; 0 if a row
            has no route or only one.
        by_pair : bool
            Whether `chosen` is for each pair.

        Returns
        -------
        lengths : int32 array, shape (P, P)
            −1 for no route.
        hops : int32 array
            Channels of all routes, pair after pair, as `RouteTable.from_lengths` takes them.
        """
        topology, symmetry = self.topology, self.symmetry.arrays
        endpoints = topology.endpoints
        route_numbers = np.ascontiguousarray(chosen, dtype=np.int32)
        source_start = source_hop_offsets(self.arrays, symmetry, endpoints)
        lengths = np.empty((len(endpoints), len(endpoints)), dtype=np.int32)
        hops = np.empty(source_start[-1], dtype=np.int32)

        def write(first: int, last: int) -> None:
            write_chosen_routes(
                choices=self.arrays,
                chosen=route_numbers,
                by_pair=by_pair,
                symmetry=symmetry,
                endpoints=endpoints,
                start=source_start,
                sources=(first, last),
                lengths=lengths,
                hops=hops,
            )

        over_ranges(write, len(endpoints))
        return lengths, hops


def route_choices(
    graph: RoutingGraph, max_routes: int = 64, arrays: GraphArrays | None = None
) -> RouteChoices:
    """List the distinct shortest legal routes of `graph`, once per class of sources.

    Time: one breadth-first search per class, O(V + E) each, plus the length of the list.

    Parameters
    ----------
    graph : RoutingGraph
        Deterministic.
    max_routes : int
        Largest number of listed routes of a pair; of more, as many evenly spaced ones are listed.
    arrays : GraphArrays, optional
        The graph in another tie order, which is the order of a pair's routes.

    Returns
    -------
    RouteChoices

    Examples
    --------
    >>> from routelab.registry.instances import load
    >>> from routelab.toolkit import build_grid, determinized, route_choices
    >>> graph = load("rules", "unrestricted").routing_graph(build_grid("mesh", (3, 3), wrap=False))
    >>> choices = route_choices(determinized(graph))
    >>> len(choices.symmetry.arrays.representative)
    9
    """
    ordered = arrays or graph.arrays
    symmetry = source_symmetry(graph, ordered)
    endpoints, roots = graph.topology.endpoints, symmetry.arrays.representative

    def list_range(first: int, last: int) -> ChoiceArrays:
        routes: ChoiceArrays = list_routes(ordered, roots[first:last], endpoints, max_routes)
        return routes

    return RouteChoices(symmetry, _concatenate(over_ranges(list_range, len(roots))))


def _concatenate(parts: list[ChoiceArrays]) -> ChoiceArrays:
    """Concatenate the routes of consecutive ranges of sources."""
    if len(parts) == 1:
        return parts[0]
    # `first_hop` counts from the first hop of its own part.
    hops_before = np.cumsum([0] + [len(part.hops) for part in parts[:-1]])
    return ChoiceArrays(
        length=np.concatenate([part.length for part in parts]),
        routes=np.concatenate([part.routes for part in parts]),
        first_hop=np.concatenate(
            [part.first_hop + shift for part, shift in zip(parts, hops_before, strict=True)]
        ),
        hops=np.concatenate([part.hops for part in parts]),
        sampled=np.concatenate([part.sampled for part in parts]),
    )
