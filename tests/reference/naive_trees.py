"""Naive twin of loads in forwarding tables: every pair of terminals follows the next hops."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np

from routelab.api import RouteTable


def loads(table: RouteTable) -> list[int]:
    """Packets on each channel if every terminal sends one to every other."""
    topology, steps = table.topology, table.next_hops()
    assert steps is not None
    load: Counter[int] = Counter()
    for source, target in product(range(topology.num_terminals), repeat=2):
        at = int(topology.terminal_switch[source])
        while at != topology.terminal_switch[target] and steps[at, target] >= 0:
            load[int(steps[at, target])] += 1
            at = int(topology.channel_target[steps[at, target]])
    return [load[channel] for channel in range(topology.num_channels)]


def peak(table: RouteTable) -> float:
    """Largest load relative to its channel's capacity."""
    return float(np.max(np.array(loads(table)) / table.topology.channel_capacity, initial=0))
