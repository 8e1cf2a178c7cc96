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

    `routelab.kernels.table_hops` lists the tables of the program. They take 8 bytes for each pair
    and each path and 4 for each hop. Half of the bytes of a pair are for `only_path`, which is not
    necessary: with it, a packet finds its first hop in one step.

    Raises
    ------
    UnsupportedError
        If the table is larger than the engine can address.
    """
    from routelab.kernels.table_hops import follow

    topology, virtual_channels = table.topology, table.virtual_channels
    num_pairs, num_paths = len(table.pair_start) - 1, len(table.path_weight)
    num_hops = len(table.hop_channel)
    # 1. All tables of a program lie behind one another, and indices of their words are 32-bit
    #    numbers. There are two words for each pair and each path, and one for each hop.
    num_words = 2 * (num_pairs + num_paths) + num_hops
    if max(num_hops, num_paths) >= 2**30 or num_words >= 2**31:
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
    # 4. Index of the first hop of each pair's only path; -1 for a pair with several paths or none.
    only_path = np.full(num_pairs, -1, np.int32)
    is_single = np.diff(table.pair_start) == 1
    only_path[is_single] = table.path_start[table.pair_start[:-1][is_single]]
    return HopProgram(
        hop=follow,
        # in the order of the names in `routelab.kernels.table_hops`, from ENDPOINT to ONLY
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
    """Return for each path the share of its pair's packets that take it or a path before it.

    In units of 2**-31, for a draw: a pair with paths of weights 1/4 and 3/4 has 2**29 and
    2**31 - 1. int32, shape (K,).
    """
    # sum over the paths of all pairs, then subtract the sum before the first path of the pair
    shares = np.cumsum(table.path_weight)
    before_pair = np.concatenate(([0.0], shares))[table.pair_start[:-1]]
    shares -= np.repeat(before_pair, np.diff(table.pair_start))
    shares *= 2.0**31
    # 1 becomes 2**31, which does not fit into 32 bits; a sum may even exceed 1 by a rounding error
    np.minimum(shares, 2.0**31 - 1, out=shares)
    return shares.astype(np.int32)


def require_network(program: HopProgram, topology: Topology) -> None:
    """Refuse a program of `table_program` whose table belongs to another network.

    The engine follows its paths without a check of each hop: a channel that the network does not
    have would index past the end of the engine's arrays.

    Raises
    ------
    InputError
        If the numbers of switches, terminals or channels do not fit, or a path has a gap.
    """
    from routelab.kernels import table_hops as at

    # 1. Sizes, by the numbers of the tables in `table_hops`. Word 1 + k of the tables says where
    #    table k begins; it ends where table k + 1 begins.
    tables, start = program.tables, program.tables[1:]
    num_switches = start[at.DESTINATION] - start[at.ENDPOINT]
    num_targets = start[at.COLUMN] - start[at.DESTINATION]
    expected_targets = topology.num_terminals if program.by_terminal else topology.num_switches
    # a hop is channel * classes + class
    channel = tables[start[at.HOPS] : start[at.SIZE]] // tables[start[at.CLASSES]]
    fits = (num_switches, num_targets) == (topology.num_switches, expected_targets)
    if not fits or channel.max(initial=-1) >= topology.num_channels:
        raise InputError("the packets follow a route table of another network")
    # 2. Each hop but the first of a path leaves the switch that the hop before leads to. PATH, the
    #    table before UPTO, has the index of the first hop of each path, and then the end of the
    #    last path, which is no hop.
    continues_path = np.ones(len(channel) + 1, np.bool_)
    continues_path[tables[start[at.PATH] : start[at.UPTO]]] = False
    hop = np.flatnonzero(continues_path[:-1])
    before, after = channel[hop - 1], channel[hop]
    if (topology.channel_target[before] != topology.channel_source[after]).any():
        raise InputError("the packets follow a route table of another network")
