"""Trees on networks whose switches have levels: up, then down, by counters of destinations.

The order of the steps is that of OpenSM's engine ``ftree``: Zahavi, Johnson, Kerbyson and Lang,
*Optimized InfiniBand Fat-Tree Routing for Shift All-to-All Communication Patterns*, Concurrency and
Computation: Practice and Experience 22(2), 2010, doi 10.1002/cpe.1527.

A switch u of a tree forwards over channel ``steps[u]``; −1 at the root, the destination's switch,
and where no route exists. Links between two switches may be several parallel cables.
"""

import numpy as np

from routelab.kernels.jit import helper, inline, jit


@jit
def leveled_trees(fabric, level, opposite):
    """Return trees in which every route goes up, then down.

    For each destination a *main path* leads up from its switch to the top, at every switch over the
    link whose channel down serves the fewest destinations so far. Packets take it downwards.
    Switches below the main path climb to it. The other switches above the destination forward down
    to it, and the switches below those climb to them.

    Parameters
    ----------
    fabric : Fabric
    level : int32 array, shape (S,)
        0 at the bottom; channels join neighbouring levels.
    opposite : int32 array, shape (C,)
        Channel of the same link in the other direction.

    Returns
    -------
    trees : int32 array, shape (T, S)
        −1 where no route goes up, then down.
    """
    switches, destinations = len(level), len(fabric.root)
    trees = np.full((destinations, switches), -1, np.int32)
    # Destinations that each channel serves. A channel down counts only those whose main path it is
    # on.
    down_load = np.zeros(len(opposite), np.int64)
    up_load = np.zeros(len(opposite), np.int64)
    queue = np.empty(switches, np.int32)
    ancestors = np.empty(switches, np.int32)
    for t in range(destinations):
        # 1. The main path, from the destination up to a switch without parents.
        steps, root = trees[t], fabric.root[t]
        count, v = 0, root
        while v >= 0:
            ancestors[count] = v
            count += 1
            c = _least_loaded_down(fabric, level, opposite, down_load, v)
            v = -1
            if c >= 0:
                down_load[c] += 1
                v = fabric.source[c]
                steps[v] = c
        # 2. Switches below the main path, from the destination upwards: so each climbs to the
        #    lowest switch that it can turn at.
        for i in range(count):
            _climb_to(fabric, level, up_load, steps, root, ancestors[i], queue)
        # 3. All other ancestors forward down, and switches below climb to them. The list of
        #    ancestors grows while it is read, by the parents of each.
        i = 0
        while i < count:
            v = ancestors[i]
            for j in range(fabric.in_start[v], fabric.in_start[v + 1]):
                c = fabric.in_channel[j]
                u = fabric.source[c]
                if level[u] > level[v] and steps[u] < 0:
                    c = _least_loaded_cable(fabric, down_load, child=v, parent=u)
                    steps[u] = c
                    ancestors[count] = u
                    count += 1
                    _climb_to(fabric, level, up_load, steps, root, u, queue)
            i += 1
    return trees


@helper()
def _least_loaded_down(fabric, level, opposite, down_load, v):
    """Return the channel from a parent down to v that serves the fewest destinations.

    −1 if v has no parent.
    """
    least_loaded = -1
    for i in range(fabric.out_start[v], fabric.out_start[v + 1]):
        c = opposite[fabric.out_channel[i]]
        is_less = least_loaded < 0 or down_load[c] < down_load[least_loaded]
        if level[fabric.source[c]] > level[v] and is_less:
            least_loaded = c
    return least_loaded


@helper()
def _least_loaded_cable(fabric, down_load, child, parent):
    """Return the channel down from a parent to its child that serves the fewest destinations.

    There are several if parallel cables join the two.
    """
    least_loaded = -1
    for i in range(fabric.in_start[child], fabric.in_start[child + 1]):
        c = fabric.in_channel[i]
        if fabric.source[c] == parent and (
            least_loaded < 0 or down_load[c] < down_load[least_loaded]
        ):
            least_loaded = c
    return least_loaded


@inline
def _climb_to(fabric, level, up_load, steps, root, top, queue):
    """Let all switches below `top` without a route climb towards it, nearest first."""
    queue[0] = top
    count, i = 1, 0
    while i < count:
        v = queue[i]
        for j in range(fabric.in_start[v], fabric.in_start[v + 1]):
            c = fabric.in_channel[j]
            u = fabric.source[c]
            if level[u] >= level[v] or u == root:
                continue
            if steps[u] < 0:
                steps[u] = c
                up_load[c] += 1
                queue[count] = u
                count += 1
            # u climbs to v already, over another cable. It changes to this one if this would serve
            # fewer destinations, with the present one, than the other does now.
            elif fabric.target[steps[u]] == v and up_load[c] + 1 < up_load[steps[u]]:
                up_load[steps[u]] -= 1
                steps[u] = c
                up_load[c] += 1
        i += 1
