"""Virtual lanes for replies on the lane of the request, as RDMA-CM sends them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from routelab.api.topology import Int32Array, Int64Array, frozen_array
from routelab.kernels.dependency import dependency_graph
from routelab.kernels.forwarding.first_fit import first_fit
from routelab.kernels.routes import table_from_next_hops
from routelab.toolkit.infiniband.completion import CompleteTables, manager_routes

IDLE_ROUNDS = 30
"""Rounds of first fit without fewer lanes after which the search ends."""


def with_symmetric_lanes(
    tables: CompleteTables, limit: int, manager: int | None = None
) -> CompleteTables | None:
    """Return tables with the same routes, in which both directions of a pair share a lane.

    So a reply is on the same lane, whether it takes that of the request or that of the route back.
    All routes between two switches, with those of their terminals, form a group. First fit gives
    each group the first lane whose dependencies stay acyclic. While it needs too many lanes, it
    runs again with the groups of the last lane first, so it never needs more lanes than before.
    This is the method of Culberson and Luo, *Exploring the k-colorable landscape with iterated
    greedy*, DIMACS Series in Discrete Mathematics and Theoretical Computer Science 26, 1996, for
    colours.

    Parameters
    ----------
    tables : CompleteTables
        Without loops.
    limit : int
        Most lanes.
    manager : int, optional
        Terminal of the subnet manager. All routes from and to it are also on lane 0: they form a
        further group, which comes first.

    Returns
    -------
    symmetric : CompleteTables or None
        None if no such lanes were found.
    """
    pair, path_start, hop_channel = _paths_by_pair(tables, manager)
    # A group begins where the pair changes. No pair is -2, so the first route begins one, too.
    group_start = np.flatnonzero(np.diff(pair, prepend=-2))
    has_manager_group = bool(len(pair) and pair[0] < 0)
    lane = _search_lanes(
        np.append(group_start, len(pair)),
        path_start,
        hop_channel,
        num_channels=tables.topology.num_channels,
        limit=limit,
        is_first_pinned=has_manager_group,
    )
    if lane is None:
        return None
    if has_manager_group:
        # This group, the first, has kept lane 0 free of cycles with the manager's routes. The pairs
        # of the manager have groups of their own, whose lanes count below.
        group_start, lane = group_start[1:], lane[1:]
    num_switches = tables.topology.num_switches
    lane_between = np.zeros((num_switches, num_switches), np.int8)
    higher, lower = np.divmod(pair[group_start], num_switches)
    lane_between[higher, lower] = lane_between[lower, higher] = lane
    lanes = np.where(tables.steps >= 0, lane_between[:, tables.destination_switch], 0)
    return replace(tables, lanes=frozen_array(lanes, np.int8))


def _search_lanes(
    group_start: Int64Array,
    path_start: Int64Array,
    hop_channel: Int32Array,
    *,
    num_channels: int,
    limit: int,
    is_first_pinned: bool,
) -> Int32Array | None:
    """Return the lane of each group of paths, at most `limit` lanes; None if none were found.

    With `is_first_pinned`, the first group is always on lane 0. Group g has the paths
    ``group_start[g]`` to ``group_start[g + 1] - 1``.
    """
    one_lane = frozen_array(np.zeros(len(hop_channel)), np.int16)
    start, target = dependency_graph(path_start, hop_channel, one_lane, num_channels, 1)
    # First fit again and again, with the groups of the last lane first. Groups of one lane stay
    # together in the order and fit one lane again, so no round needs more lanes.
    num_groups = len(group_start) - 1
    order = np.arange(num_groups)
    fewest, num_idle = num_groups + 1, 0
    while num_idle < IDLE_ROUNDS:
        lane, ranks = first_fit(
            group_start, path_start, hop_channel, start, target, order, np.int64(num_groups)
        )
        if (lane < 0).any():  # the routes of one group have a cycle among themselves
            return None
        num_lanes = len(ranks)
        if num_lanes <= limit:
            lanes: Int32Array = lane
            return lanes
        num_idle = 0 if num_lanes < fewest else num_idle + 1
        fewest = num_lanes
        # Sorted by ascending key, the last lane comes first: its key is 1 - num_lanes. If a group
        # is pinned, lane 0 comes even before it, and this group first of all: so first fit gives it
        # lane 0 again.
        key = -lane[order]
        if is_first_pinned:
            key[lane[order] == 0] = -num_lanes
        order = order[np.argsort(key, kind="stable")]
    return None


def _paths_by_pair(
    tables: CompleteTables, manager: int | None
) -> tuple[Int64Array, Int64Array, Int32Array]:
    """Return all different routes, ascending by pair of switches; first those of the manager.

    Returns
    -------
    pair : int64 array, shape (K,)
        Pair of switches of each route: the higher one times S, plus the lower one; −1 for those of
        the manager, which are listed twice: here, and with their pairs.
    path_start : int64 array, shape (K + 1,)
        Hops ``path_start[k]:path_start[k + 1]`` belong to route k.
    hop_channel : int32 array, shape (H,)
    """
    topology = tables.topology
    switches = np.arange(topology.num_switches, dtype=np.int32)
    # 1. All different routes. Hosts of a switch often have equal columns of next channels, and so
    #    has the switch itself: one column of each kind is enough. `columns` are these, and
    #    `column_index` has the one that stands for each destination.
    _, columns, column_index = np.unique(
        tables.steps, axis=1, return_index=True, return_inverse=True
    )
    ends = tables.destination_switch[columns]
    lengths, hops = table_from_next_hops(
        np.ascontiguousarray(tables.steps[:, columns]),
        switches,
        ends,
        topology.channel_source,
        topology.channel_target,
    )
    length = lengths.reshape(-1)
    # 2. Their order: by pair, in which both directions have the same number.
    switch, end = switches[:, np.newaxis], ends[np.newaxis, :]
    pair_numbers = np.maximum(switch, end) * np.int64(len(switches)) + np.minimum(switch, end)
    order = np.argsort(pair_numbers.reshape(-1), kind="stable")
    order = order[length[order] > 0]
    pair = pair_numbers.reshape(-1)[order]
    if manager is not None:
        # An equal column of another host may stand for that of the manager: mark that one.
        is_managing = manager_routes(tables, manager)[:, columns]
        is_managing[:, column_index.reshape(-1)[manager]] = True
        managing = np.flatnonzero(is_managing.reshape(-1) & (length > 0))
        order = np.concatenate((managing, order))
        pair = np.concatenate((np.full(len(managing), -1), pair))
    # 3. The hops in that order: `shift` leads from the new index of a hop to that in `hops`.
    path_start = np.concatenate(([0], np.cumsum(length[order])))
    first_hop = np.cumsum(np.maximum(length, 0)) - np.maximum(length, 0)
    shift = np.repeat(first_hop[order] - path_start[:-1], length[order])
    hop_channel = hops[np.arange(len(shift)) + shift]
    return pair, path_start, frozen_array(hop_channel, np.int32)
