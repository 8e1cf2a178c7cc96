"""Nue: trees that grow over graphs of dependencies that stay acyclic, one graph for each lane.

A round routes all destinations, one after another. In later rounds every tree grows again, against
the loads of all others and over the dependencies that they leave.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.forwarding.acyclic import FORBIDDEN, PRESENT, UNKNOWN, add_edge
from routelab.kernels.forwarding.heap import pop, push
from routelab.kernels.forwarding.lanes import lane_graph, next_turn, remove_unused_turns
from routelab.kernels.forwarding.trees import read_tree, tree_scratch
from routelab.kernels.jit import helper, jit


class Growth(NamedTuple):
    """One tree while it grows; all arrays change but `load`.

    Attributes
    ----------
    root : int32
        Switch of the destination.
    hop : int64
        Weight of a hop; a channel weighs that and its load.
    steps : int32 array, shape (S,)
        Next channel of each switch; −1 at the root and where no route exists yet.
    load : int64 array, shape (C,)
    distance : int64 array, shape (S,)
        Weight of each switch's route.
    heap : int32 array, shape (C,)
        Channels that the tree may grow over, the one with the smallest `priority` first.
    priority : int64 array, shape (C,)
    queue : int32 array, shape (S,)
    inside : bool array, shape (S,)
    added : int64 array, shape (C,)
        Turns that were added to the graph and may be taken back.
    """

    root: np.int32
    hop: np.int64
    steps: NDArray[np.int32]
    load: NDArray[np.int64]
    distance: NDArray[np.int64]
    heap: NDArray[np.int32]
    priority: NDArray[np.int64]
    queue: NDArray[np.int32]
    inside: NDArray[np.bool_]
    added: NDArray[np.int64]


@jit
def nue_round(fabric, legality, lanes, escape, lane, order, trees, load):
    """Route all destinations once.

    Parameters
    ----------
    fabric : Fabric
    legality : Legality
        All routes are legal.
    lanes : LaneGraphs
        From `escape_lane_graphs`, or from the round before.
    escape : int32 array, shape (T, S)
    lane : int64 array, shape (T,)
    order : int64 array, shape (T,)
        Destinations in the order of their trees.
    trees : int32 array, shape (T, S)
        Next channels of the round before, −1 before the first; changed.
    load : int64 array, shape (C,)
        Packets on each channel, those of `trees`; changed.

    Returns
    -------
    islands : int
        Trees that met a dead end.
    escaped : int
        Trees that follow `escape` in part, as local backtracking did not lead out of it.
    """
    channels, switches = len(fabric.source), trees.shape[1]
    tree = tree_scratch(switches, len(legality.accepting))
    hop = np.int64(len(fabric.root) * len(fabric.root) // max(channels, 1) + 1)
    distance = np.empty(switches, np.int64)
    heap = np.empty(channels, np.int32)
    priority = np.empty(channels, np.int64)
    queue = np.empty(switches, np.int32)
    inside = np.empty(switches, np.bool_)
    added = np.empty(channels, np.int64)
    remove_unused_turns(lanes)
    islands, escaped = 0, 0
    for t in order:
        # 1. Take the tree of the round before away, with the turns that no other tree uses.
        steps, root, users = trees[t], fabric.root[t], lanes.users[lane[t]]
        graph = lane_graph(lanes, lane[t])
        _count_users(fabric, legality, graph, users, steps, root, load, tree, -1)
        growth = Growth(root, hop, steps, load, distance, heap, priority, queue, inside, added)
        # 2. Grow it again. It should reach all switches with an escape route.
        steps[:] = -1
        distance[root] = 0
        num_missing = np.sum(escape[t] >= 0) - _extend_tree(
            fabric, lanes.edges, graph, growth, root
        )
        # 3. Dead ends: neighbours make way, and where that does not help, escape routes do.
        if num_missing:
            islands += 1
            num_missing -= _backtrack_locally(fabric, lanes.edges, graph, growth)
        if num_missing:
            escaped += 1
            _follow_escape_routes(fabric, lanes.edges, graph, growth, escape[t])
        # 4. Its loads and turns, for all trees after it.
        _count_users(fabric, legality, graph, users, steps, root, load, tree, 1)
    return islands, escaped


@helper()
def _count_users(fabric, legality, graph, users, steps, root, load, tree, sign):
    """Add a tree to loads and users of turns (sign 1), or take it away from them (sign −1)."""
    count = read_tree(fabric, legality, steps, root, tree)
    for i in range(1, count):
        u = tree.queue[i]
        load[steps[u]] += sign * tree.weight[u]
        e = next_turn(fabric, steps, u)
        if e >= 0:
            users[e] += sign
            if users[e] == 0:
                graph.state[e] = UNKNOWN


@helper()
def _add_dependency(fabric, edges, graph, c, d):
    """Add the dependency of channel c on d; return whether no cycle prevents it."""
    e = fabric.turn_start[c] + fabric.port[d]
    if graph.state[e] == UNKNOWN and not add_edge(edges, graph, c, e):
        graph.state[e] = FORBIDDEN
    return graph.state[e] != FORBIDDEN


@helper()
def _extend_tree(fabric, edges, graph, growth, v):
    """Grow the tree from switch v over the lightest ways; return the number of new switches.

    Switches of the tree change to a lighter way over a new one, if no cycle prevents it.
    """
    steps, heap, priority = growth.steps, growth.heap, growth.priority
    size = _push_channels(fabric, growth, v, 0)
    reached = 0
    while size:
        c = heap[0]
        size = pop(heap, size, priority)
        u, v = fabric.source[c], fabric.target[c]
        if steps[u] >= 0:
            if (
                priority[c] < growth.distance[u]
                and _leads_to_root(fabric, growth, u, c)
                and _add_redirect_dependencies(fabric, edges, graph, growth, u, c, -1) >= 0
            ):
                steps[u] = c
                growth.distance[u] = priority[c]
        elif steps[v] < 0 or _add_dependency(fabric, edges, graph, c, steps[v]):
            steps[u] = c
            growth.distance[u] = priority[c]
            reached += 1
            size = _push_channels(fabric, growth, u, size)
    return reached


@helper()
def _push_channels(fabric, growth, v, size):
    """Put the channels towards a new switch of the tree on the heap; return its new size."""
    for i in range(fabric.in_start[v], fabric.in_start[v + 1]):
        c = fabric.in_channel[i]
        u = fabric.source[c]
        priority = growth.distance[v] + growth.hop + growth.load[c]
        if u != growth.root and (growth.steps[u] < 0 or priority < growth.distance[u]):
            growth.priority[c] = priority
            size = push(growth.heap, size, growth.priority, c)
    return size


@helper()
def _backtrack_locally(fabric, edges, graph, growth):
    """Reach islands over neighbours that change their own way; return the new switches."""
    num_reached, reached_before = 0, -1
    while num_reached != reached_before:
        reached_before = num_reached
        for u in range(len(growth.steps)):
            if u != growth.root and growth.steps[u] < 0:
                v = _redirect_neighbour(fabric, edges, graph, growth, u)
                if v >= 0:
                    num_reached += _extend_tree(fabric, edges, graph, growth, v)
    return num_reached


@helper()
def _redirect_neighbour(fabric, edges, graph, growth, u):
    """Let a neighbour of the unreached switch u take another way that u can follow.

    Returns
    -------
    v : int
        The neighbour on the lightest way of u; −1 if there is none.
    """
    least_weight, channel, next_channel = np.int64(-1), -1, -1
    for i in range(fabric.out_start[u], fabric.out_start[u + 1]):
        c = fabric.out_channel[i]
        v = fabric.target[c]
        if growth.steps[v] < 0:
            continue
        for j in range(fabric.out_start[v], fabric.out_start[v + 1]):
            d = fabric.out_channel[j]
            weight = growth.distance[fabric.target[d]] + growth.load[c] + growth.load[d]
            if (channel >= 0 and weight >= least_weight) or not _leads_to_root(
                fabric, growth, v, d
            ):
                continue
            count = _add_redirect_dependencies(fabric, edges, graph, growth, v, d, c)
            for k in range(count):
                graph.state[growth.added[k]] = UNKNOWN
            if count >= 0:
                least_weight, channel, next_channel = weight, c, d
    if channel < 0:
        return -1
    v = fabric.target[channel]
    _add_redirect_dependencies(fabric, edges, graph, growth, v, next_channel, channel)
    growth.steps[v] = next_channel
    growth.distance[v] = least_weight - growth.load[channel] + growth.hop
    return v


@helper()
def _leads_to_root(fabric, growth, v, d):
    """Find whether channel d of switch v leads to the root, not over its present one."""
    x = fabric.target[d]
    while x != growth.root:
        if x == v or growth.steps[x] < 0:
            return False
        x = fabric.target[growth.steps[x]]
    return d != growth.steps[v]


@helper()
def _add_redirect_dependencies(fabric, edges, graph, growth, v, d, c):
    """Add all dependencies that arise if v forwards over d, also packets from channel c.

    Returns
    -------
    count : int
        Number of them, listed in `added`; −1 if one would close a cycle: then none is added.
    """
    count = 0
    x = fabric.target[d]
    if x != growth.root:
        count = _try_dependency(fabric, edges, graph, growth, d, growth.steps[x], count)
    for i in range(fabric.in_start[v], fabric.in_start[v + 1]):
        g = fabric.in_channel[i]
        if count >= 0 and (g == c or growth.steps[fabric.source[g]] == g):
            count = _try_dependency(fabric, edges, graph, growth, g, d, count)
    return count


@helper()
def _try_dependency(fabric, edges, graph, growth, c, d, count):
    """Add the dependency of c on d to the list of `count` ones; −1, with none left, on a cycle."""
    e = fabric.turn_start[c] + fabric.port[d]
    if graph.state[e] == PRESENT:
        return count
    if graph.state[e] == UNKNOWN and add_edge(edges, graph, c, e):
        growth.added[count] = e
        return count + 1
    for i in range(count):
        graph.state[growth.added[i]] = UNKNOWN
    return -1


@helper()
def _follow_escape_routes(fabric, edges, graph, growth, escape):
    """Lead the switches that a tree does not reach over the escape routes.

    All switches on these routes follow them, too, and so do those whose dependency on the new way
    would close a cycle. Packets of the others enter the escape routes and stay on them.
    """
    steps, on_escape, queue, root = growth.steps, growth.inside, growth.queue, growth.root
    # 1. Switches without a route.
    count = 0
    for u in range(len(steps)):
        on_escape[u] = u != root and steps[u] < 0 and escape[u] >= 0
        if on_escape[u]:
            queue[count] = u
            count += 1
    i = 0
    while i < count:
        v = queue[i]
        i += 1
        # 2. The next switch on the escape route follows it, too: packets that enter it stay on it.
        d = escape[v]
        steps[v] = d
        w = fabric.target[d]
        if w != root and not on_escape[w]:
            on_escape[w] = True
            queue[count] = w
            count += 1
        # 3. Packets from before v now turn to d. Where that closes a cycle, they come over escape
        #    routes instead.
        for k in range(fabric.in_start[v], fabric.in_start[v + 1]):
            c = fabric.in_channel[k]
            u = fabric.source[c]
            if (
                not on_escape[u]
                and steps[u] == c
                and not _add_dependency(fabric, edges, graph, c, d)
            ):
                on_escape[u] = True
                queue[count] = u
                count += 1
