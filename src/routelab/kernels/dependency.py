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
    num_resources = num_channels * vcs
    # 1. Rows of distinct dependencies, as wide as the longest row.
    width = 8
    successors = np.empty((num_resources, width), np.int32)
    num_successors = np.zeros(num_resources, np.int32)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k], path_start[k + 1] - 1):
            held = hop_channel[h] * vcs + hop_vc[h]
            requested = hop_channel[h + 1] * vcs + hop_vc[h + 1]
            is_known = False
            for i in range(num_successors[held]):
                if successors[held, i] == requested:
                    is_known = True
                    break
            if is_known:
                continue
            if num_successors[held] == width:
                wider_rows = np.empty((num_resources, 2 * width), np.int32)
                for row in range(num_resources):
                    for i in range(width):
                        wider_rows[row, i] = successors[row, i]
                successors = wider_rows
                width *= 2
            successors[held, num_successors[held]] = requested
            num_successors[held] += 1
    start = np.zeros(num_resources + 1, np.int64)
    for held in range(num_resources):
        start[held + 1] = start[held] + num_successors[held]
    # 2. The rows one after the other, each ascending. That needs no sort: list for each resource
    #    those before it, then go through these lists in the order of the resources.
    predecessor_start = np.zeros(num_resources + 1, np.int64)
    for held in range(num_resources):
        for i in range(num_successors[held]):
            predecessor_start[successors[held, i] + 1] += 1
    for requested in range(num_resources):
        predecessor_start[requested + 1] += predecessor_start[requested]
    predecessors = np.empty(start[-1], np.int32)
    for held in range(num_resources):
        for i in range(num_successors[held]):
            requested = successors[held, i]
            predecessors[predecessor_start[requested]] = held
            predecessor_start[requested] += 1
    target = np.empty(start[-1], np.int32)
    next_position = start.copy()
    list_start = np.int64(0)
    for requested in range(num_resources):
        # filling a list has moved its start to its end, the start of the next one
        for i in range(list_start, predecessor_start[requested]):
            held = predecessors[i]
            target[next_position[held]] = requested
            next_position[held] += 1
        list_start = predecessor_start[requested]
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
    num_resources = len(start) - 1
    component = np.full(num_resources, -1, np.int32)
    index = np.full(num_resources, -1, np.int32)
    low_link = np.empty(num_resources, np.int32)
    next_edge = start[:-1].copy()
    # The path from the root replaces the recursion. The stack is Tarjan's: what was reached, and
    # has no component yet.
    path = np.empty(num_resources, np.int32)
    stack = np.empty(num_resources, np.int32)
    next_index, stack_size, num_components = 0, 0, 0
    for root in range(num_resources):
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
                    component[stack[stack_size]] = num_components
                num_components += 1
    return component


@jit
def component_ranks(start, target, component):
    """Compute each resource's rank: the steps of the longest chain of components to its own.

    The rank is the certificate of the deadlock checkers: a table is free of deadlocks if every
    dependency leads to a greater rank. Dependencies a → b, b → c and a → c: ranks 0, 1 and 2.

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
    # The resources, sorted by component. Each one moves the start of its component on, which is not
    # needed any more afterwards.
    by_component = np.empty(len(component), np.int32)
    for v in range(len(component)):
        by_component[component_start[component[v]]] = v
        component_start[component[v]] += 1
    # Edges lead to lower component numbers. So from the highest number to the lowest, the level of
    # a component is final when its own resources come.
    for v in by_component[::-1]:
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
def short_cycle(start, target, component, is_wanted, budget):
    """Find a short simple cycle that contains a wanted edge, as the example in a report.

    Parameters
    ----------
    start, target
        A graph, as `dependency_graph` returns it.
    component : int32 array, shape (R,)
        From `strong_components`.
    is_wanted : bool array, shape (D,)
        The wanted edges; both ends of each lie in one component.
    budget : int
        Largest number of edges to visit while looking for a shorter cycle. Without a limit the
        cycle is a shortest one, and the time may grow with the square of the edges.

    Returns
    -------
    cycle : int32 array, shape (n,)
        Resources in cyclic order; empty if no edge is wanted.
    """
    num_resources = len(start) - 1
    # 1. A cycle with a wanted edge begins where that edge ends.
    is_root = np.zeros(num_resources, np.bool_)
    for e in range(len(target)):
        if is_wanted[e]:
            is_root[target[e]] = True
    # 2. A breadth-first search from each such root, until a wanted edge leads back to it. `depth`
    #    counts the resources from the root to one, both included: 1 at the root.
    cycle = np.empty(0, np.int32)
    # the last root that a resource was reached from, so that nothing is cleared for the next one
    reached_from = np.full(num_resources, -1, np.int32)
    parent = np.empty(num_resources, np.int32)
    depth = np.empty(num_resources, np.int32)
    queue = np.empty(num_resources, np.int32)
    visited_edges = 0
    for root in range(num_resources):
        if not is_root[root] or (len(cycle) > 0 and visited_edges > budget):
            continue
        reached_from[root] = root
        depth[root] = 1
        queue[0] = root
        next_in_queue, num_reached, cycle_end = 0, 1, -1
        while next_in_queue < num_reached and cycle_end < 0:
            v = queue[next_in_queue]
            next_in_queue += 1
            # A cycle that closes at v or later has at least depth[v] resources: it is not shorter
            # than the one that was found from an earlier root.
            if len(cycle) > 0 and depth[v] >= len(cycle):
                break
            for e in range(start[v], start[v + 1]):
                w = target[e]
                visited_edges += 1
                if w == root and is_wanted[e]:
                    cycle_end = v
                    break
                # outside the root's component no path leads back
                if reached_from[w] != root and component[w] == component[root]:
                    reached_from[w] = root
                    parent[w] = v
                    depth[w] = depth[v] + 1
                    queue[num_reached] = w
                    num_reached += 1
        # 3. The cycle, from its last resource to the root. It is shorter than the one before.
        if cycle_end >= 0:
            cycle = np.empty(depth[cycle_end], np.int32)
            for i in range(len(cycle) - 1, -1, -1):
                cycle[i] = cycle_end
                cycle_end = parent[cycle_end]
    return cycle


@jit
def example_paths(path_start, hop_channel, hop_vc, successor, vcs):
    """Find the first path that causes each dependency of a cycle, as an example in a report.

    A resource occurs once on a simple cycle, so its successor there names the dependency.

    Parameters
    ----------
    path_start, hop_channel, hop_vc, vcs
        As for `dependency_graph`.
    successor : int32 array, shape (R,)
        Next resource on the cycle, −1 for resources that are not on it.

    Returns
    -------
    example : int64 array, shape (R,)
        The first path with the dependency, −1 for none.
    """
    example = np.full(len(successor), -1, np.int64)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k] + 1, path_start[k + 1]):
            held = hop_channel[h - 1] * vcs + hop_vc[h - 1]
            requested = hop_channel[h] * vcs + hop_vc[h]
            if example[held] < 0 and successor[held] == requested:
                example[held] = k
    return example
