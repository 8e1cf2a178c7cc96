"""Words over channels: the cheapest routes inside them, and words that suit given routes.

An *element* is a channel with a virtual channel, numbered ``vc * C + channel``. Routes are lists of
elements; a route is legal if the places of its elements in the word rise. A *break* is a hop whose
place does not rise.
"""

import numpy as np

from routelab.kernels.jit import inline, jit


@jit
def sweep(source, target, price, passes, toll, cheapest, end, previous, distance, last):
    """Find the cheapest routes between all switches that follow a word, perhaps several times.

    The word is scanned once for all sources. Each further scan lets routes begin it again, for a
    toll. Position i of scan r has the number ``r * L + i``.

    Parameters
    ----------
    source, target : int32 array, shape (L,)
        Switches of the channel at each position of the word.
    price : float32 array, shape (L,)
    passes : int
        Number of scans.
    toll : float
    cheapest : float32 array, shape (S, S)
        Overwritten with the price from a switch (second index) to another (first), infinite if no
        route follows the word; likewise the arrays below.
    end : int32 array, shape (S, S)
        Overwritten with the number of the last position of that route; -1 for none.
    previous : int32 array, shape (>= passes * L, S)
        Overwritten with the number before each position, for each source; -1 for none.
    distance, last : float32 and int32 array, shape (S, S)
        Overwritten, for internal use.
    """
    # 1. Routes without a hop.
    switches, length = distance.shape[0], len(source)
    distance[:] = np.inf
    last[:] = -1
    for s in range(switches):
        distance[s, s] = 0
    cheapest[:] = distance
    end[:] = -1
    for scan in range(passes):
        if scan > 0:
            distance += toll
        # 2. At each position, the routes of all sources to the channel's source may go on over it.
        #    Their prices are one row of `distance`, which holds what earlier positions gave.
        for i in range(length):
            number = scan * length + i
            here, there = distance[source[i]], distance[target[i]]
            last_here, last_there = last[source[i]], last[target[i]]
            before = previous[number]
            for s in range(switches):
                cost = here[s] + price[i]
                before[s] = last_here[s]
                better = cost < there[s]
                last_there[s] = number if better else last_there[s]
                there[s] = cost if better else there[s]
        # 3. Routes that this scan made cheaper, in spite of the toll that it adds to all.
        for t in range(switches):
            for s in range(switches):
                if distance[t, s] < cheapest[t, s]:
                    cheapest[t, s] = distance[t, s]
                    end[t, s] = last[t, s]


@inline
def route_cost(route, count, channels, weight, load, emphasis, cost):
    """Return what a route costs if it is placed last, after the loads of all others."""
    total = 0.0
    for h in range(count):
        c = route[h] % channels
        # During an exchange a load may exceed the largest one that `cost` was made for.
        total += emphasis[c] * cost[min(load[c] + weight, len(cost) - 1)]
    return total


@jit
def exchange(
    rows, ends, weight, words, swept, place, cost, emphasis, toll, only_legal, routes, length, load
):
    """Offer each row its cheapest route in any of the words, one row after the other.

    A row takes it if it costs no more than its present route at the loads of this moment. Each
    break costs a toll.

    Parameters
    ----------
    rows : int64 array
        Order of the offers.
    ends : tuple of (int32 array, int32 array), shape (R,) each
        Source and target switch of each row.
    weight : int64 array, shape (R,)
        What a row adds to the load of its channels.
    words : int32 array, shape (K, L)
        Elements.
    swept : tuple of arrays, shape (K, ...) each
        ``cheapest``, ``end`` and ``previous`` of `sweep` for each word.
    place : float64 array, shape (E,)
        Place of each element in its word.
    cost : float64 array
        Price of a channel by its load; greater loads cost as much as the last one.
    emphasis : float64 array, shape (C,)
    toll : float
    only_legal : bool
        Whether a row with a break takes the offer at any price.
    routes : int32 array, shape (R, W)
        Elements. Updated.
    length : int32 array, shape (R,)
        Hops, 0 for no route. Updated.
    load : int64 array, shape (C,)
        Updated.
    """
    cheapest, end, previous = swept
    channels, positions = len(load), words.shape[1]
    offered = np.empty(routes.shape[1], np.int64)
    for r in rows:
        s, t, w = ends[0][r], ends[1][r], weight[r]
        k = 0
        for j in range(1, len(words)):
            if cheapest[j, t, s] < cheapest[k, t, s]:
                k = j
        if not np.isfinite(cheapest[k, t, s]):
            continue
        # 1. The offered route, from its last hop to the first.
        number, count, offered_breaks = end[k, t, s], 0, 0
        while number >= 0 and count < len(offered):
            offered[count] = words[k, number % positions]
            count += 1
            before = previous[k, number, s]
            if before >= 0:
                offered_breaks += number // positions - before // positions
            number = before
        if number >= 0:
            continue  # longer than any route may be
        # 2. What both routes cost without the present one.
        present_breaks = 0
        for h in range(length[r]):
            load[routes[r, h] % channels] -= w
            if h > 0 and place[routes[r, h - 1]] >= place[routes[r, h]]:
                present_breaks += 1
        present = route_cost(routes[r], length[r], channels, w, load, emphasis, cost)
        new = route_cost(offered, count, channels, w, load, emphasis, cost)
        # 3. Ties go to the new route, so that the search does not stand still.
        if (
            length[r] == 0
            or (only_legal and present_breaks > 0)
            or new + toll * offered_breaks <= present + toll * present_breaks
        ):
            length[r] = count
            for h in range(count):
                routes[r, h] = offered[count - 1 - h]
        for h in range(length[r]):
            load[routes[r, h] % channels] += w


