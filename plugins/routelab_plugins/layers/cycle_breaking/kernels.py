"""Layers by cycle breaking: counts of paths per dependency, and an incremental search."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import helper, jit


class Dependencies(NamedTuple):
    """Dependencies of a table whose paths all share one virtual channel; read-only.

    A path over channels a, b, c causes two dependencies: of a on b, and of b on c. The table has C
    channels, D dependencies, K paths and H hops.

    Attributes
    ----------
    start : int64 array, shape (C + 1,)
    target : int32 array, shape (D,)
        Channel c depends on the channels ``target[start[c]:start[c + 1]]``, ascending. The number
        of a dependency is its index in `target`.
    path_start : int64 array, shape (K + 1,)
        Path k has the hops ``path_start[k]`` to ``path_start[k + 1] - 1``.
    dependency_of_hop : int32 array, shape (H,)
        Dependency of each hop's channel on that of the path's next hop; −1 for last hops.
    causing_start : int64 array, shape (D + 1,)
    causing_path : int32 array
        Dependency d is caused by the paths ``causing_path[causing_start[d]:causing_start[d + 1]]``,
        ascending.
    """

    start: NDArray[np.int64]
    target: NDArray[np.int32]
    path_start: NDArray[np.int64]
    dependency_of_hop: NDArray[np.int32]
    causing_start: NDArray[np.int64]
    causing_path: NDArray[np.int32]


class Search(NamedTuple):
    """State of the depth-first search for cycles in one layer. Updated: all of it.

    Attributes
    ----------
    num_paths : int32 array, shape (D,)
        Paths of the layer that cause each dependency. If none does, the layer lacks the dependency.
    next_dependency : int64 array, shape (C,)
        Dependency of each channel that the search follows now or next. Earlier ones of the channel
        lead to no cycle.
    done : bool array, shape (C,)
        Whether the search has left the channel: its dependencies lead to no cycle.
    position : int32 array, shape (C,)
        Index of the channel in `walk`; −1 if the walk does not contain it.
    walk : int32 array, shape (C,)
        Channels, each reached over the `next_dependency` of the one before.
    """

    num_paths: NDArray[np.int32]
    next_dependency: NDArray[np.int64]
    done: NDArray[np.bool_]
    position: NDArray[np.int32]
    walk: NDArray[np.int32]


@jit
def number_dependencies(path_start, hop_channel, start, target):
    """Return the number of the dependency that each hop causes on the path's next hop.

    Parameters
    ----------
    path_start : int64 array, shape (K + 1,)
    hop_channel : int32 array, shape (H,)
    start : int64 array, shape (C + 1,)
    target : int32 array, shape (D,)
        Channel c depends on the channels ``target[start[c]:start[c + 1]]``, ascending.

    Returns
    -------
    dependency_of_hop : int32 array, shape (H,)
        Index in `target`; −1 for the last hop of a path.
    """
    dependency_of_hop = np.full(len(hop_channel), -1, np.int32)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k], path_start[k + 1] - 1):
            first, last = start[hop_channel[h]], start[hop_channel[h] + 1]
            position = np.searchsorted(target[first:last], hop_channel[h + 1])
            dependency_of_hop[h] = first + position
    return dependency_of_hop


@jit
def paths_by_dependency(path_start, dependency_of_hop, num_dependencies):
    """Return the paths that cause each dependency.

    Dependency d is caused by the paths ``causing_path[causing_start[d]:causing_start[d + 1]]``. Of
    the two arrays `causing_start` is returned first.
    """
    # 1. Count the paths of each dependency, and add them up.
    causing_start = np.zeros(num_dependencies + 1, np.int64)
    for d in dependency_of_hop:
        if d >= 0:
            causing_start[d + 1] += 1
    for d in range(num_dependencies):
        causing_start[d + 1] += causing_start[d]
    # 2. Write each path to the next free entry of its dependencies.
    next_free = causing_start[:-1].copy()
    causing_path = np.empty(causing_start[-1], np.int32)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k], path_start[k + 1]):
            d = dependency_of_hop[h]
            if d >= 0:
                causing_path[next_free[d]] = k
                next_free[d] += 1
    return causing_start, causing_path


@jit
def assign_layers(dependencies):
    """Assign a layer to every path, so that dependencies inside each layer are acyclic.

    All paths begin in layer 0. Those that are moved to break cycles are in the next layer, whose
    cycles are broken in the same way, and so on.

    Parameters
    ----------
    dependencies : Dependencies
        No path crosses a channel twice.

    Returns
    -------
    layer : int32 array, shape (K,)
        Layers are numbered from 0, and none is empty.
    """
    num_channels = len(dependencies.start) - 1
    layer = np.zeros(len(dependencies.path_start) - 1, np.int32)
    current_layer = 0
    while True:
        search = Search(
            num_paths=np.zeros(len(dependencies.target), np.int32),
            next_dependency=dependencies.start[:-1].copy(),
            done=np.zeros(num_channels, np.bool_),
            position=np.full(num_channels, -1, np.int32),
            walk=np.empty(num_channels, np.int32),
        )
        for k in range(len(layer)):
            first, last = dependencies.path_start[k], dependencies.path_start[k + 1]
            if layer[k] == current_layer:
                for h in range(first, last - 1):
                    search.num_paths[dependencies.dependency_of_hop[h]] += 1
        # without a path that was moved, the next layer would be empty
        if _break_cycles(dependencies, search, layer, current_layer) == 0:
            return layer
        current_layer += 1


@helper()
def _break_cycles(dependencies, search, layer, current_layer):
    """Move paths from `current_layer` to the next until it is acyclic; return their number.

    A depth-first search: every channel is on the walk, done, or not yet visited. Dependencies
    only vanish, so a done channel stays done. When a cycle is broken, the walk is cut behind the
    first of its dependencies that vanished, and the search continues from there.

    Parameters
    ----------
    layer : int32 array, shape (K,)
        Updated.
    """
    moved = 0
    for root in range(len(search.done)):
        if search.done[root]:
            continue
        search.walk[0] = root
        search.position[root] = 0
        depth = 1
        while depth > 0:
            # 1. The end of the walk. If all of its dependencies have been followed, it is on no
            #    cycle, and the walk steps back.
            channel = search.walk[depth - 1]
            dependency = search.next_dependency[channel]
            if dependency == dependencies.start[channel + 1]:
                search.done[channel] = True
                search.position[channel] = -1
                depth -= 1
                continue
            next_channel = dependencies.target[dependency]
            # 2. A dependency that the layer lacks, or that leads to no cycle, is skipped.
            if search.num_paths[dependency] == 0 or search.done[next_channel]:
                search.next_dependency[channel] += 1
            # 3. The walk goes on to a new channel.
            elif search.position[next_channel] < 0:
                search.walk[depth] = next_channel
                search.position[next_channel] = depth
                depth += 1
            # 4. It comes back to one of its channels: a cycle, from that channel to the walk's end.
            else:
                weakest = _find_weakest(search, search.position[next_channel], depth)
                moved += _move_paths(dependencies, search.num_paths, layer, current_layer, weakest)
                depth = _cut_walk(search, depth)
    return moved


@helper()
def _find_weakest(search, first, depth):
    """Return the dependency with the fewest paths in the cycle ``walk[first:depth]``.

    Its paths will leave the layer, but never all paths of the layer do. If all paths caused the
    weakest dependency, they would cause every dependency of the cycle, and so cross a channel
    twice. As each layer keeps a path, the number of layers is finite.
    """
    weakest = search.next_dependency[search.walk[first]]
    for position in range(first + 1, depth):
        dependency = search.next_dependency[search.walk[position]]
        if search.num_paths[dependency] < search.num_paths[weakest]:
            weakest = dependency
    return weakest


@helper()
def _move_paths(dependencies, num_paths, layer, current_layer, dependency):
    """Move the paths of `current_layer` that cause `dependency` to the next; return their number.

    Parameters
    ----------
    num_paths : int32 array, shape (D,)
        Paths of `current_layer` that cause each dependency. Updated.
    layer : int32 array, shape (K,)
        Layer of each path. Updated.
    """
    moved = 0
    first, last = dependencies.causing_start[dependency], dependencies.causing_start[dependency + 1]
    for i in range(first, last):
        k = dependencies.causing_path[i]
        if layer[k] != current_layer:
            continue
        layer[k] = current_layer + 1
        moved += 1
        for h in range(dependencies.path_start[k], dependencies.path_start[k + 1] - 1):
            num_paths[dependencies.dependency_of_hop[h]] -= 1
    return moved


@helper()
def _cut_walk(search, depth):
    """Cut the walk after the first channel whose dependency vanished; return the new depth.

    Walk a, b, c: if the dependency of a on b vanished, only a stays. If none vanished but that of
    c, which led back to close the cycle, the whole walk stays.
    """
    # walk[new_depth - 1] leads to walk[new_depth]: while it still does, keep both
    new_depth = 1
    while (
        new_depth < depth
        and search.num_paths[search.next_dependency[search.walk[new_depth - 1]]] > 0
    ):
        new_depth += 1
    for i in range(new_depth, depth):
        search.position[search.walk[i]] = -1
    return new_depth
