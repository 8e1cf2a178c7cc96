"""Pairs of hosts that a failure interrupts until the tables change."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable
from routelab.api.topology import Int64Array, frozen_array
from routelab.metrics import channel_loads


def pairs_over_links(table: RouteTable) -> Int64Array:
    """Count the ordered pairs of hosts whose route uses each link; int64, shape (L,).

    A route of forwarding tables visits no switch twice, so it uses a link in one direction only.
    """
    loads = np.append(channel_loads(table), 0)
    return frozen_array(loads[table.topology.links].sum(axis=1), np.int64)


def pairs_over_switches(table: RouteTable) -> Int64Array:
    """Count the ordered pairs of hosts whose route visits each switch; int64, shape (S,).

    This includes the pairs that begin or end there.
    """
    topology, ends = table.topology, table.ends
    loads = channel_loads(table)
    visits = np.bincount(topology.channel_target, loads, topology.num_switches)
    has_route = np.diff(table.pair_start).reshape(len(ends.source_switch), -1) > 0
    same = np.equal.outer(ends.source_switch, ends.destination_switch)
    begins = has_route * (ends.source_demand[:, np.newaxis] - same) * ends.destination_demand
    visits[ends.source_switch] += begins.sum(axis=1)
    return frozen_array(visits, np.int64)
