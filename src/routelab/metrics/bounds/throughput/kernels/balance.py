"""Flows over several routes of each pair, moved towards lightest routes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import helper, jit
from routelab.metrics.bounds.throughput.kernels.trees import grow_lightest

WORTH_A_SLOT = 0.98
"""Weight of a new route, relative to the lightest one in use, that is worth a slot in use."""

STEEPEST = 40.0
"""Largest absolute exponent of a weight."""


class Routes(NamedTuple):
    """Routes of pairs of nodes, and their flows (P pairs, up to K routes of up to H hops).

    Pairs ``start[s]:start[s + 1]`` leave node s. Each pair has K slots for routes; a slot without
    flow is empty. Hop C, one more than the last channel, stands for traffic that is rejected::

        target, demand    (P,)         node where a pair ends; flits per cycle
        hops              (P, K, H)    channels of the route in each slot, the last hop first
        length, flow      (P, K)       hops of that route, and the flow on it
    """

    start: NDArray[np.int64]
    target: NDArray[np.int32]
    demand: NDArray[np.float64]
    hops: NDArray[np.int32]
    length: NDArray[np.int32]
    flow: NDArray[np.float64]


class Prices(NamedTuple):
    """How weights grow with loads.

    The weight of channel c is ``scale × exp(sharpness × (load / capacity − level)) / capacity``: a
    channel with the relative load `level` weighs ``scale / capacity``, a busier one much more. Hop
    C, rejected traffic, always weighs `rejected`: infinite if all traffic has to be sent.
    ``inverse`` is 1 / capacity, float64, shape (C,).
    """

    inverse: NDArray[np.float64]
    sharpness: float
    level: float
    scale: float
    rejected: float


@helper()
def _update_weights(hops, num_hops, prices, load, weight):
    """Compute the weights of some channels anew, after a change of their loads."""
    for i in range(num_hops):
        c = hops[i]
        if c < len(prices.inverse):  # hop C, rejected traffic, keeps its weight
            height = prices.sharpness * (load[c] * prices.inverse[c] - prices.level)
            height = min(max(height, -STEEPEST), STEEPEST)
            weight[c] = prices.scale * np.exp(height) * prices.inverse[c]


@helper()
def _add_load(hops, num_hops, amount, load):
    """Add an amount to the loads of the channels of a route."""
    for i in range(num_hops):
        load[hops[i]] += amount


@helper()
def _lightest_route(network, source, target, parent, weight, route):
    """Write the lightest route to `route`, its last hop first.

    `parent` has the last channel of the lightest route from the source to each node. If rejecting
    the traffic is lighter, that is the only hop, C. Returns the number of hops, −1 if the route
    does not fit into `route`, and its weight.
    """
    rejecting_hop = len(network.channel_source)
    num_hops, node, route_weight = 0, target, 0.0
    while node != source and num_hops < len(route):
        c = parent[node]
        route[num_hops] = c
        route_weight += weight[c]
        node = network.channel_source[c]
        num_hops += 1
    if weight[rejecting_hop] < route_weight:
        route[0] = rejecting_hop
        return 1, weight[rejecting_hop]
    return (num_hops if node == source else -1), route_weight


@helper()
def _choose_slot(routes, p, route, num_hops, price, weight, marked):
    """Choose which slot of pair p gets its lightest route; a slot holds a route and its flow.

    A route that is present keeps its slot. A new one gets the slot with the least flow. If all
    slots have flow and their lightest route is nearly as light as the new one, that route replaces
    the new one in `route`: another route is not worth the loss of a slot.

    Parameters
    ----------
    price : float
        Weight of the route.
    marked : int8 array, shape (C + 1,)
        Scratch: 0 before and after.

    Returns
    -------
    slot, num_hops : int
        The slot, and the hops of `route`.
    is_present : bool
        Whether the slot holds the route already.
    """
    for i in range(num_hops):
        marked[route[i]] = 1
    emptiest, lightest, lightest_weight, same_slot = 0, -1, np.inf, -1
    for k in range(routes.flow.shape[1]):
        if routes.flow[p, k] > 0:
            # a route of the same length, all of whose channels are marked, is the same
            is_same, route_weight = routes.length[p, k] == num_hops, 0.0
            for i in range(routes.length[p, k]):
                is_same &= marked[routes.hops[p, k, i]] != 0
                route_weight += weight[routes.hops[p, k, i]]
            if route_weight < lightest_weight:
                lightest, lightest_weight = k, route_weight
            if is_same:
                same_slot = k
        if routes.flow[p, k] < routes.flow[p, emptiest]:
            emptiest = k
    for i in range(num_hops):
        marked[route[i]] = 0
    if same_slot >= 0:
        return same_slot, num_hops, True
    if routes.flow[p, emptiest] > 0 and price > WORTH_A_SLOT * lightest_weight:
        num_hops = routes.length[p, lightest]
        route[:num_hops] = routes.hops[p, lightest, :num_hops]
        return lightest, num_hops, True
    return emptiest, num_hops, False


@helper()
def _fill_slot(routes, p, k, route, num_hops, prices, load, weight):
    """Write a new route of pair p to slot k; it takes over the flow there.

    The first route of a pair takes all its demand. `routes`, `load` and `weight` are updated.
    """
    old_length, amount = routes.length[p, k], routes.flow[p, k]
    is_first_route = routes.length[p].max() == 0
    if is_first_route:
        amount = routes.demand[p]
    elif amount > 0:
        _add_load(routes.hops[p, k], old_length, -amount, load)
        _update_weights(routes.hops[p, k], old_length, prices, load, weight)
    _add_load(route, num_hops, amount, load)
    _update_weights(route, num_hops, prices, load, weight)
    routes.length[p, k], routes.flow[p, k] = num_hops, amount
    routes.hops[p, k, :num_hops] = route[:num_hops]


@helper()
def _move_flow(routes, p, k, to_slot, route, num_hops, marked, prices, load, weight):
    """Move flow of pair p from the route in slot `k` to `route` in `to_slot`, by a Newton step.

    `marked` is 1 for the channels of `route`, before and after. `routes`, `load` and `weight` are
    updated.
    """
    # 1. The derivatives of the sum of all exponentials, but for constant factors. The slope is the
    #    weight of the old route minus that of the new one. Only channels of one of the routes
    #    count: those of both, which are marked with 2 until the second loop, keep their load.
    slope = curvature = 0.0
    length = routes.length[p, k]
    for i in range(length):
        c = routes.hops[p, k, i]
        if marked[c]:
            marked[c] = 2
        else:
            slope += weight[c]
            if c < len(prices.inverse):  # the weight of rejected traffic is constant
                curvature += weight[c] * prices.inverse[c]
    for i in range(num_hops):
        c = route[i]
        if marked[c] == 1:
            slope -= weight[c]
            if c < len(prices.inverse):
                curvature += weight[c] * prices.inverse[c]
        marked[c] = 1
    if slope <= 0:  # after earlier moves, the new route is no longer the lighter one
        return
    # 2. The step is the first derivative over the second one, in which the sharpness is a further
    #    factor. At most all flow of the old route moves.
    amount = min(slope / (prices.sharpness * curvature), routes.flow[p, k])
    routes.flow[p, k] -= amount
    routes.flow[p, to_slot] += amount
    _add_load(routes.hops[p, k], length, -amount, load)
    _add_load(route, num_hops, amount, load)
    _update_weights(routes.hops[p, k], length, prices, load, weight)
    _update_weights(route, num_hops, prices, load, weight)


@jit
def balance_routes(network, routes, prices, load):
    """Move flows towards routes that are lightest under weights that grow with the load.

    For one pair after the other, flow moves from each of its routes to the lightest one, by a
    Newton step for the sum of all exponentials. A new route takes an empty slot, or that of
    the route with the least flow. A pair without routes puts all its demand on the lightest one.

    Parameters
    ----------
    network : NetworkArrays
    routes : Routes
        Updated.
    prices : Prices
    load : float64 array, shape (C + 1,)
        Flow over each channel, and rejected flow; updated.
    """
    num_nodes, num_channels = len(routes.start) - 1, len(network.channel_source)
    cost, parent = np.empty(num_nodes), np.empty(num_nodes, np.int32)
    keys, nodes = np.empty(num_channels + 1), np.empty(num_channels + 1, np.int32)
    weight, marked = np.empty(num_channels + 1), np.zeros(num_channels + 1, np.int8)
    route = np.empty(routes.hops.shape[2], np.int32)
    weight[num_channels] = prices.rejected
    _update_weights(np.arange(num_channels), num_channels, prices, load, weight)
    for s in range(num_nodes):
        if routes.start[s] == routes.start[s + 1]:
            continue
        grow_lightest(network, weight, s, cost, parent, keys, nodes)
        for p in range(routes.start[s], routes.start[s + 1]):
            # 1. The lightest route of the pair. If it is too long, the pair stays as it is.
            num_hops, price = _lightest_route(network, s, routes.target[p], parent, weight, route)
            if num_hops < 0:
                continue
            # 2. Its slot.
            slot, num_hops, is_present = _choose_slot(
                routes, p, route, num_hops, price, weight, marked
            )
            if not is_present:
                _fill_slot(routes, p, slot, route, num_hops, prices, load, weight)
            # 3. Flow from the other routes. Its channels are marked, so that each move finds those
            #    that both routes use.
            for i in range(num_hops):
                marked[route[i]] = 1
            for k in range(routes.flow.shape[1]):
                if k != slot and routes.flow[p, k] > 0:
                    _move_flow(routes, p, k, slot, route, num_hops, marked, prices, load, weight)
            for i in range(num_hops):
                marked[route[i]] = 0


@jit
def feasible_flow(routes, capacity):
    """Return the total of the flows, reduced so that no channel exceeds its capacity.

    The flow of a route is divided by the largest relative load of its channels, if above 1: with
    channels of relative load 0.5 and 2, half of it counts. `routes` stays unchanged.

    Parameters
    ----------
    routes : Routes
    capacity : float64 array, shape (C,)

    Returns
    -------
    total : float
        Without rejected traffic.
    greatest_load : float
        Largest relative load of all channels (load / capacity), before the reduction.
    """
    num_channels = len(capacity)
    load = np.zeros(num_channels + 1)
    pairs, slots = routes.flow.shape
    for p in range(pairs):
        for k in range(slots):
            if routes.flow[p, k] > 0:
                _add_load(routes.hops[p, k], routes.length[p, k], routes.flow[p, k], load)
    greatest_load = 0.0
    for c in range(num_channels):
        load[c] /= capacity[c]
        greatest_load = max(greatest_load, load[c])
    total = 0.0
    for p in range(pairs):
        for k in range(slots):
            # a first hop C is rejected traffic
            if routes.flow[p, k] > 0 and routes.hops[p, k, 0] < num_channels:
                excess = 1.0  # a route without overloaded channels keeps its flow
                for i in range(routes.length[p, k]):
                    excess = max(excess, load[routes.hops[p, k, i]])
                total += routes.flow[p, k] / excess
    return total, greatest_load
