"""Complete forwarding tables: in-trees grow to all switches, without cycles of dependencies.

Trees may grow so that the last switches cannot be attached. So the turns of a spanning tree of the
network are reserved first: routes along it exist between all switches, as the escape paths of Nue
(Domke, Hoefler, Matsuoka, HPDC 2016, doi 10.1145/2907294.2907313). A breadth-first tree is tried
from every switch. If the routes that are given follow up*/down* rules, the tree of their root fits.

A resource is a lane (virtual channel) of a channel, numbered ``lane * C + channel``, because the
routes of one lane never use another one.

    steps[u, d]    channel that packets to destination d take out of switch u; −1 for none yet
    lanes[u, d]    lane of packets that begin at switch u; −1 for none yet
    hops[u, d]     hops from switch u to destination d; −1 while u has no route
    edges, graph   all possible dependencies, and those that routes have, without a cycle; see
                   `routelab.kernels.forwarding.acyclic`
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.forwarding.acyclic import (
    FORBIDDEN,
    PRESENT,
    UNKNOWN,
    add_edge,
    empty_graph,
    list_edges,
)
from routelab.kernels.jit import helper, jit

NO_HOPS = 32767
"""More hops than any route has."""


@jit
def complete_trees(
    steps, lanes, roots, num_given, channel_source, channel_target, out_start, out_channel, vcs
):
    """Extend trees to all switches that can reach their roots, in place.

    Existing routes do not change. A new route goes to a neighbour and continues like packets from
    there. It uses the neighbour's lane if that closes no cycle of dependencies, else the first lane
    that closes none. Neighbours with short routes come first.

    Parameters
    ----------
    steps : int32 array, shape (S, D)
        Channel that packets to each destination take out of each switch; −1 for none yet.
    lanes : int8 array, shape (S, D)
        Lane of packets from each switch to each destination; −1 for none yet. Where only the step
        is given, because routes of other switches pass, the lane of one of them is taken.
    roots : int32 array, shape (D,)
        Switch of each destination.
    num_given : int
        Number of the first destinations with routes; nothing leads to the others yet.
    channel_source, channel_target : int32 array, shape (C,)
    out_start, out_channel : int32 array
        Channels leaving each switch, as CSR.
    vcs : int
        Number of lanes.

    Returns
    -------
    switch, destination : int
        Ends of a route that closes a cycle on every lane, for the first such destination; −1, −1 if
        all could be added; −2, −2 if the dependencies of the routes that were given have a cycle.
    """
    # 1. The dependencies of the routes that are given.
    edges = list_edges(*_all_turns(channel_source, channel_target, out_start, out_channel, vcs))
    graph = empty_graph(len(edges.start) - 1, len(edges.target))
    hops = np.empty(steps.shape, np.int16)
    max_lane = 0
    for d in range(steps.shape[1]):
        max_lane = max(max_lane, np.int64(lanes[:, d].max()))
        _read_routes(steps, lanes, hops, d, roots[d], channel_target, edges, graph)
    if not _sort_topologically(edges, graph):
        return -2, -2
    # 2. Escape trees before any other route is added. One lane more than the routes use is enough
    #    for them: it is empty, and a tree has no cycle.
    escape = _empty_escape(len(steps))
    if num_given < steps.shape[1]:
        channels = (channel_target, out_start, out_channel)
        num_lanes = min(max_lane + 2, vcs)  # those that the routes use, 0 to max_lane, and one
        _reserve_escape_trees(escape, channels, num_lanes, edges, graph)
    # 3. Each tree grows on the lanes of the neighbours. If it is stuck, one switch takes another
    #    lane than its neighbour, and the tree may grow on from there. If no switch can, the routes
    #    along the escape tree replace the whole tree. They cannot replace routes that were given.
    in_start, in_channel = _incoming(channel_target, len(steps))
    for d in range(steps.shape[1]):
        while True:
            _extend_by_levels(
                steps, lanes, hops, d, channel_source, in_start, in_channel, edges, graph
            )
            stuck, added = _attach_on_any_lane(
                steps, lanes, hops, d, channel_target, out_start, out_channel, vcs, edges, graph
            )
            if stuck < 0:
                break
            if added:
                continue
            if d < num_given or escape.lane[roots[d]] < 0:
                return stuck, d
            _follow_escape(escape, steps, lanes, d, roots[d], channel_target)
            break
    return -1, -1


class Escape(NamedTuple):
    """A spanning tree of every connected part of the network.

    Attributes
    ----------
    lane : int8 array, shape (S,)
        Lane of the tree at each switch; −1 without a tree.
    up, down : int32 array, shape (S,)
        Channel from each switch to its parent, and back; −1 for a root.
    """

    lane: NDArray[np.int8]
    up: NDArray[np.int32]
    down: NDArray[np.int32]


@helper()
def _empty_escape(switches):
    """Return an `Escape` without trees."""
    return Escape(
        lane=np.full(switches, -1, np.int8),
        up=np.full(switches, -1, np.int32),
        down=np.full(switches, -1, np.int32),
    )


@helper()
def _reserve_escape_trees(escape, channels, num_lanes, edges, graph):
    """Add the turns of a spanning tree of each connected part, on the first lane where one fits.

    On each lane, a tree from every switch is tried. `escape` is updated. A part in which no tree
    fits on any lane keeps lane −1.
    """
    switches = len(escape.lane)
    is_visited = np.zeros(switches, np.bool_)
    queue = np.empty(switches, np.int32)
    members = np.empty(switches, np.int32)
    for switch in range(switches):
        if is_visited[switch]:
            continue
        # `members` are the switches of the part; `queue` has them in the order of the tree at hand.
        count = _grow_escape_tree(escape, channels, switch, members)
        for i in range(count):
            is_visited[members[i]] = True
        is_reserved = False
        for lane in range(num_lanes):
            for i in range(count):
                _grow_escape_tree(escape, channels, members[i], queue)
                is_reserved = _add_tree_turns(escape, channels, queue, count, lane, edges, graph)
                if is_reserved:
                    break
            if is_reserved:
                for i in range(count):
                    escape.lane[members[i]] = lane
                break


@helper()
def _grow_escape_tree(escape, channels, root, queue):
    """Grow a breadth-first tree over links with channels in both directions.

    Routes along the tree go up and then down, so each of its links needs both. `channels` are the
    target of each channel and, as CSR, the channels that leave each switch: `out_start` and
    `out_channel`. `up` and `down` of `escape` are updated, and `queue` is filled with the switches
    of the tree. Return their number.
    """
    channel_target, out_start, out_channel = channels
    queue[0] = root
    count, next_position = 1, 0
    reached = np.zeros(len(escape.up), np.bool_)
    reached[root] = True
    escape.up[root], escape.down[root] = -1, -1
    while next_position < count:
        parent = queue[next_position]
        next_position += 1
        for i in range(out_start[parent], out_start[parent + 1]):
            child = channel_target[out_channel[i]]
            if reached[child]:
                continue
            # the first channel back to the parent; without one, the switch is no child of it
            for j in range(out_start[child], out_start[child + 1]):
                if channel_target[out_channel[j]] == parent:
                    reached[child] = True
                    escape.up[child], escape.down[child] = out_channel[j], out_channel[i]
                    queue[count] = child
                    count += 1
                    break
    return count


@helper()
def _add_tree_turns(escape, channels, members, count, lane, edges, graph):
    """Add all turns of a tree on a lane; False, with the graph as it was, if one closes a cycle.

    A switch u with parent p, grandparent g and sibling w has the turns g-p-u, u-p-g, u-p-w and
    w-p-u. `members` are the switches of the tree.
    """
    channel_target, out_start, out_channel = channels
    first_vertex = lane * len(channel_target)
    added = np.empty(8, np.int64)
    num_added = 0
    for i in range(count):
        u = members[i]
        if escape.up[u] < 0:
            continue
        parent = channel_target[escape.up[u]]
        # Two turns at the parent p: from channel `entering` to down[u], and from up[u] to channel
        # `leaving`. The first k is no channel of p but stands for the grandparent: turns g-p-u and
        # u-p-g, with −1 for their channels if p is a root and has no parent. Every later k is a
        # channel of p, and if that leads to another child w, it has the turn u-p-w only: w-p-u is
        # added when w takes the place of u.
        for k in range(out_start[parent] - 1, out_start[parent + 1]):
            entering, leaving = escape.down[parent], escape.up[parent]
            if k >= out_start[parent]:
                w = channel_target[out_channel[k]]
                if w == u or escape.down[w] != out_channel[k]:
                    continue
                entering, leaving = np.int32(-1), escape.down[w]
            for tail, head in ((entering, escape.down[u]), (escape.up[u], leaving)):
                if tail < 0 or head < 0:
                    continue
                edge = _find_edge(edges, first_vertex + tail, first_vertex + head)
                if graph.state[edge] == PRESENT:
                    continue
                if not add_edge(edges, graph, first_vertex + tail, edge):
                    for n in range(num_added):
                        graph.state[added[n]] = UNKNOWN
                    return False
                if num_added == len(added):
                    added = np.concatenate((added, np.empty(num_added, np.int64)))
                added[num_added] = edge
                num_added += 1
    return True


@helper()
def _follow_escape(escape, steps, lanes, d, root, channel_target):
    """Replace the routes to destination d, at switch `root`, by those along the spanning tree.

    The root of the spanning tree may be another switch.
    """
    # Every switch of the tree forwards up, but those above the destination forward down to it.
    # Switches of other parts have other trees, and no way to the destination.
    tree_root = _root_of_tree(escape, root, channel_target)
    for u in range(len(steps)):
        if _root_of_tree(escape, u, channel_target) == tree_root:
            steps[u, d] = escape.up[u]
            lanes[u, d] = escape.lane[u]
    switch = root
    steps[root, d] = -1
    while escape.up[switch] >= 0:
        parent = channel_target[escape.up[switch]]
        steps[parent, d] = escape.down[switch]
        switch = parent


@helper()
def _root_of_tree(escape, switch, channel_target):
    """Return the root of the spanning tree that a switch is in."""
    while escape.up[switch] >= 0:
        switch = channel_target[escape.up[switch]]
    return switch


@helper()
def _all_turns(channel_source, channel_target, out_start, out_channel, vcs):
    """Return all dependencies that routes can have, as CSR; no route turns straight back.

    Vertices are resources, ``lane * C + channel``.
    """
    channels = len(channel_source)
    start = np.zeros(channels * vcs + 1, np.int64)
    for lane in range(vcs):
        for c in range(channels):
            switch = channel_target[c]
            tail = lane * channels + c
            start[tail + 1] = start[tail]
            for i in range(out_start[switch], out_start[switch + 1]):
                start[tail + 1] += channel_target[out_channel[i]] != channel_source[c]
    target = np.empty(start[-1], np.int32)
    next_free = 0
    for lane in range(vcs):
        for c in range(channels):
            switch = channel_target[c]
            for i in range(out_start[switch], out_start[switch + 1]):
                if channel_target[out_channel[i]] != channel_source[c]:
                    target[next_free] = lane * channels + out_channel[i]
                    next_free += 1
    return start, target


@helper()
def _incoming(channel_target, switches):
    """Return the channels that enter each switch, as CSR."""
    start = np.zeros(switches + 1, np.int64)
    for w in channel_target:
        start[w + 1] += 1
    for s in range(switches):
        start[s + 1] += start[s]
    next_free = start.copy()
    channel = np.empty(len(channel_target), np.int32)
    for c in range(len(channel_target)):
        channel[next_free[channel_target[c]]] = c
        next_free[channel_target[c]] += 1
    return start, channel


@helper()
def _find_edge(edges, tail, head):
    """Return the number of the edge from `tail` to `head`; −1 if there is none."""
    for e in range(edges.start[tail], edges.start[tail + 1]):
        if edges.target[e] == head:
            return e
    return -1


@helper()
def _read_routes(steps, lanes, hops, d, root, channel_target, edges, graph):
    """Add the dependencies of the given routes to destination d, at switch `root`.

    `hops` and `lanes` are updated at every switch that these routes pass.
    """
    channels = len(channel_target)
    num_switches = len(steps)
    for source in range(num_switches):
        hops[source, d] = -1
    # Copied, because lanes are filled in below: where no route begins, packets get the lane of one
    # that passes.
    has_lane = lanes[:, d] >= 0
    for source in range(num_switches):
        if not has_lane[source] or (source != root and steps[source, d] < 0):
            continue
        lane = lanes[source, d]
        # 1. The turns of the route, and its number of hops.
        switch, remaining = source, 0
        while switch != root:
            c = steps[switch, d]
            switch = channel_target[c]
            remaining += 1
            if switch != root:
                # The edge exists: a route straight back would come to the same next hop for ever.
                tail = lane * channels + c
                graph.state[_find_edge(edges, tail, lane * channels + steps[switch, d])] = PRESENT
                if lanes[switch, d] < 0:
                    lanes[switch, d] = lane
        # 2. The hops that remain at each switch, up to one that an earlier route has passed.
        switch = source
        while hops[switch, d] < 0:
            hops[switch, d] = remaining
            if switch == root:
                break
            switch = channel_target[steps[switch, d]]
            remaining -= 1
    # Also a destination without routes is reached from its own switch.
    hops[root, d] = 0
    lanes[root, d] = max(lanes[root, d], 0)


@helper()
def _sort_topologically(edges, graph):
    """Put all vertices of `graph` into topological order; return False if there is a cycle.

    The given routes are added without tests, so that their order is computed once.
    """
    # Kahn's algorithm. `graph.vertex` is the queue, and the order at the end.
    num_vertices = len(edges.start) - 1
    in_degree = np.zeros(num_vertices, np.int32)
    for e in range(len(edges.target)):
        in_degree[edges.target[e]] += graph.state[e] == PRESENT
    num_sorted = 0
    for v in range(num_vertices):
        if not in_degree[v]:
            graph.vertex[num_sorted] = v
            num_sorted += 1
    next_position = 0
    while next_position < num_sorted:
        v = graph.vertex[next_position]
        graph.position[v] = next_position
        next_position += 1
        for e in range(edges.start[v], edges.start[v + 1]):
            if graph.state[e] == PRESENT:
                w = edges.target[e]
                in_degree[w] -= 1
                if not in_degree[w]:
                    graph.vertex[num_sorted] = w
                    num_sorted += 1
    return num_sorted == num_vertices


@helper()
def _extend_by_levels(steps, lanes, hops, d, channel_source, in_start, in_channel, edges, graph):
    """Attach switches without a route to neighbours, on the neighbours' lanes, level by level.

    `steps`, `lanes` and `hops` are updated. Level n has the switches with n hops to the
    destination.
    """
    channels = len(channel_source)
    level, is_growing = 0, True
    while is_growing:
        is_growing = False
        for neighbour in range(len(steps)):
            # given routes may have levels beyond one at which nothing joins
            is_growing |= hops[neighbour, d] > level
            if hops[neighbour, d] != level:
                continue
            for i in range(in_start[neighbour], in_start[neighbour + 1]):
                c = in_channel[i]
                switch = channel_source[c]
                if hops[switch, d] >= 0:
                    continue
                lane = lanes[neighbour, d]
                # The last hop, to the destination, depends on no further channel.
                if level > 0:
                    tail = lane * channels + c
                    edge = _find_edge(edges, tail, lane * channels + steps[neighbour, d])
                    # no edge: the turn leads straight back
                    if edge < 0 or graph.state[edge] == FORBIDDEN:
                        continue
                    if graph.state[edge] != PRESENT and not add_edge(edges, graph, tail, edge):
                        # no edge is removed from here on, so the cycle stays
                        graph.state[edge] = FORBIDDEN
                        continue
                steps[switch, d], lanes[switch, d], hops[switch, d] = c, lane, level + 1
                is_growing = True
        level += 1


@helper()
def _attach_on_any_lane(
    steps, lanes, hops, d, channel_target, out_start, out_channel, vcs, edges, graph
):
    """Attach one switch without a route to a neighbour with one, on the first possible lane.

    Neighbours with fewer hops are tried first. `steps`, `lanes` and `hops` of the switch are
    updated.

    Returns
    -------
    stuck : int
        Switch that had no route before the call although a neighbour had one; −1 if there was none.
    added : bool
        Whether this switch has a route now.
    """
    stuck = -1
    for switch in range(len(steps)):
        if hops[switch, d] >= 0:
            continue
        last_hops = -1
        while True:
            # The next number of hops among the neighbours, in ascending order. Neighbours without a
            # route, −1, are never tried, because −1 is not greater than `last_hops`.
            next_hops = NO_HOPS
            for i in range(out_start[switch], out_start[switch + 1]):
                neighbour_hops = hops[channel_target[out_channel[i]], d]
                if last_hops < neighbour_hops < next_hops:
                    next_hops = neighbour_hops
            if next_hops == NO_HOPS:
                break
            last_hops = next_hops
            stuck = switch
            for i in range(out_start[switch], out_start[switch + 1]):
                c = out_channel[i]
                neighbour = channel_target[c]
                if hops[neighbour, d] != next_hops:
                    continue
                for lane in range(vcs):
                    if _add_route(steps, d, c, next_hops, lane, channel_target, edges, graph):
                        steps[switch, d], lanes[switch, d], hops[switch, d] = c, lane, next_hops + 1
                        return switch, True
    return stuck, False


@helper()
def _add_route(steps, d, first_channel, hops, lane, channel_target, edges, graph):
    """Add the dependencies of a route from `first_channel` on, over `hops` more channels.

    False, with the graph as it was, if one closes a cycle or turns straight back.
    """
    channels = len(channel_target)
    added = np.empty(hops, np.int64)
    num_added = 0
    c = first_channel
    for _ in range(hops):
        next_channel = steps[channel_target[c], d]
        tail = lane * channels + c
        edge = _find_edge(edges, tail, lane * channels + next_channel)
        is_possible = edge >= 0 and graph.state[edge] != FORBIDDEN
        if is_possible and graph.state[edge] != PRESENT:
            is_possible = add_edge(edges, graph, tail, edge)
            if is_possible:
                added[num_added] = edge
                num_added += 1
        if not is_possible:
            for i in range(num_added):
                graph.state[added[i]] = UNKNOWN
            return False
        c = next_channel
    return True
