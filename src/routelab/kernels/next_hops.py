"""Tables of next hops: the states that packets reach, and the removal of buffers.

A table has an entry for each switch and destination: the buffers (virtual channels of channels)
that a packet there may take next. Entry ``e = v * D + d`` of switch v and destination d has the
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
        Whether packets for the entry's destination come to its switch on their way.
    dead_end : int
        A reached entry without candidates; −1 if there is none.
    stray : int
        A reached entry from which no candidates lead to the destination; −1 if there is none.
    longest : int
        Hops of the longest route; −1 if packets may walk forever or come to a dead end.
    """
    num_destinations = len(destinations)
    reached = np.zeros(num_switches * num_destinations, np.bool_)
    dead_end, stray, longest = -1, -1, 0
    stack = np.empty(num_switches, np.int32)
    hops_to_destination = np.empty(num_switches, np.int32)
    unfinished = np.empty(num_switches, np.int64)
    before_start = np.zeros(num_switches + 1, np.int64)
    for d in range(num_destinations):
        destination = destinations[d]
        # 1. Forwards from the sources: which switches packets reach, and over how many candidates
        #    they come to each. `before_start[v + 1]` counts those to v; step 2 adds them up.
        size = 0
        for switch in range(num_switches):
            e = switch * num_destinations + d
            if starts[e] and switch != destination and entry_start[e] < entry_start[e + 1]:
                reached[e] = True
                stack[size] = switch
                size += 1
        before_start[:] = 0
        while size > 0:
            size -= 1
            e = stack[size] * num_destinations + d
            if entry_start[e] == entry_start[e + 1] and dead_end < 0:
                dead_end = e
            for i in range(entry_start[e], entry_start[e + 1]):
                v = channel_target[channel[i]]
                before_start[v + 1] += 1
                if v != destination and not reached[v * num_destinations + d]:
                    reached[v * num_destinations + d] = True
                    stack[size] = v
                    size += 1
        # 2. The switches from which packets come to each switch, once for each candidate. Of each
        #    reached switch, all candidates are unfinished.
        for v in range(num_switches):
            before_start[v + 1] += before_start[v]
        before = np.empty(before_start[-1], np.int32)
        next_position = before_start[:-1].copy()
        for u in range(num_switches):
            e = u * num_destinations + d
            if reached[e]:
                unfinished[u] = entry_start[e + 1] - entry_start[e]
                hops_to_destination[u] = 0
                for i in range(entry_start[e], entry_start[e + 1]):
                    v = channel_target[channel[i]]
                    before[next_position[v]] = u
                    next_position[v] += 1
        # 3. Backwards from the destination. A candidate is finished when the switch that it leads
        #    to is, and a switch when all its candidates are: then its longest route is known. No
        #    switch on a cycle, or before one or before a dead end, is ever finished.
        hops_to_destination[destination] = 0
        stack[0] = destination
        size = 1
        while size > 0:
            size -= 1
            v = stack[size]
            for i in range(before_start[v], before_start[v + 1]):
                u = before[i]
                hops_to_destination[u] = max(hops_to_destination[u], hops_to_destination[v] + 1)
                unfinished[u] -= 1
                if unfinished[u] == 0:
                    if longest >= 0:  # once it is −1 for one destination, it stays so
                        longest = max(longest, hops_to_destination[u])
                    stack[size] = u
                    size += 1
        # 4. Backwards once more, now over any candidate. From a switch that is not finished,
        #    packets may walk forever or come to a dead end; from one without any route to the
        #    destination, they never arrive.
        arrives = np.zeros(num_switches, np.bool_)
        arrives[destination] = True
        stack[0] = destination
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
            e = u * num_destinations + d
            if reached[e]:
                if unfinished[u] > 0:
                    longest = -1
                if not arrives[u] and entry_start[e] < entry_start[e + 1] and stray < 0:
                    stray = e
    return reached, dead_end, stray, longest


