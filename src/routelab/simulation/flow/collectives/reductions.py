"""allreduce and reduce. Only messages take time; the additions are not modelled."""

from __future__ import annotations

import numpy as np

from routelab.simulation.flow.collectives.group import Group, halvings
from routelab.simulation.flow.collectives.halving import Halves


def recursive_doubling(group: Group) -> None:
    """Allreduce: exchange the whole vector with r XOR 1, 2, 4, ...

    Thakur, Rabenseifner and Gropp, 2005, section 4.5. If the number of ranks is not a power of
    two, the first even ranks send their vector to the next rank before, and get the result after.
    """
    at = _fold(group)
    place = np.arange(len(at))
    for mask in halvings(len(at)):
        to = at[place ^ mask]
        group.exchange(at, to, group.bytes, to, group.bytes)
    _unfold(group)


def rabenseifner_allreduce(group: Group) -> None:
    """Allreduce: reduce-scatter by halving, then allgather by doubling; section 4.5."""
    halves = Halves.of(group, _fold(group))
    halves.scatter()
    halves.allgather()
    _unfold(group)


def _fold(group: Group) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Let the first even ranks send their vector; return the positions that take part."""
    extra = group.size - group.power
    even = 2 * np.arange(extra)
    group.message(even, even + 1, group.bytes)
    return np.concatenate((even + 1, np.arange(2 * extra, group.size)))


def _unfold(group: Group) -> None:
    even = 2 * np.arange(group.size - group.power)
    group.message(even + 1, even, group.bytes)


def binomial_reduce(group: Group) -> None:
    """Reduce: up a binomial tree, the whole vector in each message; section 4.5."""
    at = group.at
    for mask in halvings(group.size):
        sender = at[(at & (2 * mask - 1)) == mask]
        group.message(
            (sender + group.root) % group.size,
            (sender - mask + group.root) % group.size,
            group.bytes,
        )


def rabenseifner_reduce(group: Group) -> None:
    """Reduce: reduce-scatter by halving, then gather to the root; section 4.5.

    If the number of ranks is not a power of two, the first odd ranks send their vector to the one
    before. A root among these gets the first chunks from rank 0 and replaces it.
    """
    extra, root = group.size - group.power, group.root
    odd = 2 * np.arange(extra) + 1
    group.message(odd, odd - 1, group.bytes)
    halves = Halves.of(group, np.concatenate((odd - 1, np.arange(2 * extra, group.size))))
    halves.scatter()
    place = root // 2 if root < 2 * extra else root - extra
    if root < 2 * extra and root % 2:
        group.message([0], [root], halves.bytes(halves.low[:1], halves.high[:1]))
        halves.at = halves.at.copy()
        halves.at[0], place = root, 0
    halves.gather(place)


ALLREDUCE = {"rabenseifner": rabenseifner_allreduce, "recursive-doubling": recursive_doubling}
REDUCE = {"binomial": binomial_reduce, "rabenseifner": rabenseifner_reduce}
