"""The k shortest simple paths of all pairs, and the number of simple paths up to a length.

No spur paths as in Yen's algorithm: a depth-first search lists the shortest paths, then the simple
paths of the next possible length, and so on. Distances to the target prune it, and the smallest
length that they cut off is the next one to try, as in iterative deepening A*. Where a search fails
because of switches that it has passed itself, it computes distances that avoid these.
"""

from typing import NamedTuple

import numpy as np

from routelab.kernels.distances import hop_distances
from routelab.kernels.hops import pick_word, word_after
from routelab.kernels.jit import helper, jit

MAX_LISTED = 1024
"""Largest number of shortest paths of a pair that are listed, or 4 k; of more, k are drawn."""
MAX_STEPS = 100_000
"""Steps of a search with the distances of the whole network; then it avoids passed switches."""
_NONE = 1 << 30
"""Length or distance that no path has."""


class Arcs(NamedTuple):
    """Channels of a network by the switch that they leave, and by the one that they enter.

    All are int32: `out_start` and `in_start` of shape (S + 1,), the others (C,).
    """

    out_start: np.ndarray
    out_channel: np.ndarray
    channel_target: np.ndarray
    in_start: np.ndarray
    in_channel: np.ndarray
    channel_source: np.ndarray


class Scratch(NamedTuple):
    """Memory of searches.

    Attributes
    ----------
    sorted_channel, sorted_switch : int32 arrays, shape (C,)
        Channels by the switch that they leave, those nearest to the target first, and the switches
        that they enter; see `_prepare_target`.
    switch, next_channel, hops, distance_row : int32 arrays, shape (S + 1,)
        By depth on the path at hand: switch, index of the next channel to try from it, channel that
        was taken from it, and row of `distances` (see `_list_paths_of_length`) that applies there.
    on_path : bool array, shape (S,)
        Switches on the path.
    queue : int32 array, shape (S,)
    num_shortest : float64 array, shape (S,)
        Shortest paths from each switch to the target.
    path_hops : int32 array, shape (k, S)
        Channels of the paths of a pair.
    lengths : int32 array, shape (k,)
        Hops of these paths.
    """

    sorted_channel: np.ndarray
    sorted_switch: np.ndarray
    switch: np.ndarray
    next_channel: np.ndarray
    hops: np.ndarray
    distance_row: np.ndarray
    on_path: np.ndarray
    queue: np.ndarray
    num_shortest: np.ndarray
    path_hops: np.ndarray
    lengths: np.ndarray


@helper()
def _allocate_scratch(arcs, k):
    """Return scratch arrays for a search of `k` paths."""
    size = len(arcs.out_start) - 1
    return Scratch(
        sorted_channel=np.empty_like(arcs.out_channel),
        sorted_switch=np.empty_like(arcs.out_channel),
        switch=np.empty(size + 1, np.int32),
        next_channel=np.empty(size + 1, np.int32),
        hops=np.empty(size + 1, np.int32),
        distance_row=np.zeros(size + 1, np.int32),
        on_path=np.zeros(size, np.bool_),
        queue=np.empty(size, np.int32),
        num_shortest=np.empty(size, np.float64),
        path_hops=np.empty((k, size), np.int32),
        lengths=np.empty(k, np.int32),
    )


@helper()
def _distances_around(arcs, target, scratch, distance):
    """Compute the hops to the target on paths without switches of the path at hand; −1 for none.

    Overwrites `distance`.
    """
    queue = scratch.queue
    distance[:] = -1
    distance[target] = 0
    queue[0] = target
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for i in range(arcs.in_start[v], arcs.in_start[v + 1]):
            u = arcs.channel_source[arcs.in_channel[i]]
            if distance[u] < 0 and not scratch.on_path[u]:
                distance[u] = distance[v] + 1
                queue[tail] = u
                tail += 1


@helper()
def _may_lead_through(arcs, switch, distance, on_path):
    """Return whether a shortest path to the target may lead through `switch`.

    That is, a path that begins at another switch outside the path at hand.
    """
    for i in range(arcs.in_start[switch], arcs.in_start[switch + 1]):
        u = arcs.channel_source[arcs.in_channel[i]]
        if not on_path[u] and distance[u] == distance[switch] + 1:
            return True
    return False


