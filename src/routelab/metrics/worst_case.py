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
    of it; a pair without a route sends nothing. Solves one assignment problem per channel. Channels
    that an upper bound excludes are skipped: the smaller one of the amounts that can be sent over
    the channel and received from it.
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
    sends, receives = topology.demand, table.destination_demand
    bounds = assignment_bounds(start, pair, share, sends, receives) * factor
    load, channel = 0.0, -1
    sender = receiver = np.empty(0, np.int64)
    for c in np.argsort(-bounds, kind="stable").tolist():
        # shares are sums of floats: ignore differences that are only rounding
        if bounds[c] <= load * (1 + 1e-12):
            break
        pairs_of_channel = slice(start[c], start[c + 1])
        assignment = heaviest_assignment(
            pair[pairs_of_channel], share[pairs_of_channel], sends, receives
        )
        if assignment[0] * factor[c] > load:
            load, channel = float(assignment[0] * factor[c]), c
            sender, receiver = assignment[1:]
    sent = receiver >= 0
    target = _by_terminal(table, sender[sent], receiver[sent])
    return PermutationLoad(load, channel, frozen_array(target, np.int32))


def _by_terminal(table: RouteTable, sender: Int64Array, receiver: Int64Array) -> Int64Array:
    """Assign the messages between endpoints to their terminals, and complete the permutation."""
    count = table.topology.num_terminals
    sources = _members(table.topology.terminal_endpoint)
    destinations = _members(table.terminal_destination)
    target = np.full(count, -1)
    has_sender = np.zeros(count, dtype=bool)
    for i, j in zip(sender.tolist(), receiver.tolist(), strict=True):
        to = next(destinations[j])
        target[next(sources[i])] = to
        has_sender[to] = True
    target[target < 0] = np.flatnonzero(~has_sender)
    return target


def _members(group: Int64Array) -> list[Iterator[int]]:
    """Return the terminals of each group, ascending."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(1, group.max() + 1))
    return [iter(part.tolist()) for part in np.split(order, starts)]
