"""Blocks of a program: the operations of all ranks in arrays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routelab.api.errors import PluginError
from routelab.api.topology import Float64Array, Int8Array, Int32Array, Int64Array, frozen_array

COMPUTE, SEND, ISEND, RECV, IRECV, WAIT = range(6)
"""Kinds of operation. ISEND and IRECV open a request. WAIT waits until one is done and closes it:
`peer` is its index among the rank's open requests, 0 for the oldest, or `ALL` for all of them."""

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
        For a message, the other rank. For WAIT, index of the request among the rank's open ones, or
        `ALL`. −1 for COMPUTE.
    amount : float64 array, shape (K,)
        Bytes of a message; number of arithmetic operations for COMPUTE; 0 for WAIT.
    tag : int32 array, shape (K,)
        Tag of a message, as in MPI. Of the messages from rank a to rank b with equal tags, the
        first receive at b gets the first that a sends, the second receive the second, and so on.
    receive_of : int64 array, shape (K,)
        For a send, index of the operation that receives it; −1 for other operations.
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
        starts = frozen_array(start, np.int64)
        kinds = frozen_array(kind, np.int8)
        peers = frozen_array(peer, np.int32)
        amounts = frozen_array(amount, np.float64)
        tags = frozen_array(tag, np.int32)
        _check_arrays(start=starts, kind=kinds, peer=peers, amount=amounts, tag=tags)
        ranks = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        receive_of = _match_receives(rank=ranks, kind=kinds, peer=peers, amount=amounts, tag=tags)
        _check_requests(starts, kinds, peers)
        return cls(
            start=starts,
            kind=kinds,
            peer=peers,
            amount=amounts,
            tag=tags,
            receive_of=frozen_array(receive_of, np.int64),
        )

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.start) - 1

    def rank_of(self) -> Int32Array:
        """Return the rank of each operation; int32, shape (K,)."""
        return np.repeat(np.arange(self.ranks, dtype=np.int32), np.diff(self.start))


def _check_arrays(
    *, start: Int64Array, kind: Int8Array, peer: Int32Array, amount: Float64Array, tag: Int32Array
) -> None:
    """Refuse arrays of wrong length or range."""
    num_ranks = len(start) - 1
    if num_ranks < 1 or start[0] != 0 or start[-1] != len(kind) or (np.diff(start) < 0).any():
        raise PluginError("block: start must rise from 0 to the number of operations")
    if not len(kind) == len(peer) == len(amount) == len(tag):
        raise PluginError("block: kind, peer, amount and tag differ in length")
    if not np.isin(kind, (COMPUTE, SEND, ISEND, RECV, IRECV, WAIT)).all():
        raise PluginError("block: kind holds a value that is not a kind of operation")
    if not np.isfinite(amount).all() or (amount < 0).any():
        raise PluginError("block: amount holds a negative number")
    is_message = (kind >= SEND) & (kind <= IRECV)  # SEND, ISEND, RECV or IRECV
    if not ((peer[is_message] >= 0) & (peer[is_message] < num_ranks)).all():
        raise PluginError("block: peer names a rank that does not exist")


def _match_receives(
    *, rank: Int32Array, kind: Int8Array, peer: Int32Array, amount: Float64Array, tag: Int32Array
) -> NDArray[np.int64]:
    """Return the index of the receive that matches each send; int64, shape (K,), −1 for others.

    Refuse sends and receives that differ in number or bytes.
    """
    sends = np.flatnonzero((kind == SEND) | (kind == ISEND))
    receives = np.flatnonzero((kind == RECV) | (kind == IRECV))
    # Sort both by source, destination, tag, and then as the program has them (the last key of
    # lexsort is the first to sort by). Then the k-th send matches the k-th receive.
    sends = sends[np.lexsort((sends, tag[sends], peer[sends], rank[sends]))]
    receives = receives[np.lexsort((receives, tag[receives], rank[receives], peer[receives]))]
    all_match = len(sends) == len(receives) and (
        (rank[sends] == peer[receives]).all()
        and (peer[sends] == rank[receives]).all()
        and (tag[sends] == tag[receives]).all()
    )
    if not all_match:
        mismatch = _describe_mismatch(rank=rank, kind=kind, peer=peer, tag=tag)
        raise PluginError(f"block: {mismatch}")
    unequal = np.flatnonzero(amount[sends] != amount[receives])
    if len(unequal):
        send, receive = sends[unequal[0]], receives[unequal[0]]
        raise PluginError(
            f"block: rank {rank[send]} sends {amount[send]:g} bytes to rank {peer[send]}, "
            f"which receives {amount[receive]:g}"
        )
    receive_of = np.full(len(kind), -1, dtype=np.int64)
    receive_of[sends] = receives
    return receive_of


def _describe_mismatch(
    *, rank: Int32Array, kind: Int8Array, peer: Int32Array, tag: Int32Array
) -> str:
    """Describe the first source, destination and tag whose sends and receives differ in number."""
    # number of sends minus number of receives, by (source, destination, tag)
    surplus: Counter[tuple[int, int, int]] = Counter()
    operations = zip(rank.tolist(), peer.tolist(), tag.tolist(), kind.tolist(), strict=True)
    for own_rank, peer_rank, message_tag, operation in operations:
        if operation in (SEND, ISEND):
            surplus[own_rank, peer_rank, message_tag] += 1
        elif operation in (RECV, IRECV):
            surplus[peer_rank, own_rank, message_tag] -= 1
    source, target, message_tag = min(key for key, count in surplus.items() if count)
    count = surplus[source, target, message_tag]
    more, fewer = ("sends", "receives") if count > 0 else ("receives", "sends")
    return (
        f"from rank {source} to rank {target} with tag {message_tag} there are {abs(count)} more "
        f"{more} than {fewer}"
    )


def _check_requests(start: Int64Array, kind: Int8Array, peer: Int32Array) -> None:
    """Refuse waits for requests that are not open, and requests without a wait."""
    opens_request = (kind == ISEND) | (kind == IRECV)
    if not opens_request.any() and not (kind == WAIT).any():
        return
    for rank in range(len(start) - 1):
        rank_slice = slice(start[rank], start[rank + 1])
        # The number of open requests is enough to check a wait: with n open requests, the index
        # of a WAIT may be 0 to n - 1, whichever operations opened them.
        num_open = 0
        operations = zip(kind[rank_slice].tolist(), peer[rank_slice].tolist(), strict=True)
        for operation, request in operations:
            if operation in (ISEND, IRECV):
                num_open += 1
            elif operation == WAIT and request == ALL:
                num_open = 0
            elif operation == WAIT:
                if not 0 <= request < num_open:
                    raise PluginError(
                        f"block: rank {rank} waits for request {request} of {num_open} open ones"
                    )
                num_open -= 1
        if num_open:
            raise PluginError(f"block: rank {rank} never waits for {num_open} of its requests")
