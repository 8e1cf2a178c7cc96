"""GUIDs, LIDs and ports of a network, as forwarding tables and policies need them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from routelab.api.errors import UnsupportedError
from routelab.api.topology import Int32Array, Topology, frozen_array
from routelab.toolkit.infiniband.text_lines import MAX_GUID, MAX_LID, MAX_PORT, guid_text

FIRST_SWITCH_GUID = 0x200000
FIRST_TERMINAL_GUID = 0x1000000


@dataclass(frozen=True, eq=False)
class Addresses:
    """Addresses of all switches, terminals and channels of a network.

    Attributes
    ----------
    switch_guids, terminal_guids : tuple of str
        In the form of `guid_text`, e.g. ``0x0000000000200000``.
    switch_lids, terminal_lids : int32 array, shape (S,) and (T,)
    channel_port : int32 array, shape (C,)
        Port at the source of each channel.
    terminal_port : int32 array, shape (T,)
        Port of its switch to which each terminal is connected.
    invented : bool
        Whether the network has no GUIDs, so that these do not belong to any hardware.
    """

    switch_guids: tuple[str, ...]
    terminal_guids: tuple[str, ...]
    switch_lids: Int32Array
    terminal_lids: Int32Array
    channel_port: Int32Array
    terminal_port: Int32Array
    invented: bool

    @property
    def lids(self) -> Int32Array:
        """LIDs of the terminals, then of the switches; int32, shape (T + S,)."""
        return frozen_array(np.concatenate((self.terminal_lids, self.switch_lids)), np.int32)

    @property
    def guids(self) -> tuple[str, ...]:
        """GUIDs of the terminals, then of the switches."""
        return self.terminal_guids + self.switch_guids


def addresses_of(topology: Topology) -> Addresses:
    """Return the addresses of a network.

    GUIDs and LIDs (``attributes["lids"]``) of the network stay; other LIDs are the smallest free
    numbers. A network without any GUID gets invented ones, so that it can be simulated. Ports stay
    if all are known; otherwise terminals get the first ports of their switches, then the links.

    Raises
    ------
    UnsupportedError
        If some GUIDs are unknown or no GUIDs, a channel has no way back, or there are too many
        ports or LIDs.
    """
    # 1. A cable is two channels.
    one_way = np.flatnonzero(topology.links[:, 1] < 0)
    if one_way.size:
        name = topology.channel_name(int(topology.links[one_way[0], 0]))
        raise UnsupportedError(
            f"channel {name} has no opposite channel, but InfiniBand cables lead both ways"
        )
    # 2. GUIDs: all are those of the network, or, for a simulation, all are invented.
    invented = not (topology.switch_guids or topology.terminal_guids)
    if invented:
        switch_guids = tuple(guid_text(FIRST_SWITCH_GUID + s) for s in range(topology.num_switches))
        terminal_guids = tuple(
            guid_text(FIRST_TERMINAL_GUID + t) for t in range(topology.num_terminals)
        )
    else:
        switch_guids = _parse_guids("switch", topology.switch_guids, topology.switch_names)
        names = [topology.terminal_name(t) for t in range(topology.num_terminals)]
        terminal_guids = _parse_guids("terminal", topology.terminal_guids, names)
    # 3. LIDs of terminals and switches, whose numbers are from one range, and ports.
    lids = _assign_lids(terminal_guids + switch_guids, topology.attributes.get("lids"))
    channel_port, terminal_port = _assign_ports(topology)
    return Addresses(
        switch_guids=switch_guids,
        terminal_guids=terminal_guids,
        switch_lids=frozen_array(lids[topology.num_terminals :], np.int32),
        terminal_lids=frozen_array(lids[: topology.num_terminals], np.int32),
        channel_port=channel_port,
        terminal_port=terminal_port,
        invented=invented,
    )


def _parse_guids(kind: str, texts: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return GUIDs in the form of `guid_text`; refuse a network that lacks one or repeats one.

    `texts` are the GUIDs of the network, empty if all switches, or all terminals, lack theirs.
    """
    guids = []
    for name, text in zip(names, texts or [""] * len(names), strict=True):
        if not re.fullmatch(r"(?:0[xX])?[0-9a-fA-F]{1,16}", text):
            raise UnsupportedError(
                f"{kind} {name!r} has the GUID {text!r}, expected 16 hexadecimal digits"
                if text
                else f"{kind} {name!r} has no GUID"
            )
        guid = int(text, 16)
        if not 0 < guid <= MAX_GUID:
            raise UnsupportedError(f"{kind} {name!r} has GUID 0")
        guids.append(guid_text(guid))
    if len(set(guids)) < len(guids):
        twice = next(guid for guid in guids if guids.count(guid) > 1)
        raise UnsupportedError(f"GUID {twice} belongs to two {kind}s")
    return tuple(guids)


def _assign_lids(guids: Sequence[str], known: object) -> list[int]:
    """Return the LID of each GUID: known ones, then the smallest free numbers."""
    lids: dict[str, int] = {}
    if isinstance(known, Mapping):
        lids = {guid: int(known[guid]) for guid in guids if guid in known}
    used = set(lids.values())
    free = (lid for lid in range(1, MAX_LID + 1) if lid not in used)
    for guid in guids:
        if guid not in lids:
            lids[guid] = next(free, 0)  # 0, which is no LID, if all numbers are used
    if not all(lids.values()):
        raise UnsupportedError(f"{len(guids)} ports need a LID, and there are {MAX_LID}")
    return [lids[guid] for guid in guids]


def _assign_ports(topology: Topology) -> tuple[Int32Array, Int32Array]:
    """Return the port of each channel at its source, and that of each terminal.

    They are the network's own if those are complete and possible; otherwise all are new.
    """
    # 1. The switch and the port of each channel, then of each terminal. Both channels of a cable
    #    must name the same two ports, and no port of a switch may have two cables.
    switches = np.concatenate((topology.channel_source, topology.terminal_switch))
    ports = np.concatenate((topology.source_port, topology.terminal_port))
    forth, back = topology.links.T
    ends_agree = np.array_equal(topology.source_port[forth], topology.target_port[back]) and (
        np.array_equal(topology.source_port[back], topology.target_port[forth])
    )
    # One number for each switch and port: the switch in the high 32 bits, the port in the low ones.
    switch_and_port = switches.astype(np.int64) << 32 | ports
    is_unique = len(np.unique(switch_and_port)) == len(switch_and_port)
    # 2. Otherwise number the ports of each switch from 1. Sorted by key, the ends of one switch lie
    #    together: its terminals have the even key and come first, then its channels in order.
    if not ends_agree or not is_unique or (ports.size and ports.min() < 1):
        keys = np.concatenate((2 * topology.channel_source + 1, 2 * topology.terminal_switch))
        order = np.argsort(keys, kind="stable")
        first = np.searchsorted(switches[order], np.arange(topology.num_switches))
        ports = np.empty(len(switches), dtype=np.int64)
        ports[order] = np.arange(len(switches)) - first[switches[order]] + 1
    if ports.size and ports.max() > MAX_PORT:
        switch = topology.switch_names[int(switches[ports.argmax()])]
        raise UnsupportedError(
            f"switch {switch} needs port {ports.max()}; a switch has at most {MAX_PORT}"
        )
    channel_port, terminal_port = np.split(ports, [topology.num_channels])
    return frozen_array(channel_port, np.int32), frozen_array(terminal_port, np.int32)
