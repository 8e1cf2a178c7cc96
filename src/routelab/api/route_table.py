"""Route tables: which channels every pair's packets cross."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routelab.api.errors import InputError, PluginError
from routelab.api.topology import (
    Float64Array,
    Int16Array,
    Int32Array,
    Int64Array,
    Topology,
    adopted_array,
    frozen_array,
)
from routelab.kernels.routes import (
    first_broken_path,
    next_hops,
    rises,
    single_path_offsets,
    table_from_next_hops,
)


@dataclass(frozen=True, eq=False)
class RouteTable:
    """The routes of all ordered pairs of endpoints; arrays are read-only.

    Endpoints are the switches with terminals (`Topology.endpoints`); pair ``i * P + j`` goes from
    endpoint i to endpoint j. A pair may have several weighted paths; none means unreachable; a
    pair of an endpoint with itself has one path of no hops.

    Attributes
    ----------
    topology : Topology
    pair_start : int64 array, shape (P * P + 1,)
        Paths ``pair_start[p]:pair_start[p + 1]`` belong to pair p.
    path_start : int64 array, shape (K + 1,)
        Hops ``path_start[k]:path_start[k + 1]`` belong to path k.
    path_weight : float64 array, shape (K,)
        Share of the pair's packets on this path; the weights of a pair add up to 1.
    hop_channel : int32 array, shape (H,)
    hop_vc : int16 array, shape (H,)
        Virtual channel of each hop.
    flow_control : str
        ``"plain"`` or ``"bubble"``: what the table claims to be deadlock-free under.
    counters : mapping of str to number
        What the algorithm tells of its own work, e.g. ``{"group_trees": 210}``.
    """

    topology: Topology
    pair_start: Int64Array
    path_start: Int64Array
    path_weight: Float64Array
    hop_channel: Int32Array
    hop_vc: Int16Array
    flow_control: str = "plain"
    counters: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def create(
        cls,
        topology: Topology,
        *,
        pair_start: ArrayLike,
        path_start: ArrayLike,
        hop_channel: ArrayLike,
        path_weight: ArrayLike | None = None,
        hop_vc: ArrayLike | None = None,
        flow_control: str = "plain",
        counters: Mapping[str, float] | None = None,
    ) -> RouteTable:
        """Build a table and check its form (lengths, ranges, weights) and every path's course.

        Arrays of the right type are taken over and become read-only; others are copied. Keep no
        views of them that you write to.

        Raises
        ------
        PluginError
            If an array does not hold numbers of its kind, offsets do not fit, a hop names a
            channel that does not exist, a path does not lead from its source to its target, a
            pair's weights do not add up to 1, or a counter is no number.
        """
        hops = _adopted("hop_channel", hop_channel, np.int32)
        # zeros cost no memory before they are written to
        layers = np.zeros(len(hops), dtype=np.int16) if hop_vc is None else hop_vc
        paths = _adopted("path_start", path_start, np.int64)
        if not len(paths):
            raise PluginError("route table: path_start is empty, expected a 0 to begin with")
        weights = np.ones(len(paths) - 1) if path_weight is None else path_weight
        table = cls(
            topology=topology,
            pair_start=_adopted("pair_start", pair_start, np.int64),
            path_start=paths,
            path_weight=_adopted("path_weight", weights, np.float64),
            hop_channel=hops,
            hop_vc=_adopted("hop_vc", layers, np.int16),
            flow_control=flow_control,
            counters=_counted(counters or {}),
        )
        table._check_form()
        if hop_vc is not None:
            table._check_virtual_channels()
        if path_weight is not None:
            table._check_weights()
        table._check_courses()
        return table

    @classmethod
    def from_lengths(
        cls, topology: Topology, lengths: ArrayLike, hop_channel: ArrayLike, **more: Any
    ) -> RouteTable:
        """A table with at most one path a pair.

        Parameters
        ----------
        lengths : array of int, shape (P, P) or (P * P,)
            Hops of each pair's path; negative where a pair is unreachable.
        hop_channel : array of int
            The paths' channels, pair after pair.
        """
        flat = np.ascontiguousarray(_numbers("lengths", lengths, np.int64)).reshape(-1)
        # numpy's arrays, unlike those that compiled code makes, come in few large pages
        pair_start = np.empty(len(flat) + 1, dtype=np.int64)
        path_start = np.empty(np.count_nonzero(flat >= 0) + 1, dtype=np.int64)
        single_path_offsets(flat, pair_start, path_start)
        return cls.create(
            topology,
            pair_start=pair_start,
            path_start=path_start,
            hop_channel=hop_channel,
            **more,
        )

    @classmethod
    def from_next_hops(cls, topology: Topology, table: ArrayLike, **more: Any) -> RouteTable:
        """A destination-based table from its next hops.

        Parameters
        ----------
        table : array of int, shape (S, P)
            Channel that packets for each endpoint take out of each switch; −1 for none.

        Raises
        ------
        PluginError
            If the table has another shape, is not one of integers, names a channel that does not
            exist, or following the next hops runs in a loop.
        """
        steps = np.ascontiguousarray(_numbers("next hops", table, np.int32))
        expected = (topology.num_switches, len(topology.endpoints))
        if steps.shape != expected:
            raise PluginError(f"next-hop table: has shape {steps.shape}, expected {expected}")
        if steps.size and (steps.min() < -1 or steps.max() >= topology.num_channels):
            raise PluginError("next-hop table: a hop names a channel that does not exist")
        lengths, hops = table_from_next_hops(
            steps, topology.endpoints, topology.channel_source, topology.channel_target
        )
        looping = np.argwhere(lengths == -2)
        if looping.size:
            ends = topology.endpoints[looping[0]]
            raise PluginError(
                "next-hop table: packets from switch "
                f"{topology.switch_names[ends[0]]} to {topology.switch_names[ends[1]]} never arrive"
            )
        return cls.from_lengths(topology, lengths, hops, **more)

    def _check_form(self) -> None:
        ends = len(self.topology.endpoints)
        paths, hops = len(self.path_start) - 1, len(self.hop_channel)
        if self.flow_control not in ("plain", "bubble"):
            raise PluginError(
                f"route table: flow_control is {self.flow_control!r}, expected 'plain' or 'bubble'"
            )
        if self.pair_start.shape != (ends * ends + 1,):
            raise PluginError(
                f"route table: pair_start has shape {self.pair_start.shape}, "
                f"expected ({ends * ends + 1},) for {ends} endpoints"
            )
        for name, start, total in (
            ("pair_start", self.pair_start, paths),
            ("path_start", self.path_start, hops),
        ):
            if not rises(start, total):
                raise PluginError(f"route table: {name} must rise from 0 to {total}")
        if self.path_weight.shape != (paths,) or self.hop_vc.shape != (hops,):
            raise PluginError("route table: path_weight or hop_vc has the wrong length")
        if hops and (
            self.hop_channel.min() < 0 or self.hop_channel.max() >= self.topology.num_channels
        ):
            raise PluginError("route table: a hop names a channel that does not exist")

    def _check_virtual_channels(self) -> None:
        if len(self.hop_vc) and self.hop_vc.min() < 0:
            raise PluginError("route table: a hop has a negative virtual channel")

    def _check_weights(self) -> None:
        if not len(self.path_weight):
            return
        # a path's weight is a share: prefix sums tell every pair's total at once
        shares = np.diff(np.concatenate(([0.0], np.cumsum(self.path_weight)))[self.pair_start])
        used = np.diff(self.pair_start) > 0
        # of weights that are no numbers neither comparison holds
        if not (self.path_weight.min() > 0 and np.abs(shares[used] - 1).max() <= 1e-6):
            raise PluginError(
                "route table: the weights of a pair's paths must be positive and add up to 1"
            )

    def _check_courses(self) -> None:
        broken = first_broken_path(
            self.pair_start,
            self.path_start,
            self.hop_channel,
            self.topology.endpoints,
            self.topology.channel_source,
            self.topology.channel_target,
        )
        if broken >= 0:
            pair = int(np.searchsorted(self.pair_start, broken, side="right")) - 1
            names = [
                self.topology.switch_names[self.topology.endpoints[i]]
                for i in divmod(pair, len(self.topology.endpoints))
            ]
            raise PluginError(
                f"route table: the path from switch {names[0]} to {names[1]} is not a walk "
                f"between them: {self.describe_path(broken)}"
            )

    @property
    def num_pairs(self) -> int:
        """Ordered pairs of endpoints, pairs of an endpoint with itself included."""
        return len(self.pair_start) - 1

    @property
    def num_paths(self) -> int:
        """Paths of all pairs together."""
        return len(self.path_start) - 1

    @property
    def virtual_channels(self) -> int:
        """Virtual channels that the table uses on its busiest hop's channel."""
        return int(self.hop_vc.max()) + 1 if len(self.hop_vc) else 1

    @cached_property
    def path_pair(self) -> Int64Array:
        """Pair of each path; int64, shape (K,)."""
        return frozen_array(
            np.repeat(np.arange(self.num_pairs), np.diff(self.pair_start)), np.int64
        )

    @cached_property
    def path_length(self) -> Int64Array:
        """Hops of each path; int64, shape (K,)."""
        return frozen_array(np.diff(self.path_start), np.int64)

    def describe_path(self, path: int) -> str:
        """The channels of one path for people."""
        hops = self.hop_channel[self.path_start[path] : self.path_start[path + 1]]
        return ", ".join(self.topology.channel_name(int(hop)) for hop in hops) or "no hops"

    def pair(self, source: int, target: int) -> int:
        """The pair of two switches with terminals.

        Raises
        ------
        InputError
            If one of the switches has no terminal.
        """
        ends = self.topology.endpoints
        where = np.searchsorted(ends, (source, target))
        if np.any(where >= len(ends)) or np.any(ends[where % len(ends)] != (source, target)):
            raise InputError(
                f"no routes between switches {source} and {target}: no terminals there"
            )
        return int(where[0]) * len(ends) + int(where[1])

    def paths(self, source: int, target: int) -> list[list[int]]:
        """The paths between two switches with terminals, as lists of channels.

        Raises
        ------
        InputError
            If one of the switches has no terminal.
        """
        pair = self.pair(source, target)
        return [
            self.hop_channel[self.path_start[k] : self.path_start[k + 1]].tolist()
            for k in range(self.pair_start[pair], self.pair_start[pair + 1])
        ]

    def with_vcs(self, hop_vc: ArrayLike, flow_control: str | None = None) -> RouteTable:
        """The same routes on other virtual channels."""
        table = replace(
            self,
            hop_vc=_adopted("hop_vc", hop_vc, np.int16),
            flow_control=self.flow_control if flow_control is None else flow_control,
        )
        table._check_form()
        table._check_virtual_channels()
        return table

    def next_hops(self) -> Int32Array | None:
        """Next hops, int32 of shape (S, P), or None if the table is not destination-based.

        A table is destination-based if the channel that a packet takes out of a switch depends
        on nothing but the switch and the target. −1 where no route for the target comes by.
        """
        ok, steps = next_hops(
            self.pair_start,
            self.path_start,
            self.hop_channel,
            self.topology.channel_source,
            self.topology.num_switches,
            len(self.topology.endpoints),
        )
        return frozen_array(steps, np.int32) if ok else None


