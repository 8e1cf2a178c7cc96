"""alltoall and alltoallv: every rank sends a different part to every other.

A rank's own part is copied in memory without a message.
"""

from __future__ import annotations

import numpy as np

from routelab.simulation.flow.collectives.group import Group, halvings, is_power_of_two

WINDOW = 32
"""Simultaneous partners of a rank in `scattered`, including itself: the default of MPICH's
MPIR_CVAR_ALLTOALL_THROTTLE."""


def pairwise(group: Group) -> None:
    """Exchange with one partner after the other: Thakur, Rabenseifner and Gropp, 2005, section 4.3.

    In step i = 1 ... p − 1 rank r exchanges with r XOR i if p is a power of two; otherwise it
    sends to r + i and receives from r − i, modulo p. Messages of alltoallv without bytes are sent,
    too.
    """
    at, bytes_ = group.positions, group.pair()
    for step in range(1, group.size):
        if is_power_of_two(group.size):
            to = source = at ^ step
        else:
            to, source = (at + step) % group.size, (at - step) % group.size
        group.exchange(at, to, bytes_[at, to], source, bytes_[source, at])


def linear(group: Group) -> None:
    """Post all receives, then all sends, then wait for all of them.

    Receives are posted in ring order upwards (r + 1, r + 2, ...) and sends downwards (r − 1,
    r − 2, ...), as in Open MPI's and SimGrid's basic linear algorithm. alltoallv does not send
    messages without bytes.
    """
    _windows(group, group.size)


def scattered(group: Group) -> None:
    """Exchange as `linear`, with `WINDOW` partners at a time: MPICH's choice for medium sizes."""
    _windows(group, WINDOW)


def _windows(group: Group, width: int) -> None:
    """Exchange with all ranks of a group, with `width` partners at a time."""
    at, bytes_ = group.positions, group.pair()
    empty_too = group.matrix is None
    for first_step in range(0, group.size, width):
        steps = range(max(first_step, 1), min(first_step + width, group.size))
        for step in steps:
            source = (at + step) % group.size
            partner = at[empty_too | (bytes_[source, at] > 0)]
            group.builder.ireceive(
                group.rank[partner], group.rank[source[partner]], bytes_[source[partner], partner]
            )
        for step in steps:
            to = (at - step) % group.size
            partner = at[empty_too | (bytes_[at, to] > 0)]
            group.builder.isend(
                group.rank[partner], group.rank[to[partner]], bytes_[partner, to[partner]]
            )
        group.builder.wait(group.rank)


def bruck(group: Group) -> None:
    """Store and forward in ceil(log2 p) rounds: the index algorithm of Bruck et al., 1997.

    In the round of mask m = 1, 2, 4, ... rank r sends to r + m all parts whose remaining distance,
    modulo p, has the bit m.
    """
    at = group.positions
    for mask in halvings(group.size):
        bytes_ = group.bytes * np.count_nonzero(at & mask)
        group.exchange(at, (at + mask) % group.size, bytes_, (at - mask) % group.size, bytes_)


ALLTOALL = {"bruck": bruck, "linear": linear, "pairwise": pairwise, "scattered": scattered}
ALLTOALLV = {"linear": linear, "pairwise": pairwise, "scattered": scattered}
