"""Worst-case load of a channel under a permutation of terminals.

Towles and Dally, "Worst-case traffic for oblivious routing functions", SPAA 2002
(DOI 10.1145/564870.564872): the load of a channel is linear in the traffic, so the permutation
with the largest load is a heaviest assignment of senders to receivers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from routelab.api import RouteTable
from routelab.api.topology import Int32Array, Int64Array, frozen_array
from routelab.metrics.capacity import channel_factors
from routelab.metrics.kernels.assignment import (
    assignment_bounds,
    channel_pairs,
    heaviest_assignment,
)


@dataclass(frozen=True, eq=False)
class PermutationLoad:
    """A permutation of terminals with the largest possible load of a channel.

    Attributes
    ----------
    load : float
        Relative load of that channel if every terminal sends one message; 0 if no route crosses a
        channel.
    channel : int
        −1 if no route crosses a channel.
    target : int32 array, shape (T,)
        The terminal that each terminal sends to, possibly itself.
    """

    load: float
    channel: int
    target: Int32Array


def worst_permutation(table: RouteTable) -> PermutationLoad:
    """Find the permutation of terminals with the largest load of the busiest channel.

    Every terminal sends one message and receives one; several paths of a pair carry their shares
    of it; a pair without a route sends nothing. Solves one assignment problem per channel, but only
    while a cheap upper bound exceeds the largest load so far.
    """
    topology = table.topology
    start, pair, share = channel_pairs(
        table.pair_start,
        table.path_start,
        table.path_weight,
        table.hop_channel,
        topology.num_channels,
    )
    factor = channel_factors(topology)
    # All terminals of an endpoint have the same routes. So messages are assigned to endpoints and
    # destinations: each sends, or receives, as many as it has terminals.
    sends, receives = topology.demand, table.destination_demand
    # No permutation gives a channel a greater relative load than its bound.
    bounds = assignment_bounds(start, pair, share, sends, receives) * factor
    load, channel = 0.0, -1
    sender = receiver = np.empty(0, np.int64)
    # Channels in descending order of their bounds: if one cannot exceed the load, no later one can.
    for c in np.argsort(-bounds, kind="stable").tolist():
        # Shares are sums of floats: ignore differences that are only rounding.
        if bounds[c] <= load * (1 + 1e-12):
            break
        crossing = slice(start[c], start[c + 1])  # the pairs that cross the channel
        total_share, senders, receivers = heaviest_assignment(
            pair[crossing], share[crossing], sends, receives
        )
        if total_share * factor[c] > load:
            load, channel = float(total_share * factor[c]), c
            sender, receiver = senders, receivers
    has_receiver = receiver >= 0  # −1 for a message that the assignment leaves out
    target = _assign_terminals(table, sender[has_receiver], receiver[has_receiver])
    return PermutationLoad(load, channel, frozen_array(target, np.int32))


def _assign_terminals(table: RouteTable, sender: Int64Array, receiver: Int64Array) -> Int64Array:
    """Turn messages between endpoints and destinations into a permutation of the terminals.

    Message k goes from a terminal of endpoint ``sender[k]`` to one of destination ``receiver[k]``.
    Returns the target of each terminal; int64, shape (T,).
    """
    num_terminals = table.topology.num_terminals
    free_senders = _iterate_members(table.topology.terminal_endpoint)
    free_receivers = _iterate_members(table.terminal_destination)
    target = np.full(num_terminals, -1)
    has_sender = np.zeros(num_terminals, dtype=bool)
    for endpoint, destination in zip(sender.tolist(), receiver.tolist(), strict=True):
        receiving_terminal = next(free_receivers[destination])
        target[next(free_senders[endpoint])] = receiving_terminal
        has_sender[receiving_terminal] = True
    # Terminals without a message add nothing to the load: any targets complete the permutation.
    target[target < 0] = np.flatnonzero(~has_sender)
    return target


def _iterate_members(group: Int64Array) -> list[Iterator[int]]:
    """Return an iterator over the terminals of each group; `group` is that of each terminal."""
    order = np.argsort(group, kind="stable")
    # where the groups 1, 2, … begin: np.split cuts there
    starts = np.searchsorted(group[order], np.arange(1, group.max() + 1))
    return [iter(members.tolist()) for members in np.split(order, starts)]
