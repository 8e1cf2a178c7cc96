"""Trees towards destinations: which routes are legal in them, and the loads of their channels.

A forwarding table has one next channel for each switch and destination, so that the routes to one
destination form a tree. A route is legal from its source on; what is legal behind a switch depends
on how the packet came there. So each tree keeps at every switch the *good* arrivals: those from
which the rest of the tree is legal. Two models of legality share this:

- an automaton (a routing graph): the arrivals at a switch are its vertices, each good or not;
- turns: each turn from a channel to the next is allowed in some of up to 62 layers, and a switch
  has one set of layers in which its whole route is allowed. A route is legal if a layer is left.

A switch u forwards over channel ``steps[u]``; −1 at the tree's root, which is the destination's
switch, and at switches without a route. The switches that forward to u are its children.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import helper, inline, jit


class Fabric(NamedTuple):
    """Network of S switches, C channels and T destinations; read-only.

    Attributes
    ----------
    source, target : int32 array, shape (C,)
        Switch that each channel leaves, and switch at which it arrives.
    out_start : int32 array, shape (S + 1,)
    out_channel : int32 array, shape (C,)
        Channels ``out_channel[out_start[s]:out_start[s + 1]]`` leave switch s.
    in_start, in_channel : int32 array, shape (S + 1,) and (C,)
        Channels that arrive at each switch.
    port : int32 array, shape (C,)
        Index of each channel among those that leave its source.
    turn_start : int64 array, shape (C + 1,)
        The turn from channel c to channel d has the number ``turn_start[c] + port[d]``.
    hosts : int64 array, shape (S,)
        Terminals at each switch.
    root : int32 array, shape (T,)
        Switch of each destination.
    capacity_class : int16 array, shape (C,)
        Index of the channel's capacity among the different capacities, ascending.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    out_start: NDArray[np.int32]
    out_channel: NDArray[np.int32]
    in_start: NDArray[np.int32]
    in_channel: NDArray[np.int32]
    port: NDArray[np.int32]
    turn_start: NDArray[np.int64]
    hosts: NDArray[np.int64]
    root: NDArray[np.int32]
    capacity_class: NDArray[np.int16]


class Legality(NamedTuple):
    """Which routes are legal; read-only.

    Attributes
    ----------
    turns : int64 array, shape (number of turns,)
        Layers in which each turn is allowed, as bits; empty for an automaton.
    full : int64
        What `Tree.good` is where everything is legal: all layers, as bits; 1 for an automaton.
    first : int64 array, shape (S + 1,)
        Arrivals at switch s: ``first[s]`` to ``first[s + 1] - 1``. With turns every switch has one.
    begin : int32 array, shape (S,)
        Arrival, at each switch, of packets that begin there.
    accepting : bool array, shape (V,)
        Arrivals from which packets may leave the network.
    step : int32 array, shape (C, W)
        Arrival that the wth arrival at the channel's source becomes over the channel; −1 where the
        channel is illegal. Empty with turns.
    """

    turns: NDArray[np.int64]
    full: np.int64
    first: NDArray[np.int64]
    begin: NDArray[np.int32]
    accepting: NDArray[np.bool_]
    step: NDArray[np.int32]


class Tree(NamedTuple):
    """What kernels keep about a tree towards one destination, filled anew for the next. Updated.

    Attributes
    ----------
    child, next_sibling, previous_sibling : int32 array, shape (S,)
        Switches that forward to a switch, as linked lists; −1 at their ends.
    weight : int64 array, shape (S,)
        Terminals at the switch and at all switches whose routes pass it. If each sends a packet, so
        many leave the switch over its next channel.
    good : int64 array, shape (V,)
        With turns, the layers that allow the rest of the tree from the arrival on, as bits. For an
        automaton 1 if the rest is legal, else 0.
    trial : int64 array, shape (V,)
        `good` after a move that is tried.
    queue : int32 array, shape (S,)
        After `read_tree` the switches of the tree, each behind the one that it forwards to.
    stamp : int64 array, shape (S,)
        Number of the search that last passed the switch; −1 for none.
    relief : float64 array, shape (S,)
        What the channels up to the switch, on the route of the switch that moves, would cost less.
    """

    child: NDArray[np.int32]
    next_sibling: NDArray[np.int32]
    previous_sibling: NDArray[np.int32]
    weight: NDArray[np.int64]
    good: NDArray[np.int64]
    trial: NDArray[np.int64]
    queue: NDArray[np.int32]
    stamp: NDArray[np.int64]
    relief: NDArray[np.float64]


