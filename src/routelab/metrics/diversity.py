"""Numbers of shortest legal routes that the rules allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api import RoutingGraph
from routelab.kernels.choices import count_routes_from
from routelab.toolkit import source_symmetry


@dataclass(frozen=True)
class RouteCounts:
    """Numbers of shortest legal routes.

    Over the ordered pairs of terminals on different switches that have a legal route.

    Attributes
    ----------
    single_route_share : float
        Share of the pairs that have only one route.
    mean_routes : float
    total_routes : float
        Sum over the pairs; exact up to 2^53.
    pairs : int
        Number of these pairs.
    total_hops : int
        Hops of one shortest legal route of each pair, summed.
    """

    single_route_share: float
    mean_routes: float
    total_routes: float
    pairs: int
    total_hops: int


def route_diversity(graph: RoutingGraph) -> RouteCounts | None:
    """Count the shortest legal routes of `graph`, which must be deterministic.

    In other graphs several paths may be one route, which would be counted several times.

    Returns
    -------
    diversity : RouteCounts or None
        None if no two terminals on different switches have a legal route.
    """
    topology = graph.topology
    symmetry = source_symmetry(graph)
    sources = symmetry.representatives
    counts, lengths = count_routes_from(graph.arrays, sources, topology.endpoints)
    # Pairs of terminals that each entry of `counts` stands for. Each source represents a class of
    # `order` switches that translations of the network map to each other, so all of them have as
    # many terminals and routes. `demand` is the number of terminals at each endpoint.
    source_terminals = topology.terminals_per_switch[sources].astype(np.int64) * symmetry.order
    terminal_pairs = np.outer(source_terminals, topology.demand)
    terminal_pairs[sources[:, np.newaxis] == topology.endpoints] = 0  # on one switch
    terminal_pairs[counts == 0] = 0
    num_pairs = int(terminal_pairs.sum())
    if not num_pairs:
        return None
    total = float((terminal_pairs * counts).sum())
    return RouteCounts(
        single_route_share=float(terminal_pairs[counts == 1].sum()) / num_pairs,
        mean_routes=total / num_pairs,
        total_routes=total,
        pairs=num_pairs,
        total_hops=int((terminal_pairs * lengths).sum()),
    )
