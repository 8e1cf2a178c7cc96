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
    # 1. Count the pairs of each channel. A pair may cross a channel on several paths and counts
    #    once. All hops of a pair follow each other, so a channel has met the pair before only if
    #    that is the last one that it met.
    start = np.zeros(num_channels + 1, np.int64)
    last_pair = np.full(num_channels, -1, np.int64)
    for p in range(len(pair_start) - 1):
        for h in range(path_start[pair_start[p]], path_start[pair_start[p + 1]]):
            c = hop_channel[h]
            if last_pair[c] != p:
                last_pair[c] = p
                start[c + 1] += 1
    for c in range(num_channels):
        start[c + 1] += start[c]
    # 2. List them with their shares. `next_position` is behind the last pair of each channel.
    pair = np.empty(start[-1], np.int64)
    share = np.zeros(start[-1], np.float64)
    next_position = start[:-1].copy()
    last_pair[:] = -1
    for p in range(len(pair_start) - 1):
        for k in range(pair_start[p], pair_start[p + 1]):
            for h in range(path_start[k], path_start[k + 1]):
                c = hop_channel[h]
                if last_pair[c] != p:
                    last_pair[c] = p
                    pair[next_position[c]] = p
                    next_position[c] += 1
                share[next_position[c] - 1] += path_weight[k]
    return start, pair, share