@helper()
def _store_path(scratch, num_shorter, num_paths, last_depth, word):
    """Store the path in `scratch.hops`, so that each path of its length is kept with equal chance.

    It is path number `num_paths` of this length, from 0, and there are `num_shorter` shorter ones.
    Return the random word after the last one that was used.
    """
    k = len(scratch.lengths)
    row = num_shorter + num_paths
    if row >= k:
        # Reservoir sampling: path n of a length, counted from 0, gets a random row of n + 1, and is
        # dropped if there is no such row.
        word = word_after(word)
        row = num_shorter + pick_word(word, num_paths + 1)
        if row >= k:
            return word
    for d in range(last_depth + 1):
        scratch.path_hops[row, d] = scratch.hops[d]
    scratch.lengths[row] = last_depth + 1
    return word


@helper()
def _list_paths_of_length(
    arcs, source, target, length, num_shorter, distances, avoids_passed, draws, word, scratch
):
    """List the simple paths of one length behind the `num_shorter` shorter ones.

    Parameters
    ----------
    distances : int32 array, shape (1, S), or (length, S) if `avoids_passed`
        Hops to the target; if `avoids_passed`, by depth, on paths that avoid the passed switches.
    draws : bool
        True: look at all paths of the length, and draw among them. False: the caller only counts
        paths, so stop when there are k.

    Returns
    -------
    num_paths : int
        Paths of this length that were found, stored or not; −1 if the search was given up.
    next_length : int
        Next length that a path may have; `_NONE` for none.
    word : uint64
    """
    num_needed = len(scratch.lengths) - num_shorter
    switch, next_channel = scratch.switch, scratch.next_channel
    on_path, distance_row = scratch.on_path, scratch.distance_row
    depth, num_paths, next_length, num_steps = 0, 0, _NONE, 0
    switch[0], next_channel[0] = source, arcs.out_start[source]
    on_path[source] = True
    if avoids_passed:
        _distances_around(arcs, target, scratch, distances[0])
    while depth >= 0:
        v = switch[depth]
        if next_channel[depth] == arcs.out_start[v + 1]:
            on_path[v] = False
            depth -= 1
            continue
        channel, w = (
            scratch.sorted_channel[next_channel[depth]],
            scratch.sorted_switch[next_channel[depth]],
        )
        next_channel[depth] += 1
        remaining = distances[distance_row[depth] if avoids_passed else 0, w]
        if on_path[w] or remaining < 0:
            continue
        # 1. Too long. The least of these lengths is the next one to try.
        if depth + 1 + remaining > length:
            next_length = min(next_length, depth + 1 + remaining)
            if not avoids_passed:
                # Skip the other channels: they lead no nearer to the target, because channels are
                # sorted by their distance to it in the whole network.
                next_channel[depth] = arcs.out_start[v + 1]
            continue
        scratch.hops[depth] = channel
        # 2. The target. Shorter paths have been listed before.
        if remaining == 0:
            if depth + 1 == length:
                word = _store_path(scratch, num_shorter, num_paths, depth, word)
                num_paths += 1
                if num_paths == num_needed and not draws:
                    break
            continue
        # 3. The next hop must be the last one. If paths are drawn, try only the channels to the
        #    target, which come first. The others would only find longer paths, to lower
        #    `next_length`: so this is right once that has its least possible value, length + 1.
        if depth + 2 == length and next_length == length + 1 and draws:
            i = arcs.out_start[w]
            while i < arcs.out_start[w + 1] and scratch.sorted_switch[i] == target:
                scratch.hops[depth + 1] = scratch.sorted_channel[i]
                word = _store_path(scratch, num_shorter, num_paths, depth + 1, word)
                num_paths += 1
                i += 1
            continue
        # 4. One switch further.
        num_steps += 1
        if num_steps > MAX_STEPS and not avoids_passed:
            num_paths = -1
            break
        depth += 1
        switch[depth], next_channel[depth] = w, arcs.out_start[w]
        on_path[w] = True
        # Distances that avoid the path change only if a shortest path of another switch led through
        # w. Else the row of the depth before still applies.
        if avoids_passed:
            distance_row[depth] = distance_row[depth - 1]
            if _may_lead_through(arcs, w, distances[distance_row[depth]], on_path):
                distance_row[depth] = depth
                _distances_around(arcs, target, scratch, distances[depth])
    for d in range(depth + 1):
        on_path[switch[d]] = False
    return num_paths, next_length, word


