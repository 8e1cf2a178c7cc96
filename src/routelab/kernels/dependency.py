"""Dependency graphs of route tables: dependencies, components, ranks, cycles.

A resource is a virtual channel of a channel, numbered ``channel * vcs + vc``. A packet that holds
one resource and continues over another makes the second a *dependency* of the first. The
dependencies of a table are all pairs of consecutive hops of its paths.
"""

import numpy as np

from routelab.kernels.jit import jit


@jit
def dependency_graph(path_start, hop_channel, hop_vc, num_channels, vcs):
    """Return all dependencies of a table as a graph over its R = C * vcs resources.

    Memory besides the table grows only with the resources and the largest number of dependencies
    of one. So a table of a billion hops needs only memory for some thousand channels.

    Parameters
    ----------
    path_start : int64 array, shape (K + 1,)
    hop_channel : int32 array, shape (H,)
    hop_vc : int16 array, shape (H,)
        Less than `vcs`.
    num_channels, vcs : int

    Returns
    -------
    start : int64 array, shape (R + 1,)
    target : int32 array, shape (D,)
        Dependencies of resource r are ``target[start[r]:start[r + 1]]``, ascending.
    """
    size = num_channels * vcs
    # rows of distinct dependencies, as wide as the longest row
    width = 8
    following = np.empty((size, width), np.int32)
    found = np.zeros(size, np.int32)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k], path_start[k + 1] - 1):
            a = hop_channel[h] * vcs + hop_vc[h]
            b = hop_channel[h + 1] * vcs + hop_vc[h + 1]
            known = False
            for i in range(found[a]):
                if following[a, i] == b:
                    known = True
                    break
            if known:
                continue
            if found[a] == width:
                wider = np.empty((size, 2 * width), np.int32)
                for row in range(size):
                    for i in range(width):
                        wider[row, i] = following[row, i]
                following = wider
                width *= 2
            following[a, found[a]] = b
            found[a] += 1
    start = np.zeros(size + 1, np.int64)
    for a in range(size):
        start[a + 1] = start[a] + found[a]
    # ascending without a sort: list for each b the resources before it, then go through the lists
    before_start = np.zeros(size + 1, np.int64)
    for a in range(size):
        for i in range(found[a]):
            before_start[following[a, i] + 1] += 1
    for b in range(size):
        before_start[b + 1] += before_start[b]
    before = np.empty(start[-1], np.int32)
    for a in range(size):
        for i in range(found[a]):
            b = following[a, i]
            before[before_start[b]] = a
            before_start[b] += 1
    target = np.empty(start[-1], np.int32)
    fill = start.copy()
    first = np.int64(0)
    for b in range(size):
        # filling a list moved its start to its end
        for i in range(first, before_start[b]):
            a = before[i]
            target[fill[a]] = b
            fill[a] += 1
        first = before_start[b]
    return start, target


@jit
def used_resources(hop_channel, hop_vc, num_channels, vcs):
    """Mark resources on any path; bool, shape (R,). Arguments as in `dependency_graph`."""
    used = np.zeros(num_channels * vcs, np.bool_)
    for h in range(len(hop_channel)):
        used[hop_channel[h] * vcs + hop_vc[h]] = True
    return used


@jit
def strong_components(start, target):
    """Find the strongly connected components by Tarjan's algorithm, without recursion.

    Source: R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1 (1972).

    Parameters
    ----------
    start, target
        A graph, as `dependency_graph` returns it.

    Returns
    -------
    component : int32 array, shape (R,)
        Numbered in reverse: an edge between two components leads to the lower number.
    """
    size = len(start) - 1
    component = np.full(size, -1, np.int32)
    found = np.full(size, -1, np.int32)
    low = np.empty(size, np.int32)
    next_edge = start[:-1].copy()
    pending = np.empty(size, np.int32)
    walk = np.empty(size, np.int32)
    clock, waiting, count = 0, 0, 0
    for root in range(size):
        if found[root] >= 0:
            continue
        depth = 1
        walk[0] = root
        while depth > 0:
            v = walk[depth - 1]
            if found[v] < 0:
                found[v] = clock
                low[v] = clock
                clock += 1
                pending[waiting] = v
                waiting += 1
            if next_edge[v] < start[v + 1]:
                w = target[next_edge[v]]
                next_edge[v] += 1
                if found[w] < 0:
                    walk[depth] = w
                    depth += 1
                elif component[w] < 0:
                    low[v] = min(low[v], found[w])
                continue
            depth -= 1
            if depth > 0:
                low[walk[depth - 1]] = min(low[walk[depth - 1]], low[v])
            if low[v] == found[v]:
                while component[v] < 0:
                    waiting -= 1
                    component[pending[waiting]] = count
                count += 1
    return component


