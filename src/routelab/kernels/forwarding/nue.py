"""Nue: trees that grow over graphs of dependencies that stay acyclic, one graph for each lane.

A round routes all destinations, one after another. In later rounds every tree grows again, against
the loads of all others and over the dependencies that they leave.

    turn            a channel and the next one; an edge of the dependency graph
    edges, graph    all turns, and those in the graph of the lane at hand; see
                    `routelab.kernels.forwarding.acyclic`
    growth          the tree that grows now: steps, loads, weights of routes
    island          switches that the tree cannot reach without closing a cycle
    users[turn]     number of trees that use a turn in this lane
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
    hop_weight : int64
        Weight of a hop. A channel weighs this and its load.
    steps : int32 array, shape (S,)
        Next channel of each switch; −1 at the root and where no route exists yet.
    load : int64 array, shape (C,)
    distance : int64 array, shape (S,)
        Weight of each switch's route.
    heap : int32 array, shape (C,)
        Channels that the tree may grow over, the one with the smallest `priority` first.
    priority : int64 array, shape (C,)
    queue : int32 array, shape (S,)
        Switches that follow the escape routes, in the order in which they began to.
    on_escape : bool array, shape (S,)
        Whether each switch follows them, and so is in `queue`.
    added : int64 array, shape (C,)
        Turns that were added to the graph and may be taken back.
    """

    root: np.int32
    hop_weight: np.int64
    steps: NDArray[np.int32]
    load: NDArray[np.int64]
    distance: NDArray[np.int64]
    heap: NDArray[np.int32]
    priority: NDArray[np.int64]
    queue: NDArray[np.int32]
    on_escape: NDArray[np.bool_]
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
        Next channels of the escape routes.
    lane : int64 array, shape (T,)
        Lane of each destination.
    order : int64 array, shape (T,)
        Destinations in the order of their trees.
    trees : int32 array, shape (T, S)
        Next channels of the round before, −1 before the first. Updated.
    load : int64 array, shape (C,)
        Packets on each channel, those of `trees`. Updated.

    Returns
    -------
    islands : int
        Number of trees that met an island.
    escaped : int
        Trees that follow `escape` in part, as local backtracking did not lead out of it.
    """
    channels, switches = len(fabric.source), trees.shape[1]
    tree = tree_scratch(switches, len(legality.accepting))
    # The mean load if every route had one hop, rounded down, plus 1; so it is never 0.
    hop_weight = np.int64(len(fabric.root) * len(fabric.root) // max(channels, 1) + 1)
    distance = np.empty(switches, np.int64)
    heap = np.empty(channels, np.int32)
    priority = np.empty(channels, np.int64)
    queue = np.empty(switches, np.int32)
    on_escape = np.empty(switches, np.bool_)
    added = np.empty(channels, np.int64)
    remove_unused_turns(lanes)
    islands, escaped = 0, 0
    for t in order:
        # 1. Take the tree of the round before away, with the turns that no other tree uses.
        steps, root, users = trees[t], fabric.root[t], lanes.users[lane[t]]
        graph = lane_graph(lanes, lane[t])
        _update_loads_and_users(fabric, legality, graph, users, steps, root, load, tree, -1)
        growth = Growth(
            root=root,
            hop_weight=hop_weight,
            steps=steps,
            load=load,
            distance=distance,
            heap=heap,
            priority=priority,
            queue=queue,
            on_escape=on_escape,
            added=added,
        )
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
        _update_loads_and_users(fabric, legality, graph, users, steps, root, load, tree, 1)
    return islands, escaped


@helper()
def _update_loads_and_users(fabric, legality, graph, users, steps, root, load, tree, sign):
    """Add a tree to loads and users of turns (sign 1), or subtract it from them (sign −1).

    `tree` is scratch.
    A turn that no tree uses any more leaves the graph.
    """
    num_switches = read_tree(fabric, legality, steps, root, tree)
    for i in range(1, num_switches):
        u = tree.queue[i]
        load[steps[u]] += sign * tree.weight[u]
        turn = next_turn(fabric, steps, u)
        if turn >= 0:
            users[turn] += sign
            if users[turn] == 0:
                graph.state[turn] = UNKNOWN


@helper()
def _add_dependency(fabric, edges, graph, channel, next_channel):
    """Add the dependency of a channel on the next; return whether no cycle prevents it."""
    turn = fabric.turn_start[channel] + fabric.port[next_channel]
    if graph.state[turn] == UNKNOWN and not add_edge(edges, graph, channel, turn):
        graph.state[turn] = FORBIDDEN
    return graph.state[turn] != FORBIDDEN


@helper()
def _extend_tree(fabric, edges, graph, growth, v):
    """Grow the tree from switch v, as Dijkstra's algorithm does; return the number of new switches.

    v is the root, or a switch of the tree whose neighbours may join only now. Switches of the tree
    change to a lighter route over a new one, unless that closes a cycle.
    """
    steps, heap, priority = growth.steps, growth.heap, growth.priority
    size = _push_channels(fabric, growth, v, 0)
    reached = 0
    while size:
        c = heap[0]
        size = pop(heap, size, priority)
        u, v = fabric.source[c], fabric.target[c]
        if steps[u] >= 0:
            # u is in the tree already. All packets that pass it will take c instead.
            if (
                priority[c] < growth.distance[u]
                and _is_alternative(fabric, growth, u, c)
                and _add_redirect_dependencies(
                    fabric, edges, graph, growth, u, c, entering_channel=-1
                )
                >= 0
            ):
                steps[u] = c
                growth.distance[u] = priority[c]
        # u is new. If v is the root, the only switch of the tree without a step, c is the last hop
        # and depends on nothing.
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
        # the weight that the route of u would have over c
        priority = growth.distance[v] + growth.hop_weight + growth.load[c]
        if u != growth.root and (growth.steps[u] < 0 or priority < growth.distance[u]):
            growth.priority[c] = priority
            size = push(growth.heap, size, growth.priority, c)
    return size


@helper()
def _backtrack_locally(fabric, edges, graph, growth):
    """Do Nue's local backtracking; return how many switches join the tree.

    A neighbour of an island changes its channel, so that the island can join over it. This changes
    the tree, and other islands may be within reach then. So the switches are swept again, until a
    sweep reaches none.
    """
    num_reached, reached_before = 0, -1
    while num_reached != reached_before:
        reached_before = num_reached
        for u in range(len(growth.steps)):
            # without a step, a switch other than the root is in an island
            if u != growth.root and growth.steps[u] < 0:
                neighbour = _redirect_neighbour(fabric, edges, graph, growth, u)
                if neighbour >= 0:
                    num_reached += _extend_tree(fabric, edges, graph, growth, neighbour)
    return num_reached


@helper()
def _redirect_neighbour(fabric, edges, graph, growth, u):
    """Let a neighbour v of the unreached switch u change to a channel d, so that u can join.

    The route of u is then channel c to v, d, and on to the root. The lightest one is taken.

    Returns
    -------
    v : int
        The neighbour; −1 if none can do so without a cycle.
    """
    least_weight, channel, next_channel = np.int64(-1), -1, -1
    for i in range(fabric.out_start[u], fabric.out_start[u + 1]):
        c = fabric.out_channel[i]
        v = fabric.target[c]
        if growth.steps[v] < 0:
            continue
        for j in range(fabric.out_start[v], fabric.out_start[v + 1]):
            d = fabric.out_channel[j]
            # without the weight of two hops, which all these routes have in common
            weight = growth.distance[fabric.target[d]] + growth.load[c] + growth.load[d]
            if (channel >= 0 and weight >= least_weight) or not _is_alternative(
                fabric, growth, v, d
            ):
                continue
            count = _add_redirect_dependencies(fabric, edges, graph, growth, v, d, c)
            # only a trial, so the dependencies are removed again; there are none if it failed (−1)
            for k in range(count):
                graph.state[growth.added[k]] = UNKNOWN
            if count >= 0:
                least_weight, channel, next_channel = weight, c, d
    if channel < 0:
        return -1
    v = fabric.target[channel]
    _add_redirect_dependencies(fabric, edges, graph, growth, v, next_channel, channel)
    growth.steps[v] = next_channel
    # the weight from v on: without channel c, and with the hop over d
    growth.distance[v] = least_weight - growth.load[channel] + growth.hop_weight
    return v


@helper()
def _is_alternative(fabric, growth, v, d):
    """Return whether switch v can forward over channel d, another one than its present channel.

    The tree must lead from the end of d to the root, and not over v: else packets would circle.
    """
    switch = fabric.target[d]
    while switch != growth.root:
        if switch == v or growth.steps[switch] < 0:
            return False
        switch = fabric.target[growth.steps[switch]]
    return d != growth.steps[v]


@helper()
def _add_redirect_dependencies(fabric, edges, graph, growth, v, new_channel, entering_channel):
    """Add the dependencies that arise if switch v forwards over `new_channel`.

    These are the dependency of `new_channel` on the channel after it, and the dependencies on it of
    all channels over which packets come to v: the steps of its neighbours, and `entering_channel`,
    over which a neighbour will join the tree (−1: none).

    Returns
    -------
    count : int
        Number of new ones, listed in `added`; −1 if one would close a cycle: then none is added.
    """
    count = 0
    next_switch = fabric.target[new_channel]
    if next_switch != growth.root:
        count = _try_dependency(
            fabric, edges, graph, growth, new_channel, growth.steps[next_switch], count
        )
    for i in range(fabric.in_start[v], fabric.in_start[v + 1]):
        arrival = fabric.in_channel[i]
        # −1: a dependency before has failed
        if count >= 0 and (
            arrival == entering_channel or growth.steps[fabric.source[arrival]] == arrival
        ):
            count = _try_dependency(fabric, edges, graph, growth, arrival, new_channel, count)
    return count


@helper()
def _try_dependency(fabric, edges, graph, growth, c, d, count):
    """Add the dependency of channel c on d to the graph, and to `added`, which has `count` turns.

    Return the new count. If the dependency closes a cycle, remove all in `added` and return −1.
    """
    turn = fabric.turn_start[c] + fabric.port[d]
    if graph.state[turn] == PRESENT:
        return count
    if graph.state[turn] == UNKNOWN and add_edge(edges, graph, c, turn):
        growth.added[count] = turn
        return count + 1
    for i in range(count):
        graph.state[growth.added[i]] = UNKNOWN
    return -1


@helper()
def _follow_escape_routes(fabric, edges, graph, growth, escape):
    """Lead the switches that a tree does not reach over the escape routes.

    All switches on these routes follow them, too. So does a switch whose present channel leads to
    one of them if the turn onto the escape route would close a cycle. Packets of all others enter
    the escape routes and stay on them.
    """
    steps, on_escape, queue, root = growth.steps, growth.on_escape, growth.queue, growth.root
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
        #    The turns of the escape routes are always in the graph, so none is added.
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
