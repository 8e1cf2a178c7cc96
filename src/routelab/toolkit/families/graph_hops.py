"""Tables of hop-by-hop algorithms that need nothing but the distances of a network."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.hops import pack_tables
from routelab.api.topology import Int32Array, Topology
from routelab.kernels.distances import hop_distances

MOST_SWITCHES = 5000
"""Largest network: the table of distances takes 4 bytes per pair of switches, here 100 MB."""


def switch_distances(topology: Topology) -> Int32Array:
    """Return the hops between all switches.

    Returns
    -------
    distance : int32 array, shape (S, S)
        By (target, source): hops from a source to a target; −1 if there is no path.
    """
    count = topology.num_switches
    distance = np.empty((count, count), np.int32)
    queue = np.empty(count, np.int32)
    for target in range(count):
        hop_distances(*topology.incoming, topology.channel_source, target, distance[target], queue)
    return distance


def too_large(topology: Topology) -> str | None:
    """Return why a network is too large for a table of distances; None if it is not."""
    count = topology.num_switches
    if count <= MOST_SWITCHES:
        return None
    return (
        f"{count} switches: the table of their distances would take {4 * count**2 // 10**6} MB, at "
        f"most {MOST_SWITCHES} switches are supported"
    )


def endpoint_numbers(topology: Topology) -> Int32Array:
    """Return the number of each switch among those with terminals, 0 for others; int32."""
    numbers = np.zeros(topology.num_switches, np.int32)
    numbers[topology.endpoints] = np.arange(len(topology.endpoints))
    return numbers


def fewer_than_two(virtual_channels: int) -> str | None:
    """Return why an algorithm with two virtual channels does not apply; None if it does."""
    if virtual_channels >= 2:
        return None
    return f"needs 2 virtual channels, but the routers have {virtual_channels}; raise vcs to 2"


def endpoint_diameter(topology: Topology, distance: Int32Array) -> int | None:
    """Return the longest distance between switches with terminals; None if some have no path."""
    ends = topology.endpoints
    between = distance[np.ix_(ends, ends)]
    return None if between.min() < 0 else int(between.max())


def most_channels(topology: Topology) -> int:
    """Return the largest number of channels that leave a switch, at least 1."""
    return int(np.diff(topology.outgoing[0]).max(initial=1))


def graph_tables(
    topology: Topology, distance: Int32Array | None, numbers: list[int], *arrays: ArrayLike
) -> Int32Array:
    """Return the tables for `routelab.kernels.graph_hops`, followed by those of the algorithm.

    In a compiled function the algorithm's own tables begin at:

        numbers     table(tables, OWN)
        arrays[k]   table(tables, OWN + 1 + k)

    Parameters
    ----------
    topology : Topology
    distance : int32 array, shape (S, S), or None
        See `switch_distances`; None for algorithms that do not read it.
    numbers : list of int
        What the algorithm's functions read besides the network, such as the number of groups.
    *arrays : array of int
    """
    starts, channels = topology.outgoing
    return pack_tables(
        topology,
        [topology.num_switches],
        np.empty(0, np.int32) if distance is None else distance,
        starts,
        channels,
        topology.channel_target[channels],
        np.array(numbers, np.int32),
        *arrays,
    )
