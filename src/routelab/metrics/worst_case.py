"""The worst that a permutation of terminals can do to a channel.

Towles and Dally, "Worst-case traffic for oblivious routing functions", SPAA 2002
(DOI 10.1145/564870.564872): the load of a channel is linear in the traffic, so the permutation
that loads it most is a heaviest assignment of senders to receivers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api import RouteTable
from routelab.api.topology import Int32Array, Int64Array, frozen_array
from routelab.kernels.assignment import assignment_bounds, channel_pairs, heaviest_assignment
from routelab.metrics.capacity import channel_factors


@dataclass(frozen=True, eq=False)
class WorstPermutation:
    """A permutation of terminals that loads one channel as much as any permutation loads any.

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


def worst_permutation(table: RouteTable) -> WorstPermutation:
    """Find the permutation of terminals under which the busiest channel is busiest.

    Every terminal sends one message and receives one; several paths of a pair carry their shares
    of it; a pair without a route sends nothing. One assignment problem a channel, as far as
    ``min(what can be sent over it, what can be received)`` does not rule the channel out.
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
    bounds = assignment_bounds(start, pair, share, topology.demand) * factor
    load, channel = 0.0, -1
    sender = receiver = np.empty(0, np.int64)
    for c in np.argsort(-bounds, kind="stable").tolist():
        # shares are sums of floats: what is ahead by rounding alone is not ahead
        if bounds[c] <= load * (1 + 1e-12):
            break
        mine = slice(start[c], start[c + 1])
        found = heaviest_assignment(pair[mine], share[mine], topology.demand)
        if found[0] * factor[c] > load:
            load, channel = float(found[0] * factor[c]), c
            sender, receiver = found[1:]
    ends = np.searchsorted(topology.endpoints, topology.terminal_switch)
    target = _by_terminal(ends, sender[receiver >= 0], receiver[receiver >= 0])
    return WorstPermutation(load, channel, frozen_array(target, np.int32))


def _by_terminal(ends: Int64Array, sender: Int64Array, receiver: Int64Array) -> Int64Array:
    """Give the messages between endpoints to their terminals; what is left completes it."""
    terminals = np.argsort(ends, kind="stable")
    first = np.searchsorted(ends[terminals], np.arange(len(ends)))
    target = np.full(len(ends), -1)
    taken = np.zeros(len(ends), dtype=bool)
    sent, got = np.zeros(len(ends), dtype=int), np.zeros(len(ends), dtype=int)
    for i, j in zip(sender, receiver, strict=True):
        to = terminals[first[j] + got[j]]
        target[terminals[first[i] + sent[i]]] = to
        taken[to] = True
        sent[i] += 1
        got[j] += 1
    target[target < 0] = np.flatnonzero(~taken)
    return target