@jit
def component_ranks(start, target, component):
    """Compute each resource's rank: the longest chain of components that leads to its own.

    Parameters
    ----------
    component : int32 array, shape (R,)
        From `strong_components`.

    Returns
    -------
    rank : int32 array, shape (R,)
        Equal inside a component; every edge between components leads to a greater rank.
    """
    level = np.zeros(len(component), np.int32)
    begin = np.zeros(len(component) + 1, np.int64)
    for own in component:
        begin[own + 1] += 1
    for own in range(len(component)):
        begin[own + 1] += begin[own]
    order = np.empty(len(component), np.int32)
    for v in range(len(component)):
        order[begin[component[v]]] = v
        begin[component[v]] += 1
    # predecessors have higher numbers, so a component's level is final when its turn comes
    for v in order[::-1]:
        own = component[v]
        for e in range(start[v], start[v + 1]):
            other = component[target[e]]
            if other != own:
                level[other] = max(level[other], level[own] + 1)
    rank = np.empty(len(component), np.int32)
    for v in range(len(component)):
        rank[v] = level[component[v]]
    return rank


@jit
def short_cycle(start, target, component, closing, budget):
    """Find a short simple cycle that contains at least one of some wanted edges.

    Parameters
    ----------
    closing : bool array, shape (D,)
        The wanted edges; both ends of each lie in one component.
    budget : int
        Largest number of edges to visit while looking for a shorter cycle. Without a limit the
        cycle is a shortest one, and the time may grow with the square of the edges.

    Returns
    -------
    cycle : int32 array, shape (n,)
        Resources in cyclic order; empty if no edge is wanted.
    """
    size = len(start) - 1
    wanted = np.zeros(size, np.bool_)
    for e in range(len(target)):
        if closing[e]:
            wanted[target[e]] = True
    cycle = np.empty(0, np.int32)
    seen_from = np.full(size, -1, np.int32)
    parent = np.empty(size, np.int32)
    depth = np.empty(size, np.int32)
    queue = np.empty(size, np.int32)
    looked_at = 0
    for root in range(size):
        if not wanted[root] or (len(cycle) > 0 and looked_at > budget):
            continue
        seen_from[root] = root
        depth[root] = 1
        queue[0] = root
        head, tail, last = 0, 1, -1
        while head < tail and last < 0:
            v = queue[head]
            head += 1
            if len(cycle) > 0 and depth[v] >= len(cycle):
                break
            for e in range(start[v], start[v + 1]):
                w = target[e]
                looked_at += 1
                if w == root and closing[e]:
                    last = v
                    break
                if seen_from[w] != root and component[w] == component[root]:
                    seen_from[w] = root
                    parent[w] = v
                    depth[w] = depth[v] + 1
                    queue[tail] = w
                    tail += 1
        if last >= 0:
            cycle = np.empty(depth[last], np.int32)
            for i in range(len(cycle) - 1, -1, -1):
                cycle[i] = last
                last = parent[last]
    return cycle


@jit
def example_paths(path_start, hop_channel, hop_vc, following, vcs):
    """Find the first path that causes each of some dependencies.

    Parameters
    ----------
    following : int32 array, shape (R,)
        Wanted dependency of each resource, −1 for none.

    Returns
    -------
    example : int64 array, shape (R,)
        Path, −1 if none is wanted.
    """
    example = np.full(len(following), -1, np.int64)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k] + 1, path_start[k + 1]):
            a = hop_channel[h - 1] * vcs + hop_vc[h - 1]
            b = hop_channel[h] * vcs + hop_vc[h]
            if example[a] < 0 and following[a] == b:
                example[a] = k
    return example
