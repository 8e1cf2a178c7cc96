"""Rows of a route list: where each ends, and the channels that its hops name.

A route list is a file that users write, with one route in each row: source, target, hops. A hop is
named by the next switch, by a label such as an output port, or by a channel number.

A *cell* is the number of a text in the file: equal texts are one cell, and arrays "by cell" hold
what each text means.
"""

import numpy as np

from routelab.kernels.jit import jit

WHOLE, NO_CHANNEL, SEVERAL, ENDS_ELSEWHERE, LEAVES_HOME, NO_VC = range(6)
"""Results for a route: `WHOLE` if it has no fault, or else the kind of its first fault: a hop that
no channel fits, or several do; an end at another switch than the target; hops of a route from a
switch to itself; a virtual channel that does not exist."""


@jit
def row_ends(row_start, cells, num_leading):
    """Find the end of each row without the empty cells behind it.

    Parameters
    ----------
    row_start : int64 array, shape (K + 1,)
        Cells ``row_start[k]:row_start[k + 1]`` belong to row k.
    cells : int32 array
        0 is the empty cell.
    num_leading : int
        Cells before the hops of a row, such as source and target.

    Returns
    -------
    end : int64 array, shape (K,)
        ``row_start[k]`` for an empty row.
    short_row, row_with_gap : int
        The first row with fewer cells than `num_leading`, except empty ones, and the first with an
        empty cell before a filled one; −1 if there is none.
    """
    num_rows = len(row_start) - 1
    end = np.empty(num_rows, np.int64)
    short_row, row_with_gap = -1, -1
    for k in range(num_rows):
        row_end = row_start[k + 1]
        while row_end > row_start[k] and cells[row_end - 1] == 0:
            row_end -= 1
        end[k] = row_end
        if row_end == row_start[k]:
            continue
        if row_end - row_start[k] < num_leading and short_row < 0:
            short_row = k
        for i in range(row_start[k], row_end):
            if cells[i] == 0 and row_with_gap < 0:
                row_with_gap = k
    return end, short_row, row_with_gap


@jit
def follow_hops(
    first,
    end,
    source,
    target,
    cells,
    hop_switch,
    hop_label,
    hop_link,
    hop_vc,
    vcs,
    out_start,
    out_channel,
    channel_target,
    channel_label,
    path_start,
    hop_channel,
    path_vc,
):
    """Find the channel of each hop of each route, from switch to switch.

    Parameters
    ----------
    first, end : int64 array, shape (K,)
        The hops of route k are ``cells[first[k]:end[k]]``.
    source, target : int32 array, shape (K,)
        Switches.
    cells : int32 array
    hop_switch, hop_label, hop_link : int32 array, by cell
        What the channel of a hop must have: the switch that it leads to, its label, its number.
        −1: any; −2: the network has none that the cell names.
    hop_vc : int32 array, by cell
        Virtual channel of a hop.
    vcs : int
        Virtual channels of a channel.
    out_start, out_channel, channel_target
        The network; see `routelab.api.Topology`.
    channel_label : int32 array, shape (C,)
        What several channels may have, but rarely two of one switch: an output port or a name.
    path_start : int64 array, shape (K + 1,)
        Where the hops of each route begin in the results.
    hop_channel : int32 array, path_vc : int16 array
        Overwritten, of a route with a fault at a hop only up to that hop.

    Returns
    -------
    fault : int8 array, shape (K,)
        `WHOLE`, or the first fault of a route.
    fault_hop : int32 array, shape (K,)
        The hop with the fault, from 0.
    """
    num_routes = len(source)
    fault = np.zeros(num_routes, np.int8)
    fault_hop = np.zeros(num_routes, np.int32)
    for k in range(num_routes):
        switch = source[k]
        for i in range(first[k], end[k]):
            # 1. Channels that leave the switch and fit all that the cell states. −1 fits
            #    any channel, −2 none: no channel has the target, label or number −2.
            cell = cells[i]
            next_channel, num_matches = np.int32(-1), 0
            for j in range(out_start[switch], out_start[switch + 1]):
                channel = out_channel[j]
                if (
                    (hop_switch[cell] == -1 or hop_switch[cell] == channel_target[channel])
                    and (hop_label[cell] == -1 or hop_label[cell] == channel_label[channel])
                    and (hop_link[cell] == -1 or hop_link[cell] == channel)
                ):
                    next_channel = channel
                    num_matches += 1
            # 2. Exactly one has to be left: which of several links is meant cannot be guessed.
            if num_matches != 1:
                fault[k] = NO_CHANNEL if num_matches == 0 else SEVERAL
            elif hop_vc[cell] >= vcs:
                fault[k] = NO_VC
            if fault[k] != WHOLE:
                fault_hop[k] = i - first[k]
                break
            hop_channel[path_start[k] + i - first[k]] = next_channel
            path_vc[path_start[k] + i - first[k]] = hop_vc[cell]
            switch = channel_target[next_channel]
        # 3. The end of the route. Faults here belong to no hop, and get the number behind the last.
        #    A route from a switch to itself must not leave it.
        if fault[k] == WHOLE:
            fault_hop[k] = end[k] - first[k]
            if switch != target[k]:
                fault[k] = ENDS_ELSEWHERE
            elif source[k] == target[k] and end[k] > first[k]:
                fault[k] = LEAVES_HOME
    return fault, fault_hop


@jit
def gather_hops(first, path_start, hops, gathered):
    """Copy the hops of some paths, one path after the other, without gaps between them.

    Parameters
    ----------
    first : int64 array, shape (K,)
        Where the hops of each path begin in `hops`.
    path_start : int64 array, shape (K + 1,)
        Where they begin in `gathered`.
    hops : array, shape (H,)
    gathered : array
        Overwritten.
    """
    for k in range(len(first)):
        for i in range(path_start[k + 1] - path_start[k]):
            gathered[path_start[k] + i] = hops[first[k] + i]


@jit
def mark_cells(first, end, cells, used):
    """Mark the cells that are hops in `used`, a bool array by cell; see `follow_hops`."""
    for k in range(len(first)):
        for i in range(first[k], end[k]):
            used[cells[i]] = True


@jit
def used_links(first, end, source, switch, cells):
    """List the pairs of switches that follow each other on a route, each once: the links in use.

    Parameters
    ----------
    first, end : int64 array, shape (K,)
        See `follow_hops`.
    source : int32 array, shape (K,)
    switch : int32 array, by cell
        Switch that a hop leads to.

    Returns
    -------
    links : int32 array, shape (L, 2)
        Without steps from a switch to itself.
    """
    # (−1, −1) is no link, and is left out below.
    pairs = set()
    pairs.add((np.int32(-1), np.int32(-1)))
    for k in range(len(first)):
        this_switch = source[k]
        for i in range(first[k], end[k]):
            next_switch = switch[cells[i]]
            if next_switch != this_switch:
                pairs.add((this_switch, next_switch))
            this_switch = next_switch
    links = np.empty((len(pairs) - 1, 2), np.int32)
    n = 0
    for source_switch, target_switch in pairs:
        if source_switch >= 0:
            links[n, 0] = source_switch
            links[n, 1] = target_switch
            n += 1
    return links
