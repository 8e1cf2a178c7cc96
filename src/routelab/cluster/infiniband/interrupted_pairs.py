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
