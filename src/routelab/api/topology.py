"""Networks: switches, terminals and directed channels.

A `Topology` is any directed multigraph. It does not depend on the family of the network: a torus,
a tree and a list of edges from a file differ only in their optional labels.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routelab.api.contents import Contents
from routelab.api.errors import InputError

Int8Array = NDArray[np.int8]
Int16Array = NDArray[np.int16]
Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]
Float64Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def frozen_array(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Return an immutable, C-contiguous copy of `values` with the given dtype.

    Its memory is a `bytes` object, so it cannot be made writable again.

    Examples
    --------
    >>> import numpy as np
    >>> from routelab.api import frozen_array
    >>> frozen_array([3, 1, 2], np.int32).flags.writeable
    False
    """
    array = np.asarray(values, dtype=dtype, order="C")
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)


def adopt_array(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Return `values` as an immutable, C-contiguous array, without a copy if possible.

    Use this for large arrays. A contiguous array of the right type that alone owns its memory is
    not copied: it becomes read-only, and the result is a view of it. All else is copied: other
    types, views, and arrays whose memory has another owner (a buffer, a mapped file, an array that
    compiled code returned twice).

    A view that the caller made of an array before this call stays writable. This cannot be
    detected: do not use such views afterwards.
    """
    if type(values) is np.ndarray and values.dtype == dtype and values.flags.c_contiguous:
        if _is_immutable(values):
            return values
        if _owns_memory_alone(values):
            values.setflags(write=False)
            # over a read-only memoryview, because a view of `values` could be made writable again
            # once `values` is
            return np.frombuffer(values.data.toreadonly(), dtype).reshape(values.shape)
    return frozen_array(values, dtype)


def _is_immutable(array: NDArray[Any]) -> bool:
    """Return whether an array is a result of `frozen_array` or `adopt_array`, or a view of one."""
    # 1. The object below all views: bytes for `frozen_array`, a memoryview for `adopt_array`.
    memory: Any = array
    while isinstance(memory, np.ndarray):
        memory = memory.base
    if not isinstance(memory, memoryview):
        return isinstance(memory, bytes)
    # 2. The array that `adopt_array` was called with. Code that still has this array may have made
    #    it writable again since. A memoryview of anything else does not come from `adopt_array`.
    owner: Any = memory.obj
    return type(owner) is np.ndarray and not owner.flags.writeable and _owns_memory_alone(owner)


def _owns_memory_alone(array: NDArray[Any]) -> bool:
    """Return whether an array is no view, and shares its memory with its own views only."""
    memory: Any = array.base
    if memory is None:
        return True
    # Memory that numba allocated, if it has these two attributes. Its `refcount` is the number of
    # arrays over it: 2 if compiled code returned one array twice. Its `parent` is an array of
    # Python, if compiled code returned a slice of that array, and None otherwise. The default is
    # not None, so an object without a `parent` is no such memory.
    return getattr(memory, "refcount", None) == 1 and getattr(memory, "parent", memory) is None


@dataclass(frozen=True)
class Direction:
    """A label that channels share, such as ``+X``: a dimension (0 for X) and a sign (+1 or −1)."""

    name: str
    dimension: int
    sign: int


@dataclass(frozen=True, eq=False)
class Topology(Contents):
    """A network of switches, terminals and directed channels; arrays are read-only.

    Use `Topology.create`, which fills in defaults and checks; the bare constructor checks nothing.

    Attributes
    ----------
    family : str
        Kind of network, for reports and for ``supports()`` messages.
    num_switches : int
    channel_source, channel_target : int32 array, shape (C,)
        Switch at each end of a directed channel. An undirected link is two channels; parallel
        channels are allowed, a channel from a switch to itself is not.
    terminal_switch : int32 array, shape (T,)
        Switch of each terminal. In traffic, rank i is terminal i; a `Job` says where its ranks are.
    source_port, target_port : int32 array, shape (C,)
        Port numbers at both ends; −1 if unknown.
    channel_direction : int16 array, shape (C,)
        Index into `directions`; −1 if a channel has no direction label.
    channel_ring : int32 array, shape (C,)
        Index of the unidirectional ring that a channel belongs to, for bubble flow control; −1:
        none. The channels with one index should form one complete ring, but `create` does not check
        this; code that relies on it does (see `routelab.deadlock`).
    channel_latency : float64 array, shape (C,)
        Seconds for a bit to cross the channel; 0 if unknown.
    channel_capacity : float64 array, shape (C,)
        Bandwidth as a multiple of a unit that the whole network has in common, more than 0; 1 if
        unknown.
    channel_bubble : int8 array, shape (C,)
        Flow control of the buffers behind a channel: 1 bubble, 0 plain, −1 not declared.
        `routelab.deadlock.declared_flow_control` uses it.
    channel_buffer : int32 array, shape (C,)
        Packets of the largest size that the buffer of each virtual channel holds; 0 if not
        declared.
    directions : tuple of Direction
        The direction labels in use, in the order that direction-ordered algorithms follow.
    coordinates : int32 array, shape (S, n), or None
        Coordinates of each switch in a network of n dimensions; None if it has none.
    switch_names : tuple of str
        Name of each switch; no two are equal.
    terminal_names : tuple of str
        Name of each terminal (a host), "" if unknown; empty if no terminal has one.
    terminal_guids, switch_guids : tuple of str
        Permanent identifiers of the hardware, as the network's tools print them; "" if unknown,
        empty if none is known.
    channel_names : tuple of str
        Name of each channel's link, "" if unknown; empty if none is known. Links may share a name.
    terminal_port : int32 array, shape (T,)
        Port of its switch that each terminal uses; −1 if unknown.
    failed_switches, failed_links : tuple of str
        Names of the parts that were removed from the whole network; the arrays lack them.
    attributes : mapping
        Further facts by name (JSON values), e.g. ``{"dims": [4, 2]}``, for reports.

    Examples
    --------
    >>> from routelab.api import Topology
    >>> line = Topology.create(
    ...     num_switches=3, channel_source=[0, 1, 1, 2], channel_target=[1, 0, 2, 1]
    ... )
    >>> line
    <graph: 3 switches, 3 terminals, 4 channels>
    >>> line.without(channels=line.links[1])
    <graph: 3 switches, 3 terminals, 2 channels>
    """

    family: str
    num_switches: int
    channel_source: Int32Array
    channel_target: Int32Array
    terminal_switch: Int32Array
    source_port: Int32Array
    target_port: Int32Array
    channel_direction: Int16Array
    channel_ring: Int32Array
    channel_latency: Float64Array
    channel_capacity: Float64Array
    channel_bubble: Int8Array
    channel_buffer: Int32Array
    directions: tuple[Direction, ...] = ()
    coordinates: Int32Array | None = None
    switch_names: tuple[str, ...] = ()
    terminal_names: tuple[str, ...] = ()
    terminal_guids: tuple[str, ...] = ()
    switch_guids: tuple[str, ...] = ()
    channel_names: tuple[str, ...] = ()
    terminal_port: Int32Array = field(default_factory=lambda: frozen_array([], np.int32))
    failed_switches: tuple[str, ...] = ()
    failed_links: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def create(
        cls,
        *,
        num_switches: int,
        channel_source: ArrayLike,
        channel_target: ArrayLike,
        family: str = "graph",
        terminal_switch: ArrayLike | None = None,
        source_port: ArrayLike | None = None,
        target_port: ArrayLike | None = None,
        channel_direction: ArrayLike | None = None,
        channel_ring: ArrayLike | None = None,
        channel_latency: ArrayLike | None = None,
        channel_capacity: ArrayLike | None = None,
        channel_bubble: ArrayLike | None = None,
        channel_buffer: ArrayLike | None = None,
        directions: Sequence[Direction] = (),
        coordinates: ArrayLike | None = None,
        switch_names: Sequence[str] | None = None,
        terminal_names: Sequence[str] = (),
        terminal_guids: Sequence[str] = (),
        switch_guids: Sequence[str] = (),
        channel_names: Sequence[str] = (),
        terminal_port: ArrayLike | None = None,
        failed_switches: Sequence[str] = (),
        failed_links: Sequence[str] = (),
        attributes: Mapping[str, Any] | None = None,
    ) -> Topology:
        """Build a topology, fill in defaults, and check that it is consistent.

        Without `terminal_switch` every switch gets one terminal.

        Raises
        ------
        InputError
            If an array has the wrong length, an index is out of range, or a channel joins a switch
            to itself; if two terminals use one port, or a name or GUID is not unique.
        """
        source = frozen_array(channel_source, np.int32)
        terminals = frozen_array(
            np.arange(num_switches) if terminal_switch is None else terminal_switch, np.int32
        )

        def per_channel(values: ArrayLike | None, default: float, dtype: Any) -> NDArray[Any]:
            return frozen_array(np.full(len(source), default) if values is None else values, dtype)

        topology = cls(
            family=family,
            num_switches=int(num_switches),
            channel_source=source,
            channel_target=frozen_array(channel_target, np.int32),
            terminal_switch=terminals,
            source_port=per_channel(source_port, -1, np.int32),
            target_port=per_channel(target_port, -1, np.int32),
            channel_direction=per_channel(channel_direction, -1, np.int16),
            channel_ring=per_channel(channel_ring, -1, np.int32),
            channel_latency=per_channel(channel_latency, 0.0, np.float64),
            channel_capacity=per_channel(channel_capacity, 1.0, np.float64),
            channel_bubble=per_channel(channel_bubble, -1, np.int8),
            channel_buffer=per_channel(channel_buffer, 0, np.int32),
            directions=tuple(directions),
            coordinates=None if coordinates is None else frozen_array(coordinates, np.int32),
            switch_names=tuple(
                map(str, range(num_switches)) if switch_names is None else map(str, switch_names)
            ),
            terminal_names=_unless_empty(terminal_names),
            terminal_guids=_unless_empty(terminal_guids),
            switch_guids=_unless_empty(switch_guids),
            channel_names=_unless_empty(channel_names),
            terminal_port=frozen_array(
                np.full(len(terminals), -1) if terminal_port is None else terminal_port, np.int32
            ),
            failed_switches=tuple(failed_switches),
            failed_links=tuple(failed_links),
            attributes=MappingProxyType(dict(attributes or {})),
        )
        topology._check()
        # computed now and stored, so that `changes` finds what is written to the arrays later
        _ = topology.checksums
        return topology

    def _check(self) -> None:
        """Refuse arrays of wrong shape or range, self-loops, and names that are not unique."""
        # 1. Shapes and switches come first: the tests below compare arrays and index with them.
        num_channels = len(self.channel_source)
        for name in (
            "channel_target",
            "source_port",
            "target_port",
            "channel_direction",
            "channel_ring",
            "channel_latency",
            "channel_capacity",
            "channel_bubble",
            "channel_buffer",
        ):
            if getattr(self, name).shape != (num_channels,):
                raise InputError(
                    f"topology: {name} has shape {getattr(self, name).shape}, "
                    f"expected ({num_channels},) as channel_source has {num_channels} channels"
                )
        for name in ("channel_source", "channel_target", "terminal_switch"):
            array = getattr(self, name)
            if array.size and (array.min() < 0 or array.max() >= self.num_switches):
                raise InputError(
                    f"topology: {name} names a switch outside 0..{self.num_switches - 1}"
                )
        # 2. Properties of channels.
        is_valid = (self.channel_capacity > 0) & (self.channel_capacity < np.inf)
        if not is_valid.all():  # NaN is not valid either: all comparisons with it are false
            channel = np.flatnonzero(~is_valid)[0]
            raise InputError(
                f"topology: channel {channel} has capacity {self.channel_capacity[channel]:g}; "
                "expected a positive number"
            )
        if self.channel_buffer.min(initial=0) < 0 or np.abs(self.channel_bubble).max(initial=0) > 1:
            raise InputError(
                "topology: channel_buffer counts packets, and channel_bubble is 1, 0 or −1"
            )
        loops = np.flatnonzero(self.channel_source == self.channel_target)
        if loops.size:
            raise InputError(
                f"topology: channel {loops[0]} joins switch {self.channel_source[loops[0]]} "
                "to itself; remove it"
            )
        if self.channel_direction.size and self.channel_direction.max() >= len(self.directions):
            raise InputError("topology: channel_direction names a direction that is not listed")
        # 3. Names, identifiers and coordinates.
        if len(self.switch_names) != self.num_switches:
            raise InputError(
                f"topology: {len(self.switch_names)} switch names for {self.num_switches} switches"
            )
        if len(set(self.switch_names)) != self.num_switches:
            raise InputError("topology: two switches have the same name")
        self._check_devices()
        if self.coordinates is not None and (
            self.coordinates.ndim != 2 or len(self.coordinates) != self.num_switches
        ):
            raise InputError(
                f"topology: coordinates have shape {self.coordinates.shape}, expected one row "
                f"for each of {self.num_switches} switches"
            )

    def _check_devices(self) -> None:
        """Refuse names, GUIDs and ports that are incomplete, or that two devices share."""
        # 1. Names and GUIDs: one for each device, "" where it is unknown, or none at all.
        num_terminals = self.num_terminals
        for name, expected, devices in (
            ("terminal_names", num_terminals, "terminals"),
            ("terminal_guids", num_terminals, "terminals"),
            ("switch_guids", self.num_switches, "switches"),
            ("channel_names", self.num_channels, "channels"),
        ):
            count = len(getattr(self, name))
            if count not in (0, expected):
                raise InputError(f"topology: {count} {name} for {expected} {devices}")
        for problem, texts in (
            ("two terminals have the name", self.terminal_names),
            ("two devices have the GUID", self.terminal_guids + self.switch_guids),
        ):
            duplicate = _find_duplicate(texts)
            if duplicate:
                raise InputError(f"topology: {problem} {duplicate!r}; each must have its own")
        if self.terminal_port.shape != (num_terminals,):
            raise InputError(
                f"topology: terminal_port has shape {self.terminal_port.shape}, expected "
                f"({num_terminals},) for {num_terminals} terminals"
            )
        # 2. No two terminals on one port, where ports are known (−1: unknown).
        with_port = np.flatnonzero(self.terminal_port >= 0)
        switches, ports = self.terminal_switch[with_port], self.terminal_port[with_port]
        attachments = zip(with_port.tolist(), switches.tolist(), ports.tolist(), strict=True)
        terminal_at: dict[tuple[int, int], int] = {}
        for terminal, switch, port in attachments:
            if (switch, port) in terminal_at:
                raise InputError(
                    f"topology: terminals {terminal_at[switch, port]} and {terminal} are both on "
                    f"port {port} of switch {self.switch_names[switch]}"
                )
            terminal_at[switch, port] = terminal

    def __repr__(self) -> str:
        return (
            f"<{self.family}: {self.num_switches} switches, {self.num_terminals} terminals, "
            f"{self.num_channels} channels>"
        )

    @property
    def num_channels(self) -> int:
        """Number of directed switch-to-switch channels."""
        return len(self.channel_source)

    @property
    def declares_flow_control(self) -> bool:
        """Whether the flow control of some channel is declared."""
        return bool((self.channel_bubble >= 0).any())

    @property
    def num_terminals(self) -> int:
        """Number of terminals (compute nodes)."""
        return len(self.terminal_switch)

    @cached_property
    def terminals_per_switch(self) -> Int32Array:
        """Number of terminals at each switch; int32, shape (S,)."""
        return frozen_array(
            np.bincount(self.terminal_switch, minlength=self.num_switches), np.int32
        )

    @cached_property
    def endpoints(self) -> Int32Array:
        """Switches with at least one terminal, ascending; int32, shape (P,)."""
        return frozen_array(np.flatnonzero(self.terminals_per_switch), np.int32)

    @cached_property
    def demand(self) -> Int64Array:
        """Number of terminals at each endpoint; int64, shape (P,).

        The routes from endpoint i to endpoint j serve ``demand[i] * demand[j]`` terminal pairs.
        """
        return frozen_array(self.terminals_per_switch[self.endpoints], np.int64)

    @cached_property
    def terminal_endpoint(self) -> Int64Array:
        """Index of each terminal's switch among the endpoints; int64, shape (T,)."""
        return frozen_array(np.searchsorted(self.endpoints, self.terminal_switch), np.int64)

    def terminal_name(self, terminal: int) -> str:
        """Return the name of a terminal, or its number if it has none."""
        name = self.terminal_names[terminal] if self.terminal_names else ""
        return name or str(terminal)

    @cached_property
    def host_names(self) -> tuple[str, ...]:
        """Names of all terminals for lists of hosts: their own, or else t0, t1, and so on.

        Their own names are used if each terminal has one without spaces, because programs read
        lists of hosts word by word.
        """
        # one word: neither an empty name nor one with spaces
        if self.terminal_names and all(len(name.split()) == 1 for name in self.terminal_names):
            return self.terminal_names
        return tuple(f"t{terminal}" for terminal in range(self.num_terminals))

    @cached_property
    def outgoing(self) -> tuple[Int32Array, Int32Array]:
        """Channels leaving each switch, ascending, as CSR (start, channel).

        Those of switch s are ``channel[start[s] : start[s + 1]]``.
        """
        return _channels_by_switch(self.channel_source, self.num_switches)

    @cached_property
    def incoming(self) -> tuple[Int32Array, Int32Array]:
        """Channels entering each switch, ascending, as CSR (start, channel); see `outgoing`."""
        return _channels_by_switch(self.channel_target, self.num_switches)

    @cached_property
    def parity(self) -> Int8Array:
        """Sum of a switch's coordinates (its index where it has none) modulo 2; int8, shape (S,).

        Selections alternate ties by it, so that neighbours break ties in opposite ways.
        """
        if self.coordinates is None:
            return frozen_array(np.arange(self.num_switches) % 2, np.int8)
        return frozen_array(self.coordinates.sum(axis=1) % 2, np.int8)

    @cached_property
    def links(self) -> Int32Array:
        """The two channels of every link, ascending by the first; int32, shape (L, 2).

        A channel is paired with the first unpaired channel in the opposite direction; −1 if none
        exists. Channels 0>1, 0>1, 1>0 make the links (0, 2) and (1, −1).
        """
        # links that lack their second channel, by (source, target) of the first
        open_links: dict[tuple[int, int], deque[int]] = {}
        links: list[list[int]] = []
        ends = zip(self.channel_source.tolist(), self.channel_target.tolist(), strict=True)
        for channel, (source, target) in enumerate(ends):
            opposite_links = open_links.get((target, source))
            if opposite_links:
                links[opposite_links.popleft()][1] = channel
            else:
                open_links.setdefault((source, target), deque()).append(len(links))
                links.append([channel, -1])
        return frozen_array(np.array(links).reshape(-1, 2), np.int32)

    def without(self, *, switches: Sequence[int] = (), channels: Sequence[int] = ()) -> Topology:
        """Return the network after failures, e.g. ``without(channels=topology.links[3])``.

        The remaining parts keep their order and names; switches and channels are renumbered. A
        switch fails with its terminals and channels. The channels of a ring that lost one no
        longer claim to be a ring. `failed_switches` and `failed_links` are extended: by ``a-b``
        for a link that lost both channels, by ``a>b`` for a single channel.

        Parameters
        ----------
        switches, channels : sequence of int
            Indices of the failed parts; a channel of −1, as in `links`, is ignored.

        Raises
        ------
        InputError
            If an index does not exist or no switch with a terminal remains.
        """
        # 1. What remains: switches, channels between two of them, and terminals at them.
        failed_switch = _mask("switch", switches, self.num_switches)
        failed_channel = _mask("channel", [c for c in channels if c != -1], self.num_channels)
        keep_switch = ~failed_switch
        keep_ends = keep_switch[self.channel_source] & keep_switch[self.channel_target]
        keep_channel = ~failed_channel & keep_ends
        keep_terminal = keep_switch[self.terminal_switch]
        if not keep_terminal.any():
            raise InputError(f"{self.family}: no switch with a terminal is left; fail fewer")
        # 2. Switches get new numbers without gaps: 0, 2, 3 become 0, 1, 2. The numbers of failed
        #    switches are not used.
        new_switch = np.cumsum(keep_switch) - 1
        # 3. So do the rings that are still complete. The other channels are in no ring.
        lost_channel_ring = self.channel_ring[~keep_channel]
        in_ring = (self.channel_ring >= 0) & ~np.isin(self.channel_ring, lost_channel_ring)
        new_ring = np.full(self.num_channels, -1)
        _, new_ring[in_ring] = np.unique(self.channel_ring[in_ring], return_inverse=True)
        names = np.array(self.switch_names, dtype=object)
        return Topology.create(
            family=self.family,
            num_switches=int(keep_switch.sum()),
            channel_source=new_switch[self.channel_source[keep_channel]],
            channel_target=new_switch[self.channel_target[keep_channel]],
            terminal_switch=new_switch[self.terminal_switch[keep_terminal]],
            source_port=self.source_port[keep_channel],
            target_port=self.target_port[keep_channel],
            channel_direction=self.channel_direction[keep_channel],
            channel_ring=new_ring[keep_channel],
            channel_latency=self.channel_latency[keep_channel],
            channel_capacity=self.channel_capacity[keep_channel],
            channel_bubble=self.channel_bubble[keep_channel],
            channel_buffer=self.channel_buffer[keep_channel],
            directions=self.directions,
            coordinates=None if self.coordinates is None else self.coordinates[keep_switch],
            switch_names=names[keep_switch].tolist(),
            terminal_names=_select_texts(self.terminal_names, keep_terminal),
            terminal_guids=_select_texts(self.terminal_guids, keep_terminal),
            switch_guids=_select_texts(self.switch_guids, keep_switch),
            channel_names=_select_texts(self.channel_names, keep_channel),
            terminal_port=self.terminal_port[keep_terminal],
            failed_switches=[*self.failed_switches, *names[failed_switch].tolist()],
            failed_links=[*self.failed_links, *self._link_names(failed_channel)],
            attributes=self.attributes,
        )

    def _link_names(self, failed_channel: BoolArray) -> Iterator[str]:
        """Yield the name of each link with a failed channel: ``a>b``, or ``a-b`` if both failed.

        `failed_channel` is a mask of all channels.
        """
        # A link without a second channel has −1 there. This index reads the last entry, so append
        # one that says that no channel failed.
        has_failed = np.append(failed_channel, False)
        is_named = has_failed[self.links].any(axis=1)
        for link in self.links[is_named].tolist():
            failed_channels = [channel for channel in link if has_failed[channel]]
            source = self.switch_names[self.channel_source[failed_channels[0]]]
            target = self.switch_names[self.channel_target[failed_channels[0]]]
            mark = "-" if len(failed_channels) == 2 else ">"
            yield f"{source}{mark}{target}"

    def channel_name(self, channel: int) -> str:
        """Describe a channel, e.g. ``(0,1)>(0,2) +Y``."""
        source, target = int(self.channel_source[channel]), int(self.channel_target[channel])
        text = f"{self.switch_names[source]}>{self.switch_names[target]}"
        direction = int(self.channel_direction[channel])
        return text if direction < 0 else f"{text} {self.directions[direction].name}"

    def link_name(self, channel: int) -> str:
        """Describe a channel so that parallel ones differ, e.g. ``A>B east port 3``.

        The name of its link and, without a direction label, the port of its source follow the
        channel's name, if they are known.
        """
        name = self.channel_names[channel] if self.channel_names else ""
        port, has_direction = self.source_port[channel], self.channel_direction[channel] >= 0
        port_text = f"port {port}" if port >= 0 and not has_direction else ""
        return " ".join(filter(None, (self.channel_name(channel), name, port_text)))


def _unless_empty(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts; an empty tuple if all of them are empty."""
    texts = tuple(map(str, texts))
    return texts if any(texts) else ()


def _select_texts(texts: tuple[str, ...], keep: BoolArray) -> tuple[str, ...]:
    return tuple(compress(texts, keep.tolist()))


def _find_duplicate(texts: Sequence[str]) -> str:
    """Return a text that occurs twice; "" if none does, besides the empty ones."""
    known_texts = [text for text in texts if text]
    if len(set(known_texts)) == len(known_texts):
        return ""
    return next(text for text, count in Counter(known_texts).items() if count > 1)


def _mask(kind: str, indices: Sequence[int], size: int) -> BoolArray:
    """Return a mask that is true at `indices`; bool, shape (size,). Refuse an index outside it."""
    mask: BoolArray = np.zeros(size, dtype=np.bool_)
    for index in indices:
        if not 0 <= index < size:
            valid_indices = f"only 0..{size - 1}" if size else "there are none"
            raise InputError(f"topology: there is no {kind} {index}, {valid_indices}")
        mask[index] = True
    return mask


def _channels_by_switch(switch: Int32Array, num_switches: int) -> tuple[Int32Array, Int32Array]:
    """Return the channels of each switch as CSR (start, channel); `switch` is by channel."""
    channels = np.argsort(switch, kind="stable")
    start = np.zeros(num_switches + 1, dtype=np.int64)
    np.cumsum(np.bincount(switch, minlength=num_switches), out=start[1:])
    return frozen_array(start, np.int32), frozen_array(channels, np.int32)
