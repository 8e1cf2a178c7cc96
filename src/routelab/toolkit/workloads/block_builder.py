"""Builder of blocks of a program from the operations of ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routelab.api.blocks import ALL, COMPUTE, IRECV, ISEND, RECV, SEND, WAIT, Block
from routelab.api.errors import PluginError


class BlockBuilder:
    """Builder of a block: methods append operations, in any order of ranks, and `build` sorts them.

    Every method appends one operation to each rank in `rank`, which is a number or an array. Its
    other arguments are numbers, the same for all these ranks, or arrays with one element for each.
    Operations of one rank stay in the order of the calls. `send([0, 2], [1, 3], 64)` lets rank 0
    send 64 bytes to rank 1, and rank 2 to rank 3.

    Parameters
    ----------
    ranks : int

    Examples
    --------
    >>> from routelab.toolkit import BlockBuilder
    >>> BlockBuilder(2).send(0, 1, 64).receive(1, 0, 64).build().peer.tolist()
    [1, 0]
    """

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        # the columns of each call: ranks, kind, peer, amount, tag
        self._calls: list[tuple[NDArray[np.int64], int, ArrayLike, ArrayLike, ArrayLike]] = []

    def compute(self, rank: ArrayLike, operations: ArrayLike) -> BlockBuilder:
        """Add a computation."""
        return self._add(rank, COMPUTE, peer=-1, amount=operations, tag=0)

    def send(
        self, rank: ArrayLike, to: ArrayLike, bytes_: ArrayLike, tag: ArrayLike = 0
    ) -> BlockBuilder:
        """Add a blocking send, which ends when the buffer may be reused."""
        return self._add(rank, SEND, peer=to, amount=bytes_, tag=tag)

    def isend(
        self, rank: ArrayLike, to: ArrayLike, bytes_: ArrayLike, tag: ArrayLike = 0
    ) -> BlockBuilder:
        """Add a send that returns a request."""
        return self._add(rank, ISEND, peer=to, amount=bytes_, tag=tag)

    def receive(
        self, rank: ArrayLike, source: ArrayLike, bytes_: ArrayLike, tag: ArrayLike = 0
    ) -> BlockBuilder:
        """Add a blocking receive."""
        return self._add(rank, RECV, peer=source, amount=bytes_, tag=tag)

    def ireceive(
        self, rank: ArrayLike, source: ArrayLike, bytes_: ArrayLike, tag: ArrayLike = 0
    ) -> BlockBuilder:
        """Add a receive that returns a request."""
        return self._add(rank, IRECV, peer=source, amount=bytes_, tag=tag)

    def wait(self, rank: ArrayLike, request: ArrayLike = ALL) -> BlockBuilder:
        """Add a wait for one request or for all; `request` is 0 for the oldest that is open."""
        return self._add(rank, WAIT, peer=request, amount=0, tag=0)

    def send_receive(
        self,
        rank: ArrayLike,
        to: ArrayLike,
        bytes_: ArrayLike,
        source: ArrayLike,
        received: ArrayLike | None = None,
        tag: ArrayLike = 0,
    ) -> BlockBuilder:
        """Add a simultaneous send and receive, as MPI_Sendrecv. It waits for all open requests.

        Parameters
        ----------
        received : int or array, optional
            Bytes received (default: as many as sent).
        """
        self.ireceive(rank, source, bytes_ if received is None else received, tag)
        self.isend(rank, to, bytes_, tag)
        return self.wait(rank)

    def _add(
        self, rank: ArrayLike, kind: int, *, peer: ArrayLike, amount: ArrayLike, tag: ArrayLike
    ) -> BlockBuilder:
        """Append an operation to each rank; refuse ranks that do not exist."""
        ranks = np.atleast_1d(np.asarray(rank, dtype=np.int64))
        if len(ranks) and not (ranks.min() >= 0 and ranks.max() < self._ranks):
            raise PluginError(f"block: ranks are 0 to {self._ranks - 1}")
        self._calls.append((ranks, kind, peer, amount, tag))
        return self

    def build(self) -> Block:
        """Return a block with the operations, sorted by rank.

        Raises
        ------
        PluginError
            If sends and receives do not match in number or bytes, a request is never waited for, or
            a peer or an amount is invalid.
        """
        # 1. One long array for each of the five columns of the calls. All are float64, because an
        #    amount may be a fraction; ranks, kinds and tags are exact in it.
        columns: list[list[NDArray[np.float64]]] = [[], [], [], [], []]
        for ranks, *operands in self._calls:
            for column, values in zip(columns, (ranks, *operands), strict=True):
                # a number is repeated for each rank of the call
                column.append(np.broadcast_to(np.asarray(values, np.float64), ranks.shape))
        rank, kind, peer, amount, tag = (
            np.concatenate(column) if column else np.zeros(0) for column in columns
        )
        # 2. Sort by rank. A stable sort keeps the order of the calls within a rank.
        order = np.argsort(rank, kind="stable")
        num_operations = np.bincount(rank.astype(np.int64), minlength=self._ranks)
        return Block.create(
            start=np.concatenate(([0], np.cumsum(num_operations))),
            kind=kind[order],
            peer=peer[order],
            amount=amount[order],
            tag=tag[order],
        )
