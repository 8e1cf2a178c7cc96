"""Rings of a network: claims that channels form one, and their verification."""

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
    channels_of_ring: dict[int, list[int]] = {}
    for channel in np.flatnonzero(topology.channel_ring >= 0).tolist():
        channels_of_ring.setdefault(int(topology.channel_ring[channel]), []).append(channel)
    rings = (_order_ring(topology, channels) for channels in channels_of_ring.values())
    return [ring for ring in rings if ring]


def ring_ids(source: list[int], target: list[int], labels: list[str]) -> list[int]:
    """Assign a number to each ring of channels with one label: one ring, or one each way.

    Links that carry packets both ways have one label for two rings. They can be split if two
    channels leave each switch, to different switches: then a ring never goes back to the switch
    from which it comes. Anything else is one claim, which `complete_rings` verifies.

    Four switches with channels 0>1, 1>2, 2>3, 3>0 and back, all of label "x": the first four get
    number 0, the others 1.

    Parameters
    ----------
    source, target : list of int, length C
        Switches at both ends of each channel.
    labels : list of str, length C
        Empty for a channel that is in no ring.

    Returns
    -------
    ring_of_channel : list of int, length C
        For `Topology.channel_ring`; −1 for no ring.
    """
    channels_of_label: dict[str, list[int]] = {}
    for channel, label in enumerate(labels):
        if label:
            channels_of_label.setdefault(label, []).append(channel)
    ring_of_channel = [-1] * len(labels)
    next_ring = 0
    for channels in channels_of_label.values():
        for ring in _split_by_direction(source, target, channels):
            for channel in ring:
                ring_of_channel[channel] = next_ring
            next_ring += 1
    return ring_of_channel


def _split_by_direction(
    source: list[int], target: list[int], channels: list[int]
) -> list[list[int]]:
    """Split `channels` of one label into their two rings; return all as one if they are not two."""
    leaving: dict[int, list[int]] = {}
    for channel in channels:
        leaving.setdefault(source[channel], []).append(channel)
    neighbours = [{target[channel] for channel in outgoing} for outgoing in leaving.values()]
    if any(len(switches) != 2 for switches in neighbours):
        return [channels]
    # Follow one ring from any channel, once past each switch, and never back.
    ring = channels[:1]
    while len(ring) < len(leaving):
        next_channels = [
            channel
            for channel in leaving.get(target[ring[-1]], [])
            if target[channel] != source[ring[-1]]
        ]
        if len(next_channels) != 1:
            return [channels]
        ring += next_channels
    if len(set(ring)) < len(ring):
        return [channels]  # The walk closed before it had passed all switches: several rings.
    return [ring, [channel for channel in channels if channel not in set(ring)]]


def _order_ring(topology: Topology, channels: list[int]) -> list[int]:
    """Return `channels` along their cycle; an empty list if they are not a single cycle."""
    leaving = {int(topology.channel_source[channel]): channel for channel in channels}
    order = [channels[0]]
    # As many steps as channels, with a different channel each time, leave none for a second cycle.
    for _ in channels[1:]:
        next_channel = leaving.get(int(topology.channel_target[order[-1]]))
        if next_channel is None:
            return []
        order.append(next_channel)
    is_closed = topology.channel_target[order[-1]] == topology.channel_source[order[0]]
    # Fewer entries in `leaving` than channels mean that two channels leave one switch.
    is_single_cycle = is_closed and len(set(order)) == len(leaving) == len(channels)
    return order if is_single_cycle else []
