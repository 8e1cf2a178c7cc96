"""The heaviest assignment, and the worst permutation for any channel of a route table."""

import numpy as np
from numba import njit


@njit(cache=True)
def channel_pairs(pair_start, path_start, path_weight, hop_channel, num_channels):
    """A route table turned round: the pairs that cross each channel, and their shares.

    Parameters
    ----------
    pair_start, path_start, path_weight, hop_channel : arrays
        Of a route table.
    num_channels : int

    Returns
    -------
    start : int64 array, shape (C + 1,)
        Entries ``start[c]:start[c + 1]`` belong to channel c.
    pair : int64 array, shape (E,)
        Ascending within a channel, each pair once.
    share : float64 array, shape (E,)
        Share of the pair's packets that cross the channel: the sum of its paths' weights.
    """
    start = np.zeros(num_channels + 1, np.int64)
    latest = np.full(num_channels, -1, np.int64)
    for p in range(len(pair_start) - 1):
        for h in range(path_start[pair_start[p]], path_start[pair_start[p + 1]]):
            c = hop_channel[h]
            if latest[c] != p:
                latest[c] = p
                start[c + 1] += 1
    start[1:] = np.cumsum(start[1:])
    pair = np.empty(start[-1], np.int64)
    share = np.zeros(start[-1], np.float64)
    free = start[:-1].copy()
    latest[:] = -1
    for p in range(len(pair_start) - 1):
        for k in range(pair_start[p], pair_start[p + 1]):
            for h in range(path_start[k], path_start[k + 1]):
                c = hop_channel[h]
                if latest[c] != p:
                    latest[c] = p
                    pair[free[c]] = p
                    free[c] += 1
                share[free[c] - 1] += path_weight[k]
    return start, pair, share


@njit(cache=True)
def assignment_bound(source, target, weight, demand):
    """No assignment is heavier: every unit takes its best entry, by sources or by targets.

    Parameters
    ----------
    source, target : int64 array, shape (E,)
        Endpoints.
    weight : float64 array, shape (E,)
        Positive.
    demand : int64 array, shape (P,)
        Units that each endpoint can send, and can receive.
    """
    of_source = np.zeros(len(demand))
    of_target = np.zeros(len(demand))
    for e in range(len(source)):
        of_source[source[e]] = max(of_source[source[e]], weight[e])
        of_target[target[e]] = max(of_target[target[e]], weight[e])
    return min((of_source * demand).sum(), (of_target * demand).sum())


@njit(cache=True)
def _compact(labels):
    """Ranks of the labels among those that occur, and the label of each rank."""
    rank = np.full(labels.max() + 1, -1, np.int64)
    kept = np.empty(len(labels), np.int64)
    count = 0
    number = np.empty(len(labels), np.int64)
    for e in range(len(labels)):
        if rank[labels[e]] < 0:
            rank[labels[e]] = count
            kept[count] = labels[e]
            count += 1
        number[e] = rank[labels[e]]
    return number, kept[:count]


@njit(cache=True)
def heaviest_assignment(source, target, weight, demand):
    """Send units between endpoints so that the weights of the entries used are most together.

    Shortest augmenting paths with potentials, one path for each unit (Kuhn 1955, Tomizawa 1971).

    Parameters
    ----------
    source : int64 array, shape (E,)
        At least one, ascending; no (source, target) occurs twice.
    target : int64 array, shape (E,)
    weight : float64 array, shape (E,)
        Positive.
    demand : int64 array, shape (P,)
        Units that each endpoint sends at most, and receives at most.

    Returns
    -------
    total : float
    sender, receiver : int64 array, shape (U,)
        Endpoint that each of the units is sent from, and the one that it is sent to, or −1.
    """
    row, rows = _compact(source)
    column, columns = _compact(target)
    row_start = np.zeros(len(rows) + 1, np.int64)
    for e in range(len(row)):
        row_start[row[e] + 1] += 1
    row_start = np.cumsum(row_start)
    unit_row = np.repeat(np.arange(len(rows)), demand[rows])
    capacity = demand[columns]
    price = np.zeros(len(columns))  # of columns, never negative, 0 while there is room
    gain = np.zeros(len(unit_row))  # of units: what their best entry is worth at these prices
    match = np.full(len(unit_row), -1, np.int64)
    for unit in range(len(unit_row)):
        for e in range(row_start[unit_row[unit]], row_start[unit_row[unit] + 1]):
            gain[unit] = max(gain[unit], weight[e] - price[column[e]])
        _augment(unit, unit_row, row_start, column, weight, capacity, price, gain, match)
    total = 0.0
    receiver = np.full(len(unit_row), -1, np.int64)
    for unit in range(len(unit_row)):
        if match[unit] >= 0:
            receiver[unit] = columns[match[unit]]
            for e in range(row_start[unit_row[unit]], row_start[unit_row[unit] + 1]):
                if column[e] == match[unit]:
                    total += weight[e]
    return total, rows[unit_row], receiver


