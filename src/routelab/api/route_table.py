"""Route tables: the channels that the packets of every pair cross."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routelab.api.contents import Contents, value_checksum
from routelab.api.errors import InputError, PluginError
from routelab.api.topology import (
    Float64Array,
    Int16Array,
    Int32Array,
    Int64Array,
    Topology,
    adopt_array,
    frozen_array,
)
from routelab.kernels.routes import (
    TableEnds,
    are_valid_offsets,
    first_broken_path,
    next_hops,
    single_path_offsets,
    table_from_next_hops,
)


@dataclass(frozen=True, eq=False)
class RouteTable(Contents):
    """Routes from all endpoints to all destinations; arrays are read-only.

    Endpoints are the P switches with terminals (`Topology.endpoints`). They are the D destinations
    too, unless the table is per terminal: then every terminal is a separate destination, as in
    InfiniBand, where each terminal of a switch has an entry in every forwarding table.
    Pair ``i * D + j`` goes from endpoint i to destination j. A pair may have several weighted
    paths; none means unreachable; an endpoint has one path of no hops to itself and to its own
    terminals.

    Attributes
    ----------
    topology : Topology
    pair_start : int64 array, shape (P * D + 1,)
        Paths ``pair_start[p]:pair_start[p + 1]`` belong to pair p.
    path_start : int64 array, shape (K + 1,)
        Hops ``path_start[k]:path_start[k + 1]`` belong to path k.
    path_weight : float64 array, shape (K,)
        Share of the pair's packets on this path; the weights of a pair add up to 1.
    hop_channel : int32 array, shape (H,)
    hop_vc : int16 array, shape (H,)
        Virtual channel of each hop.
    flow_control : str
        ``"plain"`` or ``"bubble"``: the table claims to be deadlock-free under it.
    counters : mapping of str to number
        Statistics of the algorithm's work, e.g. ``{"group_trees": 210}``.
    per_terminal : bool
        Whether the destinations are terminals.

    Examples
    --------
    >>> from routelab.api import RouteTable, Topology
    >>> pair = Topology.create(num_switches=2, channel_source=[0, 1], channel_target=[1, 0])
    >>> table = RouteTable.create(
    ...     pair, pair_start=[0, 1, 2, 3, 4], path_start=[0, 0, 1, 2, 2], hop_channel=[0, 1]
    ... )
    >>> table.describe_path(1)
    '0>1'
    """

    topology: Topology
    pair_start: Int64Array
    path_start: Int64Array
    path_weight: Float64Array
    hop_channel: Int32Array
    hop_vc: Int16Array
    flow_control: str = "plain"
    counters: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    per_terminal: bool = False

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
        per_terminal: bool = False,
    ) -> RouteTable:
        """Build a table and check its form (lengths, ranges, weights) and every path's course.

        Arrays of the right type are used without a copy and become read-only; others are copied.
        Do not write to views of them afterwards.

        Raises
        ------
        PluginError
            If an array does not hold numbers of its kind, or offsets do not fit. If a hop names a
            channel that does not exist, or a path does not lead from its source to its target. If a
            pair's weights do not add up to 1, or a counter is not a number.
        """
        hops = _adopt("hop_channel", hop_channel, np.int32)
        # zeros cost no memory before they are written to
        layers = np.zeros(len(hops), dtype=np.int16) if hop_vc is None else hop_vc
        paths = _adopt("path_start", path_start, np.int64)
        if not len(paths):
            raise PluginError("route table: path_start is empty, expected a 0 to begin with")
        weights = np.ones(len(paths) - 1) if path_weight is None else path_weight
        table = cls(
            topology=topology,
            pair_start=_adopt("pair_start", pair_start, np.int64),
            path_start=paths,
            path_weight=_adopt("path_weight", weights, np.float64),
            hop_channel=hops,
            hop_vc=_adopt("hop_vc", layers, np.int16),
            flow_control=flow_control,
            counters=_check_counters(counters or {}),
            per_terminal=per_terminal,
        )
        table._check_form()
        if hop_vc is not None:
            table._check_virtual_channels()
        if path_weight is not None:
            table._check_weights()
        table._check_courses()
        _ = table.checksums
        return table

    @classmethod
    def from_lengths(
        cls, topology: Topology, lengths: ArrayLike, hop_channel: ArrayLike, **more: Any
    ) -> RouteTable:
        """Build a table with at most one path per pair.

        Parameters
        ----------
        lengths : array of int, shape (P, D) or (P * D,)
            Hops of each pair's path; negative where a pair is unreachable.
        hop_channel : array of int
            The paths' channels, pair after pair.
        **more
            Further arguments of `create`, such as ``per_terminal=True``.
        """
        flat = np.ascontiguousarray(_numbers("lengths", lengths, np.int64)).reshape(-1)
        # numpy allocates arrays in few large pages, compiled code does not
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
    def from_next_hops(
        cls, topology: Topology, table: ArrayLike, *, per_terminal: bool = False, **more: Any
    ) -> RouteTable:
        """Build a destination-based table from its next hops.

        Parameters
        ----------
        table : array of int, shape (S, D)
            Channel that packets for each destination take out of each switch; −1 for none.
        per_terminal : bool
            Whether the destinations are the terminals.
        **more
            Further arguments of `create`.

        Raises
        ------
        PluginError
            If the table has another shape, does not hold integers, names a channel that does not
            exist, or its next hops form a loop.
        """
        steps = np.ascontiguousarray(_numbers("next hops", table, np.int32))
        destinations = topology.terminal_switch if per_terminal else topology.endpoints
        expected = (topology.num_switches, len(destinations))
        if steps.shape != expected:
            raise PluginError(f"next-hop table: has shape {steps.shape}, expected {expected}")
        if steps.size and (steps.min() < -1 or steps.max() >= topology.num_channels):
            raise PluginError("next-hop table: a hop names a channel that does not exist")
        lengths, hops = table_from_next_hops(
            steps,
            topology.endpoints,
            destinations,
            topology.channel_source,
            topology.channel_target,
        )
        looping = np.argwhere(lengths == -2)
        if looping.size:
            source, target = looping[0].tolist()
            text = _pair_text(topology, per_terminal, source, target)
            raise PluginError(f"next-hop table: packets from {text} never arrive")
        return cls.from_lengths(topology, lengths, hops, per_terminal=per_terminal, **more)

    def _check_form(self) -> None:
        """Refuse arrays of wrong shape or range."""
        ends, destinations = len(self.topology.endpoints), self.num_destinations
        paths, hops = len(self.path_start) - 1, len(self.hop_channel)
        if self.flow_control not in ("plain", "bubble"):
            raise PluginError(
                f"route table: flow_control is {self.flow_control!r}, expected 'plain' or 'bubble'"
            )
        if self.pair_start.shape != (ends * destinations + 1,):
            to = f" and {destinations} terminals" if self.per_terminal else ""
            raise PluginError(
                f"route table: pair_start has shape {self.pair_start.shape}, "
                f"expected ({ends * destinations + 1},) for {ends} endpoints{to}"
            )
        for name, start, total in (
            ("pair_start", self.pair_start, paths),
            ("path_start", self.path_start, hops),
        ):
            if not are_valid_offsets(start, total):
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
        """Refuse weights of paths that do not add up to 1 for each pair."""
        if not len(self.path_weight):
            return
        # a path's weight is a share: differences of prefix sums are the totals of the pairs
        shares = np.diff(np.concatenate(([0.0], np.cumsum(self.path_weight)))[self.pair_start])
        used = np.diff(self.pair_start) > 0
        # for weights that are not numbers, neither comparison holds
        if not (self.path_weight.min() > 0 and np.abs(shares[used] - 1).max() <= 1e-6):
            raise PluginError(
                "route table: the weights of a pair's paths must be positive and add up to 1"
            )

    def _check_courses(self) -> None:
        """Refuse a path that is not a walk between its pair."""
        broken = first_broken_path(
            self.pair_start,
            self.path_start,
            self.hop_channel,
            self.topology.endpoints,
            self.destination_switch,
            self.topology.channel_source,
            self.topology.channel_target,
        )
        if broken >= 0:
            pair = int(np.searchsorted(self.pair_start, broken, side="right")) - 1
            raise PluginError(
                f"route table: the path from {self.describe_pair(pair)} is not a walk "
                f"between them: {self.describe_path(broken)}"
            )

    @property
    def num_pairs(self) -> int:
        """Number of pairs of an endpoint and a destination, including those at one switch."""
        return len(self.pair_start) - 1

    @property
    def num_destinations(self) -> int:
        """D: the number of endpoints, or of terminals."""
        return len(self.destination_switch)

    @property
    def destination_switch(self) -> Int32Array:
        """Switch of each destination; int32, shape (D,)."""
        return self.topology.terminal_switch if self.per_terminal else self.topology.endpoints

    @cached_property
    def destination_endpoint(self) -> Int64Array:
        """Index of each destination's switch among the endpoints; int64, shape (D,)."""
        if self.per_terminal:
            return self.topology.terminal_endpoint
        return frozen_array(np.arange(self.num_destinations), np.int64)

    @cached_property
    def destination_demand(self) -> Int64Array:
        """Number of terminals of each destination; int64, shape (D,)."""
        if self.per_terminal:
            return frozen_array(np.ones(self.num_destinations), np.int64)
        return self.topology.demand

    @cached_property
    def terminal_destination(self) -> Int64Array:
        """Destination of packets for each terminal; int64, shape (T,)."""
        if self.per_terminal:
            return frozen_array(np.arange(self.num_destinations), np.int64)
        return self.topology.terminal_endpoint

    def pair_between(self, source: Int64Array, target: Int64Array) -> Int64Array:
        """Return the pairs of packets from terminals `source` to terminals `target`."""
        rows: Int64Array = self.topology.terminal_endpoint[source] * self.num_destinations
        return rows + self.terminal_destination[target]

    @cached_property
    def ends(self) -> TableEnds:
        """Switches and terminals at both ends of the pairs, as kernels take them."""
        return TableEnds(
            self.topology.endpoints,
            self.topology.demand,
            self.destination_switch,
            self.destination_demand,
        )

    @property
    def num_paths(self) -> int:
        """Number of paths of all pairs."""
        return len(self.path_start) - 1

    @property
    def virtual_channels(self) -> int:
        """Number of virtual channels that the table uses: the largest of `hop_vc` plus 1."""
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

    def pair_switches(self, pair: int) -> tuple[int, int]:
        """Return the switches at both ends of a pair."""
        source, target = divmod(pair, self.num_destinations)
        return int(self.topology.endpoints[source]), int(self.destination_switch[target])

    def describe_pair(self, pair: int) -> str:
        """Describe the ends of a pair, e.g. ``switch 3 to 4``."""
        return _pair_text(self.topology, self.per_terminal, *divmod(pair, self.num_destinations))

    def describe_path(self, path: int) -> str:
        """Describe the channels of one path."""
        hops = self.hop_channel[self.path_start[path] : self.path_start[path + 1]]
        return ", ".join(self.topology.channel_name(int(hop)) for hop in hops) or "no hops"

    def pair(self, source: int, target: int) -> int:
        """Return the pair of a switch with terminals and a destination.

        Parameters
        ----------
        source : int
            Switch.
        target : int
            Switch, or terminal if the table is per terminal.

        Raises
        ------
        InputError
            If a switch has no terminal, or the terminal does not exist.
        """
        ends = self.topology.endpoints
        switches = (source,) if self.per_terminal else (source, target)
        where = np.searchsorted(ends, switches)
        if np.any(where >= len(ends)) or np.any(ends[where % len(ends)] != switches):
            which = " and ".join(map(str, switches))
            raise InputError(
                f"no routes between switches {which}: no terminals there"
                if len(switches) > 1
                else f"no routes from switch {which}: no terminals there"
            )
        if self.per_terminal and not 0 <= target < self.num_destinations:
            raise InputError(
                f"no routes to terminal {target}: terminals are 0 to {self.num_destinations - 1}"
            )
        destination = target if self.per_terminal else where[1]
        return int(where[0]) * self.num_destinations + int(destination)

    def paths(self, source: int, target: int) -> list[list[int]]:
        """Return the paths from a switch to a destination, as lists of channels; see `pair`.

        Raises
        ------
        InputError
            If a switch has no terminal, or the terminal does not exist.
        """
        pair = self.pair(source, target)
        return [
            self.hop_channel[self.path_start[k] : self.path_start[k + 1]].tolist()
            for k in range(self.pair_start[pair], self.pair_start[pair + 1])
        ]

    def with_vcs(self, hop_vc: ArrayLike, flow_control: str | None = None) -> RouteTable:
        """Return the same routes on other virtual channels."""
        table = replace(
            self,
            hop_vc=_adopt("hop_vc", hop_vc, np.int16),
            flow_control=self.flow_control if flow_control is None else flow_control,
        )
        table._check_form()
        table._check_virtual_channels()
        # the other fields are the same, also if they were changed after `create`
        new = {"flow_control": value_checksum(table.flow_control)}
        if table.hop_vc is not self.hop_vc:
            new["hop_vc"] = value_checksum(table.hop_vc)
        table.__dict__["checksums"] = {**self.checksums, **new}
        return table

    def next_hops(self) -> Int32Array | None:
        """Next hops, int32 of shape (S, D), or None if the table is not destination-based.

        A table is destination-based if the channel that a packet takes out of a switch depends
        only on the switch and the target. −1 where no route to the target passes.
        """
        ok, steps = next_hops(
            self.pair_start,
            self.path_start,
            self.hop_channel,
            self.topology.channel_source,
            self.topology.num_switches,
            self.num_destinations,
        )
        return frozen_array(steps, np.int32) if ok else None

    @cached_property
    def destination_based(self) -> bool:
        """Whether each switch has one next hop for each destination; see `next_hops`."""
        return self.next_hops() is not None


