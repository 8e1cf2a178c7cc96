"""Local search for trees with evenly loaded channels.

A move lets one switch of one tree forward over another channel. All packets that pass the switch
move with it, from the channels that only its old route has to those that only its new route has.
The cost of a channel is a convex function of its load, so that moves take packets from the most
loaded channels.

    fabric, legality     the network and its legal routes; see `routelab.kernels.forwarding.trees`
    steps[u]             channel over which switch u forwards in the tree at hand; −1 at its root
    tree.weight[u]       packets that leave u in this tree: its own, and those that pass it
    meeting              first switch that the old and the new route of a switch have in common
    high                 a channel whose packets are not below the goal of the search
"""

import numpy as np

from routelab.kernels.forwarding.trees import (
    read_tree,
    reattach,
    tree_scratch,
    try_move,
)
from routelab.kernels.jit import helper, inline, jit


@jit
def balance_trees(
    fabric, legality, trees, load, cost, goal, tree_order, switch_order, min_cost, budget
):
    """Look at every switch of every tree once, and make the best move of each that lowers the cost.

    Parameters
    ----------
    trees : int32 array, shape (T, S)
        Next channels. Updated.
    load : int64 array, shape (C,)
        Packets on each channel. Updated.
    cost : float64 array, shape (number of capacities, N)
        Cost of a channel by its capacity and its packets, infinite where they are too many.
    goal : int64 array, shape (number of capacities,)
        Goal of the search: packets of a channel by its capacity. Channels with as many packets or
        more are high. A move that would leave no channel high is not made, so that the largest load
        ends at the goal and not below it.
    tree_order, switch_order : int64 array
        Order of the trees and of the switches in each.
    min_cost : float
        A switch is skipped if its move could save less than that, even if the new route cost
        nothing.
    budget : int
        Moves that may be examined.

    Returns
    -------
    num_examined : int
        Moves that were examined.
    """
    tree = tree_scratch(trees.shape[1], len(legality.accepting))
    num_high = 0  # channels that are not below the goal
    for c in range(len(load)):
        num_high += load[c] >= goal[fabric.capacity_class[c]]
    num_examined = 0
    search_number = np.int64(0)
    for t in tree_order:
        if num_examined >= budget:
            break
        steps = trees[t]
        read_tree(fabric, legality, steps, fabric.root[t], tree)
        tree.stamp[:] = -1
        for u in switch_order:
            if steps[u] < 0 or tree.weight[u] == 0:
                continue
            # 1. Leave u alone if even a new route that costs nothing would save too little.
            search_number += 1
            if _mark_route(fabric, tree, steps, load, cost, u, search_number) < min_cost:
                continue
            # every channel of u but its present one is a move
            num_examined += fabric.out_start[u + 1] - fabric.out_start[u] - 1
            channel, meeting = _best_move(
                fabric, legality, tree, steps, load, cost, u, search_number
            )
            if channel < 0:
                continue
            # 2. Move its packets from the old route to the new one, and back if that leaves no
            #    channel high.
            packets = tree.weight[u]
            num_high += _add_packets(fabric, steps, load, goal, steps[u], meeting, -packets)
            num_high += _add_packets(fabric, steps, load, goal, channel, meeting, packets)
            if num_high == 0:
                num_high += _add_packets(fabric, steps, load, goal, channel, meeting, -packets)
                num_high += _add_packets(fabric, steps, load, goal, steps[u], meeting, packets)
                continue
            _apply_move(fabric, legality, tree, steps, u, channel, meeting)
    return num_examined


@inline
def _mark_route(fabric, tree, steps, load, cost, u, search_number):
    """Mark the route of u, and return what its channels would cost less without the packets of u.

    Of every switch on the route, `tree.stamp` gets the number of the search, and `tree.relief` what
    the channels from u up to the switch would cost less. So a new route that meets the old one
    there knows at once what it saves.
    """
    packets = tree.weight[u]
    saved = 0.0
    c = steps[u]
    while c >= 0:
        capacity_class = fabric.capacity_class[c]
        saved += cost[capacity_class, load[c]] - cost[capacity_class, load[c] - packets]
        v = fabric.target[c]
        tree.stamp[v] = search_number
        tree.relief[v] = saved
        c = steps[v]
    return saved


@inline
def _best_move(fabric, legality, tree, steps, load, cost, u, search_number):
    """Return the channel that u should use, −1 for none, and where its route meets the old one.

    Old route u, a, b, root and new route u, x, b, root meet at b: only the channels before b change
    their loads. `_mark_route` has marked the old route: at b, `tree.stamp` is `search_number`, and
    `tree.relief` is what the channels from u over a to b would cost less.
    """
    packets = tree.weight[u]
    # Gains below 1e-12 do not count. They may be rounding errors, which are about 1e-15, because a
    # channel costs at most 1. Real gains are that small only far below the largest load.
    best_channel, best_meeting, best_gain = -1, -1, 1e-12
    for i in range(fabric.out_start[u], fabric.out_start[u + 1]):
        channel = fabric.out_channel[i]
        if channel == steps[u]:
            continue
        spent = 0.0
        c = channel
        v = u
        # Follow the new route to the meeting, the first switch v that is marked. u itself is never
        # the meeting, so v = u at the end says that the move is impossible: either the route leads
        # back to u, or a channel would be too full.
        while c >= 0:
            capacity_class = fabric.capacity_class[c]
            if load[c] + packets >= cost.shape[1]:
                v = u
                break
            spent += cost[capacity_class, load[c] + packets] - cost[capacity_class, load[c]]
            v = fabric.target[c]
            if v == u or tree.stamp[v] == search_number:
                break
            c = steps[v]
        # Not marked: the new route ends at a switch from which no route leads on.
        if v == u or tree.stamp[v] != search_number:
            continue
        gain = tree.relief[v] - spent
        if gain > best_gain and try_move(fabric, legality, tree, steps, u, channel) > 0:
            best_channel, best_meeting, best_gain = channel, v, gain
    return best_channel, best_meeting


@helper()
def _add_packets(fabric, steps, load, goal, channel, meeting, packets):
    """Add packets, perhaps a negative number, to the channels from `channel` to switch `meeting`.

    Return by how many the number of high channels grows; negative if it shrinks.
    """
    num_high_change = 0
    while True:
        capacity_class = fabric.capacity_class[channel]
        num_high_change -= load[channel] >= goal[capacity_class]
        load[channel] += packets
        num_high_change += load[channel] >= goal[capacity_class]
        if fabric.target[channel] == meeting:
            return num_high_change
        channel = steps[fabric.target[channel]]


@helper()
def _apply_move(fabric, legality, tree, steps, u, channel, meeting):
    """Let u forward over `channel`, and bring good arrivals, weights and children up to date."""
    # 1. Good arrivals of the switches that `try_move` lists in `tree.queue`. It runs once more,
    #    because `tree.trial` still describes the move that was examined last.
    count = try_move(fabric, legality, tree, steps, u, channel)
    for i in range(count):
        v = tree.queue[i]
        for q in range(legality.first[v], legality.first[v + 1]):
            tree.good[q] = tree.trial[q]
    # 2. Weights of the switches before the meeting: fewer packets pass those on the old route, more
    #    those on the new one. From the meeting on nothing changes.
    packets = tree.weight[u]
    v = fabric.target[steps[u]]
    while v != meeting:
        tree.weight[v] -= packets
        v = fabric.target[steps[v]]
    v = fabric.target[channel]
    while v != meeting:
        tree.weight[v] += packets
        v = fabric.target[steps[v]]
    reattach(fabric, tree, steps, u, channel)
