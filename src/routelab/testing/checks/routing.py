"""Checks of whole routings."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable
from routelab.api.topology import Int64Array
from routelab.testing.bare_network import require_minimal, require_routes
from routelab.testing.checks import hops
from routelab.testing.results import Skipped
from routelab.testing.subjects import Trial


def reachable(trial: Trial) -> str:
    """On whole connected networks of two-way links every pair has a route.

    On others the pairs without one are counted. One that decides hop by hop has a candidate for
    every packet whose ends the network joins.
    """
    if hops.decides(trial):
        return hops.dead_ends(trial)
    table: RouteTable = trial.result
    source, target = _ends(table, np.flatnonzero(np.diff(table.pair_start) == 0))
    lost = np.zeros((len(table.topology.endpoints),) * 2, dtype=np.bool_)
    lost[source, target] = True
    return require_routes(table.topology, lost, "route")


def minimal(trial: Trial) -> str:
    """Routes are as short as the bare network allows, if it claims so."""
    table: RouteTable = trial.result
    if not trial.subject.capabilities.minimal:
        raise Skipped("no claim to be minimal")
    if hops.decides(trial):
        return hops.minimal(trial)
    lengths = np.full((len(table.topology.endpoints),) * 2, -1, dtype=np.int32)
    np.maximum.at(lengths, _ends(table, table.path_pair), table.path_length)
    return require_minimal(table.topology, lengths)


def _ends(table: RouteTable, pairs: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Endpoints at both ends of pairs."""
    source, destination = np.divmod(pairs, table.num_destinations)
    return source, table.destination_endpoint[destination]
