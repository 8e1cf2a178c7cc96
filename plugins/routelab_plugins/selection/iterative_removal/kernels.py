"""Remove routes over the most loaded channel until every pair has one.

    channels            a max-heap by load
    routes of channel   a max-heap by the number of routes that their pair has left

Heaps are binary, with int64 keys. All keys only become smaller, so a heap may be out of date: the
key at the top is compared with the current one, and sinks if that is smaller.
"""

import numpy as np

from routelab.kernels.jit import helper, jit


@helper()
def sift_down(key, item, first, size, place):
    """Sink an entry of the max-heap ``key[first:first + size]`` to its position."""
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and key[first + child + 1] > key[first + child]:
            child += 1
        parent, greatest_child = first + place, first + child
        if key[greatest_child] <= key[parent]:
            return
        key[parent], key[greatest_child] = key[greatest_child], key[parent]
        item[parent], item[greatest_child] = item[greatest_child], item[parent]
        place = child


@helper()
def pop(key, item, first, size):
    """Remove the top of a heap; return its new size."""
    size -= 1
    key[first] = key[first + size]
    item[first] = item[first + size]
    sift_down(key, item, first, size, 0)
    return size


@helper()
def bring_removable_to_top(key, item, first, size, pair, routes_left, removed, place):
    """Bring the route to remove to the top of a channel's heap; return the heap's new size."""
    count = len(place)
    while size > 0:
        r = item[first]
        if removed[r] or routes_left[pair[r]] == 1:
            size = pop(key, item, first, size)
            continue
        current_key = place[r] + count * routes_left[pair[r]]
        if key[first] == current_key:
            return size
        key[first] = current_key
        sift_down(key, item, first, size, 0)
    return 0


@jit
def remove_routes(routes, pair, demand, routes_left, place, num_channels):
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
        Routes of each pair; counted down in place.
    place : int64 array, shape (R,)
        Order of the routes, a permutation: of several routes that might be removed, one of the
        pair that has most routes left is; of these, the one with the greatest place.
    num_channels : int

    Returns
    -------
    removed : bool array, shape (R,)
    """
    hop_start, hops = routes
    count = len(pair)
    # 1. The load of each channel with all routes, and the number of routes over it.
    removed = np.zeros(count, np.bool_)
    load = np.zeros(num_channels, np.int64)
    size = np.zeros(num_channels, np.int64)
    for r in range(count):
        for h in range(hop_start[r], hop_start[r + 1]):
            load[hops[h]] += demand[pair[r]]
            size[hops[h]] += 1
    # 2. A heap of routes for each channel; a key holds both parts of the order in one number.
    first = np.zeros(num_channels + 1, np.int64)
    first[1:] = np.cumsum(size)
    key = np.empty(first[-1], np.int64)
    item = np.empty(first[-1], np.int64)
    size[:] = 0
    for r in range(count):
        current_key = place[r] + count * routes_left[pair[r]]
        for h in range(hop_start[r], hop_start[r + 1]):
            c = hops[h]
            key[first[c] + size[c]] = current_key
            item[first[c] + size[c]] = r
            size[c] += 1
    for c in range(num_channels):
        for k in range(size[c] // 2 - 1, -1, -1):
            sift_down(key, item, first[c], size[c], k)

    # 3. A heap of channels by load; of equal ones the first comes first.
    channel = np.arange(num_channels)
    rank = load * num_channels + (num_channels - 1 - channel)
    channels = num_channels
    for k in range(channels // 2 - 1, -1, -1):
        sift_down(rank, channel, 0, channels, k)
    # 4. Remove a route over the fullest channel. If each of its pairs has one route left, its load
    #    is final, and the channel leaves the heap.
    while channels > 0:
        c = channel[0]
        current_key = load[c] * num_channels + (num_channels - 1 - c)
        if rank[0] != current_key:
            rank[0] = current_key
            sift_down(rank, channel, 0, channels, 0)
            continue
        size[c] = bring_removable_to_top(
            key, item, first[c], size[c], pair, routes_left, removed, place
        )
        if size[c] == 0:
            channels = pop(rank, channel, 0, channels)
            continue
        r = item[first[c]]
        removed[r] = True
        routes_left[pair[r]] -= 1
        for h in range(hop_start[r], hop_start[r + 1]):
            load[hops[h]] -= demand[pair[r]]
    return removed
