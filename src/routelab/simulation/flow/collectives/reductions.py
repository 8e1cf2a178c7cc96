"""allreduce and reduce. Only messages take time; the additions are not modelled.

Thakur, Rabenseifner and Gropp, *Optimization of Collective Communication Operations in MPICH*,
2005, section 4.5. If the number of ranks p is not a power of two, p' is the largest power of two
below it, and p − p' ranks send their vector to a neighbour, so that p' ranks take part. These have
*new ranks* 0 ... p' − 1.
"""

from __future__ import annotations

import numpy as np

from routelab.simulation.flow.collectives.group import Group, powers_of_two
from routelab.simulation.flow.collectives.halving import Halves


def recursive_doubling(group: Group) -> None:
    """Allreduce: exchange the whole vector with new rank r XOR 1, 2, 4, ..."""
    positions = _fold(group)
    new_rank = np.arange(len(positions))
    for mask in powers_of_two(len(positions)):
        partner = positions[new_rank ^ mask]
        group.exchange(
            at=positions, to=partner, sent=group.bytes, source=partner, received=group.bytes
        )
    _unfold(group)


def rabenseifner_allreduce(group: Group) -> None:
    """Allreduce: reduce-scatter by halving, then allgather by doubling."""
    halves = Halves.with_whole_vectors(group, _fold(group))
    halves.reduce_scatter()
    halves.allgather()
    _unfold(group)


def _fold(group: Group) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Let the first p − p' even ranks send their vector to the next rank.

    Of 6 ranks, 0 sends to 1 and 2 to 3; new ranks 0 ... 3 are at positions 1, 3, 4 and 5.

    Returns
    -------
    positions : int64 array, shape (p',)
        Position of each new rank.
    """
    extra = group.size - group.power_of_two
    even = 2 * np.arange(extra)
    group.message(even, even + 1, group.bytes)
    return np.concatenate((even + 1, np.arange(2 * extra, group.size)))


def _unfold(group: Group) -> None:
    """Let the even ranks of `_fold`, which do not take part, get the result from the next rank."""
    even = 2 * np.arange(group.size - group.power_of_two)
    group.message(even + 1, even, group.bytes)


def binomial_reduce(group: Group) -> None:
    """Reduce: up a binomial tree, the whole vector in each message."""
    relative = group.positions  # to the root, which has 0
    for mask in powers_of_two(group.size):
        # Those whose lowest bit is the mask: with 8 ranks 1, 3, 5 and 7, then 2 and 6, then 4.
        sender = relative[(relative & (2 * mask - 1)) == mask]
        group.message(
            (sender + group.root) % group.size,
            (sender - mask + group.root) % group.size,
            group.bytes,
        )


def rabenseifner_reduce(group: Group) -> None:
    """Reduce: reduce-scatter by halving, then gather to the root.

    The first p − p' odd ranks send their vector to the rank before and do not take part. A root
    among these gets the chunks of new rank 0 after the reduce-scatter, and replaces it in the
    gather.
    """
    extra, root = group.size - group.power_of_two, group.root
    odd = 2 * np.arange(extra) + 1
    group.message(odd, odd - 1, group.bytes)
    positions = np.concatenate((odd - 1, np.arange(2 * extra, group.size)))
    halves = Halves.with_whole_vectors(group, positions)
    halves.reduce_scatter()
    # The new rank of the root. Of the first 2 · extra ranks, the even ones take part; of the
    # others, all do.
    new_root = root // 2 if root < 2 * extra else root - extra
    takes_part = root >= 2 * extra or root % 2 == 0
    if not takes_part:
        chunk_bytes = halves.bytes_of_chunks(halves.low[:1], halves.high[:1])
        group.message([0], [root], chunk_bytes)
        halves.positions[0] = root
        new_root = 0
    halves.gather(new_root)


ALLREDUCE = {"rabenseifner": rabenseifner_allreduce, "recursive-doubling": recursive_doubling}
REDUCE = {"binomial": binomial_reduce, "rabenseifner": rabenseifner_reduce}
