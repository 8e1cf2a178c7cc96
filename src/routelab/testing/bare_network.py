"""Routes on the bare network, where every walk is legal."""

from __future__ import annotations

from collections import Counter

import numpy as np

from routelab.api import Topology
from routelab.api.topology import BoolArray, Int32Array
from routelab.kernels.graph import route_lengths
from routelab.testing.inputs.graphs import all_walks
from routelab.testing.results import Failed


def bare_lengths(topology: Topology) -> Int32Array:
    """Return the hops between endpoints; int32, shape (P, P), −1 for unreachable pairs."""
    lengths: Int32Array = route_lengths(all_walks(topology).arrays, topology.endpoints)
    return lengths


def one_way_channels(topology: Topology) -> list[int]:
    """Return the channels without a channel back.

    Each channel back belongs to one channel. Of two parallel channels and one back, the second has
    none.
    """
    ends = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    # By (source, target): the channels that are not yet the channel back of another one.
    num_available = Counter(ends)
    one_way = []
    for channel, (source, target) in enumerate(ends):
        if num_available[target, source]:
            num_available[target, source] -= 1
        else:
            one_way.append(channel)
    return one_way


def require_routes(topology: Topology, without_route: BoolArray, noun: str) -> str:
    """Require a route for every pair that the bare network connects, unless it is damaged.

    Parameters
    ----------
    topology : Topology
    without_route : bool array, shape (P, P)
        Pairs without a route.
    noun : str
        Word for a route in messages, such as ``legal route``.

    Returns
    -------
    finding : str
        Number of connected pairs without a route, and an example; empty if all have one.

    Raises
    ------
    Failed
        If a pair has no route although the network is connected and undamaged, and all its links
        lead both ways.
    """
    is_connected = bare_lengths(topology) >= 0
    unrouted = np.argwhere(without_route & is_connected)
    if not unrouted.size:
        return ""
    source, target = (topology.switch_names[topology.endpoints[end]] for end in unrouted[0])
    text = (
        f"{len(unrouted)} of {int(is_connected.sum())} pairs have no {noun}, such as {source} to "
        f"{target}"
    )
    is_damaged = topology.failed_switches or topology.failed_links or not is_connected.all()
    if is_damaged or one_way_channels(topology):
        return text
    raise Failed(
        f"{text}; the network is connected and has no failures: route these pairs, or refuse the "
        "network"
    )


def require_minimal(topology: Topology, lengths: Int32Array) -> str:
    """Raise Failed if a route is longer than the shortest path on the bare network.

    Parameters
    ----------
    topology : Topology
    lengths : int array, shape (P, P)
        Hops of each pair's longest route; negative for pairs without a route.

    Returns
    -------
    finding : str
        Always empty: a check that ends with this one has nothing to add.
    """
    shortest = bare_lengths(topology)
    longer = np.argwhere(lengths > shortest)
    if longer.size:
        source, target = longer[0]
        names = [topology.switch_names[topology.endpoints[end]] for end in longer[0]]
        raise Failed(
            f"{len(longer)} pairs have longer routes than the network allows, such as {names[0]} "
            f"to {names[1]}: {lengths[source, target]} hops, {shortest[source, target]} are enough"
        )
    return ""
