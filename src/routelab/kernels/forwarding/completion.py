"""Complete forwarding tables: in-trees grow to all switches, without cycles of dependencies.

Trees may grow so that the last switches cannot be attached. So the turns of a spanning tree of the
network are reserved first: routes along it exist between all switches, as the escape paths of Nue
(Domke, Hoefler, Matsuoka, HPDC 2016, doi 10.1145/2907294.2907313). A breadth-first tree is tried
from every switch. If the routes that are given follow up*/down* rules, the tree of their root fits.

A resource is a lane (virtual channel) of a channel, numbered ``lane * C + channel``, because the
routes of one lane never use another one.
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
        First route that closes a cycle on every lane; −1, −1 if all could be added; −2, −2 if the
        dependencies of the routes that were given have a cycle.
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
        _reserve_escape_trees(escape, channels, min(max_lane + 2, vcs), edges, graph)
    # 3. Each tree grows on the lanes of the neighbours. If it is stuck, one switch changes lanes,
    #    and it may grow on from there. If that fails, too, the escape tree is left; but it replaces
    #    the whole tree, which given routes do not allow.
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
        Channel to the parent of each switch, and from it; −1 for a root.
    """

    lane: NDArray[np.int8]
    up: NDArray[np.int32]
    down: NDArray[np.int32]


@helper()
def _empty_escape(switches):
    """Return an `Escape` without trees."""
    return Escape(
        np.full(switches, -1, np.int8),
        np.full(switches, -1, np.int32),
        np.full(switches, -1, np.int32),
    )


@helper()
def _reserve_escape_trees(escape, channels, vcs, edges, graph):
    """Add the turns of a spanning tree of each part, on the first lane where one fits."""
    switches = len(escape.lane)
    visited = np.zeros(switches, np.bool_)
    queue = np.empty(switches, np.int32)
    members = np.empty(switches, np.int32)
    for switch in range(switches):
        if visited[switch]:
            continue
        count = _start_tree(escape, channels, switch, members)
        for i in range(count):
            visited[members[i]] = True
        is_reserved = False
        for lane in range(vcs):
            for i in range(count):
                _start_tree(escape, channels, members[i], queue)
                is_reserved = _add_tree_turns(escape, channels, queue, count, lane, edges, graph)
                if is_reserved:
                    break
            if is_reserved:
                for i in range(count):
                    escape.lane[members[i]] = lane
                break


@helper()
def _start_tree(escape, channels, root, queue):
    """Lay a breadth-first tree of two-way links; return its number of switches, in `queue`."""
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
            u = channel_target[out_channel[i]]
            if reached[u]:
                continue
            for k in range(out_start[u], out_start[u + 1]):
                if channel_target[out_channel[k]] == parent:
                    reached[u] = True
                    escape.up[u], escape.down[u] = out_channel[k], out_channel[i]
                    queue[count] = u
                    count += 1
                    break
    return count


@helper()
def _add_tree_turns(escape, channels, members, count, lane, edges, graph):
    """Add all turns of a tree on a lane; False, with the graph as it was, if one closes a cycle."""
    channel_target, out_start, out_channel = channels
    base = lane * len(channel_target)
    added = np.empty(8, np.int64)
    total = 0
    for i in range(count):
        u = members[i]
        if escape.up[u] < 0:
            continue
        parent = channel_target[escape.up[u]]
        # turns at the parent: to and from its own parent, and to each of its other children
        for k in range(out_start[parent] - 1, out_start[parent + 1]):
            into, out = escape.down[parent], escape.up[parent]
            if k >= out_start[parent]:
                w = channel_target[out_channel[k]]
                if w == u or escape.down[w] != out_channel[k]:
                    continue
                into, out = np.int32(-1), escape.down[w]
            for tail, head in ((into, escape.down[u]), (escape.up[u], out)):
                if tail < 0 or head < 0:
                    continue
                edge = _find_edge(edges, base + tail, base + head)
                if graph.state[edge] == PRESENT:
                    continue
                if not add_edge(edges, graph, base + tail, edge):
                    for n in range(total):
                        graph.state[added[n]] = UNKNOWN
                    return False
                if total == len(added):
                    added = np.concatenate((added, np.empty(total, np.int64)))
                added[total] = edge
                total += 1
    return True


@helper()
def _follow_escape(escape, steps, lanes, d, root, channel_target):
    """Replace the routes to a destination by those along the spanning tree."""
    for u in range(len(steps)):
        steps[u, d] = escape.up[u]
        lanes[u, d] = escape.lane[u]
    switch = root
    steps[root, d] = -1
    while escape.up[switch] >= 0:
        parent = channel_target[escape.up[switch]]
        steps[parent, d] = escape.down[switch]
        switch = parent


@helper()
def _all_turns(channel_source, channel_target, out_start, out_channel, vcs):
    """Return all dependencies that routes without a way straight back can have, as CSR."""
    channels = len(channel_source)
    start = np.zeros(channels * vcs + 1, np.int64)
    for v in range(vcs):
        for c in range(channels):
            switch = channel_target[c]
            row = v * channels + c
            start[row + 1] = start[row]
            for i in range(out_start[switch], out_start[switch + 1]):
                start[row + 1] += channel_target[out_channel[i]] != channel_source[c]
    target = np.empty(start[-1], np.int32)
    fill = 0
    for v in range(vcs):
        for c in range(channels):
            switch = channel_target[c]
            for i in range(out_start[switch], out_start[switch + 1]):
                if channel_target[out_channel[i]] != channel_source[c]:
                    target[fill] = v * channels + out_channel[i]
                    fill += 1
    return start, target