@helper()
def _draw_shortest_paths(arcs, source, distance, word, scratch):
    """Draw k different shortest paths, all with the same probability.

    The pair has many more shortest paths than k, so that few paths are drawn twice and thrown away.
    """
    k, length, num_drawn = len(scratch.lengths), distance[source], 0
    drawn_hops = scratch.hops
    while num_drawn < k:
        # 1. A hop is drawn with the share of the shortest paths that go on over it, so that all
        #    paths have the same probability. If rounding leaves a rest, the last one is taken.
        v = source
        for d in range(length):
            word = word_after(word)
            drawn_share = pick_word(word, 1 << 31) / 2.0**31 * scratch.num_shortest[v]
            for i in range(arcs.out_start[v], arcs.out_start[v + 1]):
                w = arcs.channel_target[arcs.out_channel[i]]
                if distance[w] == distance[v] - 1:
                    drawn_hops[d] = arcs.out_channel[i]
                    drawn_share -= scratch.num_shortest[w]
                    if drawn_share < 0:
                        break
            v = arcs.channel_target[drawn_hops[d]]
        # 2. A path that was drawn before does not count. Such are rare, as there are many more.
        is_new = True
        for earlier in range(num_drawn):
            is_equal = True
            for d in range(length):
                is_equal &= scratch.path_hops[earlier, d] == drawn_hops[d]
            is_new &= not is_equal
        if is_new:
            for d in range(length):
                scratch.path_hops[num_drawn, d] = drawn_hops[d]
            scratch.lengths[num_drawn] = length
            num_drawn += 1
    return word


@helper()
def _prepare_target(arcs, target, distance, scratch):
    """Compute what searches for a target need.

    These are the hops from all switches to the target, the number of shortest paths, and the order
    of the channels: of those that leave a switch, the ones that lead nearer to the target first.
    """
    reached = hop_distances(
        arcs.in_start, arcs.in_channel, arcs.channel_source, target, distance, scratch.queue
    )
    scratch.num_shortest[target] = 1.0
    for k in range(reached):
        v = scratch.queue[k]
        begin, end = arcs.out_start[v], arcs.out_start[v + 1]
        position, num_paths = begin, 0.0
        # One round for each distance of a neighbour, ascending: the least possible one is that from
        # here less 1. Unreachable neighbours count as farther than all others, and come last.
        round_distance, unreachable = distance[v] - 1, _NONE
        while position < end:
            next_round_distance = unreachable
            for i in range(begin, end):
                w = arcs.channel_target[arcs.out_channel[i]]
                remaining = distance[w] if distance[w] >= 0 else unreachable - 1
                if remaining == round_distance:
                    scratch.sorted_channel[position], scratch.sorted_switch[position] = (
                        arcs.out_channel[i],
                        w,
                    )
                    position += 1
                    if remaining == distance[v] - 1:
                        num_paths += scratch.num_shortest[w]
                elif remaining > round_distance:
                    next_round_distance = min(next_round_distance, remaining)
            round_distance = next_round_distance
        if v != target:
            scratch.num_shortest[v] = num_paths


@helper()
def _find_paths(arcs, source, target, distances, avoiding_distances, draws, word, scratch):
    """Find the k shortest simple paths of a pair; return their number and ``avoiding_distances``.

    The paths are left in `scratch.path_hops` and `scratch.lengths`. Without `draws` the caller only
    counts paths and hops, and only the lengths are valid.

    Parameters
    ----------
    distances : int32 array, shape (1, S)
    avoiding_distances : int32 array, shape (n, S)
        Memory for searches that avoid passed switches; a larger one is returned if it is too small.
    """
    k, length = len(scratch.lengths), distances[0, source]
    # 1. With many more shortest paths than k, list none: k of them are drawn hop by hop.
    if scratch.num_shortest[source] > max(MAX_LISTED, 4 * k):
        if draws:
            _draw_shortest_paths(arcs, source, distances[0], word, scratch)
        else:
            scratch.lengths[:] = length
        return k, avoiding_distances
    # 2. The paths of one length after the other, until there are k.
    num_found, avoids_passed = 0, False
    while num_found < k and length != _NONE:
        if avoids_passed and len(avoiding_distances) < length:
            avoiding_distances = np.empty((length, len(scratch.on_path)), np.int32)
        num_new, next_length, word = _list_paths_of_length(
            arcs,
            source,
            target,
            length,
            num_found,
            avoiding_distances if avoids_passed else distances,
            avoids_passed,
            draws,
            word,
            scratch,
        )
        # A search that gave up, or found nothing at a length that distances allow, has run into
        # switches that it had passed itself. This length and all longer ones avoid them.
        if num_new <= 0 and not avoids_passed:
            avoids_passed = True
            continue
        num_found, length = min(k, num_found + num_new), next_length
    return num_found, avoiding_distances


