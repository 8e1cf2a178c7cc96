"""Parts of workloads with regular patterns: ranks on a grid, rounds of messages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from routelab.api.blocks import Block
from routelab.api.errors import UnsupportedError
from routelab.api.parameters import Bytes, Parameters, parameter
from routelab.api.plugin import WorkloadPlugin
from routelab.api.topology import Int64Array
from routelab.api.workload import Job, Loop, Program
from routelab.toolkit.traffic.patterns import TerminalGrid
from routelab.toolkit.workloads.block_builder import BlockBuilder


class PatternParameters(Parameters):
    """Sizes and number of the messages, and meaning of the pattern.

    A direction is a permutation that `PatternWorkload.directions` returns, such as a shift in one
    dimension. With ``ways=two`` its inverse, the way back, is another direction.
    """

    size: Bytes = parameter(1 << 20, ge=0, le=1 << 40, description="Bytes of every message")
    iterations: int = parameter(1, ge=1, le=10**6, description="Number of timed rounds")
    by: Literal["rank", "coordinate"] = parameter(
        "rank",
        description="Numbering of the pattern: by rank, or by position of the switches on the "
        "grid, where the i-th rank of a switch sends to the i-th of another",
    )
    ways: Literal["one", "two"] = parameter(
        "one",
        description="Directions of a message; two: the receiver sends the same amount back, at the "
        "same time",
    )
    phases: Literal["together", "apart"] = parameter(
        "together",
        description="Whether a rank starts all messages of a round together, or the messages of "
        "one direction after those of the other",
    )


@dataclass(frozen=True, eq=False)
class RankGrid:
    """Ranks that fill a grid of switches, the same number at each.

    Attributes
    ----------
    dims : tuple of int
    coordinates : int64 array, shape (P, n)
        Coordinates of each rank's switch.
    slot : int64 array, shape (P,)
        Number of lower ranks on the same switch: 0, 1, 2 for ranks 4, 9, 12 if they share one.

    Examples
    --------
    >>> import numpy as np
    >>> import routelab
    >>> from routelab.api import Job
    >>> from routelab.toolkit import RankGrid
    >>> RankGrid.of(Job(16, np.arange(16), routelab.topology("torus~dims=4x4"))).dims
    (4, 4)
    """

    dims: tuple[int, ...]
    coordinates: Int64Array
    slot: Int64Array

    @classmethod
    def of(cls, job: Job) -> RankGrid:
        """Return the grid of the ranks of a job.

        Raises
        ------
        UnsupportedError
            If the placement of ranks is unknown, the network is not a whole grid, or the switches
            do not have the same number of ranks.
        """
        if job.topology is None or job.terminal is None:
            raise UnsupportedError(
                "by=coordinate needs the positions of the ranks; give a network (--topology)"
            )
        grid = TerminalGrid.of(job.topology)
        switch = job.topology.terminal_switch[job.terminal]
        ranks_on_switch = np.bincount(switch, minlength=job.topology.num_switches)
        if ranks_on_switch.min() != ranks_on_switch.max():
            raise UnsupportedError(
                "by=coordinate needs the same number of ranks at every switch, but there are "
                f"from {ranks_on_switch.min()} to {ranks_on_switch.max()}"
            )
        # Sorted by switch, ranks form groups of equal size; a stable sort keeps each ascending. So
        # slots repeat 0, 1, ... in this order. The divisor is 1 if the job has no ranks.
        by_switch = np.argsort(switch, kind="stable")
        slot = np.empty(job.ranks, dtype=np.int64)
        slot[by_switch] = np.arange(job.ranks) % max(int(ranks_on_switch[0]), 1)
        return cls(grid.dims, grid.coordinates[switch], slot)

    @property
    def number(self) -> Int64Array:
        """Number of each rank's switch: on a 4x2 grid, that at (0, 1) is 1, and (1, 0) is 2."""
        return self._number_at(self.coordinates)

    def _number_at(self, coordinates: Int64Array) -> Int64Array:
        """Return the number of the switch at ``coordinates[rank]``, for each rank."""
        return np.asarray(np.ravel_multi_index(tuple(coordinates.T), self.dims), dtype=np.int64)

    def at_numbers(self, number: Int64Array) -> Int64Array:
        """Return, for each rank, the rank that has the same slot on the switch ``number[rank]``."""
        num_slots = int(self.slot.max()) + 1
        # Positions are numbered switch by switch, and slot by slot on a switch.
        rank_at_position = np.empty(len(self.slot), dtype=np.int64)
        rank_at_position[self.number * num_slots + self.slot] = np.arange(len(self.slot))
        ranks: Int64Array = rank_at_position[number * num_slots + self.slot]
        return ranks

    def at_coordinates(self, coordinates: Int64Array) -> Int64Array:
        """Return, for each rank, the rank with the same slot at ``coordinates[rank]``."""
        return self.at_numbers(self._number_at(coordinates))