@helper()
def tree_scratch(switches, arrivals):
    """Return scratch for trees of a network with so many switches and arrivals."""
    return Tree(
        child=np.empty(switches, np.int32),
        next_sibling=np.empty(switches, np.int32),
        previous_sibling=np.empty(switches, np.int32),
        weight=np.empty(switches, np.int64),
        good=np.zeros(arrivals, np.int64),
        trial=np.zeros(arrivals, np.int64),
        queue=np.empty(switches, np.int32),
        stamp=np.full(switches, -1, np.int64),
        relief=np.zeros(switches, np.float64),
    )


@helper()
def list_turns(fabric):
    """Return the first and the second channel of each turn; int32, shape (number of turns,)."""
    turn_source = np.empty(fabric.turn_start[-1], np.int32)
    turn_target = np.empty(fabric.turn_start[-1], np.int32)
    for c in range(len(fabric.source)):
        v = fabric.target[c]
        for i in range(fabric.out_start[v], fabric.out_start[v + 1]):
            turn = fabric.turn_start[c] + fabric.port[fabric.out_channel[i]]
            turn_source[turn], turn_target[turn] = c, fabric.out_channel[i]
    return turn_source, turn_target


@inline
def fill_arrivals_at_root(legality, good, root):
    """Fill `good` at the destination's switch: there packets of good arrivals leave the network."""
    for q in range(legality.first[root], legality.first[root + 1]):
        good[q] = legality.full if legality.accepting[q] else 0


@inline
def fill_good_arrivals(fabric, legality, good_at_target, channel, next_channel, good):
    """Fill `good` at the source of `channel`, and return how many arrivals there are good.

    A packet at the source takes `channel` and comes to its target by an arrival that is good or
    not.

    Parameters
    ----------
    good_at_target : int64 array, shape (V,)
        Where `good` at the channel's target is read.
    next_channel : int
        Next channel of the target; −1 if it is the destination's switch.
    """
    first_arrival = legality.first[fabric.source[channel]]
    # 1. Turns: the layers of the rest that also allow the turn into `next_channel`.
    if len(legality.turns):
        layers = good_at_target[legality.first[fabric.target[channel]]]
        if next_channel >= 0:
            layers &= legality.turns[fabric.turn_start[channel] + fabric.port[next_channel]]
        good[first_arrival] = layers
        return 1 if layers else 0
    # 2. An automaton: an arrival is as good, 1 or 0, as the one that it becomes over the channel.
    num_good = 0
    for index in range(legality.first[fabric.source[channel] + 1] - first_arrival):
        next_arrival = legality.step[channel, index]
        good[first_arrival + index] = good_at_target[next_arrival] if next_arrival >= 0 else 0
        num_good += good[first_arrival + index]
    return num_good


@helper()
def read_tree(fabric, legality, steps, root, tree):
    """Fill `tree`: children, weights, good arrivals and queue. Return the number of its switches.

    Parameters
    ----------
    steps : int32 array, shape (S,)
        Next channel of each switch; −1 at the root and where no route exists.
    """
    tree.child[:] = -1
    for u in range(len(steps)):
        if steps[u] >= 0:
            v = fabric.target[steps[u]]
            _add_child(tree, u, v)
    # From the root outwards: the good arrivals of a switch follow from those of its next switch.
    tree.queue[0] = root
    fill_arrivals_at_root(legality, tree.good, root)
    count = 1
    for i in range(len(steps)):
        if i == count:  # all switches of the tree are done; others have no route
            break
        v = tree.queue[i]
        u = tree.child[v]
        while u >= 0:
            fill_good_arrivals(fabric, legality, tree.good, steps[u], steps[v], tree.good)
            tree.queue[count] = u
            count += 1
            u = tree.next_sibling[u]
    # Back to the root: terminals of a switch and of all that forward to it.
    for i in range(count):
        tree.weight[tree.queue[i]] = fabric.hosts[tree.queue[i]]
    for i in range(count - 1, 0, -1):
        u = tree.queue[i]
        tree.weight[fabric.target[steps[u]]] += tree.weight[u]
    return count


