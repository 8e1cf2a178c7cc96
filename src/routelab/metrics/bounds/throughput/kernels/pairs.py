"""Sums over all pairs of terminals that send to each other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import jit


class DemandArrays(NamedTuple):
    """The arrays of a `routelab.api.Demand` that name destinations."""

    part_start: NDArray[np.int64]
    part_set: NDArray[np.int32]
    set_start: NDArray[np.int64]
    members: NDArray[np.int32]
    to_self: bool


@jit
def part_sizes(demand):
    """Count the destinations of each part; int64, shape (K,)."""
    sizes = np.zeros(len(demand.part_set), np.int64)
    for t in range(len(demand.part_start) - 1):
        for k in range(demand.part_start[t], demand.part_start[t + 1]):
            m = demand.part_set[k]
            sizes[k] = demand.set_start[m + 1] - demand.set_start[m]
            if not demand.to_self:
                for i in range(demand.set_start[m], demand.set_start[m + 1]):
                    sizes[k] -= demand.members[i] == t
    return sizes


@jit
def add_demand(demand, amount, switch, hops, source_node, target_node, total, sent, received):
    """Add up the traffic between nodes of a network, and of each terminal.

    Pairs without a route do not count.

    Parameters
    ----------
    demand : DemandArrays
    amount : float64 array, shape (K,)
        From the terminal of each part to each of its destinations.
    switch : int32 array, shape (T,)
        Switch of each terminal.
    hops : int64 array, shape (S, S)
        Between switches; −1 without a route.
    source_node, target_node : int32 array, shape (T,)
        Nodes at which the traffic of each terminal starts and ends.
    total : float64 array, shape (N, N)
    sent, received : float64 array, shape (T,)
        All are increased.
    """
    for t in range(len(demand.part_start) - 1):
        for k in range(demand.part_start[t], demand.part_start[t + 1]):
            m = demand.part_set[k]
            for i in range(demand.set_start[m], demand.set_start[m + 1]):
                u = demand.members[i]
                if hops[switch[t], switch[u]] >= 0 and (u != t or demand.to_self):
                    total[source_node[t], target_node[u]] += amount[k]
                    sent[t] += amount[k]
                    received[u] += amount[k]


@jit
def sum_costs(demand, part_class, classes, terminal_switch, cost, injection, ejection, one):
    """Add up the weights of the lightest routes of all pairs of terminals.

    Parameters
    ----------
    demand : DemandArrays
    part_class : int64 array, shape (K,)
        Class of each part, such that its pairs have equal demands.
    classes : int
    terminal_switch : int32 array, shape (T,)
    cost : int64 array, shape (S, S)
        Between switches; −1 without a route: such pairs do not count.
    injection, ejection : int64 array, shape (T,)
        Weights of the channels from and to terminals.
    one : int

    Returns
    -------
    weight : int64 array, shape (classes,)
        Sum of the weights of the pairs of each class.
    missing_weight : int64 array, shape (classes,)
        Sum of the differences between `one` and smaller weights.
    """
    weight = np.zeros(classes, np.int64)
    missing_weight = np.zeros(classes, np.int64)
    for t in range(len(demand.part_start) - 1):
        s = terminal_switch[t]
        for k in range(demand.part_start[t], demand.part_start[t + 1]):
            m = demand.part_set[k]
            for i in range(demand.set_start[m], demand.set_start[m + 1]):
                u = demand.members[i]
                between = cost[s, terminal_switch[u]]
                if between >= 0 and (u != t or demand.to_self):
                    all_weight = injection[t] + between + ejection[u]
                    weight[part_class[k]] += all_weight
                    missing_weight[part_class[k]] += max(one - all_weight, 0)
    return weight, missing_weight
