"""Growth of trees towards destinations, switch after switch."""

import numpy as np

from routelab.kernels.forwarding.trees import (
    accept_at,
    enter_tree,
    inherit,
    tree_scratch,
)
from routelab.kernels.jit import helper, inline, jit


@jit
def grow_trees(fabric, legality, trees, load, tree_order, rank, widest):
    """Grow trees of legal routes, nearest switches first, each over its least loaded channel.

    A switch can join where its own route is legal. Those that join later may depend on the arrivals
    that are good there, so that a tree may end before all switches have joined.

    Parameters
    ----------
    trees : int32 array, shape (T, S)
        Next channels; the rows in `tree_order` are overwritten, with −1 where a tree ended early.
    load : int64 array, shape (C,)
        Packets on each channel; those of the trees are added.
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
    most = 1
    if widest:
        most = 2 if len(legality.turns) else legality.step.shape[1]
    joined = np.empty(len(tree_order), np.int64)
    for i in range(len(tree_order)):
        t = tree_order[i]
        steps = trees[t]
        steps[:] = -1
        count = _grow(fabric, legality, steps, fabric.root[t], load, rank, most, tree)
        joined[i] = count
        enter_tree(fabric, legality, steps, fabric.root[t], tree)
        for j in range(1, count):
            u = tree.queue[j]
            load[steps[u]] += tree.weight[u]
    return joined


@helper()
def _grow(fabric, legality, steps, root, load, rank, most, tree):
    """Grow one tree; return the number of its switches."""
    tree.queue[0] = root
    accept_at(legality, tree.good, root)
    count = 1
    for needed in range(most, 0, -1):
        first, last = 0, count
        while first < last:
            for i in range(first, last):
                v = tree.queue[i]
                for j in range(fabric.in_start[v], fabric.in_start[v + 1]):
                    count = _offer(
                        fabric, legality, steps, root, fabric.in_channel[j], needed, load, rank,
                        tree, last, count,
                    )  # fmt: skip
            for i in range(last, count):
                u = tree.queue[i]
                inherit(
                    fabric, legality, tree.good, steps[u], steps[fabric.target[steps[u]]], tree.good
                )
            first, last = last, count
    return count


@inline
def _offer(fabric, legality, steps, root, channel, needed, load, rank, tree, last, count):
    """Let the channel's source join, or change its channel if it joined at this distance.

    ``queue[last:count]`` are the switches that joined at this distance; `count` is returned.
    """
    u = fabric.source[channel]
    old = steps[u]
    if u == root:
        return count
    if old >= 0:
        if tree.stamp[u] != last:
            return count
        if load[channel] > load[old] or (load[channel] == load[old] and rank[channel] >= rank[old]):
            return count
    following = steps[fabric.target[channel]]
    good = inherit(fabric, legality, tree.good, channel, following, tree.trial)
    if tree.trial[legality.begin[u]] == 0:
        return count
    if good < needed and len(legality.turns) == 0:
        return count
    if len(legality.turns) and needed > 1 and not _is_open(fabric, legality, channel, tree.trial):
        return count
    steps[u] = channel
    if old < 0:
        tree.stamp[u] = last
        tree.queue[count] = u
        count += 1
    return count


@helper()
def _is_open(fabric, legality, channel, good):
    """Find whether packets from every other neighbour may take the channel."""
    u = fabric.source[channel]
    for i in range(fabric.in_start[u], fabric.in_start[u + 1]):
        c = fabric.in_channel[i]
        if fabric.source[c] == fabric.target[channel]:
            continue
        allowed = legality.turns[fabric.turn_start[c] + fabric.place[channel]]
        if allowed & good[legality.first[u]] == 0:
            return False
    return True