@inline
def _add_child(tree, u, v):
    """Put switch u among the children of v."""
    head = tree.child[v]
    tree.next_sibling[u] = head
    tree.previous_sibling[u] = -1
    if head >= 0:
        tree.previous_sibling[head] = u
    tree.child[v] = u


@inline
def reattach(fabric, tree, steps, u, channel):
    """Let switch u forward over `channel`; weights and good arrivals stay as they are."""
    # out of the list of its old parent's children, and into that of the new one
    old_parent = fabric.target[steps[u]]
    previous, following_sibling = tree.previous_sibling[u], tree.next_sibling[u]
    if previous >= 0:
        tree.next_sibling[previous] = following_sibling
    else:
        tree.child[old_parent] = following_sibling
    if following_sibling >= 0:
        tree.previous_sibling[following_sibling] = previous
    steps[u] = channel
    _add_child(tree, u, fabric.target[channel])


@helper()
def try_move(fabric, legality, tree, steps, u, channel):
    """Return the number of switches whose good arrivals change if u forwards over `channel`.

    Return −1 if a route becomes illegal. Else ``tree.queue[:count]`` are these switches, and
    `tree.trial` has their new good arrivals. u is always counted. The tree itself stays as it is.
    """
    next_channel = steps[fabric.target[channel]]
    fill_good_arrivals(fabric, legality, tree.good, channel, next_channel, tree.trial)
    if tree.trial[legality.begin[u]] == 0:
        return -1
    # Children of a switch that changes may change, too: their arrivals follow from `trial` of their
    # parent. Where nothing changes, the search ends.
    tree.queue[0] = u
    count, i = 1, 0
    while i < count:
        v = tree.queue[i]
        next_channel = channel if v == u else steps[v]
        w = tree.child[v]
        while w >= 0:
            fill_good_arrivals(fabric, legality, tree.trial, steps[w], next_channel, tree.trial)
            if tree.trial[legality.begin[w]] == 0:
                return -1
            for q in range(legality.first[w], legality.first[w + 1]):
                if tree.trial[q] != tree.good[q]:
                    tree.queue[count] = w
                    count += 1
                    break
            w = tree.next_sibling[w]
        i += 1
    return count


@jit
def channel_loads(fabric, legality, trees):
    """Return the packets on each channel, if every terminal sends one to every other.

    Parameters
    ----------
    trees : int32 array, shape (T, S)
        `steps` of the tree towards each destination terminal.

    Returns
    -------
    load : int64 array, shape (C,)
    illegal : int64 array, shape (T,)
        Switches whose route to each destination is illegal.
    """
    switches = trees.shape[1]
    tree = tree_scratch(switches, len(legality.accepting))
    load = np.zeros(len(fabric.source), np.int64)
    illegal = np.zeros(len(trees), np.int64)
    for t in range(len(trees)):
        count = read_tree(fabric, legality, trees[t], fabric.root[t], tree)
        for i in range(1, count):  # without the root, queue[0], which forwards nothing
            u = tree.queue[i]
            load[trees[t, u]] += tree.weight[u]
            if tree.good[legality.begin[u]] == 0:
                illegal[t] += 1
    return load, illegal


@jit
def reaching_switches(fabric):
    """Return the number of switches with a walk to each destination's switch; int64, shape (T,)."""
    switches = len(fabric.hosts)
    num_sources = np.zeros(switches, np.int64)
    queue = np.empty(switches, np.int32)
    reached_from = np.full(switches, -1, np.int32)
    result = np.empty(len(fabric.root), np.int64)
    for t in range(len(fabric.root)):
        root = fabric.root[t]
        # several destinations share a switch: searched once
        if num_sources[root] == 0:
            queue[0] = root
            reached_from[root] = root
            num_reached, i = 1, 0
            while i < num_reached:
                v = queue[i]
                for j in range(fabric.in_start[v], fabric.in_start[v + 1]):
                    u = fabric.source[fabric.in_channel[j]]
                    if reached_from[u] != root:
                        reached_from[u] = root
                        queue[num_reached] = u
                        num_reached += 1
                i += 1
            num_sources[root] = num_reached
        result[t] = num_sources[root]
    return result
