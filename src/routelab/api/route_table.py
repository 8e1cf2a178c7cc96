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

    The P endpoints are the switches with terminals (`Topology.endpoints`). The D destinations are
    these endpoints again, so D = P; but if the table is per terminal, each terminal is a
    destination, as in InfiniBand, where each terminal of a switch has an entry in every forwarding
    table. Pair ``i * D + j`` goes from endpoint i to destination j.

    A pair may have several paths, with weights; without a path, the destination is unreachable.
    From an endpoint to itself, and to its own terminals, there is one path of no hops. The K paths
    stand pair after pair, and their H hops path after path.

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
        Channel of each hop.
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
        """Build a table; check lengths, ranges and weights, and that every path joins its pair.

        Arrays of the right type are used without a copy and become read-only; others are copied.
        Do not write to views of them afterwards.

        Raises
        ------
        PluginError
            If an array does not hold numbers of its kind, or offsets do not fit. If a hop names a
            channel that does not exist, or a path does not lead from its source to its target. If a
            pair's weights do not add up to 1, or a counter is not a number.
        """
        channels = _adopt("hop_channel", hop_channel, np.int32)
        # zeros cost no memory before they are written to
        vcs = np.zeros(len(channels), dtype=np.int16) if hop_vc is None else hop_vc
        path_offsets = _adopt("path_start", path_start, np.int64)
        if not len(path_offsets):
            raise PluginError("route table: path_start is empty, expected a 0 to begin with")
        weights = np.ones(len(path_offsets) - 1) if path_weight is None else path_weight
        table = cls(
            topology=topology,
            pair_start=_adopt("pair_start", pair_start, np.int64),
            path_start=path_offsets,
            path_weight=_adopt("path_weight", weights, np.float64),
            hop_channel=channels,
            hop_vc=_adopt("hop_vc", vcs, np.int16),
            flow_control=flow_control,
            counters=MappingProxyType(dict(counters or {})),
            per_terminal=per_terminal,
        )
        # counters become facts of a run
        for name, value in table.counters.items():
            if not (
                isinstance(name, str) and isinstance(value, int | float | np.number | np.bool_)
            ):
                raise PluginError(f"route table: counter {name!r} is {value!r}, expected a number")
        table._check_form()
        if hop_vc is not None:
            table._check_virtual_channels()
        if path_weight is not None:
            table._check_weights()
        table._check_paths()
        # computed now and stored, so that `changes` finds what is written to the arrays later
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
        pair_length = np.ascontiguousarray(_exact_array("lengths", lengths, np.int64)).reshape(-1)
        # Allocate in Python, because numpy requests large pages of memory and compiled code does
        # not: page faults took up to a third of the first routing of a process.
        pair_start = np.empty(len(pair_length) + 1, dtype=np.int64)
        path_start = np.empty(np.count_nonzero(pair_length >= 0) + 1, dtype=np.int64)
        single_path_offsets(pair_length, pair_start, path_start)
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
        # 1. Check the next hops, because compiled code uses them as indices without a check.
        next_channel = np.ascontiguousarray(_exact_array("next hops", table, np.int32))
        destinations = topology.terminal_switch if per_terminal else topology.endpoints
        expected = (topology.num_switches, len(destinations))
        if next_channel.shape != expected:
            raise PluginError(
                f"next-hop table: has shape {next_channel.shape}, expected {expected}"
            )
        if next_channel.size and (
            next_channel.min() < -1 or next_channel.max() >= topology.num_channels
        ):
            raise PluginError("next-hop table: a hop names a channel that does not exist")
        # 2. Follow them. The length −1 means that no route arrives, −2 that packets go in a loop.
        lengths, hop_channel = table_from_next_hops(
            next_channel=next_channel,
            sources=topology.endpoints,
            destinations=destinations,
            channel_source=topology.channel_source,
            channel_target=topology.channel_target,
        )
        looping_pairs = np.argwhere(lengths == -2)
        if looping_pairs.size:
            endpoint, destination = looping_pairs[0].tolist()
            text = _pair_text(topology, endpoint, destination, per_terminal=per_terminal)
            raise PluginError(f"next-hop table: packets from {text} never arrive")
        return cls.from_lengths(topology, lengths, hop_channel, per_terminal=per_terminal, **more)

    def _check_form(self) -> None:
        """Refuse arrays of wrong shape or range."""
        num_endpoints, num_destinations = len(self.topology.endpoints), self.num_destinations
        num_paths, num_hops = len(self.path_start) - 1, len(self.hop_channel)
        if self.flow_control not in ("plain", "bubble"):
            raise PluginError(
                f"route table: flow_control is {self.flow_control!r}, expected 'plain' or 'bubble'"
            )
        expected_shape = (num_endpoints * num_destinations + 1,)
        if self.pair_start.shape != expected_shape:
            terminals = f" and {num_destinations} terminals" if self.per_terminal else ""
            raise PluginError(
                f"route table: pair_start has shape {self.pair_start.shape}, "
                f"expected {expected_shape} for {num_endpoints} endpoints{terminals}"
            )
        for name, start, total in (
            ("pair_start", self.pair_start, num_paths),
            ("path_start", self.path_start, num_hops),
        ):
            if not are_valid_offsets(start, total):
                raise PluginError(f"route table: {name} must rise from 0 to {total}")
        if self.path_weight.shape != (num_paths,) or self.hop_vc.shape != (num_hops,):
            raise PluginError("route table: path_weight or hop_vc has the wrong length")
        if num_hops and (
            self.hop_channel.min() < 0 or self.hop_channel.max() >= self.topology.num_channels
        ):
            raise PluginError("route table: a hop names a channel that does not exist")

    def _check_virtual_channels(self) -> None:
        if len(self.hop_vc) and self.hop_vc.min() < 0:
            raise PluginError("route table: a hop has a negative virtual channel")

    def _check_weights(self) -> None:
        """Refuse weights of paths that are not positive or do not add up to 1 for each pair."""
        if not len(self.path_weight):
            return
        # The sum of a pair's weights is the difference of two prefix sums. The tolerance is for
        # their rounding: they grow to the number of pairs.
        prefix_sums = np.concatenate(([0.0], np.cumsum(self.path_weight)))
        pair_weight = np.diff(prefix_sums[self.pair_start])
        has_path = np.diff(self.pair_start) > 0
        # `not` around both, because every comparison with NaN is false
        if not (self.path_weight.min() > 0 and np.abs(pair_weight[has_path] - 1).max() <= 1e-6):
            raise PluginError(
                "route table: the weights of a pair's paths must be positive and add up to 1"
            )

    def _check_paths(self) -> None:
        """Refuse a path whose channels do not lead from its source to its destination."""
        path = first_broken_path(
            pair_start=self.pair_start,
            path_start=self.path_start,
            hop_channel=self.hop_channel,
            sources=self.topology.endpoints,
            destinations=self.destination_switch,
            channel_source=self.topology.channel_source,
            channel_target=self.topology.channel_target,
        )
        if path >= 0:
            # The last pair that starts at this path or before it. Others that start at this path
            # come before that pair and have no paths.
            pair = int(np.searchsorted(self.pair_start, path, side="right")) - 1
            raise PluginError(
                f"route table: the path from {self.describe_pair(pair)} is not a walk "
                f"between them: {self.describe_path(path)}"
            )

    @property
    def num_pairs(self) -> int:
        """Number of pairs of an endpoint and a destination, including those at one switch."""
        return len(self.pair_start) - 1

    @property
    def num_destinations(self) -> int:
        """D: the number of endpoints, or of terminals if the table is per terminal."""
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
        """Return the pair of packets from each terminal in `source` to that in `target`."""
        first_pair: Int64Array = self.topology.terminal_endpoint[source] * self.num_destinations
        return first_pair + self.terminal_destination[target]

    @cached_property
    def ends(self) -> TableEnds:
        """Switch and number of terminals of each endpoint and destination.

        Kernels of metrics take them as one argument, to count the terminal pairs of each pair.
        """
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
        endpoint, destination = divmod(pair, self.num_destinations)
        return _pair_text(self.topology, endpoint, destination, per_terminal=self.per_terminal)

    def describe_path(self, path: int) -> str:
        """Describe the channels of one path."""
        hops = self.hop_channel[self.path_start[path] : self.path_start[path + 1]]
        return ", ".join(self.topology.channel_name(int(hop)) for hop in hops) or "no hops"

    def pair(self, source: int, target: int) -> int:
        """Return the index of the pair from a switch with terminals to a destination.

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
        endpoints = self.topology.endpoints
        switches = (source,) if self.per_terminal else (source, target)
        # Where each switch is among the endpoints. A switch without terminals gets the index of the
        # next endpoint, or one behind the last.
        index = np.searchsorted(endpoints, switches)
        if np.any(index >= len(endpoints)) or np.any(endpoints[index] != switches):
            names = " and ".join(map(str, switches))
            raise InputError(
                f"no routes between switches {names}: no terminals there"
                if len(switches) > 1
                else f"no routes from switch {names}: no terminals there"
            )
        if self.per_terminal and not 0 <= target < self.num_destinations:
            raise InputError(
                f"no routes to terminal {target}: terminals are 0 to {self.num_destinations - 1}"
            )
        destination = target if self.per_terminal else index[1]
        return int(index[0]) * self.num_destinations + int(destination)

    def paths(self, source: int, target: int) -> list[list[int]]:
        """Return the paths from a switch to a destination (as in `pair`), as lists of channels.

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
        """Return the same routes on other virtual channels, perhaps under other flow control."""
        table = replace(
            self,
            hop_vc=_adopt("hop_vc", hop_vc, np.int16),
            flow_control=self.flow_control if flow_control is None else flow_control,
        )
        table._check_form()
        table._check_virtual_channels()
        # Keep the checksums that the other fields had at `create`: new ones would hide a change of
        # these fields since then. They go where a cached property keeps its value.
        new_checksums = {"flow_control": value_checksum(table.flow_control)}
        if table.hop_vc is not self.hop_vc:
            new_checksums["hop_vc"] = value_checksum(table.hop_vc)
        table.__dict__["checksums"] = {**self.checksums, **new_checksums}
        return table

    def next_hops(self) -> Int32Array | None:
        """Return the channel out of each switch towards each destination; int32, shape (S, D).

        It is −1 where no route to the destination passes. Return None if the table is not
        destination-based: if packets for one destination leave a switch over different channels.
        """
        is_destination_based, next_channel = next_hops(
            pair_start=self.pair_start,
            path_start=self.path_start,
            hop_channel=self.hop_channel,
            channel_source=self.topology.channel_source,
            num_switches=self.topology.num_switches,
            num_destinations=self.num_destinations,
        )
        return frozen_array(next_channel, np.int32) if is_destination_based else None

    @cached_property
    def destination_based(self) -> bool:
        """Whether each switch has one next hop for each destination; see `next_hops`."""
        return self.next_hops() is not None


