"""Blocks of a program: the operations of all ranks in arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routelab.api.errors import PluginError
from routelab.api.topology import Float64Array, Int8Array, Int32Array, Int64Array, frozen_array

COMPUTE, SEND, ISEND, RECV, IRECV, WAIT = range(6)
"""Kinds of operation. WAIT waits for the request that `peer` counts among the rank's open ones,
the oldest first; for all of them if it is `ALL`."""

ALL = -1


@dataclass(frozen=True, eq=False)
class Block:
    """Operations of all ranks, rank by rank.

    Attributes
    ----------
    start : int64 array, shape (P + 1,)
        Operations ``start[r]:start[r + 1]`` are rank r's.
    kind : int8 array, shape (K,)
        COMPUTE, SEND, ISEND, RECV, IRECV or WAIT.
    peer : int32 array, shape (K,)
        The other rank; the request for WAIT; −1 for COMPUTE.
    amount : float64 array, shape (K,)
        Bytes of a message; operations for COMPUTE; 0 for WAIT.
    tag : int32 array, shape (K,)
        The k-th send from one rank to another with a tag matches the k-th receive with it.
    receive_of : int64 array, shape (K,)
        Index of the receive that matches a send; −1 for other operations.
    """

    start: Int64Array
    kind: Int8Array
    peer: Int32Array
    amount: Float64Array
    tag: Int32Array
    receive_of: Int64Array = field(repr=False)

    @classmethod
    def create(
        cls,
        *,
        start: ArrayLike,
        kind: ArrayLike,
        peer: ArrayLike,
        amount: ArrayLike,
        tag: ArrayLike,
    ) -> Block:
        """Build a block and check it.

        Raises
        ------
        PluginError
            If arrays do not fit, a peer is not a rank, or an amount is negative; if sends and
            receives do not match in number or bytes, or a request is never waited for.
        """
        first = frozen_array(start, np.int64)
        kinds = frozen_array(kind, np.int8)
        peers = frozen_array(peer, np.int32)
        amounts = frozen_array(amount, np.float64)
        tags = frozen_array(tag, np.int32)
        _check_arrays(first, kinds, peers, amounts, tags)
        ranks = np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))
        match = _matches(ranks, kinds, peers, amounts, tags)
        _check_requests(first, kinds, peers)
        return cls(first, kinds, peers, amounts, tags, frozen_array(match, np.int64))

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.start) - 1

    def rank_of(self) -> Int32Array:
        """Rank of each operation; int32, shape (K,)."""
        return np.repeat(np.arange(self.ranks, dtype=np.int32), np.diff(self.start))


def _check_arrays(
    start: Int64Array, kind: Int8Array, peer: Int32Array, amount: Float64Array, tag: Int32Array
) -> None:
    """Refuse arrays of wrong length or range."""
    ranks = len(start) - 1
    if ranks < 1 or start[0] != 0 or start[-1] != len(kind) or (np.diff(start) < 0).any():
        raise PluginError("block: start must rise from 0 to the number of operations")
    if not len(kind) == len(peer) == len(amount) == len(tag):
        raise PluginError("block: kind, peer, amount and tag differ in length")
    if not np.isin(kind, range(6)).all():
        raise PluginError("block: kind holds a value that is not a kind of operation")
    if not np.isfinite(amount).all() or (amount < 0).any():
        raise PluginError("block: amount holds a negative number")
    talks = (kind >= SEND) & (kind <= IRECV)
    if not ((peer[talks] >= 0) & (peer[talks] < ranks)).all():
        raise PluginError("block: peer names a rank that does not exist")


def _matches(
    rank: Int32Array, kind: Int8Array, peer: Int32Array, amount: Float64Array, tag: Int32Array
) -> NDArray[np.int64]:
    """Return the receive that matches each send."""
    sends = np.flatnonzero((kind == SEND) | (kind == ISEND))
    receives = np.flatnonzero((kind == RECV) | (kind == IRECV))
    # in the order of source, destination, tag, and then as the program has them
    sends = sends[np.lexsort((sends, tag[sends], peer[sends], rank[sends]))]
    receives = receives[np.lexsort((receives, tag[receives], rank[receives], peer[receives]))]
    same = len(sends) == len(receives) and (
        (rank[sends] == peer[receives]).all()
        and (peer[sends] == rank[receives]).all()
        and (tag[sends] == tag[receives]).all()
    )
    if not same:
        raise PluginError("block: " + _describe_mismatch(rank, kind, peer, tag))
    differ = np.flatnonzero(amount[sends] != amount[receives])
    if len(differ):
        send, receive = sends[differ[0]], receives[differ[0]]
        raise PluginError(
            f"block: rank {rank[send]} sends {amount[send]:g} bytes to rank {peer[send]}, "
            f"which receives {amount[receive]:g}"
        )
    match = np.full(len(kind), -1, dtype=np.int64)
    match[sends] = receives
    return match


def _describe_mismatch(rank: Int32Array, kind: Int8Array, peer: Int32Array, tag: Int32Array) -> str:
    """Describe the first pair of ranks whose sends and receives differ in number."""
    balance: dict[tuple[int, int, int], int] = {}
    calls = zip(rank.tolist(), peer.tolist(), tag.tolist(), kind.tolist(), strict=True)
    for caller, other, mark, call in calls:
        if call in (SEND, ISEND):
            balance[caller, other, mark] = balance.get((caller, other, mark), 0) + 1
        elif call in (RECV, IRECV):
            balance[other, caller, mark] = balance.get((other, caller, mark), 0) - 1
    source, target, mark = min(key for key, count in balance.items() if count)
    count = balance[source, target, mark]
    more, fewer = ("sends", "receives") if count > 0 else ("receives", "sends")
    return (
        f"from rank {source} to rank {target} with tag {mark} there are {abs(count)} more {more} "
        f"than {fewer}"
    )


def _check_requests(start: Int64Array, kind: Int8Array, peer: Int32Array) -> None:
    """Refuse waits for requests that are not open, and requests without a wait."""
    asks = (kind == ISEND) | (kind == IRECV)
    if not asks.any() and not (kind == WAIT).any():
        return
    for rank in range(len(start) - 1):
        part = slice(start[rank], start[rank + 1])
        open_ = 0
        # `peer` of a wait is the number of the request
        for call, request in zip(kind[part].tolist(), peer[part].tolist(), strict=True):
            if call in (ISEND, IRECV):
                open_ += 1
            elif call == WAIT and request == ALL:
                open_ = 0
            elif call == WAIT:
                if not 0 <= request < open_:
                    raise PluginError(
                        f"block: rank {rank} waits for request {request} of {open_} open ones"
                    )
                open_ -= 1
        if open_:
            raise PluginError(f"block: rank {rank} never waits for {open_} of its requests")