def _pair_text(topology: Topology, per_terminal: bool, source: int, target: int) -> str:
    names = topology.switch_names
    start = f"switch {names[topology.endpoints[source]]}"
    if not per_terminal:
        return f"{start} to {names[topology.endpoints[target]]}"
    at = names[topology.terminal_switch[target]]
    return f"{start} to terminal {topology.terminal_name(target)} at {at}"


def _check_counters(counters: Mapping[str, float]) -> Mapping[str, float]:
    """Check counters, which become facts of a run, and make them read-only."""
    own = dict(counters)
    for name, value in own.items():
        if not (isinstance(name, str) and isinstance(value, int | float | np.number | np.bool_)):
            raise PluginError(f"route table: counter {name!r} is {value!r}, expected a number")
    return MappingProxyType(own)


def _adopt(name: str, values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Return a read-only array of one dimension; see `adopt_array`."""
    numbers = _numbers(name, values, dtype)
    if numbers.ndim != 1:
        raise PluginError(f"route table: {name} has shape {numbers.shape}, expected one dimension")
    return adopt_array(numbers, dtype)


def _numbers(name: str, values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Return `values` as an array of that type; refuse entries that the type cannot hold."""
    try:
        numbers = np.asarray(values)
    except ValueError:
        raise PluginError(f"route table: {name} is a list of lists of unequal length") from None
    if numbers.size and numbers.dtype.kind not in "biuf":
        raise PluginError(f"route table: {name} holds {numbers.dtype}, expected numbers")
    if numbers.dtype == dtype:
        return numbers
    with np.errstate(invalid="ignore"):
        cast = numbers.astype(dtype)
    changed = np.flatnonzero(cast != numbers)
    if changed.size:
        wrong = numbers.reshape(-1)[changed[0]]
        raise PluginError(
            f"route table: {name} has {wrong}, which is not a valid {np.dtype(dtype).name}"
        )
    return cast
