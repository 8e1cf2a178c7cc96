"""Trees towards destinations inside one spanning tree, for rules in which others have dead ends."""

from __future__ import annotations

import numpy as np

from routelab.api import Topology
from routelab.api.topology import BoolArray, Int32Array, Int64Array
from routelab.kernels.forwarding.trees import Legality, channel_loads
from routelab.toolkit.forwarding.search import TreeSearch


def spanning_trees(
    search: TreeSearch, legality: Legality, trees: Int32Array, waiting: Int64Array
) -> Int64Array:
    """Replace some trees by routes inside a breadth-first tree whose routes to them are legal.

    Every switch is tried as the root of the breadth-first tree.

    Parameters
    ----------
    trees : int32 array, shape (T, S)
        Updated.
    waiting : int64 array
        Trees to replace.

    Returns
    -------
    waiting : int64 array
        Trees for which no root serves.
    """
    for root in range(search.topology.num_switches):
        if not len(waiting):
            break
        targets = search.topology.terminal_switch[waiting]
        candidates, inside = trees_in_spanning_tree(search.topology, root, targets)
        fabric = search.fabric._replace(root=targets)
        _, illegal = channel_loads(fabric, legality, candidates)
        # every switch that has a legal route to the target must have one inside the tree
        reached = 1 + np.count_nonzero(candidates >= 0, axis=1)
        is_legal = inside & (illegal == 0) & (reached >= search.sources[waiting])
        trees[waiting[is_legal]] = candidates[is_legal]
        waiting = waiting[~is_legal]
    return waiting


def trees_in_spanning_tree(
    topology: Topology, root: int, targets: Int32Array
) -> tuple[Int32Array, BoolArray]:
    """Return trees towards switches inside the breadth-first tree from `root`.

    Returns
    -------
    trees : int32 array, shape (len(targets), S)
        Next channel of each switch; −1 at the target and at switches that `root` does not reach.
    inside : bool array, shape (len(targets),)
        Whether `root` reaches each target.
    """
    up, down = _spanning_tree(topology, root)
    # Up at every switch, but down at those from the root to the parent of the target.
    trees = np.tile(up, (len(targets), 1))
    for steps, target in zip(trees, targets.tolist(), strict=True):
        switch = target
        while up[switch] >= 0:
            parent = int(topology.channel_target[up[switch]])
            steps[parent] = down[switch]
            switch = parent
        steps[target] = -1
    return trees, (up[targets] >= 0) | (targets == root)


def _spanning_tree(topology: Topology, root: int) -> tuple[Int32Array, Int32Array]:
    """Return a breadth-first tree over links, as channels to and from each switch's parent.

    Both are int32 arrays of shape (S,), with −1 at the root and at switches that it does not reach.
    Links with a channel in one direction only are left out.
    """
    opposite = np.full(topology.num_channels, -1, np.int64)
    links = topology.links[topology.links[:, 1] >= 0]
    opposite[links[:, 0]], opposite[links[:, 1]] = links[:, 1], links[:, 0]
    start, channels = topology.outgoing
    up = np.full(topology.num_switches, -1, np.int32)
    down = np.full(topology.num_switches, -1, np.int32)
    queue = [root]
    for switch in queue:  # grows while it is read
        for channel in channels[start[switch] : start[switch + 1]].tolist():
            child = int(topology.channel_target[channel])
            if opposite[channel] >= 0 and up[child] < 0 and child != root:
                up[child], down[child] = opposite[channel], channel
                queue.append(child)
    return up, down
