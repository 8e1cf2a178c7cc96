"""Parts of workloads with regular patterns: ranks on a grid, rounds of messages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from routelab.api.errors import UnsupportedError
from routelab.api.parameters import Bytes, Parameters, parameter
from routelab.api.plugin import WorkloadPlugin
from routelab.api.topology import Int64Array
from routelab.api.workload import Job, Loop, Program
from routelab.toolkit.traffic.patterns import TerminalGrid
from routelab.toolkit.workloads.block_builder import BlockBuilder


class PatternParameters(Parameters):
    """Sizes and number of the messages, and meaning of the pattern."""

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
    place : int64 array, shape (P, n)
        Coordinates of each rank's switch.
    slot : int64 array, shape (P,)
        Number of lower ranks on the same switch.

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
    place: Int64Array
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
        counts = np.bincount(switch, minlength=job.topology.num_switches)
        if counts.min() != counts.max():
            raise UnsupportedError(
                "by=coordinate needs the same number of ranks at every switch, but there are "
                f"from {counts.min()} to {counts.max()}"
            )
        order = np.argsort(switch, kind="stable")
        slot = np.empty(job.ranks, dtype=np.int64)
        slot[order] = np.arange(job.ranks) % max(int(counts[0]), 1)
        return cls(grid.dims, grid.coordinates[switch], slot)

    @property
    def number(self) -> Int64Array:
        """Number of each rank's switch, the last coordinate fastest."""
        return self._number(self.place)

    def _number(self, place: Int64Array) -> Int64Array:
        return np.asarray(np.ravel_multi_index(tuple(place.T), self.dims), dtype=np.int64)

    def at_numbers(self, number: Int64Array) -> Int64Array:
        """Return the rank with the same slot at each switch number; int64, shape (P,)."""
        per_switch = int(self.slot.max()) + 1
        rank_at = np.empty(len(self.slot), dtype=np.int64)
        rank_at[self.number * per_switch + self.slot] = np.arange(len(self.slot))
        ranks: Int64Array = rank_at[number * per_switch + self.slot]
        return ranks

    def at_places(self, place: Int64Array) -> Int64Array:
        """Return the rank with the same slot at the given coordinates; int64, shape (P,)."""
        return self.at_numbers(self._number(place))


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
        targets : sequence of int64 array, shape (P,)
            Target of each rank, in each direction.
        convention : str

        Raises
        ------
        UnsupportedError
            If the pattern is not defined for `job`; the text is the reason.
        """

    def supports(self, job: Job) -> str | None:
        """Return why the pattern is not defined or all ranks would be silent, or None."""
        try:
            directions, _ = self.directions(job)
        except UnsupportedError as reason:
            return str(reason)
        at = np.arange(job.ranks)
        if all(np.array_equal(targets, at) for targets in directions):
            return "every rank would send to itself"
        return None

    def program(self, job: Job) -> Program:
        """Return a loop of rounds.

        Raises
        ------
        UnsupportedError
            As `directions`.
        """
        directions, words = self.directions(job)
        if self.parameters.ways == "two":
            directions = [way for targets in directions for way in _both_ways(targets)]
        rounds = self._round(job, directions)
        ways = {"one": "one way", "two": "both ways"}[self.parameters.ways]
        phases = {"together": "all together", "apart": "one direction after the other"}
        return Program(
            job.ranks,
            (Loop((rounds.build(),), self.parameters.iterations),),
            convention=f"{words}; {ways}, {phases[self.parameters.phases]}; nothing to itself",
        )

    def _round(self, job: Job, directions: Sequence[Int64Array]) -> BlockBuilder:
        """Return one repetition: every rank sends to its target in each direction."""
        builder, at = BlockBuilder(job.ranks), np.arange(job.ranks)
        size, apart = self.parameters.size, self.parameters.phases == "apart"
        groups = [[direction] for direction in directions] if apart else [list(directions)]
        for group in groups:
            for targets in group:
                sources = _back(targets)
                receives = np.flatnonzero(sources != at)
                builder.ireceive(receives, sources[receives], size)
            for targets in group:
                sends = np.flatnonzero(targets != at)
                builder.isend(sends, targets[sends], size)
            builder.wait(at)
        return builder


def _back(targets: Int64Array) -> NDArray[np.int64]:
    """Return the sender to each rank: the inverse permutation."""
    back = np.empty_like(targets)
    back[targets] = np.arange(len(targets))
    return back


def _both_ways(targets: Int64Array) -> list[Int64Array]:
    """Return the direction and its inverse; only one if they are equal."""
    back = _back(targets)
    return [targets] if np.array_equal(targets, back) else [targets, back]


class ShiftParameters(PatternParameters):
    """Parameters of a shift."""

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
        """Return the distance on a ring of `size`."""

    def directions(self, job: Job) -> tuple[list[Int64Array], str]:
        """Shift by rank on one ring of all ranks, by coordinates on the rings of the grid."""
        if self.parameters.by == "rank":
            step = self.distance(job.ranks)
            targets = (np.arange(job.ranks) + step) % job.ranks
            return [targets], f"by rank: r to r + {step}, modulo {job.ranks}"
        grid = RankGrid.of(job)
        steps = np.array([self.distance(size) for size in grid.dims])
        steps_text = "x".join(map(str, steps))
        if self.parameters.digits == "all":
            parts, words = [steps], f"{steps_text} further in all dimensions together"
        elif self.parameters.digits == "longest":
            longest = int(np.argmax(grid.dims))
            parts = [np.where(np.arange(len(steps)) == longest, steps, 0)]
            words = f"{steps[longest]} further in dimension {longest}, the longest"
        else:
            parts = [row for row in np.diag(steps) if row.any()]
            words = f"{steps_text} further, a message for each dimension"
        dims = np.array(grid.dims)
        moved = [grid.at_places((grid.place + part) % dims) for part in parts]
        return moved, f"by coordinates: {words}, modulo {'x'.join(map(str, grid.dims))}"
