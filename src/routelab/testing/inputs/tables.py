"""The kit's route tables, for layers and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from routelab.api import RouteTable, Topology
from routelab.testing.inputs.graphs import all_walks
from routelab.testing.inputs.networks import NETWORKS, WITH_TERMINALS
from routelab.testing.legal_routes import first_paths, shortest_legal_routes


def table_on(topology: Topology) -> RouteTable:
    """Return a table with one shortest route per pair."""
    return first_paths(shortest_legal_routes(all_walks(topology)))


def _single_path_table(network: str) -> RouteTable:
    return table_on(NETWORKS[network]())


def _multipath_table(network: str) -> RouteTable:
    return shortest_legal_routes(all_walks(NETWORKS[network]()))


def table_to_terminals(topology: Topology) -> RouteTable:
    """Return a table with a route per terminal; terminals of a switch have different routes.

    Terminal t takes path t modulo the number of shortest paths to its switch.
    """
    all_paths = shortest_legal_routes(all_walks(topology))
    targets = topology.terminal_switch.tolist()
    # the first array of hops is empty, because NumPy cannot concatenate an empty list
    lengths, hops = [], [np.empty(0, np.int32)]
    for source in topology.endpoints.tolist():
        for terminal, target in enumerate(targets):
            pair = all_paths.pair(source, target)
            first_path, end = all_paths.pair_start[pair : pair + 2].tolist()
            num_paths = end - first_path
            if not num_paths:
                lengths.append(-1)  # no route
                continue
            path = first_path + terminal % num_paths
            begin, end = all_paths.path_start[path : path + 2].tolist()
            lengths.append(end - begin)
            hops.append(all_paths.hop_channel[begin:end])
    return RouteTable.from_lengths(topology, lengths, np.concatenate(hops), per_terminal=True)


def table_like(table: RouteTable, topology: Topology) -> RouteTable:
    """Return a table on another network, with routes per terminal if `table` has them."""
    return table_to_terminals(topology) if table.per_terminal else table_on(topology)


def _bubble() -> RouteTable:
    table = _single_path_table("torus")
    return table.with_vcs(table.hop_vc, "bubble")


def _two_channels() -> RouteTable:
    table = _single_path_table("petersen")
    return table.with_vcs(np.arange(len(table.hop_vc)) % 2)


def _extra_round_table() -> RouteTable:
    """Return routes on a one-way ring that go round once more before they end.

    They pass their target, and cross some channels twice: on 5 switches, the route from 3 to 4 is
    3, 4, 0, 1, 2, 3, 4.
    """
    topology = NETWORKS["one-way-ring"]()
    size = topology.num_switches
    routes: list[list[int]] = []
    for source in range(size):
        for target in range(size):
            # channel i leads from switch i to switch i + 1
            num_hops = (target - source) % size + size if source != target else 0
            routes.append([(source + hop) % size for hop in range(num_hops)])
    return RouteTable.from_lengths(topology, list(map(len, routes)), np.concatenate(routes))


TABLES: Mapping[str, Callable[[], RouteTable]] = {
    **{name: partial(_single_path_table, name) for name in NETWORKS},
    "petersen+multipath": partial(_multipath_table, "petersen"),
    "torus+multipath": partial(_multipath_table, "torus"),
    "torus+bubble": _bubble,
    "petersen+two-channels": _two_channels,
    "one-way-ring+once-more-round": _extra_round_table,
    "torus-with-two+to-terminals": lambda: table_to_terminals(WITH_TERMINALS["torus-with-two"]()),
}
"""Builders by name."""
