"""Verification of a network's ring claims."""

from __future__ import annotations

import numpy as np

from routelab.api.topology import Topology


def complete_rings(topology: Topology) -> list[list[int]]:
    """Return the rings of a topology whose claims are true.

    The channels of one `Topology.channel_ring` id are a complete unidirectional ring if they form
    exactly one directed cycle that leaves each of its switches once. A claim that is false, for
    example because a channel of the ring is missing, is dropped completely.

    Returns
    -------
    list of list of int
        The channels of each ring in the order of the cycle, starting with the lowest channel. No
        channel is in two rings, because it has one id.
    """
    members: dict[int, list[int]] = {}
    for channel in np.flatnonzero(topology.channel_ring >= 0).tolist():
        members.setdefault(int(topology.channel_ring[channel]), []).append(channel)
    rings = (_in_order(topology, channels) for channels in members.values())
    return [ring for ring in rings if ring]


def _in_order(topology: Topology, channels: list[int]) -> list[int]:
    """Return `channels` along their cycle; an empty list if they are not a single cycle."""
    leaving = {int(topology.channel_source[channel]): channel for channel in channels}
    order = [channels[0]]
    # distinct sources and as many steps as channels exclude a second cycle
    for _ in channels[1:]:
        next_channel = leaving.get(int(topology.channel_target[order[-1]]))
        if next_channel is None:
            return []
        order.append(next_channel)
    closed = topology.channel_target[order[-1]] == topology.channel_source[order[0]]
    return order if closed and len(set(order)) == len(leaving) == len(channels) else []
