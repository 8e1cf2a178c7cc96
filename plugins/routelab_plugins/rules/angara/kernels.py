"""Which order-violating turns are safe: two rules over the channel dependency graph.

A turn from direction a into channel c is written ``permitted[c, a]``. Channels are numbered
0..C-1, directions 0..D-1 in the hardware's order; ``out_channel[u, d]`` and ``in_channel[u, d]``
are the channel that leaves, or arrives at, switch u in direction d (−1: none).
"""

import numpy as np

from routelab.kernels.jit import helper, jit


@helper()
def used_directions(channel_source, channel_direction, channel_target, out_channel, opposite):
    """Return the directions that some in-order walk from each channel uses: the paper's B.

    Returns
    -------
    used : int64 array, shape (C,)
        Bit d set: direction d is used. The least fixpoint over in-order turns, U-turns left out.
    """
    count = len(channel_source)
    used = np.zeros(count, np.int64)
    for c in range(count):
        used[c] = 1 << channel_direction[c]
    changed = True
    while changed:
        changed = False
        for c in range(count - 1, -1, -1):
            a = channel_direction[c]
            bits = used[c]
            for d in range(a, out_channel.shape[1]):
                following = out_channel[channel_target[c], d]
                if d != opposite[a] and following >= 0:
                    bits |= used[following]
            if bits != used[c]:
                used[c] = bits
                changed = True
    return used


@jit
def theorem2_turns(channel_source, channel_direction, channel_target, channels_at, opposite, sign):
    """Admit turns by Theorem 2 of the Angara paper, channel after channel.

    A turn from direction a into channel c is admitted if a is not among the directions that
    walks from c can use; then the used directions of everything before it grow.

    Parameters
    ----------
    channels_at : tuple of two int32 arrays, each of shape (S, D)
        ``out_channel`` and ``in_channel``.
    opposite : int16 array, shape (D,)
    sign : int8 array, shape (D,)

    Returns
    -------
    permitted : bool array, shape (C, D)
    """
    out_channel, in_channel = channels_at
    count, directions = len(channel_source), out_channel.shape[1]
    used = used_directions(channel_source, channel_direction, channel_target, out_channel, opposite)
    permitted = np.zeros((count, directions), np.bool_)
    stack = np.empty(count, np.int32)
    for c in range(count):
        a = channel_direction[c]
        for d in range(a):
            following = out_channel[channel_target[c], d]
            if following < 0 or sign[d] != sign[a] or used[following] >> a & 1:
                continue
            permitted[following, a] = True
            bits = used[following]
            if used[c] | bits == used[c]:
                continue
            used[c] |= bits
            stack[0] = c
            top = 1
            while top:
                top -= 1
                x = stack[top]
                for b in range(directions):
                    before = in_channel[channel_source[x], b]
                    if before < 0 or used[before] | used[x] == used[before]:
                        continue
                    in_order = b <= channel_direction[x] and b != opposite[channel_direction[x]]
                    if in_order or permitted[x, b]:
                        used[before] |= used[x]
                        stack[top] = before
                        top += 1
    return permitted


@helper()
def _closure(part, parts, channel_direction, channel_target, out_channel, opposite):
    """Return the parts that each part reaches by in-order turns; bit rows, uint64 (R, words)."""
    directions = out_channel.shape[1]
    words = (parts + 63) // 64
    reach = np.zeros((parts, words), np.uint64)
    one = np.uint64(1)
    for r in range(parts):
        reach[r, r // 64] |= one << np.uint64(r % 64)
    # hops go up in the order or stay in a direction, so a sweep from the last direction to the
    # first settles all but the lines, which need one sweep a hop
    order = np.argsort(-channel_direction.astype(np.int64), kind="mergesort")
    changed = True
    while changed:
        changed = False
        for c in order:
            a = channel_direction[c]
            row = reach[part[c]]
            for d in range(a, directions):
                following = out_channel[channel_target[c], d]
                if d == opposite[a] or following < 0 or part[following] == part[c]:
                    continue
                other = reach[part[following]]
                for w in range(words):
                    grown = row[w] | other[w]
                    if grown != row[w]:
                        row[w] = grown
                        changed = True
    return reach


@jit
def exact_turns(part, parts, channel_direction, channel_target, out_channel, opposite, sign):
    """Admit every turn whose target's part cannot reach the turn's own part.

    A part is a complete ring (bubble flow control keeps it moving) or a single channel. The graph
    of parts stays acyclic, and a turn is admitted if it is safe when its time comes.

    Parameters
    ----------
    part : int32 array, shape (C,)
        Part of each channel, 0..parts-1.

    Returns
    -------
    permitted : bool array, shape (C, D)
    """
    count, directions = len(part), out_channel.shape[1]
    reach = _closure(part, parts, channel_direction, channel_target, out_channel, opposite)
    permitted = np.zeros((count, directions), np.bool_)
    one = np.uint64(1)
    for c in range(count):
        a = channel_direction[c]
        own = part[c]
        for d in range(a):
            following = out_channel[channel_target[c], d]
            if following < 0 or sign[d] != sign[a]:
                continue
            other = part[following]
            if reach[other, own // 64] >> np.uint64(own % 64) & one:
                continue
            permitted[following, a] = True
            if reach[own, other // 64] >> np.uint64(other % 64) & one:
                continue
            for r in range(parts):
                if reach[r, own // 64] >> np.uint64(own % 64) & one:
                    reach[r] |= reach[other]
    return permitted
