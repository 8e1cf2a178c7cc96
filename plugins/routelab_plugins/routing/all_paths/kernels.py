"""Simple paths drawn with equal probabilities: walks, drawn again until one is simple."""

import numpy as np

from routelab.kernels.hops import (
    DESTINATION,
    HOPS,
    SOURCE,
    STATE,
    STATES,
    hop_kernel,
    inject_kernel,
    pick_large,
    redraw,
    table,
)
from routelab.kernels.jit import helper, inline, jit

HEAD = 0
"""Switches; most hops of a path; bits of a port; ports in a column of STATE."""
ENDPOINT_NUMBER = 1
"""Number of each switch among those with terminals."""
WALKS = 2
"""Walks by (target, hops, switch); a walk ends where it first comes to the target."""
STARTS, TARGETS, CHANNELS = 3, 4, 5
"""First port of each switch; switch behind each port; channel of each port."""

MOST_WALKS = (1 << 31) - 1
"""Largest number of walks of a pair."""


@jit
def count_walks(out_start, ahead, ends, walks):
    """Count the walks to each switch with terminals that come there only at their end.

    Parameters
    ----------
    out_start : int32 array, shape (S + 1,)
        First channel that leaves each switch.
    ahead : int32 array, shape (C,)
        Switch that each of them enters.
    ends : int32 array, shape (P,)
    walks : int32 array, shape (P, L + 1, S)
        Overwritten: number of walks by target, hops and first switch.

    Returns
    -------
    bool
        False if there are more than `MOST_WALKS` between two switches.
    """
    size = len(out_start) - 1
    total = np.empty(size, np.int64)
    for j in range(len(ends)):
        walks[j] = 0
        walks[j, 0, ends[j]] = 1
        total[:] = 0
        for hops in range(1, walks.shape[1]):
            for v in range(size):
                number = np.int64(0)
                if v != ends[j]:
                    for i in range(out_start[v], out_start[v + 1]):
                        number += walks[j, hops - 1, ahead[i]]
                total[v] += number
                if total[v] > MOST_WALKS:
                    return False
                walks[j, hops, v] = number
    return True


@inline
def _port(tables, packets, packet, number):
    """Return the port of a hop, from the columns STATE and following."""
    bits, share = tables[table(tables, HEAD) + 2], tables[table(tables, HEAD) + 3]
    return (packets[packet, STATE + number // share] >> (number % share * bits)) & ((1 << bits) - 1)


@inline
def _passes(tables, packets, packet, hops, switch):
    """Return whether the first hops of the packet's path pass a switch."""
    at = np.int64(packets[packet, SOURCE])
    for number in range(hops):
        if at == switch:
            return True
        port = tables[table(tables, STARTS) + at] + _port(tables, packets, packet, number)
        at = np.int64(tables[table(tables, TARGETS) + port])
    return at == switch


@helper(_nrt=False)
def _draw(tables, packets, packet, random):
    """Draw a walk of the packet's pair and write its ports to STATE; return whether it is simple.

    The number of the walk among all walks of the pair decides hop by hop: each next switch stands
    for as many numbers as there are walks from there.
    """
    head = table(tables, HEAD)
    size, max_hops = np.int64(tables[head]), tables[head + 1]
    bits, share = tables[head + 2], tables[head + 3]
    at, target = np.int64(packets[packet, SOURCE]), packets[packet, DESTINATION]
    target_number = tables[table(tables, ENDPOINT_NUMBER) + target]
    walks = table(tables, WALKS) + target_number * (max_hops + 1) * size
    # 1. The number of the walk: those of one hop come first, then those of two, and so on.
    total = np.int64(0)
    for hops in range(1, max_hops + 1):
        total += tables[walks + hops * size + at]
    number, hops_left = pick_large(random, total), np.int64(1)
    while number >= tables[walks + hops_left * size + at]:
        number -= tables[walks + hops_left * size + at]
        hops_left += 1
    # 2. Its hops, which are or-ed into the columns: an earlier draw may have left some there.
    for column in range(STATES):
        packets[packet, STATE + column] = 0
    hops = np.int64(0)
    while hops_left > 0:
        hops_left -= 1
        port, first_port = np.int64(0), np.int64(tables[table(tables, STARTS) + at])
        onward = np.int64(tables[table(tables, TARGETS) + first_port])
        while number >= tables[walks + hops_left * size + onward]:
            number -= tables[walks + hops_left * size + onward]
            port += 1
            onward = np.int64(tables[table(tables, TARGETS) + first_port + port])
        if _passes(tables, packets, packet, hops, onward):
            return False
        packets[packet, STATE + hops // share] |= port << (hops % share * bits)
        hops += 1
        at = onward
    return True


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Write the ports of a random simple path to STATE."""
    while not _draw(tables, packets, packet, random):
        random = redraw(random)
    return 0


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer the next channel of the path, on the class of its number."""
    number = packets[packet, HOPS]
    first_port = tables[table(tables, STARTS) + switch]
    port = first_port + _port(tables, packets, packet, number)
    out[0, 0] = tables[table(tables, CHANNELS) + port]
    out[0, 1] = number
    out[0, 2] = 0
    return 1
