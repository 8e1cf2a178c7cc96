"""bcast, allgather and barrier: data of one or all ranks reach all ranks."""

from __future__ import annotations

import numpy as np

from routelab.api.topology import Int64Array
from routelab.simulation.flow.collectives.group import Group, halvings


def binomial(group: Group) -> None:
    """Bcast: down a binomial tree, all data in each message.

    Thakur, Rabenseifner and Gropp, 2005, section 4.2.
    """
    at = group.positions
    for mask in reversed(list(halvings(group.size))):
        sender = at[(at % (2 * mask) == 0) & (at + mask < group.size)]
        group.message(_from_root(group, sender), _from_root(group, sender + mask), group.bytes)


def scatter_ring(group: Group) -> None:
    """Bcast: a part to each rank down a binomial tree, then all parts round a ring; section 4.2."""
    edges = _scatter(group)
    at = group.positions
    _round_the_ring(group, np.diff(edges)[(at - group.root) % group.size])


def scatter_recursive_doubling(group: Group) -> None:
    """Bcast to a power of two: parts as `scatter_ring`, all parts by doubling; section 4.2."""
    edges = _scatter(group)
    place = group.positions
    for mask in halvings(group.size):
        subtree_root = place // mask * mask
        sent = edges[subtree_root + mask] - edges[subtree_root]
        at, to = _from_root(group, place), _from_root(group, place ^ mask)
        group.exchange(at, to, sent, to, sent[place ^ mask])


def _from_root(group: Group, place: Int64Array) -> Int64Array:
    return (place + group.root) % group.size


def _scatter(group: Group) -> Int64Array:
    """Scatter ceil(bytes / p) to each place from the root; return the offsets of the parts.

    Parts without bytes are not sent.
    """
    at, size = group.positions, group.size
    edges = np.minimum(np.arange(size + 1) * -(-group.bytes // size), group.bytes)
    for mask in reversed(list(halvings(size))):
        sender = at[(at % (2 * mask) == 0) & (at + mask < size)]
        target = sender + mask
        sent = edges[np.minimum(target + mask, size)] - edges[target]
        has_bytes = sent > 0
        group.message(
            _from_root(group, sender[has_bytes]),
            _from_root(group, target[has_bytes]),
            sent[has_bytes],
        )
    return edges


def recursive_doubling_allgather(group: Group) -> None:
    """Allgather of a power of two: exchange all present data with r XOR 1, 2, 4, ...; 4.1."""
    at = group.positions
    for mask in halvings(group.size):
        group.exchange(at, at ^ mask, mask * group.bytes, at ^ mask, mask * group.bytes)


def bruck_allgather(group: Group) -> None:
    """Allgather: ceil(log2 p) rounds, the concatenation of Bruck et al., 1997.

    In the round of m = 1, 2, 4, ... rank r sends its data to r − m, at most as much as r − m
    lacks.
    """
    at, size = group.positions, group.size
    for mask in halvings(size):
        sent = min(mask, size - mask) * group.bytes
        group.exchange(at, (at - mask) % size, sent, (at + mask) % size, sent)


def ring(group: Group) -> None:
    """Allgather: p − 1 times, forward the last part from r − 1 to r + 1; section 4.1."""
    _round_the_ring(group, np.full(group.size, group.bytes))


def _round_the_ring(group: Group, part: Int64Array) -> None:
    """Send each position's part of `part` bytes round the ring to all others."""
    at, size = group.positions, group.size
    for step in range(size - 1):
        group.exchange(
            at,
            (at + 1) % size,
            part[(at - step) % size],
            (at - 1) % size,
            part[(at - step - 1) % size],
        )


def dissemination(group: Group) -> None:
    """Barrier: in the round of m = 1, 2, 4, ... rank r sends to r + m and receives from r − m.

    Hensgen, Finkel and Manber, *Two algorithms for barrier synchronization*, International Journal
    of Parallel Programming 17, 1988, doi 10.1007/BF01379320.
    """
    at, size = group.positions, group.size
    for mask in halvings(size):
        group.exchange(at, (at + mask) % size, 0, (at - mask) % size, 0)


BCAST = {
    "binomial": binomial,
    "scatter-recursive-doubling": scatter_recursive_doubling,
    "scatter-ring": scatter_ring,
}
ALLGATHER = {
    "bruck": bruck_allgather,
    "recursive-doubling": recursive_doubling_allgather,
    "ring": ring,
}
BARRIER = {"dissemination": dissemination}
