"""Trees to begin with: without restrictions, and for one lane."""

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
    """Return balanced trees, their largest load, and trees that need one lane only."""
    legality = all_routes(search.fabric)
    fallback = up_down_trees(search)
    grown = search.no_trees()
    search.grow(legality, grown, np.arange(len(grown)))
    results = [search.balance(legality, grown)]
    fallback_peak = search.peak(search.loads(legality, fallback)[0])
    leveled = trees_of_levels(search)
    if leveled is not None:
        # first, as its routes need one lane only
        results.insert(0, search.balance(legality, leveled, rounds=1))
        peak = search.peak(search.loads(legality, leveled)[0])
        if peak <= fallback_peak:
            fallback, fallback_peak = leveled, peak
    on_torus = trees_of_torus(search.topology)
    if on_torus is not None:
        # first, as its routes need few lanes
        results.insert(0, search.balance(legality, on_torus))
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
    reached = 1 + np.count_nonzero(trees >= 0, axis=1)
    return trees if np.array_equal(reached, search.sources) else None


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
    for d in reversed(range(len(grid.dims))):
        position = topology.coordinates[:, d]
        target = position[topology.terminal_switch, None]
        ahead = target > position
        if grid.wrap[d]:
            twice = 2 * ((target - position) % grid.dims[d])
            is_half_way = twice == grid.dims[d]
            ahead = (twice < grid.dims[d]) | (is_half_way & (target % 2 == 0))
        up, down = directions.out_channel[:, [d, d + len(grid.dims)]].T
        step = np.where((ahead & (up >= 0)) | (down < 0), up, down)
        trees = np.where(position == target, trees, step).astype(np.int32)
    return trees


def order_of_trees(search: TreeSearch, trees: Int32Array) -> Int32Array | None:
    """Return an order of the channels that all routes follow, shape (1, C); None if none exists."""
    legality = all_routes(search.fabric)
    _, used = choose_layers(search.fabric, legality, trees)
    any_order = np.arange(search.topology.num_channels)
    rank = order_channels(search.fabric, used, np.int64(0), any_order)
    return rank[None] if rank.min(initial=0) >= 0 else None


def spanning_trees_from(search: TreeSearch, root: int) -> Int32Array:
    """Return the routes inside breadth-first trees: from `root`, and one per further component."""
    targets = search.topology.terminal_switch
    trees, waiting = search.no_trees(), np.arange(len(targets))
    while len(waiting):
        grown, inside = trees_in_spanning_tree(search.topology, root, targets[waiting])
        trees[waiting[inside]] = grown[inside]
        waiting = waiting[~inside]
        root = int(targets[waiting[0]]) if len(waiting) else root
    return trees


def up_down_trees(search: TreeSearch) -> Int32Array:
    """Grow trees of up*/down* routes: towards switches near the center, then away from it.

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
    order = np.argsort(np.where(is_up, -source, source), kind="stable")
    rank = np.empty((1, topology.num_channels), np.int32)
    rank[0, order] = np.arange(topology.num_channels)
    trees = search.no_trees()
    search.grow_widest(legality_of_orders(search.fabric, rank), trees)
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
