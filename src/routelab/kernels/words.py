"""Words over channels: the cheapest routes inside them, and words that suit given routes.

A *word* is a sequence of *elements*. An element is a channel with a virtual channel, numbered
``vc * C + channel``. Routes are lists of elements; a route is legal if the positions of its
elements in the word rise. A *break* is a hop whose position does not rise: the word a c b has the
legal route a b, and the route b a with one break. A *row* is a pair of switches, with one route. A
*turn* is two elements that follow each other on a route. E elements, K words, R rows.
"""

import numpy as np

from routelab.kernels.jit import inline, jit


@jit
def sweep(source, target, price, num_scans, toll, cheapest, end, previous, distance, last):
    """Find the cheapest routes between all switches that follow a word, perhaps several times.

    One scan of the word finds the legal routes from all sources. Each further scan lets routes
    begin the word again, with a break, for a toll. Position i of scan r has the number
    ``r * L + i``; a route is the numbers of its hops, each linked to the one before it.

    Parameters
    ----------
    source, target : int32 array, shape (L,)
        Switches of the channel at each position of the word.
    price : float32 array, shape (L,)
    num_scans : int
        Number of scans.
    toll : float
        Price of a break.
    cheapest : float32 array, shape (S, S)
        Overwritten with the price of the cheapest route ``[target, source]``, infinite if no route
        follows the word.
    end : int32 array, shape (S, S)
        Overwritten with the number of the last position of that route; -1 for none.
    previous : int32 array, shape (>= num_scans * L, S)
        Overwritten, by number and source, with the number before it on the cheapest route from the
        source that goes on over this position; -1 for none.
    distance, last : float32 and int32 array, shape (S, S)
        Scratch: price and last number of the cheapest route so far.
    """
    # 1. Routes without a hop.
    num_switches, length = distance.shape[0], len(source)
    distance[:] = np.inf
    last[:] = -1
    for s in range(num_switches):
        distance[s, s] = 0
    cheapest[:] = distance
    end[:] = -1
    for scan in range(num_scans):
        # A route that goes on in this scan pays the toll. One that has ended before is kept in
        # `cheapest` without it.
        if scan > 0:
            distance += toll
        # 2. At each position, the routes of all sources to the channel's source may go on over it.
        #    Their prices are one row of `distance`, which holds what earlier positions gave.
        for i in range(length):
            number = scan * length + i
            source_distance, target_distance = distance[source[i]], distance[target[i]]
            source_last, target_last = last[source[i]], last[target[i]]
            previous_here = previous[number]
            for s in range(num_switches):
                cost = source_distance[s] + price[i]
                previous_here[s] = source_last[s]
                is_cheaper = cost < target_distance[s]
                target_last[s] = number if is_cheaper else target_last[s]
                target_distance[s] = cost if is_cheaper else target_distance[s]
        # 3. Routes that this scan made cheaper, in spite of the toll that it adds to all.
        for t in range(num_switches):
            for s in range(num_switches):
                if distance[t, s] < cheapest[t, s]:
                    cheapest[t, s] = distance[t, s]
                    end[t, s] = last[t, s]


@inline
def route_cost(route, num_hops, num_channels, weight, load, emphasis, cost):
    """Return the cost of a route at the loads of all others: emphasis times price by channel."""
    total = 0.0
    for hop in range(num_hops):
        channel = route[hop] % num_channels
        # A load may exceed the largest one that `cost` has a price for. It costs as much as that.
        total += emphasis[channel] * cost[min(load[channel] + weight, len(cost) - 1)]
    return total


