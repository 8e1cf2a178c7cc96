"""Growth of trees towards destinations, switch after switch.

An *arrival* is a way to come to a switch. It is *good* if the rest of the tree is legal from there;
see `routelab.kernels.forwarding.trees`. The more arrivals are good at a switch, the more neighbours
can join the tree over it. With turns a switch has one arrival; the switch is *open* if packets from
all of its other neighbours may go on.

    fabric, legality    the network and its legal routes; see `routelab.kernels.forwarding.trees`
    steps[u]            channel over which switch u forwards in the tree at hand; −1 before it joins
    tree.queue          switches of the tree in the order in which they joined, level by level
    tree.good[a]        with an automaton 1 if arrival a is good, else 0; with turns the layers that
                        allow the rest of the route, as bits
    tree.trial[a]       `tree.good` as it would be if a switch joined over a channel
"""

import numpy as np

from routelab.kernels.forwarding.trees import (
    fill_arrivals_at_root,
    fill_good_arrivals,
    read_tree,
    tree_scratch,
)
from routelab.kernels.jit import helper, inline, jit


@jit
def grow_trees(fabric, legality, trees, load, tree_order, rank, widest):
    """Grow trees of legal routes, nearest switches first, each over its least loaded channel.

    A switch can join over a channel where its own route is legal. This choice decides which of its
    arrivals are good, and so who can join over it. A tree may end before all switches have joined.

    Parameters
    ----------
    trees : int32 array, shape (T, S)
        Next channels. Updated: the rows in `tree_order`, with −1 where a tree ended early.
    load : int64 array, shape (C,)
        Packets on each channel. Updated: those of the trees are added.
    tree_order : int64 array
        Trees to grow.
    rank : int64 array, shape (C,)
        Preference among channels that are equally loaded, lower first.
    widest : bool
        Whether switches first join where most arrivals are good; the tree then has longer routes
        and fewer dead ends.

    Returns
    -------
    joined : int64 array, shape (len(tree_order),)
        Switches that joined each tree, its root included.
    """
    switches = trees.shape[1]
    tree = tree_scratch(switches, len(legality.accepting))
    # Switches first join where at least `max_good` arrivals are good, then where fewer are. An
    # automaton has at most legality.step.shape[1] arrivals at a switch. With turns there is only
    # one arrival, and 2 means something else: first join where the switch is open.
    max_good = 1
    if widest:
        max_good = 2 if len(legality.turns) else legality.step.shape[1]
    joined = np.empty(len(tree_order), np.int64)
    for i in range(len(tree_order)):
        t = tree_order[i]
        steps = trees[t]
        steps[:] = -1
        count = _extend_tree(fabric, legality, steps, fabric.root[t], load, rank, max_good, tree)
        joined[i] = count
        read_tree(fabric, legality, steps, fabric.root[t], tree)
        for j in range(1, count):
            u = tree.queue[j]
            load[steps[u]] += tree.weight[u]
    return joined


@helper()
def _extend_tree(fabric, legality, steps, root, load, rank, max_good, tree):
    """Grow one tree, first where many arrivals are good; return the number of its switches.

    Switches of one level join before those of the next: they are the sources of channels to the
    level before, ``queue[level_start:level_end]``.
    """
    tree.queue[0] = root
    fill_arrivals_at_root(legality, tree.good, root)
    count = 1
    # A pass with a lower limit begins at the root again, because switches may join anywhere.
    for min_good in range(max_good, 0, -1):
        level_start, level_end = 0, count
        while level_start < level_end:
            for i in range(level_start, level_end):
                v = tree.queue[i]
                for j in range(fabric.in_start[v], fabric.in_start[v + 1]):
                    count = _try_channel(
                        fabric, legality, steps, root, fabric.in_channel[j], min_good, load, rank,
                        tree, level_end, count,
                    )  # fmt: skip
            # Good arrivals of the new level. Only now, because a switch may change its channel, and
            # so its good arrivals, while its level grows.
            for i in range(level_end, count):
                u = tree.queue[i]
                fill_good_arrivals(
                    fabric, legality, tree.good, steps[u], steps[fabric.target[steps[u]]], tree.good
                )
            level_start, level_end = level_end, count
    return count


@inline
def _try_channel(
    fabric, legality, steps, root, channel, min_good, load, rank, tree, level_begin, count
):
    """Let the channel's source join, or change its channel if it joined at this level.

    ``queue[level_begin:count]`` are the switches that joined at this level. Their `tree.stamp` is
    `level_begin`, which differs from level to level. Return `count`, plus 1 if the source has
    joined.
    """
    u = fabric.source[channel]
    old_channel = steps[u]
    if u == root:
        return count
    # 1. A switch of an earlier level keeps its channel, because others may have joined over it. One
    #    of this level changes to a channel with less load, or with equal load and a lower rank.
    if old_channel >= 0:
        if tree.stamp[u] != level_begin:
            return count
        if load[channel] > load[old_channel] or (
            load[channel] == load[old_channel] and rank[channel] >= rank[old_channel]
        ):
            return count
    # 2. Its route must be legal, and enough others must be able to join over it: from `min_good`
    #    arrivals of an automaton; with turns, if it is 2, from all other neighbours.
    next_channel = steps[fabric.target[channel]]  # −1 at the root
    num_good = fill_good_arrivals(fabric, legality, tree.good, channel, next_channel, tree.trial)
    if tree.trial[legality.begin[u]] == 0:
        return count
    if num_good < min_good and len(legality.turns) == 0:
        return count
    if len(legality.turns) and min_good > 1 and not _is_open(fabric, legality, channel, tree.trial):
        return count
    # 3. It joins.
    steps[u] = channel
    if old_channel < 0:
        tree.stamp[u] = level_begin
        tree.queue[count] = u
        count += 1
    return count


@helper()
def _is_open(fabric, legality, channel, good):
    """Return whether packets from all other neighbours of the channel's source may take it.

    `good` holds the layers that allow the rest of the route from the source on, as bits.
    """
    u = fabric.source[channel]
    for i in range(fabric.in_start[u], fabric.in_start[u + 1]):
        arrival_channel = fabric.in_channel[i]
        if fabric.source[arrival_channel] == fabric.target[channel]:
            continue
        # A packet from this neighbour needs one layer that allows the turn and the rest.
        allowed = legality.turns[fabric.turn_start[arrival_channel] + fabric.port[channel]]
        if allowed & good[legality.first[u]] == 0:
            return False
    return True
