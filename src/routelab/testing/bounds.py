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
from routelab.testing.walks import FREE, Candidate, Walker

WALKS = 400
"""Largest number of pairs whose packets are followed."""
CALLS = 4000
"""Number of calls of `hop` after which no further walk begins."""

_READABLE = {
    abi.SOURCE,
    abi.TARGET,
    abi.DESTINATION,
    abi.WAYPOINT,
    abi.PHASE,
    abi.HOPS,
    *range(abi.STATE, abi.STATE + abi.STATES),
}
_OF_CLASS = (abi.class_flits, abi.class_packets)
_OF_CHANNEL = (abi.channel_flits, abi.channel_packets)
_OF_WAITING = (abi.waiting_flits, abi.waiting_packets)
_HELPERS_ONLY = "read queues only with class_flits and the other helpers"
_TERMINALS = {abi.SOURCE_TERMINAL: "SOURCE_TERMINAL", abi.TARGET_TERMINAL: "TARGET_TERMINAL"}


class BoundsError(Exception):
    """A function uses an index that does not exist, or data that it may not use."""


class BoundsArray(np.ndarray):
    """An array that refuses indices below 0, indices beyond its end, and secret indices.

    Attributes
    ----------
    label : str
        Name of the array in messages.
    secret : mapping
        Reasons why indices of the last axis may not be used, by index; also for single rows.
    """

    label: str = ""
    secret: Mapping[int, str] = MappingProxyType({})

    def __array_finalize__(self, parent: Any) -> None:
        """Take the label of the array that this one is a part of."""
        self.label = getattr(parent, "label", "")
        self.secret = MappingProxyType({})

    def __getitem__(self, key: Any) -> Any:
        """Return a Python number, or a part that checks its indices as well."""
        self._check(key)
        value = super().__getitem__(key)
        if not isinstance(value, BoundsArray):
            return value.item()
        value.label = f"{self.label}[{_text(key)}]"
        if isinstance(key, (int, np.integer)):
            value.secret = self.secret
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        """Refuse integers that do not fit into 32 bits, which compiled code would truncate."""
        self._check(key)
        if np.ndim(value) == 0 and self.dtype == np.int32:
            limits = np.iinfo(np.int32)
            if not limits.min <= int(value) <= limits.max:
                raise BoundsError(
                    f"{self.label}[{_text(key)}] = {int(value)}: it does not fit into 32 bits"
                )
            value = int(value)
        super().__setitem__(key, value)

    def _check(self, key: Any) -> None:
        """Refuse an index outside the array, or of an item that must not be read."""
        places = key if isinstance(key, tuple) else (key,)
        for axis, place in enumerate(places):
            if not isinstance(place, (int, np.integer)) or axis >= self.ndim:
                continue
            if not 0 <= place < self.shape[axis]:
                size = self.shape[axis]
                there = f"0..{size - 1}" if size else "an empty axis"
                raise BoundsError(f"{self.label}[{_text(key)}]: index {place} is outside {there}")
            if axis == self.ndim - 1 and int(place) in self.secret:
                raise BoundsError(f"{self.label}[{_text(key)}]: {self.secret[int(place)]}")


def _text(key: Any) -> str:
    places = key if isinstance(key, tuple) else (key,)
    return ", ".join(
        str(int(place)) if isinstance(place, (int, np.integer)) else "..." for place in places
    )


def _label(array: Any, label: str, secret: Mapping[int, str] | None = None) -> BoundsArray:
    labelled: BoundsArray = array.view(BoundsArray)
    labelled.label, labelled.secret = label, secret or {}
    return labelled


