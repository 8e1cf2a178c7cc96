"""Pairs that cross a channel, and their heaviest assignment."""

import numpy as np

from routelab.kernels.jit import helper, jit


@jit
def channel_pairs(pair_start, path_start, path_weight, hop_channel, num_channels):
    """Invert a route table: find the pairs that cross each channel, and their shares.

    Parameters
    ----------
    pair_start, path_start, path_weight, hop_channel : arrays
        Arrays of a route table.
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
    for c in range(num_channels):
        start[c + 1] += start[c]
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


@jit
def assignment_bounds(start, pair, share, sends, receives):
    """Bound the assignments of each channel's pairs from above: every unit takes its best entry.

    The bound is the smaller one of those by senders and by receivers.

    Parameters
    ----------
    start, pair, share : arrays
        As `channel_pairs` returns them.
    sends, receives : int64 array, shape (P,) and (D,)
        Units that each source can send, and each destination can receive.

    Returns
    -------
    bounds : float64 array, shape (C,)
    """
    count = len(receives)
    bounds = np.zeros(len(start) - 1)
    best_sent, best_received = np.zeros(len(sends)), np.zeros(count)
    for c in range(len(bounds)):
        best_sent[:] = 0
        best_received[:] = 0
        for e in range(start[c], start[c + 1]):
            i, j = pair[e] // count, pair[e] % count
            best_sent[i] = max(best_sent[i], share[e])
            best_received[j] = max(best_received[j], share[e])
        sent = received = 0.0
        for i in range(len(sends)):
            sent += best_sent[i] * sends[i]
        for j in range(count):
            received += best_received[j] * receives[j]
        bounds[c] = min(sent, received)
    return bounds


@jit
def heaviest_assignment(pair, weight, sends, receives):
    """Send units from sources to destinations with the largest total weight of the pairs.

    Shortest augmenting paths with potentials, one path for each unit (Kuhn 1955, Tomizawa 1971).

    Parameters
    ----------
    pair : int64 array, shape (E,)
        ``source * D + destination``, ascending, each pair once.
    weight : float64 array, shape (E,)
        Positive.
    sends, receives : int64 array, shape (P,) and (D,)
        Largest number of units that each source sends, and each destination receives.

    Returns
    -------
    total : float
    sender, receiver : int64 array, shape (U,)
        Source of each unit, and its destination, or −1.
    """
    # 1. The pairs as a sparse matrix: a row for each source, a column for each destination that
    #    occurs, with as much capacity as that can receive.
    rows, count = len(sends), len(receives)
    row_start = np.zeros(rows + 1, np.int64)
    number = np.full(count, -1, np.int64)
    columns = np.empty(count, np.int64)
    capacity = np.empty(count, np.int64)
    column = np.empty(len(pair), np.int64)
    used = 0
    for e in range(len(pair)):
        row_start[pair[e] // count + 1] += 1
        j = pair[e] % count
        if number[j] < 0:
            number[j] = used
            columns[used] = j
            capacity[used] = receives[j]
            used += 1
        column[e] = number[j]
    # 2. The units; sources without a pair have none.
    units = 0
    for i in range(rows):
        units += sends[i] if row_start[i + 1] else 0
        row_start[i + 1] += row_start[i]
    sender = np.empty(units, np.int64)
    unit = 0
    for i in range(rows):
        if row_start[i + 1] > row_start[i]:
            for _ in range(sends[i]):
                sender[unit] = i
                unit += 1
    # 3. Assign one unit more at a time; earlier ones may change their columns. After each, the
    #    total is the largest for the units so far.
    price = np.zeros(used)  # of columns, never negative, 0 while they have room
    gain = np.zeros(units)  # of units: value of their best entry at these prices
    match = np.full(units, -1, np.int64)
    for unit in range(units):
        for e in range(row_start[sender[unit]], row_start[sender[unit] + 1]):
            gain[unit] = max(gain[unit], weight[e] - price[column[e]])
        _augment(unit, sender, row_start, column, weight, capacity, (price, gain), match)
    # 4. Columns are destinations again.
    total = 0.0
    receiver = np.full(units, -1, np.int64)
    for unit in range(units):
        for e in range(row_start[sender[unit]], row_start[sender[unit] + 1]):
            if column[e] == match[unit]:
                total += weight[e]
                receiver[unit] = columns[column[e]]
    return total, sender, receiver


@helper()
def _augment(root, unit_row, row_start, column, weight, capacity, potentials, match):
    """Assign one more unit; updates `capacity` (the rest), potentials and matches."""
    price, gain = potentials
    count = len(price)
    distance = np.full(count, np.inf)
    before = np.full(count, -1, np.int64)
    settled = np.zeros(count, np.bool_)
    visited = np.full(len(unit_row), np.inf)
    visited[root] = 0.0
    fresh = np.empty(len(unit_row), np.int64)
    fresh[0] = root
    waiting = 1
    # 1. The shortest path from the new unit over units and the columns that they hold, by
    #    Dijkstra's algorithm. The length of a step is what a unit loses if it gets that column and
    #    not its best. The path may end at a column with room, or with a unit that is not sent.
    loser, limit, end = root, gain[root], -1
    while True:
        for i in range(waiting):
            u = fresh[i]
            for e in range(row_start[unit_row[u]], row_start[unit_row[u] + 1]):
                reach = visited[u] + gain[u] + price[column[e]] - weight[e]
                # a settled column stays, or rounding could close a cycle
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
    # 2. New potentials, so that lengths are never negative and 0 along the path.
    for u in range(len(unit_row)):
        if visited[u] < limit:
            gain[u] -= limit - visited[u]
    for j in range(count):
        if settled[j]:
            price[j] += limit - distance[j]
    # 3. Shift the columns along the path, from its end back to the new unit.
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
