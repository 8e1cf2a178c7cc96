"""Remove routes over the most loaded channel until every pair has one.

Both the channels and the routes over each channel are kept in binary heaps of int64 keys. All keys
only become smaller, so a heap may be out of date: an entry at the top is compared with its current
key, and reinserted if that has changed.
"""

import numpy as np

from routelab.kernels.jit import helper, jit


@helper()
def _sink(key, item, first, size, place):
    """Sink an entry of the max-heap ``key[first:first + size]`` to its position."""
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and key[first + child + 1] > key[first + child]:
            child += 1
        parent, least_child = first + place, first + child
        if key[least_child] <= key[parent]:
            return
        key[parent], key[least_child] = key[least_child], key[parent]
        item[parent], item[least_child] = item[least_child], item[parent]
        place = child


@helper()
def _drop_top(key, item, first, size):
    """Remove the top of a heap; return its new size."""
    size -= 1
    key[first] = key[first + size]
    item[first] = item[first + size]
    _sink(key, item, first, size, 0)
    return size


@helper()
def _removable(key, item, first, size, pair, routes_left, removed, place):
    """Bring the route to remove to the top of a channel's heap; return the heap's new size."""
    count = len(place)
    while size > 0:
        r = item[first]
        if removed[r] or routes_left[pair[r]] == 1:
            size = _drop_top(key, item, first, size)
            continue
        present = place[r] + count * routes_left[pair[r]]
        if key[first] == present:
            return size
        key[first] = present
        _sink(key, item, first, size, 0)
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
    removed = np.zeros(count, np.bool_)
    load = np.zeros(num_channels, np.int64)
    size = np.zeros(num_channels, np.int64)
    for r in range(count):
        for h in range(hop_start[r], hop_start[r + 1]):
            load[hops[h]] += demand[pair[r]]
            size[hops[h]] += 1
    first = np.zeros(num_channels + 1, np.int64)
    first[1:] = np.cumsum(size)
    key = np.empty(first[-1], np.int64)
    item = np.empty(first[-1], np.int64)
    size[:] = 0
    for r in range(count):
        present = place[r] + count * routes_left[pair[r]]
        for h in range(hop_start[r], hop_start[r + 1]):
            c = hops[h]
            key[first[c] + size[c]] = present
            item[first[c] + size[c]] = r
            size[c] += 1
    for c in range(num_channels):
        for k in range(size[c] // 2 - 1, -1, -1):
            _sink(key, item, first[c], size[c], k)

    # channels by load; of equal ones the first comes first
    channel = np.arange(num_channels)
    rank = load * num_channels + (num_channels - 1 - channel)
    channels = num_channels
    for k in range(channels // 2 - 1, -1, -1):
        _sink(rank, channel, 0, channels, k)
    while channels > 0:
        c = channel[0]
        present = load[c] * num_channels + (num_channels - 1 - c)
        if rank[0] != present:
            rank[0] = present
            _sink(rank, channel, 0, channels, 0)
            continue
        size[c] = _removable(key, item, first[c], size[c], pair, routes_left, removed, place)
        if size[c] == 0:
            channels = _drop_top(rank, channel, 0, channels)
            continue
        r = item[first[c]]
        removed[r] = True
        routes_left[pair[r]] -= 1
        for h in range(hop_start[r], hop_start[r + 1]):
            load[hops[h]] -= demand[pair[r]]
    return removed
