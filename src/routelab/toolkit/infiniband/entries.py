"""What forwarding tables do with the packets for each LID: the channel behind each entry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api.errors import InputError
from routelab.api.topology import BoolArray, Int16Array, Int32Array, Topology, frozen_array
from routelab.toolkit.infiniband.addresses import Addresses


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of all switches for the LIDs of a fabric: where a switch sends packets for a LID.

    Destinations are the T terminals, then the S switches; each has one LID.

    Attributes
    ----------
    ports : int16 array, shape (S, T + S)
        Output port of a switch for a destination; −1 where the switch has no entry.
    steps : int32 array, shape (S, T + S)
        Channel behind this port; −1 where the port has no cable to another switch.
    is_delivered : bool array, shape (T + S,)
        Whether the destination's switch has the entry that delivers its packets.
    """

    ports: Int16Array
    steps: Int32Array
    is_delivered: BoolArray


def destination_switches(topology: Topology) -> Int32Array:
    """Return the switch of each terminal, then the switches themselves; int32, shape (T + S,)."""
    switches = np.arange(topology.num_switches)
    return frozen_array(np.concatenate((topology.terminal_switch, switches)), np.int32)


def destination_ports(topology: Topology, addresses: Addresses) -> Int32Array:
    """Return the port to which the switch of each destination delivers; int32, shape (T + S,)."""
    return frozen_array(
        np.concatenate((addresses.terminal_port, np.zeros(topology.num_switches))), np.int32
    )


def entries_of(topology: Topology, addresses: Addresses, ports: Int16Array) -> Entries:
    """Return what forwarding tables do with the packets for each LID of a network.

    Parameters
    ----------
    topology : Topology
    addresses : Addresses
    ports : int16 array, shape (S, L)
        Port of each switch and LID; −1 where there is no entry.
    """
    lids = addresses.lids
    # 1. The entry for each destination; the tables may end before its LID.
    entry_port = np.full((topology.num_switches, len(lids)), -1, dtype=np.int16)
    has_column = lids < ports.shape[1]
    entry_port[:, has_column] = ports[:, lids[has_column]]
    # 2. The channel at each port. Ports are 0 to 255, and one more column stands for no entry.
    no_entry = 256
    channel_at = np.full((topology.num_switches, no_entry + 1), -1, dtype=np.int64)
    channel_at[topology.channel_source, addresses.channel_port] = np.arange(topology.num_channels)
    column = np.where(entry_port < 0, no_entry, entry_port)
    steps = channel_at[np.arange(topology.num_switches)[:, np.newaxis], column]
    # 3. The last hop: the destination's own switch must send to the port of the destination.
    last_port = entry_port[destination_switches(topology), np.arange(len(lids))]
    return Entries(
        frozen_array(entry_port, np.int16),
        frozen_array(steps, np.int32),
        frozen_array(last_port == destination_ports(topology, addresses), np.bool_),
    )


def channels_of_ports(
    topology: Topology, addresses: Addresses, ports: Int16Array, file: str
) -> Int32Array:
    """Return the next channel from each switch to each destination; int32, shape (S, T + S).

    −1 at the destination's switch, and where there is no entry. `ports` are the tables, by switch
    and LID; `file` is the name of their file, for messages.

    Raises
    ------
    InputError
        If an entry names a port without a cable, or does not end at its destination.
    """
    lids = addresses.lids
    if lids.max() >= ports.shape[1]:
        raise InputError(f"{file}: has no entry for LID {int(lids.max())}")
    entries, ends = entries_of(topology, addresses, ports), destination_switches(topology)
    if not entries.is_delivered.all():
        index = int(np.flatnonzero(~entries.is_delivered)[0])
        name = topology.switch_names[ends[index]]
        raise InputError(
            f"{file}: switch {name} does not deliver packets for its LID {lids[index]}"
        )
    switch = np.arange(topology.num_switches)[:, np.newaxis]
    # A port without a channel is right at the destination's own switch only: there it leads to the
    # terminal, or is port 0, the switch itself.
    leads_nowhere = (entries.ports >= 0) & (entries.steps < 0) & (switch != ends)
    if leads_nowhere.any():
        row, destination = np.argwhere(leads_nowhere)[0].tolist()
        raise InputError(
            f"{file}: switch {topology.switch_names[row]} sends LID {int(lids[destination])} to "
            f"port {int(entries.ports[row, destination])}, which has no cable to a switch"
        )
    steps = entries.steps.copy()
    steps[ends, np.arange(len(ends))] = -1
    return frozen_array(steps, np.int32)
