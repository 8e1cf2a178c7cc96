"""Turns that layers allow: those that follow an order of the channels.

A layer in which every turn goes to a channel later in its order has no cycle of dependencies.

    turns_of_orders           orders of the channels   -> the turns that layers allow
    choose_layers             allowed turns, trees     -> each route's layer, and the turns it takes
    order_channels            the turns that are taken -> an order that allows them
    order_channels_by_turns   turns by importance      -> an order that allows all but those on
                                                          cycles

A turn is a channel and the next one. A switch u of a tree forwards over channel ``steps[u]``, −1 at
the root; `tree` is filled by `routelab.kernels.forwarding.trees.read_tree`.
"""

import numpy as np

from routelab.kernels.bits import lowest
from routelab.kernels.forwarding.acyclic import add_edge, empty_graph, list_edges
from routelab.kernels.forwarding.heap import pop, push
from routelab.kernels.forwarding.trees import list_turns, read_tree, tree_scratch
from routelab.kernels.jit import jit


@jit
def turns_of_orders(fabric, rank):
    """Return the layers that allow each turn, as bits; int64, shape (number of turns,).

    Parameters
    ----------
    rank : int32 array, shape (layers, C)
        Position of each channel in the order of each layer.
    """
    turns = np.zeros(fabric.turn_start[-1], np.int64)
    for c in range(len(fabric.source)):
        v = fabric.target[c]
        for i in range(fabric.out_start[v], fabric.out_start[v + 1]):
            d = fabric.out_channel[i]
            # a layer allows the turn from c to d if d comes later in its order
            layers = np.int64(0)
            for layer in range(len(rank)):
                if rank[layer, c] < rank[layer, d]:
                    layers |= np.int64(1) << layer
            turns[fabric.turn_start[c] + fabric.port[d]] = layers
    return turns


@jit
def choose_layers(fabric, legality, trees):
    """Choose the first layer in which each route is legal.

    Parameters
    ----------
    legality : Legality
        With turns.
    trees : int32 array, shape (T, S)

    Returns
    -------
    layer : int8 array, shape (S, T)
        −1 where no route exists, or none is legal.
    used_layers : int64 array, shape (number of turns,)
        Layers in which a route takes each turn, as bits.
    """
    destinations, switches = trees.shape
    tree = tree_scratch(switches, switches)
    layer = np.full((switches, destinations), -1, np.int8)
    used_layers = np.zeros(len(legality.turns), np.int64)
    # layers of all routes that begin at a switch or pass it, as bits
    layers_through = np.zeros(switches, np.int64)
    for t in range(destinations):
        steps = trees[t]
        count = read_tree(fabric, legality, steps, fabric.root[t], tree)
        for i in range(count):
            layers_through[tree.queue[i]] = 0
        # From the leaves to the root, so that a switch comes after all those whose routes pass it.
        for i in range(count - 1, 0, -1):
            u = tree.queue[i]
            # `good`, with turns: the layers in which the whole route of u is legal, as bits
            if tree.good[u]:
                layer[u, t] = lowest(np.uint64(tree.good[u]))
                layers_through[u] |= np.int64(1) << layer[u, t]
            # Routes through u pass v, too. Unless v is the root, they turn there into its next
            # channel.
            v = fabric.target[steps[u]]
            layers_through[v] |= layers_through[u]
            if steps[v] >= 0:
                turn = fabric.turn_start[steps[u]] + fabric.port[steps[v]]
                used_layers[turn] |= layers_through[u]
        # packets to a terminal of the same switch cross no channel, so any layer will do
        layer[fabric.root[t], t] = 0
    return layer, used_layers


@jit
def order_channels(fabric, used, layer, priority):
    """Order the channels so that every used turn goes forwards.

    Parameters
    ----------
    used : int64 array, shape (number of turns,)
        Layers that use each turn, as bits.
    layer : int
        Layer whose turns are to go forwards.
    priority : int64 array, shape (C,)
        Of the channels that may come next, the one with the smallest priority comes first.

    Returns
    -------
    rank : int32 array, shape (C,)
        Position of each channel; −1 for channels on or behind a cycle.
    """
    # Kahn's algorithm: a channel comes when all turns to it are from channels that came before.
    channels = len(fabric.source)
    _, turn_target = list_turns(fabric)
    num_predecessors = np.zeros(channels, np.int32)
    bit = np.int64(1) << layer
    for turn in range(len(used)):
        if used[turn] & bit:
            num_predecessors[turn_target[turn]] += 1
    heap = np.empty(channels, np.int32)
    size = 0
    for c in range(channels):
        if num_predecessors[c] == 0:
            size = push(heap, size, priority, c)
    rank = np.full(channels, -1, np.int32)
    position = 0
    while size:
        c = heap[0]
        size = pop(heap, size, priority)
        rank[c] = position
        position += 1
        for turn in range(fabric.turn_start[c], fabric.turn_start[c + 1]):
            if used[turn] & bit:
                d = turn_target[turn]
                num_predecessors[d] -= 1
                if num_predecessors[d] == 0:
                    size = push(heap, size, priority, d)
    return rank


@jit
def turn_loads(fabric, legality, trees):
    """Return the packets over each turn, if every terminal sends one to every other.

    Parameters
    ----------
    legality : Legality
        With turns.
    trees : int32 array, shape (T, S)

    Returns
    -------
    load : int64 array, shape (number of turns,)
    """
    tree = tree_scratch(trees.shape[1], len(legality.accepting))
    load = np.zeros(fabric.turn_start[-1], np.int64)
    for t in range(len(trees)):
        steps = trees[t]
        count = read_tree(fabric, legality, steps, fabric.root[t], tree)
        for i in range(1, count):
            u = tree.queue[i]
            next_channel = steps[fabric.target[steps[u]]]
            if next_channel >= 0:
                load[fabric.turn_start[steps[u]] + fabric.port[next_channel]] += tree.weight[u]
    return load


@jit
def order_channels_by_turns(fabric, turns):
    """Order the channels so that turns go forwards, each unless those before it forbid it.

    Parameters
    ----------
    turns : int64 array
        Numbers of turns, the most important first. One that closes a cycle is left out.

    Returns
    -------
    rank : int32 array, shape (C,)
        Position of each channel.
    """
    turn_source, turn_target = list_turns(fabric)
    edges = list_edges(fabric.turn_start, turn_target)
    graph = empty_graph(len(fabric.source), len(turn_target))
    # `add_edge` leaves out a turn that closes a cycle, so its result is of no interest.
    for turn in turns:
        add_edge(edges, graph, turn_source[turn], turn)
    return graph.position
