"""Distances, cost and cuts of a bare network, without a routing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Int8Array, Int32Array, Int64Array
from routelab.metrics.kernels.cuts import refine_cut
from routelab.metrics.kernels.distances import sum_distances
from routelab.toolkit.families.groups import switch_groups

RANDOM_STARTS = 8
"""Random cuts that `best_cut` refines, in addition to those by coordinates and by distance."""


@dataclass(frozen=True)
class Distances:
    """Lengths of shortest paths in hops. Pairs without a path do not count.

    Attributes
    ----------
    diameter : int
        Largest distance between two switches with terminals.
    mean : float or None
        Mean over the ordered pairs of different switches with terminals; None without such pairs.
    mean_hops : float or None
        Mean over the ordered pairs of different terminals, which are 0 hops apart on one switch:
        the mean hops of a packet of uniform traffic on a shortest route.
    """

    diameter: int
    mean: float | None
    mean_hops: float | None


def switch_distances(topology: Topology) -> Distances:
    """Measure the distances between the switches with terminals."""
    start, channel = topology.outgoing
    demand = topology.terminals_per_switch.astype(np.int64)
    longest, pairs, hops, far, weighted = sum_distances(
        start, topology.channel_target[channel], demand
    )
    near = int((demand * (demand - 1)).sum())
    return Distances(
        diameter=int(longest),
        mean=hops / pairs if pairs else None,
        mean_hops=weighted / (near + far) if near + far else None,
    )


@dataclass(frozen=True)
class Cost:
    """Parts of a network.

    Attributes
    ----------
    links : int
        Cables between switches. A channel without one back is a link, too.
    local_links, global_links : int or None
        Links inside and between groups; None without groups.
    most_switch_ports : int
        Largest number of ports in use at a switch, those of terminals included.
    total_ports : int
        Ports in use at all switches, those of terminals included.
    """

    links: int
    local_links: int | None
    global_links: int | None
    most_switch_ports: int
    total_ports: int


def network_cost(topology: Topology) -> Cost:
    """Count the links and ports of a network.

    Groups are those of `routelab.toolkit.families.groups`.
    """
    ends = _link_ends(topology)
    ports = np.bincount(ends.reshape(-1), minlength=topology.num_switches)
    ports += topology.terminals_per_switch
    group = switch_groups(topology)
    between = None if group is None else int((group[ends[:, 0]] != group[ends[:, 1]]).sum())
    return Cost(
        links=len(ends),
        local_links=None if between is None else len(ends) - between,
        global_links=between,
        most_switch_ports=int(ports.max(initial=0)),
        total_ports=int(ports.sum()),
    )


@dataclass(frozen=True, eq=False)
class Cut:
    """A division of a network that halves its terminals.

    Attributes
    ----------
    links : int
        Links between the sides.
    side : int8 array, shape (S,)
        0 or 1. The numbers of terminals on the two sides are equal if all switches with terminals
        have the same number and there is an even number of these switches; otherwise they differ
        by no more than the largest number of terminals at a switch.
    """

    links: int
    side: Int8Array


def best_cut(topology: Topology) -> Cut | None:
    """Search a cut into halves with few links.

    The result is an upper bound of the bisection; the bisection itself is NP-hard. The search
    refines (`routelab.metrics.kernels.cuts`) cuts by each coordinate and by the number of the
    switch, cuts around `RANDOM_STARTS` random switches by distance, and as many random ones; the
    random numbers are the same in each call.

    Returns
    -------
    cut : Cut or None
        None if fewer than two switches have terminals.
    """
    weight = topology.terminals_per_switch.astype(np.int64)
    used = weight[weight > 0]
    if len(used) < 2:
        return None
    even = len(used) % 2 == 0 and (used == used[0]).all()
    slack = 0 if even else int(used.max())
    ends = _link_ends(topology)
    tail, head = ends.T.reshape(-1), ends[:, ::-1].T.reshape(-1)
    neighbour = head[np.argsort(tail, kind="stable")].astype(np.int32)
    start = np.zeros(topology.num_switches + 1, np.int32)
    np.cumsum(np.bincount(tail, minlength=topology.num_switches), out=start[1:])
    narrowest = None
    for order in _orders(topology, start, neighbour):
        side = _halves(order, weight)
        links = int(refine_cut(start, neighbour, weight, slack, side))
        if narrowest is None or links < narrowest.links:
            narrowest = Cut(links, side)
    return narrowest


def _link_ends(topology: Topology) -> Int64Array:
    """Return the switches at the ends of all links; int64, shape (L, 2).

    They are those of `Topology.links`, which has their channels and takes longer.
    """
    source, target = topology.channel_source, topology.channel_target
    up = source < target
    key = np.minimum(source, target).astype(np.int64) * topology.num_switches
    key += np.maximum(source, target)
    pairs, pair = np.unique(key, return_inverse=True)
    # a channel without one back is a link, too
    count = np.maximum(
        np.bincount(pair[up], minlength=len(pairs)), np.bincount(pair[~up], minlength=len(pairs))
    )
    return np.stack(np.divmod(np.repeat(pairs, count), topology.num_switches), axis=1)


def _orders(topology: Topology, start: Int32Array, neighbour: Int32Array) -> list[Int64Array]:
    """Return orders of the switches; each is cut in the middle."""
    count = topology.num_switches
    orders = [np.arange(count)]
    if topology.coordinates is not None:
        orders += [np.argsort(axis, kind="stable") for axis in topology.coordinates.T]
    # raw output is the same in every NumPy
    words = np.random.PCG64(0).random_raw(RANDOM_STARTS * (count + 1))
    for centre in words[:RANDOM_STARTS] % count:
        orders.append(_by_distance(int(centre), start, neighbour))
    random = words[RANDOM_STARTS:].reshape(RANDOM_STARTS, count)
    return [*orders, *np.argsort(random, axis=1, kind="stable")]


def _by_distance(centre: int, start: Int32Array, neighbour: Int32Array) -> Int64Array:
    """Return the switches in the order of a breadth-first search; then those out of reach."""
    order, reached = [centre], np.zeros(len(start) - 1, dtype=np.bool_)
    reached[centre] = True
    for s in order:  # grows during the loop
        for t in neighbour[start[s] : start[s + 1]].tolist():
            if not reached[t]:
                reached[t] = True
                order.append(t)
    return np.concatenate((np.array(order, dtype=np.int64), np.flatnonzero(~reached)))


def _halves(order: Int64Array, weight: Int64Array) -> Int8Array:
    """Put the first half of the weight on side 1; int8, shape (S,).

    A switch in the middle goes to the side of its greater part, so that the sides differ by no more
    than its weight.
    """
    centre = 2 * weight[order].cumsum() - weight[order]
    side = np.zeros(len(order), dtype=np.int8)
    side[order[centre <= weight.sum()]] = 1
    return side
