"""The links of a network as an undirected graph, parallel cables counted once."""

from __future__ import annotations

import numpy as np

from routelab.api.topology import Topology


def neighbours_of(topology: Topology) -> list[list[int]]:
    """Return the neighbours of each switch in ascending order, each of them once."""
    pairs = np.column_stack((topology.channel_source, topology.channel_target))
    neighbours: list[list[int]] = [[] for _ in range(topology.num_switches)]
    for switch, neighbour in np.unique(pairs, axis=0).tolist():
        neighbours[switch].append(neighbour)
    return neighbours


def one_way_channel(topology: Topology) -> str | None:
    """Return why rules that need links in both directions do not apply; None if they do."""
    num_switches = topology.num_switches
    source = topology.channel_source.astype(np.int64)
    target = topology.channel_target.astype(np.int64)
    # one number for each ordered pair of switches
    pair, opposite_pair = source * num_switches + target, target * num_switches + source
    one_way = np.flatnonzero(~np.isin(pair, opposite_pair))
    if not one_way.size:
        return None
    return (
        f"channel {topology.channel_name(int(one_way[0]))} has no opposite channel; "
        "these rules need links in both directions"
    )