@jit
def count_turns(routes, length, weight, slot, channels, degree, layers, turns):
    """Add the weight of the rows that go from each element to each element that can follow it.

    Parameters
    ----------
    routes, length
        As for `exchange`.
    weight : float64 array, shape (R,)
    slot : int64 array, shape (C,)
        Number of a channel among those that leave its source, below `degree`.
    channels, degree : int
    layers : int
        Virtual channels that may follow: K if they share a word, 1 if each has its own.
    turns : float64 array, shape (E * degree * layers,)
        Updated at ``(element * degree + slot) * layers + vc`` of the next hop.
    """
    for r in range(len(length)):
        for h in range(1, length[r]):
            e, following = routes[r, h - 1], routes[r, h]
            vc = following // channels if layers > 1 else 0
            turns[(e * degree + slot[following % channels]) * layers + vc] += weight[r]


@jit
def broken_rows(routes, length, place):
    """Return whether each row has no route or one with a break; bool, shape (R,)."""
    broken = length == 0
    for r in range(len(length)):
        for h in range(1, length[r]):
            if place[routes[r, h - 1]] >= place[routes[r, h]]:
                broken[r] = True
    return broken


@jit
def move_elements(place, order, turns, draws):
    """Move each element where the weight of the turns that descend at it is least.

    Parameters
    ----------
    place : float64 array, shape (E,)
        Updated.
    order : int64 array, shape (E,)
        Order of the moves.
    turns : tuple of (int64 array (E + 1,), int64 array, float64 array, int8 array)
        Turns of element e are ``turns[0][e]:turns[0][e + 1]``: the other element, the weight, and
        1 if the other one follows, -1 if it precedes.
    draws : float64 array, shape (E, 2)
        Random numbers below 1: which of the best gaps an element takes, and where inside it.
    """
    start, other, weight, sense = turns
    for e in order:
        first, count = start[e], start[e + 1] - start[e]
        if count == 0:
            continue
        places = place[other[first : first + count]]
        by_place = np.argsort(places)
        # 1. What descends in each gap. At the very left, all turns from preceding elements do.
        descending = np.zeros(count + 1)
        for i in range(count):
            if sense[first + i] < 0:
                descending[0] += weight[first + i]
        for i in range(count):
            turn = first + by_place[i]
            change = weight[turn] if sense[turn] > 0 else -weight[turn]
            descending[i + 1] = descending[i] + change
        # 2. One of the best gaps. Sums in different orders are not exact.
        best_gaps = np.flatnonzero(descending <= descending.min() + 1e-9)
        gap = best_gaps[int(draws[e, 0] * len(best_gaps))]
        low = places[by_place[gap - 1]] if gap > 0 else places[by_place[0]] - 1.0
        high = places[by_place[gap]] if gap < count else places[by_place[count - 1]] + 1.0
        if high - low > 1e-9:
            place[e] = low + (high - low) * (0.01 + 0.98 * draws[e, 1])


@jit
def lift_blocks(place, earlier, later, weight, turns, share):
    """Repair descending turns: move what must follow a turn's end behind its begin, if it pays.

    As in the dynamic topological order of Pearce and Kelly, the elements that the turn's end leads
    to, up to the turn's begin, move behind it together, in their order.

    Parameters
    ----------
    place : float64 array, shape (E,)
        Integers, all different. Updated.
    earlier, later : int64 array, shape (T,)
        Elements of the descending turns: `later` should follow `earlier`.
    weight : float64 array, shape (T,)
    turns
        As for `move_elements`.
    share : float
        A block follows turns of at least this share of the repaired turn's weight.
    """
    start, other, turn_weight, sense = turns
    count = len(place)
    at = np.argsort(place)
    position = np.empty(count, np.int64)
    position[at] = np.arange(count)
    mark = np.zeros(count, np.int64)
    block = np.empty(count, np.int64)
    for j in range(len(earlier)):
        low, high = position[later[j]], position[earlier[j]]
        if low > high:
            continue
        # 1. The block: what follows `later` within the window. A way to `earlier` is a cycle.
        top, is_cycle = 1, False
        block[0] = later[j]
        mark[later[j]] = j + 1
        while top > 0 and not is_cycle:
            top -= 1
            x = block[top]
            for i in range(start[x], start[x + 1]):
                y = other[i]
                follows = sense[i] > 0 and turn_weight[i] >= share * weight[j]
                if follows and position[x] < position[y] <= high and mark[y] != j + 1:
                    if y == earlier[j]:
                        is_cycle = True
                        break
                    mark[y] = j + 1
                    block[top] = y
                    top += 1
        if is_cycle:
            continue
        # 2. What the block's jump over the others behind it adds to the descending weight.
        added = 0.0
        for p in range(low, high + 1):
            x = at[p]
            if mark[x] == j + 1:
                for i in range(start[x], start[x + 1]):
                    y = other[i]
                    if mark[y] != j + 1 and p < position[y] <= high:
                        added += turn_weight[i] if sense[i] > 0 else -turn_weight[i]
        if added >= 0:
            continue
        # 3. The others close up, then comes the block.
        size, free = 0, low
        for p in range(low, high + 1):
            x = at[p]
            if mark[x] == j + 1:
                block[size] = x
                size += 1
            else:
                at[free] = x
                free += 1
        at[free : high + 1] = block[:size]
        for p in range(low, high + 1):
            position[at[p]] = p
    place[:] = position