@jit
def assignment_bounds(start, pair, share, sends, receives):
    """Bound from above what `heaviest_assignment` can find for the pairs of each channel.

    Suppose that every unit (a message) goes to the destination with the largest share of its
    source, however much that can receive. The total is then at least that of the heaviest
    assignment. The same holds if every destination receives from its best source. The bound is the
    smaller total.

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
    num_destinations = len(receives)
    bounds = np.zeros(len(start) - 1)
    best_sent, best_received = np.zeros(len(sends)), np.zeros(num_destinations)
    for c in range(len(bounds)):
        best_sent[:] = 0
        best_received[:] = 0
        for e in range(start[c], start[c + 1]):
            source, destination = pair[e] // num_destinations, pair[e] % num_destinations
            best_sent[source] = max(best_sent[source], share[e])
            best_received[destination] = max(best_received[destination], share[e])
        sent = received = 0.0
        for source in range(len(sends)):
            sent += best_sent[source] * sends[source]
        for destination in range(num_destinations):
            received += best_received[destination] * receives[destination]
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
        Source of each unit, and its destination; −1 if the unit is not sent.
    """
    # 1. The pairs as a sparse matrix: a row for each source, a column for each destination that
    #    occurs, with as much capacity as that can receive.
    num_sources, num_destinations = len(sends), len(receives)
    row_start = np.zeros(num_sources + 1, np.int64)
    column_of = np.full(num_destinations, -1, np.int64)
    destination_of = np.empty(num_destinations, np.int64)
    capacity = np.empty(num_destinations, np.int64)
    column = np.empty(len(pair), np.int64)
    num_columns = 0
    for e in range(len(pair)):
        row_start[pair[e] // num_destinations + 1] += 1
        destination = pair[e] % num_destinations
        if column_of[destination] < 0:
            column_of[destination] = num_columns
            destination_of[num_columns] = destination
            capacity[num_columns] = receives[destination]
            num_columns += 1
        column[e] = column_of[destination]
    # 2. The units; sources without a pair have none.
    num_units = 0
    for source in range(num_sources):
        num_units += sends[source] if row_start[source + 1] else 0
        row_start[source + 1] += row_start[source]
    sender = np.empty(num_units, np.int64)
    unit = 0
    for source in range(num_sources):
        if row_start[source + 1] > row_start[source]:
            for _ in range(sends[source]):
                sender[unit] = source
                unit += 1
    # 3. Assign one unit more at a time; earlier ones may change their columns. After each, the
    #    total is the largest for the units so far.
    #    price   of each column: what a unit pays for it; never negative, 0 while it has room
    #    gain    of each unit: the weight less the price of its best column, or 0 if it is not sent
    #    match   of each unit: its column; −1 for none
    price = np.zeros(num_columns)
    gain = np.zeros(num_units)
    match = np.full(num_units, -1, np.int64)
    for unit in range(num_units):
        for e in range(row_start[sender[unit]], row_start[sender[unit] + 1]):
            gain[unit] = max(gain[unit], weight[e] - price[column[e]])
        _augment(unit, sender, row_start, column, weight, capacity, (price, gain), match)
    # 4. Columns are destinations again.
    total = 0.0
    receiver = np.full(num_units, -1, np.int64)
    for unit in range(num_units):
        for e in range(row_start[sender[unit]], row_start[sender[unit] + 1]):
            if column[e] == match[unit]:
                total += weight[e]
                receiver[unit] = destination_of[column[e]]
    return total, sender, receiver


@helper()
def _augment(new_unit, unit_row, row_start, column, weight, capacity, potentials, match):
    """Assign one more unit, or leave one out if the total is larger without it.

    This is step 3 of `heaviest_assignment`, which explains `match` and the potentials (prices of
    columns and gains of units). Both are updated, and `capacity`: what each column can still take.
    """
    price, gain = potentials
    num_columns = len(price)
    column_distance = np.full(num_columns, np.inf)
    unit_before = np.full(num_columns, -1, np.int64)
    is_settled = np.zeros(num_columns, np.bool_)
    unit_distance = np.full(len(unit_row), np.inf)
    unit_distance[new_unit] = 0.0
    reached_units = np.empty(len(unit_row), np.int64)
    reached_units[0] = new_unit
    num_reached = 1
    # 1. The shortest path from the new unit over units and the columns that they hold, by
    #    Dijkstra's algorithm. The length of a step is what a unit loses if it gets that column and
    #    not its best. The path may end at a column with room, or with a unit that is left out and
    #    so loses its gain. `path_length` is that of the best end so far; the new unit left out is
    #    the first.
    dropped_unit, path_length, end_column = new_unit, gain[new_unit], -1
    while True:
        for i in range(num_reached):
            unit = reached_units[i]
            for e in range(row_start[unit_row[unit]], row_start[unit_row[unit] + 1]):
                new_distance = unit_distance[unit] + gain[unit] + price[column[e]] - weight[e]
                # A settled column has its distance; lowered by rounding, it could close a cycle.
                if new_distance < column_distance[column[e]] and not is_settled[column[e]]:
                    column_distance[column[e]] = new_distance
                    unit_before[column[e]] = unit
        # the nearest column that is closer than the best end so far
        nearest, least = -1, path_length
        for j in range(num_columns):
            if not is_settled[j] and column_distance[j] < least:
                nearest, least = j, column_distance[j]
        if nearest < 0:
            break
        if capacity[nearest] > 0:
            end_column = nearest
            capacity[end_column] -= 1
            path_length = least
            break
        # A full column: any unit that holds it may give it up.
        is_settled[nearest] = True
        num_reached = 0
        for unit in range(len(unit_row)):
            if match[unit] == nearest and unit_distance[unit] == np.inf:
                unit_distance[unit] = least
                reached_units[num_reached] = unit
                num_reached += 1
                if least + gain[unit] < path_length:
                    dropped_unit, path_length = unit, least + gain[unit]
    # 2. New potentials, so that lengths are never negative and 0 along the path.
    for unit in range(len(unit_row)):
        if unit_distance[unit] < path_length:
            gain[unit] -= path_length - unit_distance[unit]
    for j in range(num_columns):
        if is_settled[j]:
            price[j] += path_length - column_distance[j]
    # 3. Shift the columns along the path, from its end back to the new unit.
    if end_column < 0:
        # the path ends with a unit that is left out; its column goes to the unit before it
        end_column = match[dropped_unit]
        match[dropped_unit] = -1
        if dropped_unit == new_unit:
            return
    while True:
        unit = unit_before[end_column]
        end_column, match[unit] = match[unit], end_column
        if unit == new_unit:
            return