@helper()
def _incoming(channel_target, switches):
    """Return the channels that enter each switch, as CSR."""
    start = np.zeros(switches + 1, np.int64)
    for w in channel_target:
        start[w + 1] += 1
    for s in range(switches):
        start[s + 1] += start[s]
    fill = start.copy()
    channel = np.empty(len(channel_target), np.int32)
    for c in range(len(channel_target)):
        channel[fill[channel_target[c]]] = c
        fill[channel_target[c]] += 1
    return start, channel


@helper()
def _find_edge(edges, tail, head):
    """Return the number of an edge."""
    for e in range(edges.start[tail], edges.start[tail + 1]):
        if edges.target[e] == head:
            return e
    return -1


@helper()
def _read_routes(steps, lanes, hops, d, root, channel_target, edges, graph):
    """Add the dependencies of the given routes to a destination; set their hops and lanes."""
    channels = len(channel_target)
    size = len(steps)
    for s in range(size):
        hops[s, d] = -1
    # routes that begin at a switch state their lane: that of those which pass comes second
    stated = lanes[:, d] >= 0
    for s in range(size):
        if not stated[s] or (s != root and steps[s, d] < 0):
            continue
        lane = lanes[s, d]
        switch, remaining = s, 0
        while switch != root:
            c = steps[switch, d]
            switch = channel_target[c]
            remaining += 1
            if switch != root:
                tail = lane * channels + c
                graph.state[_find_edge(edges, tail, lane * channels + steps[switch, d])] = PRESENT
                if lanes[switch, d] < 0:
                    lanes[switch, d] = lane
        switch = s
        while hops[switch, d] < 0:
            hops[switch, d] = remaining
            if switch == root:
                break
            switch = channel_target[steps[switch, d]]
            remaining -= 1
    hops[root, d] = 0
    lanes[root, d] = max(lanes[root, d], 0)


@helper()
def _sort_topologically(edges, graph):
    """Put all vertices into topological order; False if there is a cycle."""
    size = len(edges.start) - 1
    in_degree = np.zeros(size, np.int32)
    for e in range(len(edges.target)):
        in_degree[edges.target[e]] += graph.state[e] == PRESENT
    num_sorted = 0
    for v in range(size):
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
    return num_sorted == size


@helper()
def _extend_by_levels(steps, lanes, hops, d, channel_source, in_start, in_channel, edges, graph):
    """Attach switches to neighbours on the neighbours' lanes, level by level."""
    channels = len(channel_source)
    level, is_growing = 0, True
    while is_growing:
        is_growing = False
        for x in range(len(steps)):
            is_growing |= hops[x, d] > level
            if hops[x, d] != level:
                continue
            for i in range(in_start[x], in_start[x + 1]):
                c = in_channel[i]
                u = channel_source[c]
                if hops[u, d] >= 0:
                    continue
                lane = lanes[x, d]
                if level > 0:
                    tail = lane * channels + c
                    edge = _find_edge(edges, tail, lane * channels + steps[x, d])
                    if edge < 0 or graph.state[edge] == FORBIDDEN:
                        continue
                    if graph.state[edge] != PRESENT and not add_edge(edges, graph, tail, edge):
                        # no edge is removed from here on, so the cycle stays
                        graph.state[edge] = FORBIDDEN
                        continue
                steps[u, d], lanes[u, d], hops[u, d] = c, lane, level + 1
                is_growing = True
        level += 1


@helper()
def _attach_on_any_lane(
    steps, lanes, hops, d, channel_target, out_start, out_channel, vcs, edges, graph
):
    """Attach one switch on any lane that is possible.

    Returns
    -------
    stuck : int
        A switch with a neighbour but without a route, before the call; −1 if there was none.
    added : bool
    """
    stuck = -1
    for u in range(len(steps)):
        if hops[u, d] >= 0:
            continue
        tried_hops = -1
        while True:
            # neighbours in ascending order of hops
            next_hops = 32767
            for i in range(out_start[u], out_start[u + 1]):
                h = hops[channel_target[out_channel[i]], d]
                if tried_hops < h < next_hops:
                    next_hops = h
            if next_hops == 32767:
                break
            tried_hops = next_hops
            stuck = u
            for i in range(out_start[u], out_start[u + 1]):
                c = out_channel[i]
                x = channel_target[c]
                if hops[x, d] != next_hops:
                    continue
                for lane in range(vcs):
                    if _add_route(steps, d, c, next_hops, lane, channel_target, edges, graph):
                        steps[u, d], lanes[u, d], hops[u, d] = c, lane, next_hops + 1
                        return u, True
    return stuck, False


@helper()
def _add_route(steps, d, first_channel, hops, lane, channel_target, edges, graph):
    """Add the dependencies of a route from `first_channel` on; False if one is impossible."""
    channels = len(channel_target)
    added = np.empty(hops, np.int64)
    count = 0
    c = first_channel
    for _ in range(hops):
        next_channel = steps[channel_target[c], d]
        tail = lane * channels + c
        edge = _find_edge(edges, tail, lane * channels + next_channel)
        if edge < 0 or graph.state[edge] == FORBIDDEN:
            count = -count - 1
        elif graph.state[edge] != PRESENT:
            if add_edge(edges, graph, tail, edge):
                added[count] = edge
                count += 1
            else:
                count = -count - 1
        if count < 0:
            for i in range(-count - 1):
                graph.state[added[i]] = UNKNOWN
            return False
        c = next_channel
    return True