@jit
def shortest_paths(arcs, ends, k, seed, sizes, starts, lengths, hops):
    """Count or list the k shortest simple paths of all pairs of switches with terminals.

    Of the paths of the last length, some are drawn, all sets with the same probability. A switch
    has one path without hops to itself.

    Parameters
    ----------
    arcs : Arcs
    ends : int32 array, shape (P,)
        Switches with terminals; pair ``i * P + j`` goes from switch i to switch j of these.
    k : int
        Largest number of paths of a pair.
    seed : uint64
    sizes : int32 array, shape (2, P * P)
        Overwritten: row 0 is the number of paths of each pair, row 1 the hops of these together.
    starts : int64 array, shape (2, P * P + 1)
        Where the paths (row 0) and the hops (row 1) of each pair begin in the results: the sums of
        `sizes` from a first call. If empty, paths are only counted, which takes less time.
    lengths : int32 array
        Overwritten: hops of each path, from short to long for each pair.
    hops : int32 array
        Overwritten: channels of all paths.
    """
    num_switches, num_ends = len(arcs.out_start) - 1, len(ends)
    scratch, draws = _allocate_scratch(arcs, k), starts.size > 0
    distances, avoiding_distances = (
        np.empty((1, num_switches), np.int32),
        np.empty((0, num_switches), np.int32),
    )
    for j in range(num_ends):
        _prepare_target(arcs, ends[j], distances[0], scratch)
        for i in range(num_ends):
            pair = i * num_ends + j
            number = 0
            if i == j:
                number, scratch.lengths[0] = 1, 0
            elif distances[0, ends[i]] > 0:
                # The random words depend on the pair only, not on the order of the pairs.
                word = word_after(word_after(np.uint64(seed)) ^ np.uint64(pair))
                number, avoiding_distances = _find_paths(
                    arcs, ends[i], ends[j], distances, avoiding_distances, draws, word, scratch
                )
            sizes[0, pair], sizes[1, pair] = number, scratch.lengths[:number].sum()
            if not draws:
                continue
            hop = starts[1, pair]
            for row in range(number):
                lengths[starts[0, pair] + row] = scratch.lengths[row]
                for d in range(scratch.lengths[row]):
                    hops[hop] = scratch.path_hops[row, d]
                    hop += 1


@jit
def count_simple_paths(arcs, ends, max_hops):
    """Count the simple paths of up to `max_hops` hops between switches with terminals.

    Parameters
    ----------
    arcs : Arcs
    ends : int32 array, shape (P,)
    max_hops : int
        At least 1.

    Returns
    -------
    counts : int64 array, shape (P, P)
        By source and target; 0 from a switch to itself.
    longest : int
        Hops of the longest of these paths.
    """
    num_switches = len(arcs.out_start) - 1
    counts = np.zeros((len(ends), len(ends)), np.int64)
    end_number = np.full(num_switches, -1, np.int32)
    for i in range(len(ends)):
        end_number[ends[i]] = i
    on_path = np.zeros(num_switches, np.bool_)
    switch, next_channel = np.empty(max_hops, np.int32), np.empty(max_hops, np.int32)
    longest = 0
    # A depth-first search from each source. Every partial path counts for the switch that it has
    # come to, so one search counts the paths to all targets.
    for i in range(len(ends)):
        depth = 0
        switch[0], next_channel[0] = ends[i], arcs.out_start[ends[i]]
        on_path[ends[i]] = True
        while depth >= 0:
            v = switch[depth]
            if next_channel[depth] == arcs.out_start[v + 1]:
                on_path[v] = False
                depth -= 1
                continue
            w = arcs.channel_target[arcs.out_channel[next_channel[depth]]]
            next_channel[depth] += 1
            if on_path[w]:
                continue
            if end_number[w] >= 0:
                counts[i, end_number[w]] += 1
                longest = max(longest, depth + 1)
            if depth + 1 < max_hops:
                depth += 1
                switch[depth], next_channel[depth] = w, arcs.out_start[w]
                on_path[w] = True
    return counts, longest
