"""A route table as a hop-by-hop algorithm: packets draw a path and follow it.

    ENDPOINT of a switch, DESTINATION of a target    row and column of the pair
    PAIR of a pair                                   its first path, and behind it that of the next
    UPTO of a path                                   share of the pair's packets up to this path
    PATH of a path                                   place of its first hop
    HOPS of a place                                  channel * classes + class of virtual channels

The engine calls `follow_path` in its own code, and not `follow` through a pointer. On a large
network it prefetches the entry that a packet will read.
"""

from __future__ import annotations

import numpy as np

from routelab.kernels import hops as of
from routelab.kernels.bits import prefetch, u
from routelab.kernels.hops import hop_kernel, pick_share, table
from routelab.kernels.jit import inline

ENDPOINT, DESTINATION, COLUMN, PAIR, PATH, UPTO, HOPS, SIZE, CLASSES = range(9)
"""COLUMN is the packet's column that indexes DESTINATION: its target switch, or its terminal."""


@inline
def pair_entry(tables, packets, packet, switch):
    """Return where `tables` has the first path of a packet from a switch to its target."""
    size = np.int64(tables[u(table(tables, SIZE))])
    heading = packets[u(packet), u(tables[u(table(tables, COLUMN))])]
    target = tables[u(table(tables, DESTINATION) + heading)]
    endpoint = np.int64(tables[u(table(tables, ENDPOINT) + switch)])
    return table(tables, PAIR) + endpoint * size + target


@inline
def follow_path(tables, packets, packet, switch, random, out):
    """Write the next hop of a packet to `out`.

    STATE is 1 + the place of the next hop, 0 before the draw of a path.

    Returns
    -------
    int
        Number of candidates: 1, or 0 if the pair has no path.
    """
    place = np.int64(packets[u(packet), of.STATE])
    # 1. At its first switch, the packet draws one of the pair's paths.
    if place == 0:
        entry = pair_entry(tables, packets, packet, switch)
        path, last_path = np.int64(tables[u(entry)]), np.int64(tables[u(entry + 1)]) - 1
        if path > last_path:
            return np.int64(0)
        if path < last_path:
            upto = table(tables, UPTO) + path
            path += pick_share(random, tables, upto, last_path - path + 1)
        place = np.int64(tables[u(table(tables, PATH) + path)]) + 1
    # 2. The hop. Divisions take longest, and most tables have one class.
    packets[u(packet), of.STATE] = place + 1
    step = tables[u(table(tables, HOPS) + place - 1)]
    classes = tables[u(table(tables, CLASSES))]
    out[0, 0] = step if classes == 1 else step // classes
    out[0, 1] = 0 if classes == 1 else step % classes
    out[0, 2] = 0
    return np.int64(1)


@inline
def prefetch_hop(tables, packets, packet, switch):
    """Prefetch the next hop of a packet; before the draw of its path, where the first path begins.

    The entry of the pair is in the cache since the packet entered (`pair_entry`).
    """
    place = np.int64(packets[u(packet), of.STATE])
    if place > 0:
        prefetch(tables, table(tables, HOPS) + place - 1)
    else:
        path = tables[u(pair_entry(tables, packets, packet, switch))]
        prefetch(tables, table(tables, PATH) + path)


@hop_kernel
def follow(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Follow the path, for the walker and the checker; see `follow_path`."""
    return follow_path(tables, packets, packet, switch, random, out)
