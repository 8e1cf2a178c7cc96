"""Tables of next hops: the states that packets reach, and the removal of buffers.

A table has an entry for each switch and destination: the resources (virtual channels of channels)
that a packet there may take next. Entry ``v * D + d`` of switch v and destination d lists the
candidates ``entry_start[e]:entry_start[e + 1]``.
"""

import numpy as np

from routelab.kernels.jit import jit


@jit
def reachable_entries(entry_start, channel, starts, destinations, channel_target, num_switches):
    """Follow the packets that begin at some entries to each destination.

    Parameters
    ----------
    entry_start : int64 array, shape (S * D + 1,)
    channel : int32 array
        Channel of each candidate.
    starts : bool array, shape (S * D,)
        Entries where packets begin. None begin at a destination, or without candidates.
    destinations : int32 array, shape (D,)
        Switches.
    channel_target : int32 array, shape (C,)
    num_switches : int

    Returns
    -------
    reached : bool array, shape (S * D,)
        Whether packets for d come to v, which is not its switch.
    dead_end : int
        A reached entry without candidates; −1 if there is none.
    stray : int
        A reached entry from which no candidates lead to the destination; −1 if there is none.
    longest : int
        Hops of the longest route; −1 if packets may walk forever.
    """
    count = len(destinations)
    reached = np.zeros(num_switches * count, np.bool_)
    dead_end, stray, longest = -1, -1, 0
    stack = np.empty(num_switches, np.int32)
    depth = np.empty(num_switches, np.int32)
    pending = np.empty(num_switches, np.int64)
    before_start = np.zeros(num_switches + 1, np.int64)
    for d in range(count):
        goal = destinations[d]
        # 1. forwards from the sources
        size = 0
        for source in range(num_switches):
            e = source * count + d
            if starts[e] and source != goal and entry_start[e] < entry_start[e + 1]:
                reached[e] = True
                stack[size] = source
                size += 1
        before_start[:] = 0
        while size > 0:
            size -= 1
            e = stack[size] * count + d
            if entry_start[e] == entry_start[e + 1] and dead_end < 0:
                dead_end = e
            for i in range(entry_start[e], entry_start[e + 1]):
                v = channel_target[channel[i]]
                before_start[v + 1] += 1
                if v != goal and not reached[v * count + d]:
                    reached[v * count + d] = True
                    stack[size] = v
                    size += 1
        # 2. the reached switches before each switch
        for v in range(num_switches):
            before_start[v + 1] += before_start[v]
        before = np.empty(before_start[-1], np.int32)
        fill = before_start[:-1].copy()
        for u in range(num_switches):
            e = u * count + d
            if reached[e]:
                pending[u] = entry_start[e + 1] - entry_start[e]
                depth[u] = 0
                for i in range(entry_start[e], entry_start[e + 1]):
                    v = channel_target[channel[i]]
                    before[fill[v]] = u
                    fill[v] += 1
        # 3. backwards from the destination: a switch is done when all its candidates are
        depth[goal] = 0
        stack[0] = goal
        size = 1
        while size > 0:
            size -= 1
            v = stack[size]
            for i in range(before_start[v], before_start[v + 1]):
                u = before[i]
                depth[u] = max(depth[u], depth[v] + 1)
                pending[u] -= 1
                if pending[u] == 0:
                    if longest >= 0:
                        longest = max(longest, depth[u])
                    stack[size] = u
                    size += 1
        # 4. who is left may walk forever; who has no way at all never arrives
        arrives = np.zeros(num_switches, np.bool_)
        arrives[goal] = True
        stack[0] = goal
        size = 1
        while size > 0:
            size -= 1
            v = stack[size]
            for i in range(before_start[v], before_start[v + 1]):
                u = before[i]
                if not arrives[u]:
                    arrives[u] = True
                    stack[size] = u
                    size += 1
        for u in range(num_switches):
            e = u * count + d
            if reached[e]:
                if pending[u] > 0:
                    longest = -1
                if not arrives[u] and entry_start[e] < entry_start[e + 1] and stray < 0:
                    stray = e
    return reached, dead_end, stray, longest


