"""Route tables as programs that the packet engine runs."""

from __future__ import annotations

import numpy as np

from routelab.api import (
    HopProgram,
    InputError,
    RouteTable,
    Topology,
    UnsupportedError,
    pack_tables,
)
from routelab.api.topology import Int32Array
from routelab.kernels.hops import TARGET, TARGET_TERMINAL


def table_program(table: RouteTable) -> HopProgram:
    """Make a program whose packets follow the paths of a table, drawn by weight if several.

    The tables of the program are those that `table_hops` lists. They take 8 bytes for each pair and
    each path and 4 for each hop; half of those for pairs hold where the only path of a pair begins,
    so that a packet finds its first hop in one step.

    Raises
    ------
    UnsupportedError
        If the table is larger than the engine can address.
    """
    from routelab.kernels.table_hops import follow

    topology, virtual_channels = table.topology, table.virtual_channels
    num_pairs, num_paths = len(table.pair_start) - 1, len(table.path_weight)
    num_hops = len(table.hop_channel)
    # 1. All tables of a program lie behind one another, and places in them are 32-bit numbers.
    if max(num_hops, num_paths) >= 2**30 or 2 * (num_pairs + num_paths) + num_hops >= 2**31:
        raise UnsupportedError(
            f"a table of {num_paths} paths and {num_hops} hops is too large for the packet engine; "
            "use an algorithm that decides hop by hop, such as dimension-order"
        )
    if topology.num_channels * virtual_channels >= 2**31:
        raise UnsupportedError(
            f"{topology.num_channels} channels with {virtual_channels} virtual channels each are "
            "too many for a table in the packet engine"
        )
    # 2. Row of each switch with terminals in the table of pairs.
    endpoint = np.full(topology.num_switches, -1)
    endpoint[topology.endpoints] = np.arange(len(topology.endpoints))
    # 3. Each hop as one number: channel * virtual channels + virtual channel.
    hops = table.hop_channel * np.int32(virtual_channels)
    hops += table.hop_vc
    # 4. Place of the first hop of each pair's only path, else -1.
    only_path = np.full(num_pairs, -1, np.int32)
    is_single = np.diff(table.pair_start) == 1
    only_path[is_single] = table.path_start[table.pair_start[:-1][is_single]]
    return HopProgram(
        hop=follow,
        tables=pack_tables(
            topology,
            endpoint,
            table.terminal_destination if table.per_terminal else endpoint,
            [TARGET_TERMINAL if table.per_terminal else TARGET],
            table.pair_start,
            table.path_start,
            _cumulative_shares(table),
            hops,
            [table.num_destinations],
            [virtual_channels],
            only_path,
        ),
        vc_classes=virtual_channels,
        bubble=tuple(range(virtual_channels)) if table.flow_control == "bubble" else (),
        max_hops=int(np.diff(table.path_start).max(initial=0)),
        by_terminal=table.per_terminal,
    )


def _cumulative_shares(table: RouteTable) -> Int32Array:
    """Return the share of a pair's packets on its paths up to each one, in 31 bits; shape (K,)."""
    shares = np.cumsum(table.path_weight)
    before = np.concatenate(([0.0], shares))[table.pair_start[:-1]]
    shares -= np.repeat(before, np.diff(table.pair_start))
    shares *= 2.0**31
    # sums of weights may exceed 1 by a rounding error, and 2**31 does not fit into 32 bits
    np.minimum(shares, 2.0**31 - 1, out=shares)
    return shares.astype(np.int32)


def require_network(program: HopProgram, topology: Topology) -> None:
    """Refuse a program of `table_program` whose table belongs to another network.

    The engine follows its paths without a look at each hop: a channel that the network does not
    have would lie outside the engine's arrays.

    Raises
    ------
    InputError
        If the numbers of switches, terminals or channels do not fit, or a path has a gap.
    """
    from routelab.kernels import table_hops as at

    tables, start = program.tables, program.tables[1:]
    switches = start[at.DESTINATION] - start[at.ENDPOINT]
    headings = start[at.COLUMN] - start[at.DESTINATION]
    expected = topology.num_terminals if program.by_terminal else topology.num_switches
    channel = tables[start[at.HOPS] : start[at.SIZE]] // tables[start[at.CLASSES]]
    fits = (switches, headings) == (topology.num_switches, expected)
    if not fits or channel.max(initial=-1) >= topology.num_channels:
        raise InputError("the packets follow a route table of another network")
    # each hop but the first of a path leaves the switch that the hop before leads to
    goes_on = np.ones(len(channel) + 1, np.bool_)
    goes_on[tables[start[at.PATH] : start[at.UPTO]]] = False
    place = np.flatnonzero(goes_on[:-1])
    before, after = channel[place - 1], channel[place]
    if (topology.channel_target[before] != topology.channel_source[after]).any():
        raise InputError("the packets follow a route table of another network")