def _counted(counters: Mapping[str, float]) -> Mapping[str, float]:
    """Read-only counters; they become facts of a run."""
    own = dict(counters)
    for name, value in own.items():
        if not (isinstance(name, str) and isinstance(value, int | float | np.number | np.bool_)):
            raise PluginError(f"route table: counter {name!r} is {value!r}, expected a number")
    return MappingProxyType(own)


def _adopted(name: str, values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """A read-only array of one dimension; see `adopted_array`."""
    given = _numbers(name, values, dtype)
    if given.ndim != 1:
        raise PluginError(f"route table: {name} has shape {given.shape}, expected one dimension")
    return adopted_array(given, dtype)


def _numbers(name: str, values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """`values` as an array of that type, in which no entry was cut off or wrapped around."""
    try:
        given = np.asarray(values)
    except ValueError:
        raise PluginError(f"route table: {name} is a list of lists of unequal length") from None
    if given.size and given.dtype.kind not in "biuf":
        raise PluginError(f"route table: {name} holds {given.dtype}, expected numbers")
    if given.dtype == dtype:
        return given
    with np.errstate(invalid="ignore"):
        cast = given.astype(dtype)
    bent = np.flatnonzero(cast != given)
    if bent.size:
        wrong = given.reshape(-1)[bent[0]]
        raise PluginError(f"route table: {name} has {wrong}, which is no {np.dtype(dtype).name}")
    return cast