@njit(cache=True)
def _augment(root, unit_row, row_start, column, weight, capacity, price, gain, match):
    """Find a place for one more unit; `capacity` (what is left), prices, gains, matches change."""
    count = len(capacity)
    distance = np.full(count, np.inf)
    before = np.full(count, -1, np.int64)
    settled = np.zeros(count, np.bool_)
    visited = np.full(len(unit_row), np.inf)
    visited[root] = 0.0
    fresh = np.empty(len(unit_row), np.int64)
    fresh[0] = root
    waiting = 1
    # the way may end at a column with room, or with a unit that is not sent at all
    loser, limit, end = root, gain[root], -1
    while True:
        for i in range(waiting):
            u = fresh[i]
            for e in range(row_start[unit_row[u]], row_start[unit_row[u] + 1]):
                reach = visited[u] + gain[u] + price[column[e]] - weight[e]
                # a settled column stays, or rounding could lead the way in a circle
                if reach < distance[column[e]] and not settled[column[e]]:
                    distance[column[e]] = reach
                    before[column[e]] = u
        nearest, least = -1, limit
        for j in range(count):
            if not settled[j] and distance[j] < least:
                nearest, least = j, distance[j]
        if nearest < 0:
            break
        if capacity[nearest] > 0:
            end = nearest
            capacity[end] -= 1
            limit = least
            break
        settled[nearest] = True
        waiting = 0
        for u in range(len(unit_row)):
            if match[u] == nearest and visited[u] == np.inf:
                visited[u] = least
                fresh[waiting] = u
                waiting += 1
                if least + gain[u] < limit:
                    loser, limit = u, least + gain[u]
    for u in range(len(unit_row)):
        if visited[u] < limit:
            gain[u] -= limit - visited[u]
    for j in range(count):
        if settled[j]:
            price[j] += limit - distance[j]
    if end < 0:
        end = match[loser]
        match[loser] = -1
        if loser == root:
            return
    while True:
        u = before[end]
        end, match[u] = match[u], end
        if u == root:
            return


@njit(cache=True)
def worst_channel(start, pair, share, demand):
    """The channel that some permutation of terminals loads most; a later equal one gives way.

    Parameters
    ----------
    start, pair, share : arrays
        As `channel_pairs` returns them.
    demand : int64 array, shape (P,)
        Terminals at each endpoint.

    Returns
    -------
    load : float
    channel : int
        −1 if no pair crosses any channel.
    sender, receiver : int64 array
        As `heaviest_assignment` returns them.
    """
    count = len(start) - 1
    bound = np.zeros(count)
    for c in range(count):
        crossing = pair[start[c] : start[c + 1]]
        if len(crossing):
            bound[c] = assignment_bound(
                crossing // len(demand),
                crossing % len(demand),
                share[start[c] : start[c + 1]],
                demand,
            )
    load, channel = 0.0, -1
    sender = np.empty(0, np.int64)
    receiver = np.empty(0, np.int64)
    for c in np.argsort(-bound, kind="mergesort"):
        # shares are sums of floats: what is ahead by rounding alone is not ahead
        if bound[c] <= load * (1 + 1e-12):
            break
        crossing = pair[start[c] : start[c + 1]]
        found = heaviest_assignment(
            crossing // len(demand), crossing % len(demand), share[start[c] : start[c + 1]], demand
        )
        if found[0] > load:
            load, channel = found[0], c
            sender, receiver = found[1], found[2]
    return load, channel, sender, receiver
