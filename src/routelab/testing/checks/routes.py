"""Checks of the routes of selections against the rules."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable, RoutingGraph
from routelab.api.topology import Int32Array
from routelab.kernels.graph import route_lengths
from routelab.kernels.legality import first_illegal_path
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Trial


def every_legal_pair(trial: Trial) -> str:
    """Check that every pair with a legal route gets one."""
    table: RouteTable = trial.result
    without_route = np.flatnonzero((_legal_lengths(trial) >= 0) & (np.diff(table.pair_start) == 0))
    if without_route.size:
        pair = table.describe_pair(int(without_route[0]))
        raise Failed(f"{len(without_route)} pairs have a legal route and get none, such as {pair}")
    return ""


def legal(trial: Trial) -> str:
    """Check that every route is a path of the routing graph."""
    table: RouteTable = trial.result
    graph: RoutingGraph = trial.value
    path = first_illegal_path(
        graph.arrays,
        table.pair_start,
        table.path_start,
        table.hop_channel,
        table.topology.endpoints,
        table.num_destinations,
    )
    if path >= 0:
        pair = table.describe_pair(int(table.path_pair[path]))
        raise Failed(f"the rules forbid its route from {pair}: {table.describe_path(path)}")
    return ""


def as_short_as_legal(trial: Trial) -> str:
    """Check that routes are shortest legal ones, if claimed or required by the rules."""
    table: RouteTable = trial.result
    graph: RoutingGraph = trial.value
    if not (trial.subject.capabilities.minimal or graph.minimal_only):
        raise Skipped("no claim to be minimal")
    shortest = _legal_lengths(trial)[table.path_pair]
    longer = np.flatnonzero(table.path_length > shortest)
    if longer.size:
        pair = table.describe_pair(int(table.path_pair[longer[0]]))
        why = "these rules speak for shortest routes only" if graph.minimal_only else "it claims so"
        raise Failed(f"its route from {pair} is not a shortest legal one, and {why}")
    return ""


def _legal_lengths(trial: Trial) -> Int32Array:
    """Return the hops of each pair's shortest legal route, −1 for pairs without a route.

    The pairs are those of the table, in its order: from an endpoint to an endpoint, or, in a table
    with routes per terminal, to a terminal.
    """
    graph: RoutingGraph = trial.value
    table: RouteTable = trial.result
    # A row and a column for each endpoint. All terminals of an endpoint have its column.
    lengths: Int32Array = route_lengths(graph.arrays, graph.topology.endpoints)
    return lengths[:, table.destination_endpoint].reshape(-1)
