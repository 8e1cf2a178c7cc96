"""alltoall and alltoallv: every rank sends a different part to every other.

A rank's own part is copied in memory without a message.
"""

from __future__ import annotations

import numpy as np

from routelab.simulation.flow.collectives.group import Group, is_power_of_two, powers_of_two

WINDOW = 32
"""Simultaneous partners of a rank in `scattered`, including itself: the default of MPICH's
MPIR_CVAR_ALLTOALL_THROTTLE."""


def pairwise(group: Group) -> None:
    """Exchange with one partner after the other: Thakur, Rabenseifner and Gropp, 2005, section 4.3.

    In step i = 1 ... p − 1 rank r exchanges with r XOR i if p is a power of two; otherwise it
    sends to r + i and receives from r − i, modulo p. Messages of alltoallv without bytes are sent,
    too.
    """
    position, bytes_ = group.positions, group.bytes_between()
    for step in range(1, group.size):
        if is_power_of_two(group.size):
            to = source = position ^ step
        else:
            to, source = (position + step) % group.size, (position - step) % group.size
        group.exchange(
            at=position,
            to=to,
            sent=bytes_[position, to],
            source=source,
            received=bytes_[source, position],
        )


def linear(group: Group) -> None:
    """Post all receives, then all sends, then wait for all of them.

    Receives are posted in ring order upwards (r + 1, r + 2, ...) and sends downwards (r − 1,
    r − 2, ...), as in Open MPI's and SimGrid's basic linear algorithm. alltoallv does not send
    messages without bytes.
    """
    _exchange_in_windows(group, width=group.size)


def scattered(group: Group) -> None:
    """Post receives, then sends, then wait, for `WINDOW` partners at a time.

    This is MPICH's choice for medium sizes.
    """
    _exchange_in_windows(group, width=WINDOW)


def _exchange_in_windows(group: Group, width: int) -> None:
    """Exchange with all ranks of a group, with `width` partners at a time.

    With width 3, rank r first receives from r + 1 and r + 2 and sends to r − 1 and r − 2 (it is a
    partner of itself); then it receives from r + 3, r + 4 and r + 5, and so on.
    """
    position, bytes_ = group.positions, group.bytes_between()
    # alltoallv, which has a matrix, sends no messages without bytes; alltoall does.
    sends_empty = group.matrix is None
    for first_step in range(0, group.size, width):
        # Step 0 would be a message of a rank to itself.
        steps = range(max(first_step, 1), min(first_step + width, group.size))
        for step in steps:
            all_sources = (position + step) % group.size  # by position of the receiver
            receiver = position[sends_empty | (bytes_[all_sources, position] > 0)]
            source = all_sources[receiver]
            group.builder.ireceive(
                group.rank[receiver], group.rank[source], bytes_[source, receiver]
            )
        for step in steps:
            all_targets = (position - step) % group.size  # by position of the sender
            sender = position[sends_empty | (bytes_[position, all_targets] > 0)]
            target = all_targets[sender]
            group.builder.isend(group.rank[sender], group.rank[target], bytes_[sender, target])
        group.builder.wait(group.rank)


def bruck(group: Group) -> None:
    """Store and forward in ceil(log2 p) rounds: the index algorithm of Bruck et al., 1997.

    The distance of a part is the number of its target minus that of its source, modulo p. In the
    round of mask m = 1, 2, 4, ... rank r sends to r + m all parts whose distance has the bit m: a
    part of distance 5 moves by 1, then by 4.
    """
    position = group.positions
    for mask in powers_of_two(group.size):
        # Each rank holds one part of every distance 0 ... p − 1.
        distance = position
        num_parts = np.count_nonzero(distance & mask)
        group.exchange(
            at=position,
            to=(position + mask) % group.size,
            sent=group.bytes * num_parts,
            source=(position - mask) % group.size,
            received=group.bytes * num_parts,
        )


ALLTOALL = {"bruck": bruck, "linear": linear, "pairwise": pairwise, "scattered": scattered}
ALLTOALLV = {"linear": linear, "pairwise": pairwise, "scattered": scattered}
