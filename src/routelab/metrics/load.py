"""Channel loads, and their deviation from a perfect balance."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable, Topology
from routelab.api.topology import Float64Array
from routelab.kernels import routes
from routelab.kernels.distances import terminal_pair_hops
from routelab.metrics.capacity import total_capacity


def terminal_pairs(topology: Topology) -> Float64Array:
    """Count the ordered pairs of different terminals between every two endpoints.

    Returns
    -------
    pairs : float64 array, shape (P, P)
        The switches s and t with T_s and T_t terminals have T_s · T_t pairs; the terminals of one
        switch have T_s · (T_s − 1).
    """
    demand = topology.demand.astype(np.float64)
    return np.outer(demand, demand) - np.diag(demand)


def served_pairs(table: RouteTable) -> Float64Array:
    """Count the ordered pairs of different terminals that each pair of a table serves.

    Returns
    -------
    pairs : float64 array, shape (P, D)
        A row for each endpoint, a column for each destination of the table.
    """
    ends = table.ends
    # A terminal does not send to itself. So at its own switch, a receiver has one sender fewer than
    # there are terminals (True counts as 1).
    same_switch = np.equal.outer(ends.source_switch, ends.destination_switch)
    senders = ends.source_demand[:, None] - same_switch
    pairs: Float64Array = np.multiply(senders, ends.destination_demand, dtype=np.float64)
    return pairs


def channel_loads(table: RouteTable) -> Float64Array:
    """Count the terminal pairs whose route crosses each channel.

    Several paths of a pair count by their weight. This is γ_c of the Angara paper, section 1.1;
    its maximum is the edge-forwarding index of the table. Capacities have no effect on it;
    `relative_loads` takes them into account.

    Returns
    -------
    loads : float64 array, shape (C,)
    """
    loads: Float64Array = routes.demand_loads(
        table.pair_start,
        table.path_start,
        table.path_weight,
        table.hop_channel,
        table.ends,
        table.topology.num_channels,
    )
    return loads


def perfect_load(topology: Topology) -> float:
    """Find the relative load of every channel if the shortest routes were perfectly balanced.

    γ_perfect of the Angara paper, section 1.1: the hops of all pairs over the number of channels,
    where a channel with a quarter of the greatest capacity counts as a quarter of a channel. Routes
    are the shortest of the bare network, whatever the rules; unreachable pairs do not count. It is
    a lower bound of the maximum relative load: in any table that joins the same pairs, the mean of
    the relative loads, weighted with the capacities, is at least this, as no route has fewer hops.

    Returns
    -------
    load : float
        0 for a network without channels.
    """
    start, channel = topology.outgoing
    terminals = topology.terminals_per_switch.astype(np.int64)
    total_hops = terminal_pair_hops(start, channel, topology.channel_target, terminals)
    # `or 1`: without channels, 0 hops are divided by 1
    return float(total_hops) / float(total_capacity(topology) or 1)


def mean_load(topology: Topology, loads: Float64Array) -> float:
    """Average the relative loads of the channels, each weighted with its capacity.

    Relative load × capacity is the absolute load times a constant. So this is the sum of the
    absolute loads, which is the hops of all routes, over the sum of the capacities in units of the
    fastest channel. Detours raise it, a route of equal length over other channels does not change
    it, and tables of the shortest routes have the perfect load.

    Parameters
    ----------
    loads : float64 array, shape (C,)
        Absolute, from `channel_loads`: the capacities come in here.
    """
    return float(loads.sum()) / float(total_capacity(topology) or 1)


def sigma(loads: Float64Array, perfect: float, k: int = 4) -> float:
    """Measure how far loads deviate from the perfect load.

    The k-th root of the mean of ``|perfect − load|^k``: σ(k, R) of the Angara paper,
    section 1.1. 0 if every channel has the perfect load.

    Parameters
    ----------
    loads : float64 array, shape (C,)
        Relative; at least one.
    perfect : float
    k : int
        1 or more; a larger k gives more weight to the worst channels.
    """
    deviation = np.abs(perfect - loads)
    greatest = float(deviation.max())
    if greatest == 0:
        return 0.0
    # divided by the greatest deviation, so that no power overflows
    return float(greatest * np.mean((deviation / greatest) ** k) ** (1 / k))
