"""Result of a run of the flow engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from routelab.api import InputError, Topology
from routelab.api.blocks import COMPUTE, IRECV, ISEND, RECV, SEND, WAIT
from routelab.api.topology import Float64Array, Int64Array

if TYPE_CHECKING:
    from routelab.simulation.flow.schedule import Schedule

MAX_NAMED_RANKS = 5
"""Largest number of ranks in the message about a stuck program."""

_NAMES = {
    COMPUTE: "computing",
    SEND: "send to",
    ISEND: "send to",
    RECV: "receive from",
    IRECV: "receive from",
    WAIT: "wait for requests with",
}


class StuckError(InputError):
    """A program in which no rank can continue.

    Attributes
    ----------
    waiting : tuple of WaitingRank
        The ranks that have not ended.
    """

    def __init__(self, message: str, waiting: tuple[WaitingRank, ...]) -> None:
        super().__init__(message)
        self.waiting = waiting


@dataclass(frozen=True)
class WaitingRank:
    """A rank that cannot continue.

    Attributes
    ----------
    rank : int
    kind : int
        Kind of the operation, as in `routelab.api.blocks`.
    peers : tuple of int
        Ranks that it waits for, ascending.
    block : str
        Name of the block that the rank is in.
    tape_index : int
        Index of the block on the schedule's tape, from 0.
    operation : int
        Number of the rank's operation in the block, from 0.
    seconds : float
        Time of the rank, in seconds since the start of the program.
    """

    rank: int
    kind: int
    peers: tuple[int, ...]
    block: str
    tape_index: int
    operation: int
    seconds: float

    @override
    def __str__(self) -> str:
        peers = ", ".join(map(str, self.peers[:MAX_NAMED_RANKS])) + (
            ", …" if len(self.peers) > MAX_NAMED_RANKS else ""
        )
        return (
            f"rank {self.rank}: {_NAMES[self.kind]} {peers} (operation {self.operation} of block "
            f"{self.block!r}, place {self.tape_index} of the tape, at {self.seconds:g} s)"
        )


def stuck_error(waiting: tuple[WaitingRank, ...], ranks: int) -> StuckError:
    """Return the error about a program that cannot continue; it describes the first few ranks."""
    lines = [str(rank) for rank in waiting[:MAX_NAMED_RANKS]]
    if len(waiting) > MAX_NAMED_RANKS:
        lines.append(f"and {len(waiting) - MAX_NAMED_RANKS} more")
    head = (
        f"program: nothing can happen any more, {len(waiting)} of {ranks} ranks wait for each "
        "other; if blocking sends face each other, receive first on one side, send without "
        "blocking, or raise eager_bytes:"
    )
    return StuckError("\n    ".join([head, *lines]), waiting)


@dataclass(frozen=True, eq=False)
class PairBytes:
    """Bytes from terminals to other terminals, for pairs with at least one byte.

    Attributes
    ----------
    source, target : int64 array, shape (P,)
        Terminals, ascending by source and then by target.
    bytes : float64 array, shape (P,)
    """

    source: Int64Array
    target: Int64Array
    bytes: Float64Array

    @classmethod
    def summed(
        cls, source: Int64Array, target: Int64Array, amount: Float64Array, block: int = 1
    ) -> PairBytes:
        """Return the bytes of each pair: the sum over all entries with its source and target.

        Bytes inside one terminal do not count; those between two terminals of a block do, as bytes
        from the block to itself.

        Parameters
        ----------
        source, target : int64 array, shape (N,)
            Terminals; a pair may have several entries.
        amount : float64 array, shape (N,)
            Bytes.
        block : int
            Number of consecutive terminals whose bytes are added up. Each block is named by its
            first terminal: with 4, bytes from terminal 5 to 11 are those from 4 to 8.
        """
        is_counted = (source != target) & (amount > 0)
        block_pairs = np.stack((source[is_counted], target[is_counted]), axis=1) // block
        pairs, pair_number = np.unique(block_pairs, axis=0, return_inverse=True)
        sums = np.bincount(pair_number.ravel(), weights=amount[is_counted], minlength=len(pairs))
        return cls(pairs[:, 0] * block, pairs[:, 1] * block, sums.astype(np.float64))

    def in_blocks(self, block: int) -> PairBytes:
        """Return the bytes between blocks of consecutive terminals; see `summed`."""
        return PairBytes.summed(self.source, self.target, self.bytes, block)


@dataclass(frozen=True, eq=False)
class FlowRun:
    """Times and traffic of a program on a network.

    Bytes, messages and `seconds` are those of the timed part, with an extrapolation for rounds that
    were not simulated.

    Attributes
    ----------
    topology : Topology
    begin, end : float64 array, shape (ranks,)
        Times at which each rank enters the timed part, and leaves it.
    finish : float64 array, shape (ranks,)
        Time at which each rank ends the program.
    seconds : float
        The longest time that a rank spends in the timed part: max of ``end - begin``.
    messages, bytes : float
        Total, including those between ranks of one terminal.
    channel_bytes : float64 array, shape (C,)
    injected_bytes, ejected_bytes, memory_bytes : float64 array, shape (T,)
        Bytes from a terminal into the network, from the network, and between its ranks.
    pairs : PairBytes
        Bytes between terminals.
    channel_seconds : float64 array, shape (C,)
        Time that each channel takes for its bytes, at its bandwidth.
    rounds, total_rounds : int
        Simulated rounds, and all rounds, of the outermost timed loop.
    operations : float
        Operations of the timed part as the benchmark counts them; 0 if it has no count.
    time_steps, share_computations, computed_shares : int
        Amount of computation: different times of events, computations of max-min fair shares, and
        the bundles of messages whose shares they computed, in total.
    """

    topology: Topology
    begin: Float64Array
    end: Float64Array
    finish: Float64Array
    seconds: float
    messages: float
    bytes: float
    channel_bytes: Float64Array
    injected_bytes: Float64Array
    ejected_bytes: Float64Array
    memory_bytes: Float64Array
    pairs: PairBytes
    channel_seconds: Float64Array
    rounds: int
    total_rounds: int
    operations: float
    time_steps: int
    share_computations: int
    computed_shares: int

    @property
    def bottleneck(self) -> int:
        """The first channel that takes longest for its bytes; −1 if none has any."""
        if not self.channel_seconds.any():
            return -1
        return int(np.argmax(self.channel_seconds))

    @property
    def bottleneck_channel(self) -> str:
        """Name of the bottleneck; empty if no byte crosses a channel."""
        return self.topology.channel_name(self.bottleneck) if self.bottleneck >= 0 else ""

    @property
    def bottleneck_share(self) -> float:
        """Share of `seconds` in which the bottleneck sends; 1: only the bottleneck limits."""
        if self.bottleneck < 0 or self.seconds == 0:
            return 0.0
        return float(self.channel_seconds[self.bottleneck]) / self.seconds

    @property
    def mops(self) -> float:
        """Million operations per second of the timed part; 0 without a count."""
        return self.operations / self.seconds / 1e6 if self.seconds > 0 else 0.0


def num_steady_rounds(schedule: Schedule) -> int:
    """Return the number of last rounds that represent those that are not simulated.

    It is half of the simulated rounds, rounded down, but at least one if there is any: in the first
    half, ranks may still run apart.
    """
    return max(schedule.rounds // 2, min(schedule.rounds, 1))