class PatternWorkload(WorkloadPlugin):
    """A workload in which every rank sends to the same ranks, round after round.

    Messages of a rank to itself are omitted. A subclass has `PatternParameters`.
    """

    Parameters = PatternParameters

    @abstractmethod
    def directions(self, job: Job) -> tuple[Sequence[Int64Array], str]:
        """Return permutations of the ranks, and the pattern's convention.

        Returns
        -------
        directions : sequence of int64 array, shape (P,)
            Each is a permutation, the target of every rank. With shifts in two dimensions there are
            two, and every rank sends two messages in a round.
        convention : str
            How the pattern defines targets, for reports.

        Raises
        ------
        UnsupportedError
            If the pattern is not defined for `job`; the text is the reason.
        """

    def supports(self, job: Job) -> str | None:
        """Return why the job does not suit the pattern, or None if it does.

        The pattern must be defined for it, and at least one rank must send.
        """
        try:
            directions, _ = self.directions(job)
        except UnsupportedError as reason:
            return str(reason)
        ranks = np.arange(job.ranks)
        if all(np.array_equal(targets, ranks) for targets in directions):
            return "every rank would send to itself"
        return None

    def program(self, job: Job) -> Program:
        """Return a loop of rounds.

        Raises
        ------
        UnsupportedError
            If the pattern is not defined for `job`.
        """
        directions, pattern = self.directions(job)
        if self.parameters.ways == "two":
            directions = [
                permutation for targets in directions for permutation in _with_inverse(targets)
            ]
        ways = {"one": "one way", "two": "both ways"}[self.parameters.ways]
        phases = {"together": "all together", "apart": "one direction after the other"}
        loop = Loop(steps=(self._round(job, directions),), times=self.parameters.iterations)
        return Program(
            ranks=job.ranks,
            timed=(loop,),
            convention=f"{pattern}; {ways}, {phases[self.parameters.phases]}; nothing to itself",
        )

    def _round(self, job: Job, directions: Sequence[Int64Array]) -> Block:
        """Return one round: every rank sends to its target in each direction."""
        builder, ranks = BlockBuilder(job.ranks), np.arange(job.ranks)
        size = self.parameters.size
        # a rank waits at the end of each phase, for all messages of the phase
        phases = (
            [[targets] for targets in directions]
            if self.parameters.phases == "apart"
            else [list(directions)]
        )
        for phase in phases:
            for targets in phase:
                sources = _inverse(targets)
                receivers = np.flatnonzero(sources != ranks)
                builder.ireceive(receivers, sources[receivers], size)
            for targets in phase:
                senders = np.flatnonzero(targets != ranks)
                builder.isend(senders, targets[senders], size)
            builder.wait(ranks)
        return builder.build()


def _inverse(targets: Int64Array) -> NDArray[np.int64]:
    """Return the sender to each rank: the inverse permutation."""
    sources = np.empty_like(targets)
    sources[targets] = np.arange(len(targets))
    return sources


def _with_inverse(targets: Int64Array) -> list[Int64Array]:
    """Return a permutation and its inverse; only one if they are equal, as for a transposition."""
    sources = _inverse(targets)
    return [targets] if np.array_equal(targets, sources) else [targets, sources]


class ShiftParameters(PatternParameters):
    """Parameters of a shift: those of every pattern, and the dimensions of the grid to shift in."""

    digits: Literal["all", "each", "longest"] = parameter(
        "all",
        description="By coordinates: one message with a shift in all dimensions, one for each "
        "dimension, or one in the longest dimension only",
    )


class ShiftWorkload(PatternWorkload):
    """A workload in which every rank sends to the rank at a distance, modulo the sizes."""

    Parameters = ShiftParameters

    @abstractmethod
    def distance(self, size: int) -> int:
        """Return the distance to shift by on a ring of `size` ranks, or of switches of the grid."""

    def directions(self, job: Job) -> tuple[list[Int64Array], str]:
        """Shift by rank on one ring of all ranks, or by coordinates on the rings of the grid."""
        if self.parameters.by == "rank":
            step = self.distance(job.ranks)
            targets = (np.arange(job.ranks) + step) % job.ranks
            return [targets], f"by rank: r to r + {step}, modulo {job.ranks}"
        grid = RankGrid.of(job)
        # A shift has a distance for each dimension, such as (2, 0) on a 4x3 grid. Every shift
        # becomes a permutation.
        distances = np.array([self.distance(size) for size in grid.dims])
        distances_text = "x".join(map(str, distances))
        if self.parameters.digits == "all":
            shifts = [distances]
            pattern = f"{distances_text} further in all dimensions together"
        elif self.parameters.digits == "longest":
            longest = int(np.argmax(grid.dims))
            shifts = [np.where(np.arange(len(distances)) == longest, distances, 0)]
            pattern = f"{distances[longest]} further in dimension {longest}, the longest"
        else:
            # distances 2, 0, 1: shifts (2, 0, 0) and (0, 0, 1)
            shifts = [row for row in np.diag(distances) if row.any()]
            pattern = f"{distances_text} further, a message for each dimension"
        dims = np.array(grid.dims)
        directions = [grid.at_coordinates((grid.coordinates + shift) % dims) for shift in shifts]
        return directions, f"by coordinates: {pattern}, modulo {'x'.join(map(str, grid.dims))}"
