"""Programs of MPI-like ranks: computations, messages, waits and collective calls.

Loops are stored as loops: a benchmark of millions of messages is a few arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from routelab.api.blocks import ISEND, SEND, Block
from routelab.api.errors import InputError, PluginError
from routelab.api.topology import (
    Int32Array,
    Int64Array,
    Topology,
    frozen_array,
)

CollectiveName = Literal[
    "allgather", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "reduce"
]


@dataclass(frozen=True, eq=False)
class Collective:
    """A collective call of all ranks of a group.

    Attributes
    ----------
    name : str
    bytes : int
        Size of what a rank passes to the call. alltoall: for each peer. allgather: the rank's own
        part. allreduce, bcast, reduce: the whole vector. barrier, alltoallv: 0.
    root : int
        Index in each group of the rank at which a bcast starts or a reduce ends.
    matrix : int64 array, shape (P, P), optional
        Bytes from rank to rank of alltoallv.
    groups : tuple of int32 arrays
        Ranks of each communicator that makes the call; no rank is in two of them. Empty: one
        communicator of all ranks.
    algorithm : str
        Default algorithm, which a study may change; empty: the engine chooses.
    """

    name: CollectiveName
    bytes: int = 0
    root: int = 0
    matrix: Int64Array | None = None
    groups: tuple[Int32Array, ...] = ()
    algorithm: str = ""

    def members(self, ranks: int) -> tuple[Int32Array, ...]:
        """Return the groups in a program with that many ranks."""
        return self.groups or (np.arange(ranks, dtype=np.int32),)


@dataclass(frozen=True, eq=False)
class Loop:
    """Steps that all ranks repeat `times` times."""

    steps: tuple[Step, ...]
    times: int


Step: TypeAlias = Block | Collective | Loop


@dataclass(frozen=True, eq=False)
class PointToPoint:
    """Total messages from rank to rank: an entry for each pair of ranks that has messages.

    Attributes
    ----------
    source, target : int32 array, shape (K,)
        Ranks of each pair; ascending by source, then target.
    messages, bytes : int64 array, shape (K,)
        Number of messages of each pair, and the sum of their bytes.
    """

    source: Int32Array
    target: Int32Array
    messages: Int64Array
    bytes: Int64Array


@dataclass(frozen=True)
class Calls:
    """Calls of a collective with the same arguments.

    Attributes
    ----------
    name : str
    bytes : int
        `Collective.bytes`; for alltoallv, all bytes that all ranks send in one call.
    ranks : int
        Ranks in each group.
    calls : int
        Calls that each rank makes.
    """

    name: str
    bytes: int
    ranks: int
    calls: int


@dataclass(frozen=True, eq=False)
class Program:
    """Program of all ranks of a job.

    Attributes
    ----------
    ranks : int
    timed : tuple of Step
        Steps whose time is reported.
    convention : str
        Which ranks communicate, in words for reports: ``"by rank, the nearest in a grid of ranks;
        in both directions"``.
    before, after : tuple of Step
        Steps before and after the timed ones.
    operations : float
        Operations of the timed part as the benchmark counts them, for operations per second; 0
        if it has no count.
    """

    ranks: int
    timed: tuple[Step, ...]
    convention: str
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    operations: float = 0.0

    def __post_init__(self) -> None:
        for step, times in self.walk():
            if isinstance(step, Block) and step.ranks != self.ranks:
                raise PluginError(
                    f"program: a block has {step.ranks} ranks, the program {self.ranks}"
                )
            if times < 0:
                raise PluginError("program: a loop has a negative number of rounds")

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in order."""
        return (*self.before, *self.timed, *self.after)

    def walk(self) -> Iterator[tuple[Block | Collective, int]]:
        """Yield every block and collective of the program text, and its number of repetitions."""
        return _walk(self.steps, 1)

    def point_to_point(self) -> PointToPoint:
        """Return the messages between ranks, without collectives, with messages to oneself.

        Raises
        ------
        InputError
            If there are 2^63 messages or bytes or more.
        """
        # 1. The sends of each block: its pair as one number, source * ranks + target; how often it
        #    runs; and its bytes in all runs. The totals are floats, because integers of 64 bits
        #    would overflow without an error. The lists begin with an empty array, because NumPy
        #    cannot concatenate an empty list, which a program without blocks would leave.
        no_sends = np.zeros(0, dtype=np.int64)
        totals = {"messages": 0.0, "bytes": 0.0}
        send_pairs, send_runs, send_bytes = [no_sends], [no_sends], [no_sends]
        for step, times in self.walk():
            if isinstance(step, Block) and times:
                sends = (step.kind == SEND) | (step.kind == ISEND)
                source = step.rank_of()[sends].astype(np.int64)
                totals["messages"] += float(times) * len(source)
                totals["bytes"] += float(times) * float(step.amount[sends].sum())
                for name, value in totals.items():
                    if value >= 2.0**63:
                        raise InputError(
                            f"program: {value:.3g} {name} are too many to count; use fewer "
                            "iterations or smaller messages"
                        )
                send_pairs.append(source * self.ranks + step.peer[sends])
                send_runs.append(np.full(len(source), times))
                send_bytes.append(times * step.amount[sends].astype(np.int64))
        # 2. Add up the messages and bytes of each pair.
        pair, pair_index = np.unique(np.concatenate(send_pairs), return_inverse=True)
        messages, total_bytes = np.zeros((2, len(pair)), dtype=np.int64)
        np.add.at(messages, pair_index, np.concatenate(send_runs))
        np.add.at(total_bytes, pair_index, np.concatenate(send_bytes))
        return PointToPoint(
            source=frozen_array(pair // self.ranks, np.int32),
            target=frozen_array(pair % self.ranks, np.int32),
            messages=frozen_array(messages, np.int64),
            bytes=frozen_array(total_bytes, np.int64),
        )

    def calls(self) -> tuple[Calls, ...]:
        """Return the collective calls, counted by name, bytes and size of group."""
        counts: dict[tuple[str, int, int], int] = {}
        for step, times in self.walk():
            if isinstance(step, Collective):
                num_bytes = step.bytes if step.matrix is None else int(step.matrix.sum())
                # `Calls.calls` is per rank: a rank makes the call in its own group only, however
                # many groups of this size there are
                group_sizes = {len(group) for group in step.members(self.ranks)}
                for size in group_sizes:
                    key = step.name, num_bytes, size
                    counts[key] = counts.get(key, 0) + times
        return tuple(
            Calls(name, num_bytes, ranks=size, calls=count)
            for (name, num_bytes, size), count in sorted(counts.items())
            if count
        )


def _walk(steps: Iterable[Step], times: int) -> Iterator[tuple[Block | Collective, int]]:
    """Yield the blocks and collectives of steps that run `times` times, as `Program.walk`."""
    for step in steps:
        if isinstance(step, Loop):
            yield from _walk(step.steps, times * step.times)
        else:
            yield step, times


@dataclass(frozen=True, eq=False)
class Job:
    """A number of ranks and the terminals that they run on, for which a workload has a program.

    Attributes
    ----------
    ranks : int
    terminal : int32 array, shape (ranks,), optional
        Terminal that each rank runs on; None if unknown.
    topology : Topology, optional

    Examples
    --------
    >>> from routelab.api import Job
    >>> Job(4).ranks
    4
    """

    ranks: int
    terminal: Int32Array | None = None
    topology: Topology | None = None

    @classmethod
    def placed(cls, terminal: Sequence[int] | Int32Array, topology: Topology) -> Job:
        """Return a job whose ranks run on terminals of a network."""
        terminals = frozen_array(terminal, np.int32)
        return cls(len(terminals), terminals, topology)
