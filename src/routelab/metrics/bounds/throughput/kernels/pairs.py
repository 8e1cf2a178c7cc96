"""Sums over all pairs of terminals that send to each other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import jit


class DemandArrays(NamedTuple):
    """The arrays of a `routelab.api.Demand` that name destinations.

    A part of a demand is the share of a terminal's traffic that goes to one set of terminals. Part
    k of terminal t, ``part_start[t] <= k < part_start[t + 1]``, sends to the terminals
    ``members[set_start[m]:set_start[m + 1]]`` of set ``m = part_set[k]``, with t itself only if
    `to_self`.
    """

    part_start: NDArray[np.int64]
    part_set: NDArray[np.int32]
    set_start: NDArray[np.int64]
    members: NDArray[np.int32]
    to_self: bool


@jit
def part_sizes(demand):
    """Count the terminals that each part sends to; int64, shape (K,)."""
    sizes = np.zeros(len(demand.part_set), np.int64)
    for sender in range(len(demand.part_start) - 1):
        for part in range(demand.part_start[sender], demand.part_start[sender + 1]):
            destinations = demand.part_set[part]
            sizes[part] = demand.set_start[destinations + 1] - demand.set_start[destinations]
            if not demand.to_self:
                for i in range(demand.set_start[destinations], demand.set_start[destinations + 1]):
                    sizes[part] -= demand.members[i] == sender  # not to itself
    return sizes


@jit
def add_demand(demand, amount, switch, hops, source_node, target_node, total, sent, received):
    """Add up the traffic between nodes of a network, and that of each terminal.

    Pairs of terminals without a route do not count.

    Parameters
    ----------
    demand : DemandArrays
    amount : float64 array, shape (K,)
        Flits per cycle from the terminal of each part to each of its destinations.
    switch : int32 array, shape (T,)
        Switch of each terminal.
    hops : int64 array, shape (S, S)
        Between switches; −1 without a route.
    source_node, target_node : int32 array, shape (T,)
        Nodes at which the traffic of each terminal starts and ends.
    total : float64 array, shape (N, N)
    sent, received : float64 array, shape (T,)
        `total` and these two are updated: increased by the traffic.
    """
    for sender in range(len(demand.part_start) - 1):
        for part in range(demand.part_start[sender], demand.part_start[sender + 1]):
            destinations = demand.part_set[part]
            for i in range(demand.set_start[destinations], demand.set_start[destinations + 1]):
                receiver = demand.members[i]
                if hops[switch[sender], switch[receiver]] >= 0 and (
                    receiver != sender or demand.to_self
                ):
                    total[source_node[sender], target_node[receiver]] += amount[part]
                    sent[sender] += amount[part]
                    received[receiver] += amount[part]


@jit
def sum_costs(demand, part_class, num_classes, terminal_switch, cost, injection, ejection, one):
    """Add up the weights of the lightest routes of all pairs of terminals, by class of parts.

    Parameters
    ----------
    demand : DemandArrays
    part_class : int64 array, shape (K,)
        Class of each part, such that its pairs have equal demands.
    num_classes : int
    terminal_switch : int32 array, shape (T,)
    cost : int64 array, shape (S, S)
        Weight of the lightest route between switches; −1 without a route: such pairs do not count.
    injection, ejection : int64 array, shape (T,)
        Weights of the channels from and to terminals.
    one : int
        The integer that stands for a weight of 1.

    Returns
    -------
    weight : int64 array, shape (classes,)
        Sum of the weights of the pairs of each class.
    missing_weight : int64 array, shape (classes,)
        Sum of max(0, `one` − weight) over the pairs of each class.
    """
    weight = np.zeros(num_classes, np.int64)
    missing_weight = np.zeros(num_classes, np.int64)
    for sender in range(len(demand.part_start) - 1):
        s = terminal_switch[sender]
        for part in range(demand.part_start[sender], demand.part_start[sender + 1]):
            destinations = demand.part_set[part]
            for i in range(demand.set_start[destinations], demand.set_start[destinations + 1]):
                receiver = demand.members[i]
                switch_cost = cost[s, terminal_switch[receiver]]
                if switch_cost >= 0 and (receiver != sender or demand.to_self):
                    pair_weight = injection[sender] + switch_cost + ejection[receiver]
                    weight[part_class[part]] += pair_weight
                    missing_weight[part_class[part]] += max(one - pair_weight, 0)
    return weight, missing_weight
