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
    longest, switch_pairs, switch_hops, remote_pairs, remote_hops = sum_distances(
        start, topology.channel_target[channel], demand
    )
    # Pairs of terminals: those on different switches (remote), and those on one, 0 hops apart.
    terminal_pairs = remote_pairs + int((demand * (demand - 1)).sum())
    return Distances(
        diameter=int(longest),
        mean=switch_hops / switch_pairs if switch_pairs else None,
        mean_hops=remote_hops / terminal_pairs if terminal_pairs else None,
    )


@dataclass(frozen=True)
class Cost:
    """Numbers of the links and ports of a network, on which its cost depends.

    Attributes
    ----------
    links : int
        Cables between switches. A channel without an opposite one is a link, too.
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
    num_global = None if group is None else int((group[ends[:, 0]] != group[ends[:, 1]]).sum())
    return Cost(
        links=len(ends),
        local_links=None if num_global is None else len(ends) - num_global,
        global_links=num_global,
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
        Side of each switch, 0 or 1. Both sides have equally many terminals if that is certainly
        possible: an even number of switches have terminals, all of them equally many. Otherwise
        the sides may differ by the largest number of terminals at a switch.
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
    # 1. The largest difference between the sides. Equal halves certainly exist if an even number of
    #    switches have terminals, all equally many; otherwise they may not.
    terminals = topology.terminals_per_switch.astype(np.int64)
    occupied = terminals[terminals > 0]
    if len(occupied) < 2:
        return None
    can_be_equal = len(occupied) % 2 == 0 and (occupied == occupied[0]).all()
    slack = 0 if can_be_equal else int(occupied.max())
    # 2. The neighbours of switch s are neighbour[start[s]:start[s + 1]]. Each link is listed from
    #    both of its ends: link (2, 5) has tail 2 and head 5, and tail 5 and head 2.
    lower, higher = _link_ends(topology).T
    tail, head = np.concatenate((lower, higher)), np.concatenate((higher, lower))
    neighbour = head[np.argsort(tail, kind="stable")].astype(np.int32)
    start = np.zeros(topology.num_switches + 1, np.int32)
    np.cumsum(np.bincount(tail, minlength=topology.num_switches), out=start[1:])
    # 3. Cut each order of the switches in the middle of their terminals, and refine the cut.
    best = None
    for order in _switch_orders(topology, start, neighbour):
        # Count the terminals in this order. A switch goes to the half where the middle of its own
        # terminals lies, so that the sides differ by no more than its terminals. If it has 3, after
        # 4 of others, the middle is 4 + 3 / 2 (twice that is 11, an integer).
        twice_middle = 2 * terminals[order].cumsum() - terminals[order]
        side = np.zeros(len(order), dtype=np.int8)
        side[order[twice_middle <= terminals.sum()]] = 1
        links = int(refine_cut(start, neighbour, terminals, slack, side))  # overwrites `side`
        if best is None or links < best.links:
            best = Cut(links, side)
    return best


def _link_ends(topology: Topology) -> Int64Array:
    """Return the two switches of every link, the lower one first; int64, shape (L, 2).

    `Topology.links` gives the channels of the same links, but takes longer.
    """
    # 1. The pair of switches of each channel as one number: lower switch * S + higher switch.
    source, target = topology.channel_source, topology.channel_target
    is_upward = source < target
    key = np.minimum(source, target).astype(np.int64) * topology.num_switches
    key += np.maximum(source, target)
    switch_pairs, pair = np.unique(key, return_inverse=True)
    # 2. Links of each pair. Two opposite channels are a link; a channel that is left over is one,
    #    too. So 3 channels upward and 2 downward are 3 links.
    upward = np.bincount(pair[is_upward], minlength=len(switch_pairs))
    downward = np.bincount(pair[~is_upward], minlength=len(switch_pairs))
    link_key = np.repeat(switch_pairs, np.maximum(upward, downward))
    return np.stack(np.divmod(link_key, topology.num_switches), axis=1)


def _switch_orders(
    topology: Topology, start: Int32Array, neighbour: Int32Array
) -> list[Int64Array]:
    """Return the orders of the switches whose first halves are the cuts to refine.

    These are the orders by number, by each coordinate, by distance from random switches, and random
    ones.
    """
    num_switches = topology.num_switches
    orders = [np.arange(num_switches)]
    if topology.coordinates is not None:
        orders += [np.argsort(axis, kind="stable") for axis in topology.coordinates.T]
    # One word for each centre, then one for each switch in each random order. Raw output is the
    # same in every version of NumPy.
    words = np.random.PCG64(0).random_raw(RANDOM_STARTS * (num_switches + 1))
    for centre in words[:RANDOM_STARTS] % num_switches:
        orders.append(_order_by_distance(int(centre), start, neighbour))
    random_keys = words[RANDOM_STARTS:].reshape(RANDOM_STARTS, num_switches)
    return [*orders, *np.argsort(random_keys, axis=1, kind="stable")]


def _order_by_distance(centre: int, start: Int32Array, neighbour: Int32Array) -> Int64Array:
    """Return the switches in the order of a breadth-first search; then those out of reach."""
    order, reached = [centre], np.zeros(len(start) - 1, dtype=np.bool_)
    reached[centre] = True
    for s in order:  # grows during the loop: it is the queue of the search
        for t in neighbour[start[s] : start[s + 1]].tolist():
            if not reached[t]:
                reached[t] = True
                order.append(t)
    return np.concatenate((np.array(order, dtype=np.int64), np.flatnonzero(~reached)))