@jit
def exchange(
    rows,
    ends,
    weight,
    words,
    swept,
    position,
    cost,
    emphasis,
    toll,
    only_legal,
    routes,
    length,
    load,
):
    """Exchange routes for cheaper ones: offer each row its cheapest route in any of the words.

    One row after the other takes the offer if it costs no more than its present route, at the loads
    of that moment. Each break costs a toll.

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
    position : float64 array, shape (E,)
        Position of each element in its word.
    cost : float64 array
        Price of a channel by its load; greater loads cost as much as the last one.
    emphasis : float64 array, shape (C,)
        Factor of the price of each channel.
    toll : float
        Price of a break.
    only_legal : bool
        Whether a row whose present route has a break takes the offer at any price.
    routes : int32 array, shape (R, W)
        Elements. Updated.
    length : int32 array, shape (R,)
        Hops, 0 for no route. Updated.
    load : int64 array, shape (C,)
        Updated.
    """
    row_source, row_target = ends
    cheapest, end, previous = swept
    num_channels, num_positions = len(load), words.shape[1]
    offered = np.empty(routes.shape[1], np.int64)
    for row in rows:
        source, target, row_weight = row_source[row], row_target[row], weight[row]
        cheapest_word = 0
        for word in range(1, len(words)):
            if cheapest[word, target, source] < cheapest[cheapest_word, target, source]:
                cheapest_word = word
        if not np.isfinite(cheapest[cheapest_word, target, source]):
            continue
        # 1. The offered route, from its last hop to the first.
        number, num_hops, offered_breaks = end[cheapest_word, target, source], 0, 0
        while number >= 0 and num_hops < len(offered):
            offered[num_hops] = words[cheapest_word, number % num_positions]
            num_hops += 1
            previous_number = previous[cheapest_word, number, source]
            # A hop is a break if the hop before it is from an earlier scan of the word.
            if previous_number >= 0:
                offered_breaks += number // num_positions - previous_number // num_positions
            number = previous_number
        if number >= 0:
            continue  # longer than any route may be
        # 2. What both routes cost at the loads of all other rows.
        present_breaks = 0
        for h in range(length[row]):
            load[routes[row, h] % num_channels] -= row_weight
            if h > 0 and position[routes[row, h - 1]] >= position[routes[row, h]]:
                present_breaks += 1
        present_cost = route_cost(
            routes[row], length[row], num_channels, row_weight, load, emphasis, cost
        )
        offered_cost = route_cost(offered, num_hops, num_channels, row_weight, load, emphasis, cost)
        # 3. Ties go to the offered route, so that the search does not stand still.
        if (
            length[row] == 0
            or (only_legal and present_breaks > 0)
            or offered_cost + toll * offered_breaks <= present_cost + toll * present_breaks
        ):
            length[row] = num_hops
            for h in range(num_hops):
                routes[row, h] = offered[num_hops - 1 - h]
        for h in range(length[row]):
            load[routes[row, h] % num_channels] += row_weight


@jit
def add_turn_weights(routes, length, weight, slot, num_channels, degree, num_next_vcs, turn_weight):
    """Add the weight of each row to all turns of its route.

    Parameters
    ----------
    routes, length
        As for `exchange`.
    weight : float64 array, shape (R,)
    slot : int64 array, shape (C,)
        Number of a channel among those that leave its source, below `degree`.
    num_channels, degree : int
    num_next_vcs : int
        Virtual channels that the next hop may have: all of them if they share a word; 1 if packets
        keep theirs, because each virtual channel has a word of its own.
    turn_weight : float64 array, shape (E * degree * num_next_vcs,)
        Updated at ``(element * degree + slot) * num_next_vcs + vc`` of the next hop.
    """
    for row in range(len(length)):
        for h in range(1, length[row]):
            element, next_element = routes[row, h - 1], routes[row, h]
            vc = next_element // num_channels if num_next_vcs > 1 else 0
            turn_weight[
                (element * degree + slot[next_element % num_channels]) * num_next_vcs + vc
            ] += weight[row]


@jit
def broken_rows(routes, length, position):
    """Return which rows have no route, or one with a break; bool, shape (R,)."""
    broken = length == 0
    for row in range(len(length)):
        for h in range(1, length[row]):
            if position[routes[row, h - 1]] >= position[routes[row, h]]:
                broken[row] = True
    return broken


@jit
def move_elements(position, order, turns, random_numbers):
    """Move each element to the position at which the least weight of its turns descends.

    A turn descends if its second element does not come behind the first one. Routes over it break.

    Parameters
    ----------
    position : float64 array, shape (E,)
        Updated.
    order : int64 array, shape (E,)
        Order of the moves.
    turns : tuple of (int64 array (E + 1,), int64 array, float64 array, int8 array)
        Turns of element e are ``turns[0][e]:turns[0][e + 1]``: the other element, the weight, and
        the direction: 1 if the other one follows, -1 if it precedes.
    random_numbers : float64 array, shape (E, 2)
        Random numbers below 1: which of the best gaps an element takes, and where inside it.
    """
    start, other, weight, direction = turns
    for element in order:
        first_turn, num_turns = start[element], start[element + 1] - start[element]
        if num_turns == 0:
            continue
        positions = position[other[first_turn : first_turn + num_turns]]
        by_position = np.argsort(positions)
        # 1. The weight that descends if the element is in gap i, before the ith of the others by
        #    position. In gap 0, all turns from preceding elements descend. A step over an element
        #    adds its turn if it should follow, and takes the turn away if it should precede.
        descending = np.zeros(num_turns + 1)
        for i in range(num_turns):
            if direction[first_turn + i] < 0:
                descending[0] += weight[first_turn + i]
        for i in range(num_turns):
            turn = first_turn + by_position[i]
            change = weight[turn] if direction[turn] > 0 else -weight[turn]
            descending[i + 1] = descending[i] + change
        # 2. One of the best gaps; equal sums may differ a little, because their orders differ.
        best_gaps = np.flatnonzero(descending <= descending.min() + 1e-9)
        gap = best_gaps[int(random_numbers[element, 0] * len(best_gaps))]
        low = positions[by_position[gap - 1]] if gap > 0 else positions[by_position[0]] - 1.0
        high = (
            positions[by_position[gap]]
            if gap < num_turns
            else positions[by_position[num_turns - 1]] + 1.0
        )
        # 3. Anywhere inside the gap but at its very ends, where elements are. If many moves have
        #    halved a gap, no room is left between two numbers, and the element stays where it is.
        if high - low > 1e-9:
            position[element] = low + (high - low) * (0.01 + 0.98 * random_numbers[element, 1])


