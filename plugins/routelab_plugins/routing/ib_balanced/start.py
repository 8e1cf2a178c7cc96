"""Trees to begin with: without restrictions, and for one lane.

Trees are int32 arrays of shape (T, S): the next channel of each switch to each terminal, −1 at the
terminal's switch and where no route exists.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Int32Array, Int64Array
from routelab.kernels.distances import eccentricities
from routelab.kernels.forwarding.turns import choose_layers, order_channels
from routelab.toolkit.direction_labels import torus_directions
from routelab.toolkit.forwarding import TreeSearch, all_routes, legality_of_orders
from routelab.toolkit.forwarding.levels import switch_levels, trees_by_levels
from routelab.toolkit.forwarding.spanning_trees import trees_in_spanning_tree
from routelab.toolkit.grids import full_grid


def unrestricted_trees(search: TreeSearch) -> tuple[Int32Array, float, Int32Array]:
    """Return balanced trees without restrictions, and a fallback for one lane.

    Returns
    -------
    trees : int32 array, shape (T, S)
    peak : float
        Their largest load, relative to its channel's capacity.
    fallback : int32 array, shape (T, S)
        Trees that need one lane only: those of a fat tree or up*/down* trees, whichever is better.
    """
    # 1. The fallback, unless trees of levels turn out to be as good.
    legality = all_routes(search.fabric)
    fallback = up_down_trees(search)
    fallback_load, _ = search.loads(legality, fallback)
    fallback_peak = search.peak(fallback_load)
    # 2. Balance trees of several kinds. Of equal peaks the first result counts, so those that need
    #    fewer lanes are put in front: torus, levels, then trees that grew without a shape.
    grown = search.no_trees()
    search.grow(legality, grown, waiting=np.arange(len(grown)))  # updates `grown`
    results = [search.balance(legality, grown)]
    level_trees = trees_of_levels(search)
    if level_trees is not None:
        results.insert(0, search.balance(legality, level_trees, rounds=1))
        level_load, _ = search.loads(legality, level_trees)
        level_peak = search.peak(level_load)
        if level_peak <= fallback_peak:
            fallback, fallback_peak = level_trees, level_peak
    torus_trees = trees_of_torus(search.topology)
    if torus_trees is not None:
        results.insert(0, search.balance(legality, torus_trees))
    # the fallback is better than all of these as it is: balance it, too
    if min(peak for _, peak in results) > fallback_peak:
        results.append(search.balance(legality, fallback))
    trees, peak = min(results, key=lambda result: result[1])
    return trees, peak, fallback


def trees_of_levels(search: TreeSearch) -> Int32Array | None:
    """Return the trees of a fat tree; None on other networks, or if a switch has no route."""
    level = switch_levels(search.topology)
    if level is None:
        return None
    trees = trees_by_levels(search.topology, level)
    # `search.sources` counts the switches that can reach each terminal. One of them is the
    # terminal's own switch, which has no next channel.
    num_sources = 1 + np.count_nonzero(trees >= 0, axis=1)
    return trees if np.array_equal(num_sources, search.sources) else None


def trees_of_torus(topology: Topology) -> Int32Array | None:
    """Return trees in dimension order on a whole torus or mesh; None on other networks.

    Half-way round a ring, destinations at even positions are reached in positive direction, and
    others in negative direction, so that both are used.
    """
    grid = full_grid(topology)
    directions = torus_directions(topology)
    if grid is None or directions.reason is not None or topology.coordinates is None:
        return None
    trees = np.full((topology.num_terminals, topology.num_switches), -1, np.int32)
    # From the last dimension to the first: each overwrites the channels of later ones, because a
    # route goes by the first dimension whose coordinates differ.
    for d in reversed(range(len(grid.dims))):
        position = topology.coordinates[:, d]
        target = position[topology.terminal_switch, None]
        goes_positive = target > position
        if grid.wrap[d]:
            # twice the hops in positive direction, to compare with the size instead of its half
            twice_hops = 2 * ((target - position) % grid.dims[d])
            is_half_way = twice_hops == grid.dims[d]
            goes_positive = (twice_hops < grid.dims[d]) | (is_half_way & (target % 2 == 0))
        positive_channel, negative_channel = directions.out_channel[:, [d, d + len(grid.dims)]].T
        # the other direction where the switch has no channel in this one
        takes_positive = (goes_positive & (positive_channel >= 0)) | (negative_channel < 0)
        channel = np.where(takes_positive, positive_channel, negative_channel)
        trees = np.where(position == target, trees, channel).astype(np.int32)
    return trees


def order_of_trees(search: TreeSearch, trees: Int32Array) -> Int32Array | None:
    """Return an order of the channels that all routes follow, shape (1, C); None if none exists.

    With such an order the trees need one lane only.
    """
    legality = all_routes(search.fabric)
    _, used_layers = choose_layers(search.fabric, legality, trees)
    # where the routes leave a choice, the channel with the smallest number comes next
    priority = np.arange(search.topology.num_channels)
    rank = order_channels(search.fabric, used_layers, layer=np.int64(0), priority=priority)
    # a negative rank marks a channel on or behind a cycle of dependencies
    return rank[None] if rank.min(initial=0) >= 0 else None


def spanning_trees_from(search: TreeSearch, root: int) -> Int32Array:
    """Return trees to all terminals; all routes stay inside a breadth-first tree of the component.

    The breadth-first tree of one component begins at `root`, that of any other component at the
    switch of its first terminal.
    """
    targets = search.topology.terminal_switch
    trees, unrouted = search.no_trees(), np.arange(len(targets))
    while len(unrouted):
        grown, is_in_component = trees_in_spanning_tree(search.topology, root, targets[unrouted])
        trees[unrouted[is_in_component]] = grown[is_in_component]
        unrouted = unrouted[~is_in_component]
        root = int(targets[unrouted[0]]) if len(unrouted) else root
    return trees


def up_down_trees(search: TreeSearch) -> Int32Array:
    """Return trees of up*/down* routes, which go towards the center, then away from it.

    Switches have breadth-first numbers; a channel to a smaller number leads up. A route that goes
    up leaves switches of falling numbers, and one that goes down switches of rising numbers. So in
    this order of channels a route is legal exactly if its ranks rise:

        up      by falling number of the source
        down    by rising number of the source
    """
    topology = search.topology
    number = np.empty(topology.num_switches, np.int64)
    number[breadth_first_order(topology, center(topology))] = np.arange(len(number))
    source, target = number[topology.channel_source], number[topology.channel_target]
    is_up = target < source
    # A channel up has a source of 1 or more, so that its key −source is below all keys of down.
    order = np.argsort(np.where(is_up, -source, source), kind="stable")
    rank = np.empty((1, topology.num_channels), np.int32)
    rank[0, order] = np.arange(topology.num_channels)
    trees = search.no_trees()
    search.grow_widest(legality_of_orders(search.fabric, rank), trees)  # updates `trees`
    return trees


def center(topology: Topology) -> int:
    """Return a switch whose farthest switch is nearest."""
    return int(np.argmin(eccentricities(*topology.outgoing, topology.channel_target)))


def breadth_first_order(topology: Topology, root: int) -> Int64Array:
    """Return all switches, breadth first from `root`, then from others; int64, shape (S,)."""
    start, channels = topology.outgoing
    is_reached = np.zeros(topology.num_switches, np.bool_)
    order: list[int] = []
    for component_root in (root, *range(topology.num_switches)):
        if is_reached[component_root]:
            continue
        is_reached[component_root] = True
        queue = [component_root]
        for switch in queue:
            ends = topology.channel_target[channels[start[switch] : start[switch + 1]]]
            for end in ends[~is_reached[ends]].tolist():
                # parallel channels have the same end
                if not is_reached[end]:
                    is_reached[end] = True
                    queue.append(end)
        order += queue
    return np.array(order, np.int64)
