"""The kit's own route tables, for layers and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from routelab.api import RouteTable, Topology
from routelab.testing.graphs import walks
from routelab.testing.legal_routes import first_routes, shortest_routes
from routelab.testing.networks import NETWORKS


def table_on(topology: Topology) -> RouteTable:
    """One shortest route a pair."""
    return first_routes(shortest_routes(walks(topology)))


def _single(network: str) -> RouteTable:
    return table_on(NETWORKS[network]())


def _multipath(network: str) -> RouteTable:
    return shortest_routes(walks(NETWORKS[network]()))


def _bubble() -> RouteTable:
    table = _single("torus")
    return table.with_vcs(table.hop_vc, "bubble")


def _two_channels() -> RouteTable:
    table = _single("petersen")
    return table.with_vcs(np.arange(len(table.hop_vc)) % 2)


def _once_more_round() -> RouteTable:
    """Routes on a one-way ring that pass their target once: channels are crossed twice."""
    topology = NETWORKS["one-way-ring"]()
    size = topology.num_switches
    hops = [
        [(i + h) % size for h in range((j - i) % size + size)] if i != j else []
        for i in range(size)
        for j in range(size)
    ]
    return RouteTable.from_lengths(topology, [len(path) for path in hops], np.concatenate(hops))


TABLES: Mapping[str, Callable[[], RouteTable]] = {
    **{name: partial(_single, name) for name in NETWORKS},
    "petersen+multipath": partial(_multipath, "petersen"),
    "torus+multipath": partial(_multipath, "torus"),
    "torus+bubble": _bubble,
    "petersen+two-channels": _two_channels,
    "one-way-ring+once-more-round": _once_more_round,
}
"""Builders by name."""