class BoundsWalker(Walker):
    """Packets that take random candidates, with every index of both functions checked.

    Parameters
    ----------
    program : HopProgram
    topology : Topology
    seed : int
    """

    def __init__(self, program: HopProgram, topology: Topology, seed: int = 0) -> None:
        super().__init__(program, topology, seed)
        self._calls = 0
        helpers = self._helpers()
        self._hop = plain_python(program.hop, helpers)
        self._inject: Any = plain_python(program.inject, helpers) if program.inject else None
        self._given = {
            "tables": _label(self.tables, "tables", self._engine_block()),
            "reals": _label(self.reals, "reals"),
            "packets": _label(self._packets, "packets", _secrets(program)),
            "queues": _label(self.queues, "queues", dict.fromkeys(range(2), _HELPERS_ONLY)),
            "out": _label(self._candidates, "out"),
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
        for source, target in self._pairs():
            if self._calls >= CALLS:
                break
            self._fill()
            first, last = (self.random.choice(self.terminals_of(end)) for end in (source, target))
            self.walk(source, target, terminals=(first, last))
        return self._calls

    def _engine_block(self) -> dict[int, str]:
        """Return the indices of tables that only helpers may use."""
        block = range(int(self.tables[0]), len(self.tables))
        return dict.fromkeys(block, "it is beyond the program's own tables")

    def _helpers(self) -> dict[Any, Callable[..., Any]]:
        """Return functions that check channels and classes, by the helper that each replaces."""
        program, channels = self.program, self.topology.num_channels

        # A helper reads the engine's part of tables and queues, which is refused to the program. So
        # it gets the plain arrays, not those that the program hands over, once its indices exist.
        def check(name: str, channel: int, phase: int = 0, vc: int = 0) -> None:
            for kind, number, count in (
                ("channel", channel, channels),
                ("phase", phase, program.phases),
                ("class", vc, program.vc_classes),
            ):
                if not 0 <= number < count:
                    raise BoundsError(f"{name}: {kind} {number} is outside 0..{count - 1}")

        def of_class(helper: Any) -> Callable[..., Any]:
            def ask(tables: Any, queues: Any, channel: int, phase: int, vc: int) -> int:
                check(helper.__name__, channel, phase, vc)
                return int(helper(self.tables, self.queues, channel, phase, vc))

            return ask

        def of_channel(helper: Any) -> Callable[..., Any]:
            def ask(tables: Any, queues: Any, channel: int) -> int:
                check(helper.__name__, channel)
                if helper in _OF_WAITING and not program.waiting:
                    raise BoundsError(f"{helper.__name__}: the program has waiting=False")
                return int(helper(self.tables, self.queues, channel))

            return ask

        return {
            abi.unit_flits: lambda tables: int(abi.unit_flits(self.tables)),
            **{helper: of_class(helper) for helper in _OF_CLASS},
            **{helper: of_channel(helper) for helper in _OF_CHANNEL + _OF_WAITING},
        }

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Iterate over all connected pairs of switches, or over `WALKS` random ones."""
        ends = self.topology.endpoints.tolist()
        if len(ends) ** 2 <= WALKS:
            for source in ends:
                yield from ((source, target) for target in self._reach(source))
            return
        for _ in range(WALKS):
            source = self.random.choice(ends)
            targets = self._reach(source)
            if targets:
                yield source, self.random.choice(targets)

    def _reach(self, source: int) -> list[int]:
        """Return the other switches with terminals that can be reached."""
        topology = self.topology
        distance = np.empty(topology.num_switches, np.int32)
        queue = np.empty_like(distance)
        hop_distances(*topology.outgoing, topology.channel_target, source, distance, queue)
        ends = topology.endpoints
        targets: list[int] = ends[distance[ends] > 0].tolist()
        return targets

    def _fill(self) -> None:
        draw = np.random.default_rng(self.random.getrandbits(64)).integers
        self.queues[: self._inside, CREDITS] = draw(FREE + 1, size=self._inside)
        if self.program.waiting:
            inside = slice(self._inside, self._inside + self.topology.num_channels)
            self.queues[inside, FRONT_FLITS] = draw(FREE + 1, size=self.topology.num_channels)

    def _call_inject(self, random_bits: Any) -> None:
        arrays = self._given
        with _place("inject"):
            self._inject(
                *(arrays["tables"], arrays["reals"], arrays["packets"], 0, arrays["queues"]),
                *(self._hop, random_bits, arrays["out"]),
            )

    def _call_hop(self, switch: int, channel: int, vc: int, random_bits: Any) -> int:
        """Return the number of candidates of a call of hop, with refusing arrays."""
        arrays = self._given
        self._calls += 1
        with _place("hop"):
            return int(
                self._hop(
                    *(arrays["tables"], arrays["packets"], 0, arrays["queues"]),
                    *(switch, channel, vc, random_bits, arrays["out"]),
                )
            )

    def _offers(self, switch: int, arrival: Candidate) -> tuple[Candidate, ...] | None:
        """Return the candidates that a packet can follow; other checks report invalid ones."""
        shift = int(self._packets[0, PHASE]) * self.program.vc_classes
        leaving = set(np.flatnonzero(self.topology.channel_source == switch).tolist())
        candidates = super()._offers(switch, arrival)
        return candidates and tuple(
            candidate
            for candidate in candidates
            if candidate.channel in leaving and 0 <= candidate.vc - shift < self.program.vc_classes
        )

    def _choice(
        self, candidates: tuple[Candidate, ...], blocked: Callable[[Candidate], bool]
    ) -> Candidate | None:
        """Return a random candidate, so that packets follow all of them at some point."""
        return self.random.choice(candidates) if candidates else None


@contextmanager
def _place(function: str) -> Iterator[None]:
    """Add the function's name to errors, and convert errors that compiled code would ignore."""
    try:
        with np.errstate(over="ignore"):
            yield
    except BoundsError as error:
        raise BoundsError(f"{function}: {error}") from None
    except (ArithmeticError, IndexError, ValueError) as error:
        raise BoundsError(f"{function}: {type(error).__name__}: {error}") from error


def _secrets(program: HopProgram) -> dict[int, str]:
    """Return the reasons why columns of packets may not be used, by column."""
    secrets = {
        column: "the column belongs to the engine"
        for column in range(abi.PACKET_COLUMNS)
        if column not in _READABLE
    }
    for column, name in _TERMINALS.items():
        secrets[column] = f"the function uses {name}, but the program has by_terminal=False"
        if program.by_terminal:
            del secrets[column]
    return secrets
