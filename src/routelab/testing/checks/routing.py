"""Checks of complete routings."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable
from routelab.api.topology import Int64Array
from routelab.testing.bare_network import require_minimal, require_routes
from routelab.testing.checks import hops
from routelab.testing.results import Skipped
from routelab.testing.subjects import Trial


def reachable(trial: Trial) -> str:
    """Check that every pair has a route on undamaged connected networks with two-way links.

    On other networks, count the pairs without a route. A routing that decides hop by hop must have
    a candidate for every packet whose ends the network connects.
    """
    if hops.decides_hop_by_hop(trial):
        return hops.dead_ends(trial)
    table: RouteTable = trial.result
    # the paths of pair p are pair_start[p] to pair_start[p + 1]
    pairs_without_path = np.flatnonzero(np.diff(table.pair_start) == 0)
    source, target = _endpoints_of_pairs(table, pairs_without_path)
    without_route = np.zeros((len(table.topology.endpoints),) * 2, dtype=np.bool_)
    without_route[source, target] = True
    return require_routes(table.topology, without_route, "route")


def minimal(trial: Trial) -> str:
    """Check, if claimed, that routes are as short as the bare network allows."""
    table: RouteTable = trial.result
    if not trial.subject.capabilities.minimal:
        raise Skipped("no claim to be minimal")
    if hops.decides_hop_by_hop(trial):
        return hops.minimal(trial)
    lengths = np.full((len(table.topology.endpoints),) * 2, -1, dtype=np.int32)
    # several paths may belong to one pair of switches; `at` takes the maximum over all of them
    np.maximum.at(lengths, _endpoints_of_pairs(table, table.path_pair), table.path_length)
    return require_minimal(table.topology, lengths)


def _endpoints_of_pairs(table: RouteTable, pairs: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the indices of the source and target endpoints of a table's pairs.

    Pair p leads from endpoint p // D to destination p % D, of D destinations.
    """
    source, destination = np.divmod(pairs, table.num_destinations)
    return source, table.destination_endpoint[destination]
