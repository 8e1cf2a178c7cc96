"""bcast, allgather and barrier: data of one or all ranks reach all ranks.

Sections are those of Thakur, Rabenseifner and Gropp, *Optimization of Collective Communication
Operations in MPICH*, 2005. In a bcast, *relative positions* count from the root, which has 0.
Binomial tree of 8 relative positions: 0 sends to 4; then 0 to 2 and 4 to 6; then 0 to 1, 2 to 3, 4
to 5 and 6 to 7.
"""

from __future__ import annotations

import numpy as np

from routelab.api.topology import Int64Array
from routelab.simulation.flow.collectives.group import Group, powers_of_two


def binomial(group: Group) -> None:
    """Bcast: down a binomial tree, all data in each message; section 4.2."""
    relative = group.positions
    for mask in reversed(list(powers_of_two(group.size))):
        sender = relative[(relative % (2 * mask) == 0) & (relative + mask < group.size)]
        group.message(_absolute(group, sender), _absolute(group, sender + mask), group.bytes)


def scatter_ring(group: Group) -> None:
    """Bcast: a part to each rank down a binomial tree, then all parts round a ring; section 4.2."""
    part_bytes = np.diff(_scatter(group))  # by relative position
    relative = (group.positions - group.root) % group.size
    _allgather_on_ring(group, part_bytes[relative])


def scatter_recursive_doubling(group: Group) -> None:
    """Bcast to a power of two: parts down a binomial tree, then all parts by doubling; section 4.2.

    Before the round of mask m = 1, 2, 4, ... relative position r has the m parts of its block of m
    consecutive positions. It exchanges them with r XOR m for those of the neighbouring block: with
    m = 2, positions 0 and 1 have parts 0-1, positions 2 and 3 parts 2-3, and 0 exchanges with 2.
    """
    part_start = _scatter(group)
    relative = group.positions
    for mask in powers_of_two(group.size):
        block_start = relative // mask * mask
        sent = part_start[block_start + mask] - part_start[block_start]
        partner = relative ^ mask
        to = _absolute(group, partner)
        group.exchange(
            at=_absolute(group, relative), to=to, sent=sent, source=to, received=sent[partner]
        )


def _absolute(group: Group, relative: Int64Array) -> Int64Array:
    """Return the positions of positions that are relative to the root."""
    return (relative + group.root) % group.size


def _scatter(group: Group) -> Int64Array:
    """Scatter a part of ceil(bytes / p) to each rank down the binomial tree from the root.

    The last parts may be smaller, or have no bytes and are not sent then.

    Returns
    -------
    part_start : int64 array, shape (p + 1,)
        Part of relative position r: bytes ``part_start[r]:part_start[r + 1]``. 10 bytes to 4 ranks:
        0, 3, 6, 9, 10.
    """
    relative, size = group.positions, group.size
    part_size = -(-group.bytes // size)  # rounded up
    part_start = np.minimum(np.arange(size + 1) * part_size, group.bytes)
    for mask in reversed(list(powers_of_two(size))):
        sender = relative[(relative % (2 * mask) == 0) & (relative + mask < size)]
        # The target gets the parts of its subtree: target ... target + mask − 1, if they exist.
        target = sender + mask
        sent = part_start[np.minimum(target + mask, size)] - part_start[target]
        has_bytes = sent > 0
        group.message(
            _absolute(group, sender[has_bytes]),
            _absolute(group, target[has_bytes]),
            sent[has_bytes],
        )
    return part_start


def recursive_doubling_allgather(group: Group) -> None:
    """Allgather of a power of two: exchange all present data with r XOR 1, 2, 4, ...; section 4.1.

    Before the round of mask m = 1, 2, 4, ... every rank has m parts.
    """
    position = group.positions
    for mask in powers_of_two(group.size):
        present_bytes, partner = mask * group.bytes, position ^ mask
        group.exchange(
            at=position, to=partner, sent=present_bytes, source=partner, received=present_bytes
        )


def bruck_allgather(group: Group) -> None:
    """Allgather: ceil(log2 p) rounds, the concatenation of Bruck et al., 1997.

    In the round of m = 1, 2, 4, ... every rank has m parts. Rank r sends them to r − m, but no more
    than the p − m parts that r − m lacks.
    """
    position, size = group.positions, group.size
    for mask in powers_of_two(size):
        sent = min(mask, size - mask) * group.bytes
        group.exchange(
            at=position,
            to=(position - mask) % size,
            sent=sent,
            source=(position + mask) % size,
            received=sent,
        )


def ring(group: Group) -> None:
    """Allgather: p − 1 times, forward the last part from r − 1 to r + 1; section 4.1."""
    _allgather_on_ring(group, np.full(group.size, group.bytes))


def _allgather_on_ring(group: Group, part_bytes: Int64Array) -> None:
    """Send the part of every position round the ring to all others.

    In step s = 0, 1, ... position r forwards the part of position r − s to r + 1.

    Parameters
    ----------
    part_bytes : int64 array, shape (p,)
        Bytes of the part of each position.
    """
    position, size = group.positions, group.size
    for step in range(size - 1):
        forwarded = part_bytes[(position - step) % size]
        previous = (position - 1) % size
        group.exchange(
            at=position,
            to=(position + 1) % size,
            sent=forwarded,
            source=previous,
            received=forwarded[previous],
        )


def dissemination(group: Group) -> None:
    """Barrier: in the round of m = 1, 2, 4, ... rank r sends to r + m and receives from r − m.

    Hensgen, Finkel and Manber, *Two algorithms for barrier synchronization*, International Journal
    of Parallel Programming 17, 1988, doi 10.1007/BF01379320.
    """
    position, size = group.positions, group.size
    for mask in powers_of_two(size):
        group.exchange(
            at=position,
            to=(position + mask) % size,
            sent=0,
            source=(position - mask) % size,
            received=0,
        )


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
