"""Check every index that the functions of hop-by-hop programs use, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import numpy as np

from routelab.api import HopProgram, Topology
from routelab.kernels import hops as abi
from routelab.kernels.distances import hop_distances
from routelab.kernels.hops import CREDITS, FRONT_FLITS, PHASE
from routelab.testing.plain_python import plain_python
from routelab.testing.walks import FREE, PACKET, Candidate, Walker

MAX_PAIRS = 400
"""Largest number of pairs whose packets are followed."""
MAX_CALLS = 4000
"""Number of calls of `hop` after which no further walk begins."""

_READABLE_COLUMNS = {
    abi.SOURCE,
    abi.TARGET,
    abi.DESTINATION,
    abi.WAYPOINT,
    abi.PHASE,
    abi.HOPS,
    *range(abi.STATE, abi.STATE + abi.STATES),
}
_CLASS_HELPERS = (abi.class_flits, abi.class_packets)
_CHANNEL_HELPERS = (abi.channel_flits, abi.channel_packets)
_WAITING_HELPERS = (abi.waiting_flits, abi.waiting_packets)
_HELPERS_ONLY = "read queues only with class_flits and the other helpers"
_TERMINAL_COLUMNS = {abi.SOURCE_TERMINAL: "SOURCE_TERMINAL", abi.TARGET_TERMINAL: "TARGET_TERMINAL"}


class BoundsError(Exception):
    """A function uses an index that does not exist, or data that it may not use."""


class BoundsArray(np.ndarray):
    """An array that refuses negative and too large indices, and forbidden ones.

    −1 would mean the last item, and with an index too large compiled code would access other
    memory.

    Attributes
    ----------
    label : str
        Name of the array in messages.
    forbidden : mapping
        For each index of the last axis that may not be used, the reason. In the rows of packets
        these are columns such as those of the engine; a row that is read, ``packets[0]``, forbids
        them, too.
    """

    label: str = ""
    forbidden: Mapping[int, str] = MappingProxyType({})

    def __array_finalize__(self, parent: Any) -> None:
        """Take the label of the array that NumPy makes this one from; NumPy calls this."""
        self.label = getattr(parent, "label", "")
        self.forbidden = MappingProxyType({})

    def __getitem__(self, key: Any) -> Any:
        """Return a Python number, or an array that checks its indices as well."""
        self._require_valid_indices(key)
        value = super().__getitem__(key)
        if not isinstance(value, BoundsArray):
            return value.item()
        value.label = f"{self.label}[{_key_text(key)}]"
        # A row still ends with the axis whose indices are forbidden. A slice may begin elsewhere.
        if isinstance(key, (int, np.integer)):
            value.forbidden = self.forbidden
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        """Refuse integers that do not fit into 32 bits, which compiled code would truncate."""
        self._require_valid_indices(key)
        if np.ndim(value) == 0 and self.dtype == np.int32:
            limits = np.iinfo(np.int32)
            if not limits.min <= int(value) <= limits.max:
                raise BoundsError(
                    f"{self.label}[{_key_text(key)}] = {int(value)}: it does not fit into 32 bits"
                )
            value = int(value)
        super().__setitem__(key, value)

    def _require_valid_indices(self, key: Any) -> None:
        """Raise BoundsError for an index that is outside the array or forbidden."""
        indices = key if isinstance(key, tuple) else (key,)
        for axis, index in enumerate(indices):
            # Slices cannot leave an array. NumPy itself refuses more indices than axes.
            if not isinstance(index, (int, np.integer)) or axis >= self.ndim:
                continue
            if not 0 <= index < self.shape[axis]:
                size = self.shape[axis]
                valid = f"0..{size - 1}" if size else "an empty axis"
                raise BoundsError(
                    f"{self.label}[{_key_text(key)}]: index {index} is outside {valid}"
                )
            # `forbidden` has indices of the last axis: the columns, if the array has rows
            if axis == self.ndim - 1 and int(index) in self.forbidden:
                raise BoundsError(f"{self.label}[{_key_text(key)}]: {self.forbidden[int(index)]}")


def _key_text(key: Any) -> str:
    """Return an index as it stands in messages: ``(3, slice(2))`` is ``3, ...``."""
    indices = key if isinstance(key, tuple) else (key,)
    return ", ".join(
        str(int(index)) if isinstance(index, (int, np.integer)) else "..." for index in indices
    )


def _as_bounds_array(
    array: Any, label: str, forbidden: Mapping[int, str] | None = None
) -> BoundsArray:
    labelled: BoundsArray = array.view(BoundsArray)
    labelled.label, labelled.forbidden = label, forbidden or {}
    return labelled


class BoundsWalker(Walker):
    """Packets that take random candidates, with every index of hop and inject checked.

    Parameters
    ----------
    program : HopProgram
    topology : Topology
    seed : int
        Seed of the pairs, queues, random bits and candidates.
    """

    def __init__(self, program: HopProgram, topology: Topology, seed: int = 0) -> None:
        super().__init__(program, topology, seed)
        self._calls = 0  # of hop
        helpers = self._checked_helpers()
        self._hop = plain_python(program.hop, helpers)
        self._inject: Any = plain_python(program.inject, helpers) if program.inject else None
        # The arrays as both functions get them, with the indices that they must not use.
        self._arguments = {
            "tables": _as_bounds_array(self.tables, "tables", self._forbidden_table_indices()),
            "reals": _as_bounds_array(self.reals, "reals"),
            "packets": _as_bounds_array(self._packets, "packets", _forbidden_columns(program)),
            "queues": _as_bounds_array(
                self.queues, "queues", dict.fromkeys(range(abi.QUEUE_COLUMNS), _HELPERS_ONLY)
            ),
            "out": _as_bounds_array(self._candidates, "out"),
        }

    def explore(self) -> int:
        """Send packets between switches, with queues that are filled at random.

        Returns
        -------
        int
            Number of calls of `hop`.

        Raises
        ------
        BoundsError
            If a function uses an index that does not exist or a column that it may not read.
        """
        for source, target in self._choose_pairs():
            if self._calls >= MAX_CALLS:
                break
            self._fill_queues()
            sender, receiver = (
                self.random.choice(self.terminals_of(end)) for end in (source, target)
            )
            self.walk(source, target, terminals=(sender, receiver))
        return self._calls

    def _forbidden_table_indices(self) -> dict[int, str]:
        """Return the indices of the engine block, which only helpers may use, with the reason."""
        # tables[0] is the index where the engine block begins
        block = range(int(self.tables[0]), len(self.tables))
        return dict.fromkeys(block, "it is beyond the program's own tables")

    def _checked_helpers(self) -> dict[Any, Callable[..., Any]]:
        """Return checked versions of the helpers that read queues, such as `class_flits`.

        They replace the helpers in the plain Python of the program's functions. The keys are the
        helpers; each value first refuses a channel, phase or class that does not exist. Only
        `unit_flits` takes none of these.
        """
        program, num_channels = self.program, self.topology.num_channels

        def require_existing(name: str, channel: int, phase: int = 0, vc: int = 0) -> None:
            """Raise BoundsError if a helper gets a channel, phase or class that does not exist.

            Helpers without a class leave `phase` and `vc` at 0, which exist in every program.
            """
            for kind, number, count in (
                ("channel", channel, num_channels),
                ("phase", phase, program.phases),
                ("class", vc, program.vc_classes),
            ):
                if not 0 <= number < count:
                    raise BoundsError(f"{name}: {kind} {number} is outside 0..{count - 1}")

        # A helper reads the engine block and the queues, which are forbidden to the program itself.
        # So it gets the walker's arrays, which forbid nothing, instead of the program's `tables`
        # and `queues`.
        def checked_class_helper(helper: Any) -> Callable[..., Any]:
            def checked(tables: Any, queues: Any, channel: int, phase: int, vc: int) -> int:
                require_existing(helper.__name__, channel, phase, vc)
                return int(helper(self.tables, self.queues, channel, phase, vc))

            return checked

        def checked_channel_helper(helper: Any) -> Callable[..., Any]:
            def checked(tables: Any, queues: Any, channel: int) -> int:
                require_existing(helper.__name__, channel)
                if helper in _WAITING_HELPERS and not program.waiting:
                    raise BoundsError(f"{helper.__name__}: the program has waiting=False")
                return int(helper(self.tables, self.queues, channel))

            return checked

        return {
            abi.unit_flits: lambda tables: int(abi.unit_flits(self.tables)),
            **{helper: checked_class_helper(helper) for helper in _CLASS_HELPERS},
            **{
                helper: checked_channel_helper(helper)
                for helper in _CHANNEL_HELPERS + _WAITING_HELPERS
            },
        }

    def _choose_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield all connected pairs of switches with terminals; of too many, a random choice."""
        endpoints = self.topology.endpoints.tolist()
        if len(endpoints) ** 2 <= MAX_PAIRS:
            for source in endpoints:
                yield from ((source, target) for target in self._reachable_endpoints(source))
            return
        for _ in range(MAX_PAIRS):
            source = self.random.choice(endpoints)
            targets = self._reachable_endpoints(source)
            if targets:  # none: the source is cut off
                yield source, self.random.choice(targets)

    def _reachable_endpoints(self, source: int) -> list[int]:
        """Return the other switches with terminals that a path from `source` reaches."""
        topology = self.topology
        out_start, out_channel = topology.outgoing
        # hop_distances writes to both arrays
        distance = np.empty(topology.num_switches, np.int32)
        queue = np.empty_like(distance)
        hop_distances(out_start, out_channel, topology.channel_target, source, distance, queue)
        # distance 0 is the source itself, −1 an unreachable switch
        endpoints = topology.endpoints
        targets: list[int] = endpoints[distance[endpoints] > 0].tolist()
        return targets

    def _fill_queues(self) -> None:
        """Draw the credits of every buffer and the waiting flits of every channel, 0 to `FREE`."""
        draw = np.random.default_rng(self.random.getrandbits(64)).integers
        num_buffers, num_channels = self._first_waiting_row, self.topology.num_channels
        self.queues[:num_buffers, CREDITS] = draw(FREE + 1, size=num_buffers)
        if self.program.waiting:
            waiting_rows = slice(num_buffers, num_buffers + num_channels)
            self.queues[waiting_rows, FRONT_FLITS] = draw(FREE + 1, size=num_channels)

    def _call_inject(self, random_bits: Any) -> None:
        """Call inject as plain Python, with arrays that refuse wrong indices."""
        arrays = self._arguments
        with _bounds_errors("inject"):
            self._inject(
                arrays["tables"],
                arrays["reals"],
                arrays["packets"],
                PACKET,
                arrays["queues"],
                self._hop,
                random_bits,
                arrays["out"],
            )

    def _call_hop(self, switch: int, channel: int, vc: int, random_bits: Any) -> int:
        """Call hop as plain Python, with arrays that refuse wrong indices."""
        arrays = self._arguments
        self._calls += 1
        with _bounds_errors("hop"):
            return int(
                self._hop(
                    arrays["tables"],
                    arrays["packets"],
                    PACKET,
                    arrays["queues"],
                    switch,
                    channel,
                    vc,
                    random_bits,
                    arrays["out"],
                )
            )

    def _call_for_candidates(self, switch: int, arrival: Candidate) -> tuple[Candidate, ...] | None:
        """Call hop and return the candidates that a packet can follow.

        Invalid ones are left out without an error, because another check of the kit reports them.
        None if hop set an invalid waypoint.
        """
        # The classes of the current phase, in the numbers of Candidate, which go over both phases.
        first_class = int(self._packets[PACKET, PHASE]) * self.program.vc_classes
        classes = range(first_class, first_class + self.program.vc_classes)
        leaving_channels = set(np.flatnonzero(self.topology.channel_source == switch).tolist())
        candidates = super()._call_for_candidates(switch, arrival)
        if candidates is None:
            return None
        return tuple(
            candidate
            for candidate in candidates
            if candidate.channel in leaving_channels and candidate.vc in classes
        )

    def _choose(
        self, candidates: tuple[Candidate, ...], blocked: Callable[[Candidate], bool]
    ) -> Candidate | None:
        """Return a random candidate, whatever the ranking prefers.

        So packets also follow candidates that the ranking never takes.
        """
        return self.random.choice(candidates) if candidates else None


@contextmanager
def _bounds_errors(function: str) -> Iterator[None]:
    """Add the function's name to errors, and convert errors that compiled code would ignore."""
    try:
        # the 64-bit arithmetic of random words overflows on purpose, as in compiled code
        with np.errstate(over="ignore"):
            yield
    except BoundsError as error:
        raise BoundsError(f"{function}: {error}") from None
    except (ArithmeticError, IndexError, ValueError) as error:
        raise BoundsError(f"{function}: {type(error).__name__}: {error}") from error


def _forbidden_columns(program: HopProgram) -> dict[int, str]:
    """Return the reasons why columns of packets may not be used, by column."""
    reasons = {
        column: "the column belongs to the engine"
        for column in range(abi.PACKET_COLUMNS)
        if column not in _READABLE_COLUMNS
    }
    for column, name in _TERMINAL_COLUMNS.items():
        if program.by_terminal:
            del reasons[column]
        else:
            reasons[column] = f"the function uses {name}, but the program has by_terminal=False"
    return reasons
