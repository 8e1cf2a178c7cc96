"""Remove routes over the most loaded channel until every pair has one.

    channels            a max-heap by load
    routes of channel   a max-heap by the number of routes that their pair has left

Heaps are binary, with int64 keys. All keys only become smaller, so a heap may be out of date: the
key at the top is compared with the current one, and sinks if that is smaller.
"""

import numpy as np

from routelab.kernels.jit import helper, jit


@helper()
def sift_down(key, item, first, size, position):
    """Sink the entry at `position` of the max-heap ``key[first:first + size]`` to where it belongs.

    ``item`` has what each key stands for, and is moved along.
    """
    while True:
        child = 2 * position + 1
        if child >= size:
            return
        if child + 1 < size and key[first + child + 1] > key[first + child]:
            child += 1
        parent, greatest_child = first + position, first + child
        if key[greatest_child] <= key[parent]:
            return
        key[parent], key[greatest_child] = key[greatest_child], key[parent]
        item[parent], item[greatest_child] = item[greatest_child], item[parent]
        position = child


@helper()
def pop(key, item, first, size):
    """Remove the top of a heap; return its new size."""
    size -= 1
    key[first] = key[first + size]
    item[first] = item[first + size]
    sift_down(key, item, first, size, 0)
    return size


@helper()
def bring_removable_to_top(key, item, first, size, pair, routes_left, removed, tie_position):
    """Bring the route to remove to the top of a channel's heap; return the heap's new size.

    Routes that are removed already, and the last routes of their pairs, leave the heap. So it is
    empty, and 0 is returned, if no route over the channel may be removed.
    """
    num_routes = len(tie_position)
    while size > 0:
        r = item[first]
        if removed[r] or routes_left[pair[r]] == 1:
            size = pop(key, item, first, size)
            continue
        # The pair may have lost routes over other channels since the key was written.
        current_key = tie_position[r] + num_routes * routes_left[pair[r]]
        if key[first] == current_key:
            return size
        key[first] = current_key
        sift_down(key, item, first, size, 0)
    return 0


@jit
def remove_routes(routes, pair, demand, routes_left, tie_position, num_channels):
    """Remove listed routes until each pair has one.

    Parameters
    ----------
    routes : tuple of two arrays
        ``hop_start`` int64 (R + 1,) and ``hops`` int32: the channels of each route.
    pair : int64 array, shape (R,)
        Pair of each route.
    demand : int64 array, shape (pairs,)
        What each route of a pair adds to the load of a channel.
    routes_left : int64 array, shape (pairs,)
        Routes of each pair. Updated: counted down.
    tie_position : int64 array, shape (R,)
        Position of each route in tie order. Of the routes over a channel, one of the pair with
        most routes left is removed; of these, the one with the greatest position.
    num_channels : int

    Returns
    -------
    removed : bool array, shape (R,)
    """
    hop_start, hops = routes
    num_routes = len(pair)
    # 1. The load of each channel with all routes, and the number of routes over it.
    removed = np.zeros(num_routes, np.bool_)
    load = np.zeros(num_channels, np.int64)
    size = np.zeros(num_channels, np.int64)
    for r in range(num_routes):
        for h in range(hop_start[r], hop_start[r + 1]):
            load[hops[h]] += demand[pair[r]]
            size[hops[h]] += 1
    # 2. A heap of routes for each channel c, in ``key[first[c]:first[c] + size[c]]``; `item` has
    #    the route of each key. A key compares the routes left first, then positions in tie order,
    #    which are less than the number of routes. Sizes count up again while the heaps are filled.
    first = np.zeros(num_channels + 1, np.int64)
    first[1:] = np.cumsum(size)
    key = np.empty(first[-1], np.int64)
    item = np.empty(first[-1], np.int64)
    size[:] = 0
    for r in range(num_routes):
        current_key = tie_position[r] + num_routes * routes_left[pair[r]]
        for h in range(hop_start[r], hop_start[r + 1]):
            c = hops[h]
            key[first[c] + size[c]] = current_key
            item[first[c] + size[c]] = r
            size[c] += 1
    # The entries below size // 2 have children. Sinking them from the last one on makes a heap.
    for c in range(num_channels):
        for k in range(size[c] // 2 - 1, -1, -1):
            sift_down(key, item, first[c], size[c], k)

    # 3. A heap of channels by load; of equally loaded ones the one with the lowest number is on
    #    top.
    channel = np.arange(num_channels)
    channel_key = load * num_channels + (num_channels - 1 - channel)
    num_queued = num_channels
    for k in range(num_queued // 2 - 1, -1, -1):
        sift_down(channel_key, channel, 0, num_queued, k)
    # 4. Remove a route over the fullest channel. If no pair with a route over it has a second route
    #    left, its load is final, and the channel leaves the heap.
    while num_queued > 0:
        c = channel[0]
        current_key = load[c] * num_channels + (num_channels - 1 - c)
        if channel_key[0] != current_key:
            channel_key[0] = current_key
            sift_down(channel_key, channel, 0, num_queued, 0)
            continue
        size[c] = bring_removable_to_top(
            key, item, first[c], size[c], pair, routes_left, removed, tie_position
        )
        if size[c] == 0:
            num_queued = pop(channel_key, channel, 0, num_queued)
            continue
        r = item[first[c]]
        removed[r] = True
        routes_left[pair[r]] -= 1
        for h in range(hop_start[r], hop_start[r + 1]):
            load[hops[h]] -= demand[pair[r]]
    return removed