@jit
def list_states(entry_start, channel, vc, vcs, reached, destinations, channel_target):
    """List the states of packets: at the head of which buffer they are, and where they go next.

    Each candidate of a reached entry is one state: the packet took it, and is now at the head of
    its buffer.

    Parameters
    ----------
    entry_start, channel, reached, destinations, channel_target
        As for `reachable_entries`, which returns `reached`.
    vc : int array
        Virtual channel of each candidate.
    vcs : int
        Virtual channels of a channel.

    Returns
    -------
    buffer : int32 array, shape (N,)
        Buffer, ``channel * vcs + vc``, of each state.
    entry : int64 array, shape (N,)
        The entry that led into the buffer.
    next_entry : int64 array, shape (N,)
        The entry by which the packet goes on; −1 at its destination.
    is_first : bool array, shape (N,)
        Whether the buffer is the first candidate of `entry`.
    """
    num_destinations = len(destinations)
    num_states = 0
    for e in range(len(reached)):
        if reached[e]:
            num_states += entry_start[e + 1] - entry_start[e]
    buffer = np.empty(num_states, np.int32)
    entry = np.empty(num_states, np.int64)
    next_entry = np.empty(num_states, np.int64)
    is_first = np.empty(num_states, np.bool_)
    n = 0
    for e in range(len(reached)):
        if reached[e]:
            d = e % num_destinations
            for i in range(entry_start[e], entry_start[e + 1]):
                v = channel_target[channel[i]]
                buffer[n] = channel[i] * vcs + vc[i]
                entry[n] = e
                next_entry[n] = -1 if v == destinations[d] else v * num_destinations + d
                is_first[n] = i == entry_start[e]
                n += 1
    return buffer, entry, next_entry, is_first


@jit
def group_by(keys, num_keys):
    """List the positions of each key: those of key k are ``index[start[k]:start[k + 1]]``.

    Keys are below `num_keys`; negative ones are left out. [1, −1, 0, 1] with 2 keys: start is
    [0, 1, 3], index is [2, 0, 3].
    """
    start = np.zeros(num_keys + 1, np.int64)
    for key in keys:
        if key >= 0:
            start[key + 1] += 1
    for key in range(num_keys):
        start[key + 1] += start[key]
    index = np.empty(start[-1], np.int64)
    next_position = start[:-1].copy()
    for i in range(len(keys)):
        if keys[i] >= 0:
            index[next_position[keys[i]]] = i
            next_position[keys[i]] += 1
    return start, index


@jit
def remove_buffers(
    buffer,
    entry,
    next_entry,
    counts_for_entry,
    needed,
    buffer_start,
    buffer_state,
    waiting_start,
    waiting_state,
):
    """Remove buffers, one after the other, as long as one can be removed.

    A buffer can be removed when each packet that may be at its head is at its destination, or has
    an entry as its next that is *free*: as many of the entry's candidates are removed as it needs.
    If all buffers with packets are removed, the table has no deadlock.

    Parameters
    ----------
    buffer, entry, next_entry
        From `list_states`.
    counts_for_entry : bool array, shape (N,)
        Whether the removal of a state's buffer counts for its `entry`: of all candidates, or only
        of the first.
    needed : int64 array, shape (S * D,)
        Candidates whose removal makes an entry free; updated to those still missing.
    buffer_start, buffer_state : int64 arrays
        States of each buffer: `group_by` of `buffer`.
    waiting_start, waiting_state : int64 arrays
        States whose packets go on by each entry: `group_by` of `next_entry`.

    Returns
    -------
    rank : int32 array, shape (R,)
        Order of removal from 0; −1 for buffers without packets and those that remain.
    """
    num_buffers = len(buffer_start) - 1
    rank = np.full(num_buffers, -1, np.int32)
    # 1. The packets at each buffer's head that still block its removal: all but those at their
    #    destination.
    num_blocking = np.zeros(num_buffers, np.int64)
    for i in range(len(buffer)):
        num_blocking[buffer[i]] += next_entry[i] >= 0
    # 2. Buffers that no packet blocks. Those without packets need no removal.
    queue = np.empty(num_buffers, np.int32)
    num_removed, queue_end = 0, 0
    for r in range(num_buffers):
        if buffer_start[r] < buffer_start[r + 1] and num_blocking[r] == 0:
            queue[queue_end] = r
            queue_end += 1
    # 3. Remove them in turn. With the last candidate that it needs, an entry becomes free, and
    #    packets that go on by it block nothing any more. Any order will do, because what can be
    #    removed now can also be removed later.
    while num_removed < queue_end:
        r = queue[num_removed]
        rank[r] = num_removed
        num_removed += 1
        for i in buffer_state[buffer_start[r] : buffer_start[r + 1]]:
            e = entry[i]
            if not counts_for_entry[i] or needed[e] == 0:  # 0: the entry is free already
                continue
            needed[e] -= 1
            if needed[e] == 0:
                for j in waiting_state[waiting_start[e] : waiting_start[e + 1]]:
                    num_blocking[buffer[j]] -= 1
                    if num_blocking[buffer[j]] == 0:
                        queue[queue_end] = buffer[j]
                        queue_end += 1
    return rank
