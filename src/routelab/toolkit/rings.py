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


def ring_ids(source: list[int], target: list[int], labels: list[str]) -> list[int]:
    """Return a number for each ring of channels with one label: one ring, or one each way.

    Links that carry packets both ways have one label for two rings. They are told apart if each
    switch is left by two channels, which lead to different switches: then a ring goes on to the
    switch where it does not come from. All else is one claim, which `complete_rings` verifies.

    Parameters
    ----------
    source, target : list of int, length C
        Switches at both ends of each channel.
    labels : list of str, length C
        Empty for a channel that is in no ring.

    Returns
    -------
    claims : list of int, length C
        As `Topology.channel_ring`.
    """
    members: dict[str, list[int]] = {}
    for channel, label in enumerate(labels):
        if label:
            members.setdefault(label, []).append(channel)
    claims = [-1] * len(labels)
    number = 0
    for channels in members.values():
        for ring in _each_way(source, target, channels):
            for channel in ring:
                claims[channel] = number
            number += 1
    return claims


def _each_way(source: list[int], target: list[int], channels: list[int]) -> list[list[int]]:
    """Return the two rings of links that lead both ways, or all channels as one."""
    leaving: dict[int, list[int]] = {}
    for channel in channels:
        leaving.setdefault(source[channel], []).append(channel)
    if any(len({target[channel] for channel in out}) != 2 for out in leaving.values()):
        return [channels]
    ring = channels[:1]
    while len(ring) < len(leaving):
        onward = [
            channel
            for channel in leaving.get(target[ring[-1]], [])
            if target[channel] != source[ring[-1]]
        ]
        if len(onward) != 1:
            return [channels]
        ring += onward
    if len(set(ring)) < len(ring):
        return [channels]  # several rings
    return [ring, [channel for channel in channels if channel not in set(ring)]]


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
