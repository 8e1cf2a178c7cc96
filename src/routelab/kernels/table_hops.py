"""A route table as a hop-by-hop algorithm: packets draw a path and follow it.

    ENDPOINT of a switch, DESTINATION of a target    row and column of the pair
    ONLY of a pair                                   index of the first hop, if it has one path
    PAIR of a pair                                   its first path, and behind it that of the next
    UPTO of a path                                   share of the pair's packets up to this path
    PATH of a path                                   index of its first hop
    HOPS of an index                                 channel * classes + class of virtual channels

These are arrays in `tables`; array X begins at the index ``table(tables, X)``.

The engine calls `follow_path` in its own code, and not `follow` through a pointer. On a large
network most of these numbers are far from the processor. So the engine prefetches ONLY when a
packet enters, and HOPS in a round over all queues before packets are routed.
"""

from __future__ import annotations

import numpy as np

from routelab.kernels import hops as of
from routelab.kernels.bits import prefetch, u
from routelab.kernels.hops import hop_kernel, pick_share, table
from routelab.kernels.jit import inline

ENDPOINT, DESTINATION, COLUMN, PAIR, PATH, UPTO, HOPS, SIZE, CLASSES, ONLY = range(10)
"""COLUMN is the packet's column that indexes DESTINATION: its target switch, or its terminal. ONLY
is −1 for a pair with several paths, or none."""


@inline
def _find_pair(tables, packets, packet, switch):
    """Return the number of the pair from a switch to a packet's target."""
    num_columns = np.int64(tables[u(table(tables, SIZE))])
    switch_or_terminal = packets[u(packet), u(tables[u(table(tables, COLUMN))])]
    column = tables[u(table(tables, DESTINATION) + switch_or_terminal)]
    row = np.int64(tables[u(table(tables, ENDPOINT) + switch)])
    return row * num_columns + column


@inline
def _draw_path(tables, pair, random):
    """Draw one of a pair's paths; return 1 + the index of its first hop, 0 if the pair has none."""
    # PAIR of the next pair is where the paths of this one end.
    entry = table(tables, PAIR) + pair
    path, last_path = np.int64(tables[u(entry)]), np.int64(tables[u(entry + 1)]) - 1
    if path > last_path:
        return np.int64(0)
    if path < last_path:
        path += pick_share(random, tables, table(tables, UPTO) + path, last_path - path + 1)
    return np.int64(tables[u(table(tables, PATH) + path)]) + 1


@inline
def follow_path(tables, packets, packet, switch, random, out):
    """Write the next hop of a packet to `out`.

    STATE is 1 + the index of the next hop in HOPS, 0 before the draw of a path.

    Returns
    -------
    int
        Number of candidates: 1, or 0 if the pair has no path.
    """
    # 1. A packet that begins: the only path of its pair, or a draw.
    next_index = np.int64(packets[u(packet), of.STATE])
    if next_index == 0:
        pair = _find_pair(tables, packets, packet, switch)
        next_index = np.int64(tables[u(table(tables, ONLY) + pair)]) + 1
        if next_index == 0:
            next_index = _draw_path(tables, pair, random)
            if next_index == 0:
                return np.int64(0)
    packets[u(packet), of.STATE] = next_index + 1
    # 2. The hop. Divisions take long, and most tables have one class: those do without.
    hop = tables[u(table(tables, HOPS) + next_index - 1)]
    classes = tables[u(table(tables, CLASSES))]
    out[0, 0] = hop if classes == 1 else hop // classes
    out[0, 1] = 0 if classes == 1 else hop % classes
    out[0, 2] = 0
    return np.int64(1)


@inline
def prefetch_pair(tables, packets, packet, switch):
    """Prefetch what a packet that enters at a switch reads first: ONLY of its pair."""
    prefetch(tables, table(tables, ONLY) + _find_pair(tables, packets, packet, switch))


@inline
def prefetch_hop(tables, packets, packet, switch):
    """Prefetch the next hop of a packet at a switch, unless it has yet to draw its path.

    The index may be that before the first hop, for a pair without a path or with several, or behind
    the last one: a prefetch of a wrong address does no harm.
    """
    next_index = np.int64(packets[u(packet), of.STATE])
    if next_index == 0:
        pair = _find_pair(tables, packets, packet, switch)
        next_index = np.int64(tables[u(table(tables, ONLY) + pair)]) + 1
    prefetch(tables, table(tables, HOPS) + next_index - 1)


@hop_kernel
def follow(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Write the next hop of a packet's path to `out`; return the number of candidates, 1 or 0.

    For the walker and the checker; the engine calls `follow_path` directly.
    """
    return follow_path(tables, packets, packet, switch, random, out)
