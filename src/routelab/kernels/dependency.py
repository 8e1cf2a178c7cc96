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
    # 1. Rows of distinct dependencies, as wide as the longest row.
    width = 8
    successors = np.empty((size, width), np.int32)
    out_degree = np.zeros(size, np.int32)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k], path_start[k + 1] - 1):
            a = hop_channel[h] * vcs + hop_vc[h]
            b = hop_channel[h + 1] * vcs + hop_vc[h + 1]
            is_known = False
            for i in range(out_degree[a]):
                if successors[a, i] == b:
                    is_known = True
                    break
            if is_known:
                continue
            if out_degree[a] == width:
                wider_rows = np.empty((size, 2 * width), np.int32)
                for row in range(size):
                    for i in range(width):
                        wider_rows[row, i] = successors[row, i]
                successors = wider_rows
                width *= 2
            successors[a, out_degree[a]] = b
            out_degree[a] += 1
    start = np.zeros(size + 1, np.int64)
    for a in range(size):
        start[a + 1] = start[a] + out_degree[a]
    # 2. The rows one after the other, each ascending. That needs no sort: list for each b the
    #    resources before it, then go through the lists.
    predecessor_start = np.zeros(size + 1, np.int64)
    for a in range(size):
        for i in range(out_degree[a]):
            predecessor_start[successors[a, i] + 1] += 1
    for b in range(size):
        predecessor_start[b + 1] += predecessor_start[b]
    predecessors = np.empty(start[-1], np.int32)
    for a in range(size):
        for i in range(out_degree[a]):
            b = successors[a, i]
            predecessors[predecessor_start[b]] = a
            predecessor_start[b] += 1
    target = np.empty(start[-1], np.int32)
    fill = start.copy()
    list_start = np.int64(0)
    for b in range(size):
        # filling a list moved its start to its end
        for i in range(list_start, predecessor_start[b]):
            a = predecessors[i]
            target[fill[a]] = b
            fill[a] += 1
        list_start = predecessor_start[b]
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
    index = np.full(size, -1, np.int32)
    low_link = np.empty(size, np.int32)
    next_edge = start[:-1].copy()
    # The path from the root replaces the recursion. The stack is Tarjan's: what was reached, and
    # has no component yet.
    path = np.empty(size, np.int32)
    stack = np.empty(size, np.int32)
    next_index, stack_size, count = 0, 0, 0
    for root in range(size):
        if index[root] >= 0:
            continue
        depth = 1
        path[0] = root
        while depth > 0:
            v = path[depth - 1]
            if index[v] < 0:
                index[v] = next_index
                low_link[v] = next_index
                next_index += 1
                stack[stack_size] = v
                stack_size += 1
            if next_edge[v] < start[v + 1]:
                w = target[next_edge[v]]
                next_edge[v] += 1
                if index[w] < 0:
                    path[depth] = w
                    depth += 1
                elif component[w] < 0:
                    # w is on the stack, so a path leads back from it to v. A resource with a
                    # component is past: from there no path leads back.
                    low_link[v] = min(low_link[v], index[w])
                continue
            # All edges of v are done. If none of them leads back before v, the component of v is
            # v and all that stands above it on the stack.
            depth -= 1
            if depth > 0:
                low_link[path[depth - 1]] = min(low_link[path[depth - 1]], low_link[v])
            if low_link[v] == index[v]:
                while component[v] < 0:
                    stack_size -= 1
                    component[stack[stack_size]] = count
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
    component_start = np.zeros(len(component) + 1, np.int64)
    for source_component in component:
        component_start[source_component + 1] += 1
    for source_component in range(len(component)):
        component_start[source_component + 1] += component_start[source_component]
    order = np.empty(len(component), np.int32)
    for v in range(len(component)):
        order[component_start[component[v]]] = v
        component_start[component[v]] += 1
    # predecessors have higher numbers, so a component's level is final when its turn comes
    for v in order[::-1]:
        source_component = component[v]
        for e in range(start[v], start[v + 1]):
            target_component = component[target[e]]
            if target_component != source_component:
                level[target_component] = max(level[target_component], level[source_component] + 1)
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
    # 1. A cycle with a wanted edge begins where that edge ends.
    is_root = np.zeros(size, np.bool_)
    for e in range(len(target)):
        if closing[e]:
            is_root[target[e]] = True
    # 2. A breadth-first search from each such root, until a wanted edge leads back to it.
    cycle = np.empty(0, np.int32)
    # the last root that a resource was reached from, so that nothing is cleared for the next one
    reached_from = np.full(size, -1, np.int32)
    parent = np.empty(size, np.int32)
    depth = np.empty(size, np.int32)
    queue = np.empty(size, np.int32)
    visited_edges = 0
    for root in range(size):
        if not is_root[root] or (len(cycle) > 0 and visited_edges > budget):
            continue
        reached_from[root] = root
        depth[root] = 1
        queue[0] = root
        head, tail, cycle_end = 0, 1, -1
        while head < tail and cycle_end < 0:
            v = queue[head]
            head += 1
            # a cycle that closes at v or later has at least depth[v] resources
            if len(cycle) > 0 and depth[v] >= len(cycle):
                break
            for e in range(start[v], start[v + 1]):
                w = target[e]
                visited_edges += 1
                if w == root and closing[e]:
                    cycle_end = v
                    break
                # outside the root's component no path leads back
                if reached_from[w] != root and component[w] == component[root]:
                    reached_from[w] = root
                    parent[w] = v
                    depth[w] = depth[v] + 1
                    queue[tail] = w
                    tail += 1
        # 3. The cycle, from its last resource to the root. It is shorter than the one before.
        if cycle_end >= 0:
            cycle = np.empty(depth[cycle_end], np.int32)
            for i in range(len(cycle) - 1, -1, -1):
                cycle[i] = cycle_end
                cycle_end = parent[cycle_end]
    return cycle


@jit
def example_paths(path_start, hop_channel, hop_vc, successor, vcs):
    """Find the first path that causes each of some dependencies.

    Parameters
    ----------
    successor : int32 array, shape (R,)
        Wanted dependency of each resource, −1 for none.

    Returns
    -------
    example : int64 array, shape (R,)
        Path, −1 if none is wanted.
    """
    example = np.full(len(successor), -1, np.int64)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k] + 1, path_start[k + 1]):
            a = hop_channel[h - 1] * vcs + hop_vc[h - 1]
            b = hop_channel[h] * vcs + hop_vc[h]
            if example[a] < 0 and successor[a] == b:
                example[a] = k
    return example
