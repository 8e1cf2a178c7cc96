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
    """Return the channels without a channel back, counting parallel ones."""
    ends = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    unmatched = Counter(ends)
    alone = []
    for channel, (source, target) in enumerate(ends):
        if unmatched[target, source]:
            unmatched[target, source] -= 1
        else:
            alone.append(channel)
    return alone


def require_routes(topology: Topology, without_route: BoolArray, what: str) -> str:
    """Judge the pairs that have no route.

    Parameters
    ----------
    topology : Topology
    without_route : bool array, shape (P, P)
        Pairs without a route.
    what : str
        Noun for a route in messages.

    Returns
    -------
    found : str
        Number of pairs that the bare network connects without a route; empty if all have one.

    Raises
    ------
    Failed
        If a pair has no route although the network is connected and undamaged, and all its links
        lead both ways.
    """
    bare = bare_lengths(topology)
    unreached = np.argwhere(without_route & (bare >= 0))
    if not unreached.size:
        return ""
    source, target = (topology.switch_names[topology.endpoints[end]] for end in unreached[0])
    text = (
        f"{len(unreached)} of {int((bare >= 0).sum())} pairs have no {what}, such as {source} to "
        f"{target}"
    )
    damaged = topology.failed_switches or topology.failed_links or (bare < 0).any()
    if damaged or one_way_channels(topology):
        return text
    raise Failed(
        f"{text}; the network is connected and has no failures: route these pairs, or refuse the "
        "network"
    )


def require_minimal(topology: Topology, lengths: Int32Array) -> str:
    """Raise Failed if a route is longer than the bare network allows.

    Parameters
    ----------
    topology : Topology
    lengths : int array, shape (P, P)
        Hops of each pair's longest route; negative for pairs without a route.
    """
    longer = np.argwhere(lengths > bare_lengths(topology))
    if longer.size:
        source, target = longer[0]
        names = [topology.switch_names[topology.endpoints[end]] for end in longer[0]]
        raise Failed(
            f"{len(longer)} pairs have longer routes than the network allows, such as {names[0]} "
            f"to {names[1]}: {lengths[source, target]} hops, "
            f"{bare_lengths(topology)[source, target]} are enough"
        )
    return ""
