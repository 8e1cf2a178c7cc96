"""Layers by cycle breaking: counts of paths per dependency, and an incremental search."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import helper, jit


class Dependencies(NamedTuple):
    """Dependencies of a table on one virtual channel (C channels, D dependencies); read-only.

    `start` and `target` are the graph, from `routelab.kernels.dependency.dependency_graph`; a
    dependency's number is its place in `target`. `path_start` is the table's. `hop` numbers the
    dependency of every hop on its path's next one (−1 for last hops). Dependency d is caused by
    the paths ``by[by_start[d]:by_start[d + 1]]``, ascending.
    """

    start: NDArray[np.int64]
    target: NDArray[np.int32]
    path_start: NDArray[np.int64]
    hop: NDArray[np.int32]
    by_start: NDArray[np.int64]
    by: NDArray[np.int32]


class Search(NamedTuple):
    """State of the search for cycles in one layer; the search changes all of it.

    Attributes
    ----------
    load : int32 array, shape (D,)
        Paths of the layer that cause each dependency; one without paths does not exist.
    next_edge : int64 array, shape (C,)
        Current dependency of each channel; earlier ones lead to no cycle.
    done : bool array, shape (C,)
        No cycle can be reached from the channel.
    place : int32 array, shape (C,)
        Place of the channel on the walk, −1 if it is not on it.
    walk : int32 array, shape (C,)
        Channels, each reached from the one before over its `next_edge`.
    """

    load: NDArray[np.int32]
    next_edge: NDArray[np.int64]
    done: NDArray[np.bool_]
    place: NDArray[np.int32]
    walk: NDArray[np.int32]


@jit
def number_hops(path_start, hop_channel, start, target):
    """Find the number of the dependency of every hop on the next one.

    Parameters
    ----------
    start, target
        The graph, see `Dependencies`.

    Returns
    -------
    hop : int32 array, shape (H,)
        −1 for the last hop of a path.
    """
    hop = np.full(len(hop_channel), -1, np.int32)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k], path_start[k + 1] - 1):
            first, last = start[hop_channel[h]], start[hop_channel[h] + 1]
            hop[h] = first + np.searchsorted(target[first:last], hop_channel[h + 1])
    return hop


@jit
def paths_by_dependency(path_start, hop, count):
    """Return the paths that cause each of `count` dependencies, as CSR (by_start, by)."""
    by_start = np.zeros(count + 1, np.int64)
    for d in hop:
        if d >= 0:
            by_start[d + 1] += 1
    for d in range(count):
        by_start[d + 1] += by_start[d]
    fill = by_start[:-1].copy()
    by = np.empty(by_start[-1], np.int32)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k], path_start[k + 1]):
            d = hop[h]
            if d >= 0:
                by[fill[d]] = k
                fill[d] += 1
    return by_start, by


@jit
def assign_layers(table):
    """Assign a layer to every path, so that dependencies inside each layer are acyclic.

    Parameters
    ----------
    table : Dependencies
        No path crosses a channel twice.

    Returns
    -------
    layer : int32 array, shape (K,)
        Ascending from 0 without a gap.
    """
    size = len(table.start) - 1
    layer = np.zeros(len(table.path_start) - 1, np.int32)
    current = 0
    while True:
        search = Search(
            np.zeros(len(table.target), np.int32),
            table.start[:-1].copy(),
            np.zeros(size, np.bool_),
            np.full(size, -1, np.int32),
            np.empty(size, np.int32),
        )
        for k in range(len(layer)):
            first, last = table.path_start[k], table.path_start[k + 1]
            if layer[k] == current:
                for h in range(first, last - 1):
                    search.load[table.hop[h]] += 1
        if _break_cycles(table, search, layer, current) == 0:
            return layer
        current += 1


@helper()
def _break_cycles(table, search, layer, current):
    """Move paths from layer `current` to the next until it is acyclic; return their number.

    A depth-first search in which every channel is on the walk, done, or yet to be looked at. What
    is done stays done, as dependencies only vanish; so when a cycle is broken, the walk is cut
    where it no longer holds together and the search continues from there.

    Parameters
    ----------
    layer : int32 array, shape (K,)
        Changed.
    """
    moved = 0
    for root in range(len(search.done)):
        if search.done[root]:
            continue
        search.walk[0] = root
        search.place[root] = 0
        depth = 1
        while depth > 0:
            # 1. A channel without further dependencies is on no cycle.
            channel = search.walk[depth - 1]
            dependency = search.next_edge[channel]
            if dependency == table.start[channel + 1]:
                search.done[channel] = True
                search.place[channel] = -1
                depth -= 1
                continue
            awaited = table.target[dependency]
            if search.load[dependency] == 0 or search.done[awaited]:
                search.next_edge[channel] += 1
            # 2. The walk goes on, or comes back to one of its channels: a cycle.
            elif search.place[awaited] < 0:
                search.walk[depth] = awaited
                search.place[awaited] = depth
                depth += 1
            else:
                weakest = _weakest(search, search.place[awaited], depth)
                moved += _move_paths(table, search.load, layer, current, weakest)
                depth = _cut(search, depth)
    return moved


@helper()
def _weakest(search, first, depth):
    """Return the dependency with the fewest paths in the cycle on the walk from place `first`.

    Not all paths of the layer cause it: a path that caused all dependencies of a cycle would cross
    a channel twice.
    """
    weakest = search.next_edge[search.walk[first]]
    for i in range(first + 1, depth):
        e = search.next_edge[search.walk[i]]
        if search.load[e] < search.load[weakest]:
            weakest = e
    return weakest


@helper()
def _move_paths(table, load, layer, current, dependency):
    """Move the layer's paths that cause `dependency` to the next layer; return their number."""
    moved = 0
    for i in range(table.by_start[dependency], table.by_start[dependency + 1]):
        k = table.by[i]
        if layer[k] != current:
            continue
        layer[k] = current + 1
        moved += 1
        for h in range(table.path_start[k], table.path_start[k + 1] - 1):
            load[table.hop[h]] -= 1
    return moved


@helper()
def _cut(search, depth):
    """Cut the walk after the first channel whose dependency vanished; return the new depth."""
    keep = 1
    while keep < depth and search.load[search.next_edge[search.walk[keep - 1]]] > 0:
        keep += 1
    for i in range(keep, depth):
        search.place[search.walk[i]] = -1
    return keep
