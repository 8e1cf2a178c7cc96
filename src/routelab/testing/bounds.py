"""Functions of hop-by-hop programs with every index checked, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType
from typing import Any

import numpy as np

from routelab.api import HopProgram, Topology
from routelab.kernels import hops as abi
from routelab.testing.plain_python import plain_python
from routelab.testing.walks import Candidate, Walker

WALKS = 120
"""Most pairs whose packets are followed."""
CALLS = 600
"""Calls of hop after which no further walk begins."""

_READABLE = {
    abi.SOURCE,
    abi.TARGET,
    abi.DESTINATION,
    abi.WAYPOINT,
    abi.PHASE,
    abi.HOPS,
    *range(abi.STATE, abi.STATE + abi.STATES),
}
_TERMINALS = {abi.SOURCE_TERMINAL: "SOURCE_TERMINAL", abi.TARGET_TERMINAL: "TARGET_TERMINAL"}


class BoundsError(Exception):
    """A function reads or writes what is not there, or not its own; the text says what."""


class BoundsArray(np.ndarray):
    """An array that refuses indices below 0 and beyond its end, and single elements of a kind.

    Attributes
    ----------
    label : str
        Name of the array in messages.
    secret : mapping
        Why a column may not be used, by column; of rows, too.
    """

    label: str = ""
    secret: Mapping[int, str] = MappingProxyType({})

    def __array_finalize__(self, parent: Any) -> None:
        """Take over from the array that this one is part of."""
        self.label = getattr(parent, "label", "")
        self.secret = MappingProxyType({})

    def __getitem__(self, key: Any) -> Any:
        """Return Python's own numbers, and parts that check, too."""
        self._check(key)
        value = super().__getitem__(key)
        if not isinstance(value, BoundsArray):
            return value.item()
        value.label = f"{self.label}[{_written(key)}]"
        if isinstance(key, (int, np.integer)):
            value.secret = self.secret
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        """Refuse integers that 32 bits cannot hold, which compiled code would cut off."""
        self._check(key)
        if np.ndim(value) == 0 and self.dtype == np.int32:
            limits = np.iinfo(np.int32)
            if not limits.min <= int(value) <= limits.max:
                raise BoundsError(f"{self.label}[{_written(key)}] = {int(value)}: it has 32 bits")
            value = int(value)
        super().__setitem__(key, value)

    def _check(self, key: Any) -> None:
        places = key if isinstance(key, tuple) else (key,)
        for axis, place in enumerate(places):
            if not isinstance(place, (int, np.integer)) or axis >= self.ndim:
                continue
            if not 0 <= place < self.shape[axis]:
                raise BoundsError(
                    f"{self.label}[{_written(key)}]: index {place} is outside "
                    f"0..{self.shape[axis] - 1}"
                )
            if axis == self.ndim - 1 and int(place) in self.secret:
                raise BoundsError(f"{self.label}[{_written(key)}]: {self.secret[int(place)]}")


def _written(key: Any) -> str:
    places = key if isinstance(key, tuple) else (key,)
    return ", ".join(
        str(int(place)) if isinstance(place, (int, np.integer)) else "..." for place in places
    )


def _labelled(array: Any, label: str, secret: Mapping[int, str] | None = None) -> BoundsArray:
    found = array.view(BoundsArray)
    found.label, found.secret = label, secret or {}
    return found


class BoundsWalker(Walker):
    """Packets that take any of their candidates, with every index of both functions checked.

    Its functions raise `BoundsError`.
    """

    def __init__(self, program: HopProgram, topology: Topology, seed: int = 0) -> None:
        super().__init__(program, topology, seed)
        self.calls = 0
        helpers = _helpers(program, topology)
        self._hop = plain_python(program.hop, helpers)
        if program.inject is not None:
            self._inject = plain_python(program.inject, helpers)
        self._given_tables = _labelled(self.tables, "tables")
        self._given_reals = _labelled(self.reals, "reals")
        self._given_packets = _labelled(self._packets, "packets", _secret(program))
        self._given_queues = _labelled(self.queues, "queues")
        self._given_out = _labelled(self._out, "out")

    def walk_everywhere(self) -> int:
        """Follow packets of many pairs through queues that change; return the number of calls."""
        ends = self.topology.endpoints.tolist()
        pairs = [(a, b) for a in ends for b in ends if a != b]
        if len(pairs) > WALKS:
            pairs = self.random.sample(pairs, WALKS)
        for source, target in pairs:
            if self.calls >= CALLS:
                break
            self.fill(self.random)
            self.walk(source, target, terminals=self._terminals(source, target))
        return self.calls
