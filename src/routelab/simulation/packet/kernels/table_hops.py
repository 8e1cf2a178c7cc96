"""A route table as a hop-by-hop algorithm: packets draw a path and follow it."""

from __future__ import annotations

from routelab.kernels import hops as of
from routelab.kernels.hops import hop_kernel, pick_share, table

ENDPOINT, DESTINATION, COLUMN, PAIR, PATH, UPTO, HOPS, SIZE, CLASSES = range(9)
"""COLUMN is the packet's column that indexes DESTINATION: its target switch, or its terminal."""


@hop_kernel
def follow(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Follow the path; STATE is 1 + the position of the next hop, 0 before the draw of a path."""
    position = packets[packet, of.STATE]
    if position == 0:
        size = tables[table(tables, SIZE)]
        heading = packets[packet, tables[table(tables, COLUMN)]]
        target = tables[table(tables, DESTINATION) + heading]
        pair = tables[table(tables, ENDPOINT) + switch] * size + target
        path = tables[table(tables, PAIR) + pair]
        last_path = tables[table(tables, PAIR) + pair + 1] - 1
        if path > last_path:
            return 0
        if path < last_path:
            upto = table(tables, UPTO) + path
            path += pick_share(random, tables, upto, last_path - path + 1)
        position = tables[table(tables, PATH) + path] + 1
    packets[packet, of.STATE] = position + 1
    step = tables[table(tables, HOPS) + position - 1]
    classes = tables[table(tables, CLASSES)]
    out[0, 0] = step if classes == 1 else step // classes
    out[0, 1] = 0 if classes == 1 else step % classes
    out[0, 2] = 0
    return 1