def _pair_text(topology: Topology, endpoint: int, destination: int, *, per_terminal: bool) -> str:
    """Describe the ends of a pair, given as the indices of its endpoint and destination."""
    names = topology.switch_names
    source_text = f"switch {names[topology.endpoints[endpoint]]}"
    if not per_terminal:
        return f"{source_text} to {names[topology.endpoints[destination]]}"
    switch_name = names[topology.terminal_switch[destination]]
    return f"{source_text} to terminal {topology.terminal_name(destination)} at {switch_name}"


def _adopt(name: str, values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Return `values` as an immutable array, without a copy if possible; refuse invalid ones."""
    numbers = _exact_array(name, values, dtype)
    if numbers.ndim != 1:
        raise PluginError(f"route table: {name} has shape {numbers.shape}, expected one dimension")
    return adopt_array(numbers, dtype)


def _exact_array(name: str, values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Return `values` as an array of a type; refuse numbers that it cannot hold exactly.

    These are, for int32, 2^32, 0.5 and NaN.
    """
    try:
        numbers = np.asarray(values)
    except ValueError:
        raise PluginError(f"route table: {name} is a list of lists of unequal length") from None
    if numbers.size and numbers.dtype.kind not in "biuf":
        raise PluginError(f"route table: {name} holds {numbers.dtype}, expected numbers")
    if numbers.dtype == dtype:
        return numbers
    # NumPy would warn of NaN as an integer; the comparison refuses it
    with np.errstate(invalid="ignore"):
        cast = numbers.astype(dtype)
    changed = np.flatnonzero(cast != numbers)
    if changed.size:
        wrong = numbers.reshape(-1)[changed[0]]
        raise PluginError(
            f"route table: {name} has {wrong}, which is not a valid {np.dtype(dtype).name}"
        )
    return cast
