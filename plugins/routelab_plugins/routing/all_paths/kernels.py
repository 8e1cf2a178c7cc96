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
"""Numbers, at the offsets below: switches; most hops of a path; bits of a port; ports that a column
of STATE holds. The port of hop h is in column STATE + h // ports, the first of them in the lowest
bits."""
SWITCHES, MOST_HOPS, PORT_BITS, COLUMN_PORTS = range(4)
ENDPOINT_NUMBER = 1
"""Number of each switch among those with terminals."""
WALKS = 2
"""Number of walks by (target, hops, first switch); a walk ends where it first meets its target."""
STARTS, TARGETS, CHANNELS = 3, 4, 5
"""First port of each switch; switch behind each port; channel of each port."""

MOST_WALKS = (1 << 31) - 1
"""Largest number of walks of a pair."""


@jit
def count_walks(out_start, next_switch, ends, walks):
    """Count the walks to each switch with terminals that meet it only at their end.

    Parameters
    ----------
    out_start : int32 array, shape (S + 1,)
        First channel that leaves each switch.
    next_switch : int32 array, shape (C,)
        Switch that each channel enters; channels are in the order of the switches they leave.
    ends : int32 array, shape (P,)
        Switches with terminals: the targets.
    walks : int32 array, shape (P, L + 1, S)
        Overwritten: number of walks by target, hops and first switch.

    Returns
    -------
    bool
        False if there are more than `MOST_WALKS` between two switches.
    """
    num_switches = len(out_start) - 1
    total = np.empty(num_switches, np.int64)
    for target in range(len(ends)):
        walks[target] = 0
        walks[target, 0, ends[target]] = 1
        total[:] = 0
        for hops in range(1, walks.shape[1]):
            for switch in range(num_switches):
                num_walks = np.int64(0)
                # a walk with hops does not begin at its target, which it meets at its end only
                if switch != ends[target]:
                    for i in range(out_start[switch], out_start[switch + 1]):
                        num_walks += walks[target, hops - 1, next_switch[i]]
                total[switch] += num_walks
                if total[switch] > MOST_WALKS:
                    return False
                walks[target, hops, switch] = num_walks
    return True


@inline
def _read_port(tables, packets, packet, hop_number):
    """Return the port that the packet's path takes at a hop, from the columns of STATE."""
    head = table(tables, HEAD)
    port_bits, column_ports = tables[head + PORT_BITS], tables[head + COLUMN_PORTS]
    column = packets[packet, STATE + hop_number // column_ports]
    return (column >> (hop_number % column_ports * port_bits)) & ((1 << port_bits) - 1)


@inline
def _visits(tables, packets, packet, hops, switch):
    """Return whether the first `hops` hops of the packet's path visit a switch, source included."""
    current = np.int64(packets[packet, SOURCE])
    for hop_number in range(hops):
        if current == switch:
            return True
        first_port = tables[table(tables, STARTS) + current]
        port = first_port + _read_port(tables, packets, packet, hop_number)
        current = np.int64(tables[table(tables, TARGETS) + port])
    return current == switch


@helper(_nrt=False)
def _draw_walk(tables, packets, packet, random):
    """Draw a walk of the packet's pair and write its ports to STATE; return whether it is simple.

    The number of the walk among all walks of the pair decides hop by hop: each next switch stands
    for as many numbers as there are walks from there. If 3 walks go on over the first next switch
    and 2 over the second, numbers 0, 1, 2 take the first, and 3, 4 are its walks 0 and 1 from the
    second.
    """
    head = table(tables, HEAD)
    num_switches, max_hops = np.int64(tables[head + SWITCHES]), tables[head + MOST_HOPS]
    port_bits, column_ports = tables[head + PORT_BITS], tables[head + COLUMN_PORTS]
    current, target = np.int64(packets[packet, SOURCE]), packets[packet, DESTINATION]
    target_number = tables[table(tables, ENDPOINT_NUMBER) + target]
    # where the numbers of walks to this target begin, by (hops, first switch)
    walks = table(tables, WALKS) + target_number * (max_hops + 1) * num_switches
    # 1. Draw the number of the walk: those of one hop come first, then those of two, and so on. Of
    #    the walks with as many hops as the drawn one, it is then number `walk_number`.
    total = np.int64(0)
    for hops in range(1, max_hops + 1):
        total += tables[walks + hops * num_switches + current]
    walk_number, hops_left = pick_large(random, total), np.int64(1)
    while walk_number >= tables[walks + hops_left * num_switches + current]:
        walk_number -= tables[walks + hops_left * num_switches + current]
        hops_left += 1
    # 2. Its hops. Ports are or-ed into the columns, so clear what an earlier draw has left there.
    for column in range(STATES):
        packets[packet, STATE + column] = 0
    hops = np.int64(0)
    while hops_left > 0:
        hops_left -= 1
        port, first_port = np.int64(0), np.int64(tables[table(tables, STARTS) + current])
        next_switch = np.int64(tables[table(tables, TARGETS) + first_port])
        while walk_number >= tables[walks + hops_left * num_switches + next_switch]:
            walk_number -= tables[walks + hops_left * num_switches + next_switch]
            port += 1
            next_switch = np.int64(tables[table(tables, TARGETS) + first_port + port])
        if _visits(tables, packets, packet, hops, next_switch):
            return False
        packets[packet, STATE + hops // column_ports] |= port << (hops % column_ports * port_bits)
        hops += 1
        current = next_switch
    return True


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Write the ports of a random simple path to STATE: draw walks until one is simple."""
    while not _draw_walk(tables, packets, packet, random):
        # unlike `another`, it lets the deadlock checker skip the draw that did not count
        random = redraw(random)
    return 0  # the number has no meaning


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer the next channel of the path as the only candidate; hop n takes class n, from 0.

    The candidate is row 0 of `out`: channel, class of virtual channels, penalty.
    """
    hop_number = packets[packet, HOPS]
    first_port = tables[table(tables, STARTS) + switch]
    port = first_port + _read_port(tables, packets, packet, hop_number)
    out[0, 0] = tables[table(tables, CHANNELS) + port]
    out[0, 1] = hop_number
    out[0, 2] = 0
    return 1
