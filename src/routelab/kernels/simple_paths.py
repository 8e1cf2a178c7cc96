"""The k shortest simple paths of all pairs, and the number of simple paths up to a length.

No spur paths as in Yen's algorithm: a depth-first search lists the simple paths of exactly D, then
of the next possible length, and so on. Distances to the target prune it, and the smallest length
that they cut off is the next one to try, as in iterative deepening A*. Where a search fails because
of switches that it has passed itself, it computes distances that avoid these.
"""

from typing import NamedTuple

import numpy as np

from routelab.kernels.distances import hop_distances
from routelab.kernels.hops import pick_word, word_after
from routelab.kernels.jit import helper, jit

MAX_LISTED = 1024
"""Largest number of shortest paths of a pair that are listed; of more, k are drawn."""
MAX_STEPS = 100_000
"""Steps of a search with the distances of the whole network; then it avoids passed switches."""
_NONE = 1 << 30


class Arcs(NamedTuple):
    """Channels of a network by the switch that they leave, and by the one that they enter."""

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
    channel, next_switch : int32 arrays, shape (C,)
        Channels by the switch that they leave, those nearest to the target first, and the switches
        that they enter; see `_prepare_target`.
    switch, next_channel, hops, distance_row : int32 arrays, shape (S + 1,)
        By depth: switch, its next channel to try, the channel that was taken from it, and which
        distances apply.
    used : bool array, shape (S,)
        Switches on the path.
    queue : int32 array, shape (S,)
    num_shortest : float64 array, shape (S,)
        Shortest paths from each switch to the target.
    rows : int32 array, shape (k, S)
        Channels of the paths of a pair.
    lengths : int32 array, shape (k,)
    """

    channel: np.ndarray
    next_switch: np.ndarray
    switch: np.ndarray
    next_channel: np.ndarray
    hops: np.ndarray
    distance_row: np.ndarray
    used: np.ndarray
    queue: np.ndarray
    num_shortest: np.ndarray
    rows: np.ndarray
    lengths: np.ndarray


@helper()
def _scratch(arcs, k):
    """Return scratch arrays for a search of `k` paths."""
    size = len(arcs.out_start) - 1
    return Scratch(
        np.empty_like(arcs.out_channel),
        np.empty_like(arcs.out_channel),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.empty(size + 1, np.int32),
        np.zeros(size + 1, np.int32),
        np.zeros(size, np.bool_),
        np.empty(size, np.int32),
        np.empty(size, np.float64),
        np.empty((k, size), np.int32),
        np.empty(k, np.int32),
    )


@helper()
def _distances_around(arcs, target, work, distance):
    """Compute the hops to the target on paths that avoid the used switches; −1 without a path."""
    queue = work.queue
    distance[:] = -1
    distance[target] = 0
    queue[0] = target
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for i in range(arcs.in_start[v], arcs.in_start[v + 1]):
            u = arcs.channel_source[arcs.in_channel[i]]
            if distance[u] < 0 and not work.used[u]:
                distance[u] = distance[v] + 1
                queue[tail] = u
                tail += 1


@helper()
def _may_lead_through(arcs, switch, distance, used):
    """Return whether a shortest path from an unused switch may lead through a switch."""
    for i in range(arcs.in_start[switch], arcs.in_start[switch + 1]):
        u = arcs.channel_source[arcs.in_channel[i]]
        if not used[u] and distance[u] == distance[switch] + 1:
            return True
    return False


@helper()
def _store_path(work, num_shorter, number, last_depth, word):
    """Keep the path `work.hops`, number `number` of its length, with equal chances for all."""
    k = len(work.lengths)
    row = num_shorter + number
    if row >= k:
        # reservoir sampling: a later path replaces an earlier one
        word = word_after(word)
        row = num_shorter + pick_word(word, number + 1)
        if row >= k:
            return word
    for d in range(last_depth + 1):
        work.rows[row, d] = work.hops[d]
    work.lengths[row] = last_depth + 1
    return word


@helper()
def _list_length(
    arcs, source, target, length, num_shorter, distances, avoids_passed, draws, word, work
):
    """List the simple paths of one length behind the `num_shorter` shorter ones.

    Parameters
    ----------
    distances : int32 array, shape (1, S), or (length, S) if `avoids_passed`
        Hops to the target; if `avoids_passed`, by depth, on paths that avoid the passed switches.
    draws : bool
        Look at all paths and draw among them; if false, stop when there are k.

    Returns
    -------
    number : int
        Paths of this length that were seen; −1 if the search was given up.
    next_length : int
        Next length that a path may have; `_NONE` for none.
    word : uint64
    """
    num_needed = len(work.lengths) - num_shorter
    switch, next_channel = work.switch, work.next_channel
    used, distance_row = work.used, work.distance_row
    depth, number, next_length, steps = 0, 0, _NONE, 0
    switch[0], next_channel[0] = source, arcs.out_start[source]
    used[source] = True
    if avoids_passed:
        _distances_around(arcs, target, work, distances[0])
    while depth >= 0:
        v = switch[depth]
        if next_channel[depth] == arcs.out_start[v + 1]:
            used[v] = False
            depth -= 1
            continue
        channel, w = work.channel[next_channel[depth]], work.next_switch[next_channel[depth]]
        next_channel[depth] += 1
        remaining = distances[distance_row[depth] if avoids_passed else 0, w]
        if used[w] or remaining < 0:
            continue
        if depth + 1 + remaining > length:
            next_length = min(next_length, depth + 1 + remaining)
            if not avoids_passed:
                # all others are no nearer
                next_channel[depth] = arcs.out_start[v + 1]
            continue
        work.hops[depth] = channel
        if remaining == 0:
            if depth + 1 == length:
                word = _store_path(work, num_shorter, number, depth, word)
                number += 1
                if number == num_needed and not draws:
                    break
            continue
        if depth + 2 == length and next_length == length + 1 and draws:
            # only the channels to the target are left to try
            i = arcs.out_start[w]
            while i < arcs.out_start[w + 1] and work.next_switch[i] == target:
                work.hops[depth + 1] = work.channel[i]
                word = _store_path(work, num_shorter, number, depth + 1, word)
                number += 1
                i += 1
            continue
        steps += 1
        if steps > MAX_STEPS and not avoids_passed:
            number = -1
            break
        depth += 1
        switch[depth], next_channel[depth] = w, arcs.out_start[w]
        used[w] = True
        if avoids_passed:
            distance_row[depth] = distance_row[depth - 1]
            if _may_lead_through(arcs, w, distances[distance_row[depth]], used):
                distance_row[depth] = depth
                _distances_around(arcs, target, work, distances[depth])
    for d in range(depth + 1):
        used[switch[d]] = False
    return number, next_length, word


@helper()
def _draw_shortest_paths(arcs, source, distance, word, work):
    """Draw k different shortest paths, all with the same probability; there are many more."""
    k, length, number = len(work.lengths), distance[source], 0
    row = work.hops
    while number < k:
        # 1. A hop is drawn with the share of the shortest paths that go on over it, so that all
        #    paths have the same probability. If rounding leaves a rest, the last one is taken.
        v = source
        for d in range(length):
            word = word_after(word)
            share = pick_word(word, 1 << 31) / 2.0**31 * work.num_shortest[v]
            for i in range(arcs.out_start[v], arcs.out_start[v + 1]):
                w = arcs.channel_target[arcs.out_channel[i]]
                if distance[w] == distance[v] - 1:
                    row[d] = arcs.out_channel[i]
                    share -= work.num_shortest[w]
                    if share < 0:
                        break
            v = arcs.channel_target[row[d]]
        # 2. A path that was drawn before does not count. Such are rare, as there are many more.
        is_new = True
        for drawn in range(number):
            is_equal = True
            for d in range(length):
                is_equal &= work.rows[drawn, d] == row[d]
            is_new &= not is_equal
        if is_new:
            for d in range(length):
                work.rows[number, d] = row[d]
            work.lengths[number] = length
            number += 1
    return word


@helper()
def _prepare_target(arcs, target, distance, work):
    """Compute what searches for a target need.

    These are the hops from all switches to the target, the number of shortest paths, and the order
    of the channels: of those that leave a switch, the ones that lead nearer to the target first.
    """
    reached = hop_distances(
        arcs.in_start, arcs.in_channel, arcs.channel_source, target, distance, work.queue
    )
    work.num_shortest[target] = 1.0
    for k in range(reached):
        v = work.queue[k]
        begin, end = arcs.out_start[v], arcs.out_start[v + 1]
        position, total = begin, 0.0
        # the hops from a neighbour are at least those from here less 1; unreachable ones come last
        distance_now, unreachable = distance[v] - 1, _NONE
        while position < end:
            next_distance = unreachable
            for i in range(begin, end):
                w = arcs.channel_target[arcs.out_channel[i]]
                remaining = distance[w] if distance[w] >= 0 else unreachable - 1
                if remaining == distance_now:
                    work.channel[position], work.next_switch[position] = arcs.out_channel[i], w
                    position += 1
                    if remaining == distance[v] - 1:
                        total += work.num_shortest[w]
                elif remaining > distance_now:
                    next_distance = min(next_distance, remaining)
            distance_now = next_distance
        if v != target:
            work.num_shortest[v] = total


@helper()
def _find_paths(arcs, source, target, distances, careful_distances, draws, word, work):
    """Find the k shortest simple paths of a pair; return their number and ``careful_distances``.

    Parameters
    ----------
    distances : int32 array, shape (1, S)
    careful_distances : int32 array, shape (n, S)
        Memory for searches that avoid passed switches; a larger one is returned if it is too small.
    """
    k, length = len(work.lengths), distances[0, source]
    # 1. With many more shortest paths than k, list none: k of them are drawn by their numbers.
    if work.num_shortest[source] > max(MAX_LISTED, 4 * k):
        if draws:
            _draw_shortest_paths(arcs, source, distances[0], word, work)
        else:
            work.lengths[:] = length
        return k, careful_distances
    # 2. The paths of one length after the other, until there are k.
    num_found, avoids_passed = 0, False
    while num_found < k and length != _NONE:
        if avoids_passed and len(careful_distances) < length:
            careful_distances = np.empty((length, len(work.used)), np.int32)
        number, next_length, word = _list_length(
            arcs,
            source,
            target,
            length,
            num_found,
            careful_distances if avoids_passed else distances,
            avoids_passed,
            draws,
            word,
            work,
        )
        # A search that gave up, or found nothing at a length that distances allow, has run into
        # switches that it had passed itself. This length and all longer ones avoid them.
        if number <= 0 and not avoids_passed:
            avoids_passed = True
            continue
        num_found, length = min(k, num_found + number), next_length
    return num_found, careful_distances


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
        Overwritten: number of paths of each pair, and their hops together.
    starts : int64 array, shape (2, P * P + 1)
        Sums of `sizes`. If empty, paths are only counted, which takes less time.
    lengths : int32 array
        Overwritten: hops of each path, from short to long for each pair.
    hops : int32 array
        Overwritten: channels of all paths.
    """
    size, count = len(arcs.out_start) - 1, len(ends)
    work, draws = _scratch(arcs, k), starts.size > 0
    distances, careful_distances = np.empty((1, size), np.int32), np.empty((0, size), np.int32)
    for j in range(count):
        _prepare_target(arcs, ends[j], distances[0], work)
        for i in range(count):
            pair = i * count + j
            number = 0
            if i == j:
                number, work.lengths[0] = 1, 0
            elif distances[0, ends[i]] > 0:
                # every pair has random words of its own, whatever the order of the pairs
                word = word_after(word_after(np.uint64(seed)) ^ np.uint64(pair))
                number, careful_distances = _find_paths(
                    arcs, ends[i], ends[j], distances, careful_distances, draws, word, work
                )
            sizes[0, pair], sizes[1, pair] = number, work.lengths[:number].sum()
            if not draws:
                continue
            hop = starts[1, pair]
            for row in range(number):
                lengths[starts[0, pair] + row] = work.lengths[row]
                for d in range(work.lengths[row]):
                    hops[hop] = work.rows[row, d]
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
    size = len(arcs.out_start) - 1
    counts = np.zeros((len(ends), len(ends)), np.int64)
    end_number = np.full(size, -1, np.int32)
    for i in range(len(ends)):
        end_number[ends[i]] = i
    used = np.zeros(size, np.bool_)
    switch, next_channel = np.empty(max_hops, np.int32), np.empty(max_hops, np.int32)
    longest = 0
    # A depth-first search from each source. Every partial path counts for the switch that it has
    # come to, so one search counts the paths to all targets.
    for i in range(len(ends)):
        depth = 0
        switch[0], next_channel[0] = ends[i], arcs.out_start[ends[i]]
        used[ends[i]] = True
        while depth >= 0:
            v = switch[depth]
            if next_channel[depth] == arcs.out_start[v + 1]:
                used[v] = False
                depth -= 1
                continue
            w = arcs.channel_target[arcs.out_channel[next_channel[depth]]]
            next_channel[depth] += 1
            if used[w]:
                continue
            if end_number[w] >= 0:
                counts[i, end_number[w]] += 1
                longest = max(longest, depth + 1)
            if depth + 1 < max_hops:
                depth += 1
                switch[depth], next_channel[depth] = w, arcs.out_start[w]
                used[w] = True
    return counts, longest
