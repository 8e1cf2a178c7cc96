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

    topology = table.topology
    num_pairs, num_paths = len(table.pair_start) - 1, len(table.path_weight)
    num_hops = len(table.hop_channel)
    if max(num_hops, num_paths) >= 2**30 or 2 * (num_pairs + num_paths) + num_hops >= 2**31:
        raise UnsupportedError(
            f"a table of {num_paths} paths and {num_hops} hops is too large for the packet engine; "
            "use an algorithm that decides hop by hop, such as dimension-order"
        )
    endpoint = np.full(topology.num_switches, -1)
    endpoint[topology.endpoints] = np.arange(len(topology.endpoints))
    classes = table.virtual_channels
    return HopProgram(
        hop=follow,
        tables=pack_tables(
            topology,
            endpoint,
            table.terminal_destination if table.per_terminal else endpoint,
            [TARGET_TERMINAL if table.per_terminal else TARGET],
            table.pair_start,
            table.path_start,
            _upto(table),
            _steps(table),
            [table.num_destinations],
            [classes],
            _only_paths(table),
        ),
        vc_classes=classes,
        bubble=tuple(range(classes)) if table.flow_control == "bubble" else (),
        max_hops=int(np.diff(table.path_start).max(initial=0)),
        by_terminal=table.per_terminal,
    )


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


def _steps(table: RouteTable) -> Int32Array:
    """Return channel * virtual channels + virtual channel of each hop; shape (H,)."""
    classes = table.virtual_channels
    if table.topology.num_channels * classes >= 2**31:
        raise UnsupportedError(
            f"{table.topology.num_channels} channels with {classes} virtual channels each are too "
            "many for a table in the packet engine"
        )
    steps = table.hop_channel * np.int32(classes)
    steps += table.hop_vc
    return steps


def _only_paths(table: RouteTable) -> Int32Array:
    """Return the place of the first hop of each pair's only path, else −1; shape (P * D,)."""
    places = np.full(len(table.pair_start) - 1, -1, np.int32)
    single = np.diff(table.pair_start) == 1
    places[single] = table.path_start[table.pair_start[:-1][single]]
    return places


def _upto(table: RouteTable) -> Int32Array:
    """Return cumulative shares of a pair's packets on its paths, in 31 bits; shape (K,)."""
    shares = np.cumsum(table.path_weight)
    before = np.concatenate(([0.0], shares))[table.pair_start[:-1]]
    shares -= np.repeat(before, np.diff(table.pair_start))
    shares *= 2.0**31
    np.minimum(shares, 2.0**31 - 1, out=shares)
    return shares.astype(np.int32)
