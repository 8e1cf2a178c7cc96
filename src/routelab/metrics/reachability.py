"""Which pairs a table joins, and whether next hops can express it."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable, Topology
from routelab.metrics.load import terminal_pairs


def pairs(topology: Topology) -> int:
    """Count the ordered pairs of different terminals."""
    return topology.num_terminals * (topology.num_terminals - 1)


def reachable_pairs(table: RouteTable) -> int:
    """Count the ordered pairs of different terminals that have a path."""
    routed = np.diff(table.pair_start) > 0
    return int(terminal_pairs(table.topology).reshape(-1)[routed].sum())


def destination_based(table: RouteTable) -> bool:
    """Tell whether a packet's next channel depends on nothing but switch and target."""
    return table.next_hops() is not None