@jit
def list_states(entry_start, channel, vc, vcs, reached, destinations, channel_target):
    """List the states: a packet at the head of a buffer, with the entry that it waits by.

    Returns
    -------
    resource : int32 array, shape (N,)
        Buffer, ``channel * vcs + vc``, of each state.
    entry : int64 array, shape (N,)
        The entry that led into the buffer.
    next_entry : int64 array, shape (N,)
        The entry by which the packet goes on; −1 at its destination.
    is_first : bool array, shape (N,)
        Whether the buffer is the first candidate of `entry`.
    """
    count = len(destinations)
    size = 0
    for e in range(len(reached)):
        if reached[e]:
            size += entry_start[e + 1] - entry_start[e]
    resource = np.empty(size, np.int32)
    entry = np.empty(size, np.int64)
    next_entry = np.empty(size, np.int64)
    is_first = np.empty(size, np.bool_)
    n = 0
    for e in range(len(reached)):
        if reached[e]:
            d = e % count
            for i in range(entry_start[e], entry_start[e + 1]):
                v = channel_target[channel[i]]
                resource[n] = channel[i] * vcs + vc[i]
                entry[n] = e
                next_entry[n] = -1 if v == destinations[d] else v * count + d
                is_first[n] = i == entry_start[e]
                n += 1
    return resource, entry, next_entry, is_first


@jit
def group_by(keys, size):
    """Return a CSR (start, index) of the positions of each key; negative keys are left out."""
    start = np.zeros(size + 1, np.int64)
    for key in keys:
        if key >= 0:
            start[key + 1] += 1
    for key in range(size):
        start[key + 1] += start[key]
    index = np.empty(start[-1], np.int64)
    fill = start[:-1].copy()
    for i in range(len(keys)):
        if keys[i] >= 0:
            index[fill[keys[i]]] = i
            fill[keys[i]] += 1
    return start, index


@jit
def remove_buffers(
    resource, entry, next_entry, counts, needed, by_resource, states_of, by_entry, waiting
):
    """Remove buffers, one after the other, as long as one can go.

    A buffer goes when each packet at its head is at its destination, or waits by an entry that is
    *free*: as many of its candidates that count are removed as it needs.

    Parameters
    ----------
    resource, entry, next_entry
        From `list_states`.
    counts : bool array, shape (N,)
        Whether the removal of a state's buffer counts for its `entry`.
    needed : int64 array, shape (S * D,)
        Candidates that an entry needs; overwritten.
    by_resource, states_of : int64 arrays
        States of each buffer (`group_by` of `resource`).
    by_entry, waiting : int64 arrays
        States that wait by each entry (`group_by` of `next_entry`).

    Returns
    -------
    rank : int32 array, shape (R,)
        Order of removal from 0; −1 for buffers without packets and those that remain.
    """
    size = len(by_resource) - 1
    rank = np.full(size, -1, np.int32)
    # 1. The packets at each buffer's head that still block it: all but those at their destination.
    blocked = np.zeros(size, np.int64)
    for i in range(len(resource)):
        blocked[resource[i]] += next_entry[i] >= 0
    # 2. Buffers that none blocks. Those without packets need no removal.
    queue = np.empty(size, np.int32)
    head, tail = 0, 0
    for r in range(size):
        if by_resource[r] < by_resource[r + 1] and blocked[r] == 0:
            queue[tail] = r
            tail += 1
    # 3. Remove them in turn. Where the last candidate goes that an entry needs, the entry is free,
    #    and blocks nothing any more. Any order will do: a buffer that may go may also go later.
    while head < tail:
        r = queue[head]
        rank[r] = head
        head += 1
        for i in states_of[by_resource[r] : by_resource[r + 1]]:
            e = entry[i]
            if not counts[i] or needed[e] == 0:
                continue
            needed[e] -= 1
            if needed[e] == 0:
                for j in waiting[by_entry[e] : by_entry[e + 1]]:
                    blocked[resource[j]] -= 1
                    if blocked[resource[j]] == 0:
                        queue[tail] = resource[j]
                        tail += 1
    return rank