@jit
def lift_blocks(position_in_word, earlier, later, weight, turns, share):
    """Repair descending turns, one after the other, where this lessens the descending weight.

    The turn a b descends in the word ``.. b c d a ..``. Its *block* is b and what must follow b up
    to a, such as d. The block moves behind a, in its order: ``.. c a b d ..``, as in the dynamic
    topological order of Pearce and Kelly (doi 10.1145/1187436.1210590).

    Parameters
    ----------
    position_in_word : float64 array, shape (E,)
        Integers, all different. Updated.
    earlier, later : int64 array, shape (T,)
        Elements of the descending turns: `later` should follow `earlier`.
    weight : float64 array, shape (T,)
    turns : tuple of (start, other element, weight, direction)
        Turns of each element, as for `move_elements`.
    share : float
        A block follows turns of at least this share of the repaired turn's weight.
    """
    start, other, turn_weight, direction = turns
    num_elements = len(position_in_word)
    element_at = np.argsort(position_in_word)
    position = np.empty(num_elements, np.int64)
    position[element_at] = np.arange(num_elements)
    mark = np.zeros(num_elements, np.int64)
    block = np.empty(num_elements, np.int64)
    for turn in range(len(earlier)):
        window_begin, window_end = position[later[turn]], position[earlier[turn]]
        if window_begin > window_end:  # repaired by the move of an earlier block
            continue
        # 1. The block: what must follow `later` within the window, by a depth-first search whose
        #    stack is `block`. If `earlier` must follow it, too, the turn is on a cycle, and one
        #    turn of a cycle descends in any word. Marks are the number of the repair, `turn` + 1,
        #    so that they need not be cleared.
        stack_size, is_cycle = 1, False
        block[0] = later[turn]
        mark[later[turn]] = turn + 1
        while stack_size > 0 and not is_cycle:
            stack_size -= 1
            element = block[stack_size]
            for i in range(start[element], start[element + 1]):
                other_element = other[i]
                follows = direction[i] > 0 and turn_weight[i] >= share * weight[turn]
                if (
                    follows
                    and position[element] < position[other_element] <= window_end
                    and mark[other_element] != turn + 1
                ):
                    if other_element == earlier[turn]:
                        is_cycle = True
                        break
                    mark[other_element] = turn + 1
                    block[stack_size] = other_element
                    stack_size += 1
        if is_cycle:
            continue
        # 2. What the move adds to the descending weight. It jumps over elements of the window:
        #    turns from the block to them descend afterwards, and turns from them to the block do no
        #    more.
        added_weight = 0.0
        for k in range(window_begin, window_end + 1):
            element = element_at[k]
            if mark[element] == turn + 1:
                for i in range(start[element], start[element + 1]):
                    other_element = other[i]
                    if (
                        mark[other_element] != turn + 1
                        and k < position[other_element] <= window_end
                    ):
                        added_weight += turn_weight[i] if direction[i] > 0 else -turn_weight[i]
        if added_weight >= 0:
            continue
        # 3. The other elements of the window close up, then comes the block.
        block_size, next_position = 0, window_begin
        for k in range(window_begin, window_end + 1):
            element = element_at[k]
            if mark[element] == turn + 1:
                block[block_size] = element
                block_size += 1
            else:
                element_at[next_position] = element
                next_position += 1
        element_at[next_position : window_end + 1] = block[:block_size]
        for k in range(window_begin, window_end + 1):
            position[element_at[k]] = k
    position_in_word[:] = position
