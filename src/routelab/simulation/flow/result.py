"""What a run of the flow engine found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from routelab.api import InputError, Topology
from routelab.api.blocks import COMPUTE, IRECV, ISEND, RECV, SEND, WAIT
from routelab.api.topology import Float64Array

if TYPE_CHECKING:
    from routelab.simulation.flow.schedule import Schedule

SHOWN = 5
"""Most ranks that a message about a program that is stuck names."""

_NAMES = {
    COMPUTE: "computing",
    SEND: "send to",
    ISEND: "send to",
    RECV: "receive from",
    IRECV: "receive from",
    WAIT: "wait for requests with",
}


class StuckError(InputError):
    """A program in which nothing can happen any more.

    Attributes
    ----------
    waiting : tuple of Waiting
        The ranks that have not come to their end.
    """

    def __init__(self, message: str, waiting: tuple[Waiting, ...]) -> None:
        super().__init__(message)
        self.waiting = waiting


@dataclass(frozen=True)
class Waiting:
    """A rank that cannot go on.

    Attributes
    ----------
    rank : int
    kind : int
        Of the operation, as in `routelab.api.blocks`.
    peers : tuple of int
        Ranks whose part is missing, ascending.
    block : str
        Name of the block that it is in.
    place : int
        Of the block on the tape.
    operation : int
        Which of the rank's operations in the block, from 0.
    seconds : float
        Its time.
    """

    rank: int
    kind: int
    peers: tuple[int, ...]
    block: str
    place: int
    operation: int
    seconds: float

    def __str__(self) -> str:
        peers = ", ".join(map(str, self.peers[:SHOWN])) + (", …" if len(self.peers) > SHOWN else "")
        return (
            f"rank {self.rank}: {_NAMES[self.kind]} {peers} (operation {self.operation} of block "
            f"{self.block!r}, place {self.place} of the tape, at {self.seconds:g} s)"
        )


def stuck(waiting: tuple[Waiting, ...], ranks: int) -> StuckError:
    """What to say of a program that cannot go on."""
    shown = [str(one) for one in waiting[:SHOWN]]
    if len(waiting) > SHOWN:
        shown.append(f"and {len(waiting) - SHOWN} more")
    head = (
        f"program: nothing can happen any more, {len(waiting)} of {ranks} ranks wait for each "
        "other; if blocking sends face each other, receive first on one side, send without "
        "blocking, or raise eager_bytes:"
    )
    return StuckError("\n    ".join([head, *shown]), waiting)


@dataclass(frozen=True)
class Work:
    """How much was computed, whatever machine it ran on.

    Attributes
    ----------
    moments : int
        Different times at which anything happened.
    sharings : int
        Computations of shares.
    shared : int
        Bundles of messages in them, added up.
    """

    moments: int
    sharings: int
    shared: int


@dataclass(frozen=True, eq=False)
class FlowRun:
    """When a program ends on a network, and what it sent.

    Bytes, messages and `seconds` are those of the timed part, with what rounds that were not
    simulated would add.

    Attributes
    ----------
    topology : Topology
    begin, end : float64 array, shape (ranks,)
        When each rank comes to the timed part, and leaves it.
    finish : float64 array, shape (ranks,)
        When each rank is through with the program.
    seconds : float
        The longest time that a rank spends in the timed part: max of ``end - begin``.
    messages, bytes : float
        All, those between ranks of one terminal included.
    channel_bytes : float64 array, shape (C,)
    injected_bytes, ejected_bytes, memory_bytes : float64 array, shape (T,)
        Through a terminal's way into the network, its way out, and between its own ranks.
    channel_seconds : float64 array, shape (C,)
        That each channel takes for its bytes, at its bandwidth.
    rounds, rounds_of : int
        Rounds of the outermost timed loop that were simulated, and that there are.
    operations : float
        Of the timed part, in the benchmark's own count; 0 if it has none.
    work : Work
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
    channel_seconds: Float64Array
    rounds: int
    rounds_of: int
    operations: float
    work: Work

    @property
    def bottleneck(self) -> int:
        """The channel that takes longest for its bytes, the first of several; −1: none has any."""
        if not self.channel_seconds.any():
            return -1
        return int(np.argmax(self.channel_seconds))

    @property
    def bottleneck_channel(self) -> str:
        """Its name; empty if no byte crosses a channel."""
        return self.topology.channel_name(self.bottleneck) if self.bottleneck >= 0 else ""

    @property
    def bottleneck_share(self) -> float:
        """Part of `seconds` that the bottleneck has to send for; 1: nothing else counts."""
        if self.bottleneck < 0 or self.seconds == 0:
            return 0.0
        return float(self.channel_seconds[self.bottleneck]) / self.seconds

    @property
    def mops(self) -> float:
        """Million operations per second of the timed part; 0 if there is no count of them."""
        return self.operations / self.seconds / 1e6 if self.seconds > 0 else 0.0


def extrapolated(at: Float64Array, rounds: int, of: int, half: int) -> float:
    """What rounds that were not simulated add to the time of every rank, in seconds.

    Rounds take all ranks equally long, once they wait for each other; the mean over ranks is that
    before they have come so far.

    Parameters
    ----------
    at : float64 array, shape (2, ranks)
        When ranks came to the last `half` simulated rounds, and through them.
    """
    return float((at[1] - at[0]).mean()) * (of - rounds) / half


def last_half(schedule: Schedule) -> int:
    """How many rounds, from the last, stand for those that are not simulated."""
    return max(schedule.rounds // 2, min(schedule.rounds, 1))
