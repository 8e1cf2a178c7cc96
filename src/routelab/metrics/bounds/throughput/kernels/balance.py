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
    """Routes of pairs of switches, and their flows (P pairs, up to K routes of up to H hops).

    Pairs ``start[s]:start[s + 1]`` leave switch s. Each pair has K slots for routes; a slot without
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

    The weight of channel c is ``scale × exp(sharpness × (load / capacity − level)) / capacity``,
    that of rejected traffic is `rejected`: infinite if all traffic has to be sent.
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
        if c < len(prices.inverse):
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

    If rejecting the traffic is lighter, that is the only hop, C. Returns the number of hops, −1 if
    the route is longer than `route`, and its weight.
    """
    channels = len(network.channel_source)
    num_hops, t, price = 0, target, 0.0
    while t != source and num_hops < len(route):
        c = parent[t]
        route[num_hops] = c
        price += weight[c]
        t = network.channel_source[c]
        num_hops += 1
    if weight[channels] < price:
        route[0] = channels
        return 1, weight[channels]
    return (num_hops if t == source else -1), price


@helper()
def _choose_slot(routes, p, route, num_hops, price, weight, used):
    """Choose which of a pair's slots a route gets; a slot holds one route and its flow.

    A route that is present keeps its slot. A new one gets the slot with the least flow. If all
    slots have flow and their lightest route is nearly as light as the new one, that route replaces
    the new one in `route`.

    Returns
    -------
    slot, num_hops : int
        The slot, and the hops of `route`.
    is_present : bool
        Whether the slot holds the route already.
    """
    for i in range(num_hops):
        used[route[i]] = 1
    emptiest, lightest, lightest_weight, slot = 0, -1, np.inf, -1
    for k in range(routes.flow.shape[1]):
        if routes.flow[p, k] > 0:
            # a route of the same length, all of whose channels are marked, is the same
            is_same, route_weight = routes.length[p, k] == num_hops, 0.0
            for i in range(routes.length[p, k]):
                is_same &= used[routes.hops[p, k, i]] != 0
                route_weight += weight[routes.hops[p, k, i]]
            if route_weight < lightest_weight:
                lightest, lightest_weight = k, route_weight
            if is_same:
                slot = k
        if routes.flow[p, k] < routes.flow[p, emptiest]:
            emptiest = k
    for i in range(num_hops):
        used[route[i]] = 0
    if slot >= 0:
        return slot, num_hops, True
    if routes.flow[p, emptiest] > 0 and price > WORTH_A_SLOT * lightest_weight:
        num_hops = routes.length[p, lightest]
        route[:num_hops] = routes.hops[p, lightest, :num_hops]
        return lightest, num_hops, True
    return emptiest, num_hops, False


@helper()
def _fill_slot(routes, p, k, route, num_hops, prices, load, weight):
    """Write a route to a slot; it takes over the flow there, or all demand of a new pair."""
    old_length, amount = routes.length[p, k], routes.flow[p, k]
    if routes.length[p].max() == 0:
        amount = routes.demand[p]
    elif amount > 0:
        _add_load(routes.hops[p, k], old_length, -amount, load)
        _update_weights(routes.hops[p, k], old_length, prices, load, weight)
    _add_load(route, num_hops, amount, load)
    _update_weights(route, num_hops, prices, load, weight)
    routes.length[p, k], routes.flow[p, k] = num_hops, amount
    routes.hops[p, k, :num_hops] = route[:num_hops]


@helper()
def _move_flow(routes, p, k, to_slot, route, num_hops, used, prices, load, weight):
    """Move flow from the route in slot `k` to that in `to_slot`, by a Newton step."""
    # 1. Slope and curvature of the sum of all exponentials, by the channels of one route only:
    #    those of both (marked with 2 until the second loop) keep their load.
    excess = curve = 0.0
    length = routes.length[p, k]
    for i in range(length):
        c = routes.hops[p, k, i]
        if used[c]:
            used[c] = 2
        else:
            excess += weight[c]
            if c < len(prices.inverse):
                curve += weight[c] * prices.inverse[c]
    for i in range(num_hops):
        c = route[i]
        if used[c] == 1:
            excess -= weight[c]
            if c < len(prices.inverse):
                curve += weight[c] * prices.inverse[c]
        used[c] = 1
    if excess <= 0:
        return
    # 2. At most all flow of the route. Traffic that is rejected has a slope, but no curvature.
    amount = min(excess / (prices.sharpness * curve), routes.flow[p, k])
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
    the route with the least flow. A pair without flow puts all of it on the lightest route.

    Parameters
    ----------
    network : NetworkArrays
    routes : Routes
        Updated.
    prices : Prices
    load : float64 array, shape (C + 1,)
        Flow over each channel, and rejected flow; updated.
    """
    size, channels = len(routes.start) - 1, len(network.channel_source)
    cost, parent = np.empty(size), np.empty(size, np.int32)
    keys, nodes = np.empty(channels + 1), np.empty(channels + 1, np.int32)
    weight, used = np.empty(channels + 1), np.zeros(channels + 1, np.int8)
    route = np.empty(routes.hops.shape[2], np.int32)
    weight[channels] = prices.rejected
    _update_weights(np.arange(channels), channels, prices, load, weight)
    for s in range(size):
        if routes.start[s] == routes.start[s + 1]:
            continue
        grow_lightest(network, weight, s, cost, parent, keys, nodes)
        for p in range(routes.start[s], routes.start[s + 1]):
            # 1. The lightest route of the pair; without one that fits, the pair stays as it is.
            num_hops, price = _lightest_route(network, s, routes.target[p], parent, weight, route)
            if num_hops < 0:
                continue
            # 2. Its slot.
            slot, num_hops, is_present = _choose_slot(
                routes, p, route, num_hops, price, weight, used
            )
            if not is_present:
                _fill_slot(routes, p, slot, route, num_hops, prices, load, weight)
            # 3. Flow from the other routes. Marks of its channels tell which ones both routes use.
            for i in range(num_hops):
                used[route[i]] = 1
            for k in range(routes.flow.shape[1]):
                if k != slot and routes.flow[p, k] > 0:
                    _move_flow(routes, p, k, slot, route, num_hops, used, prices, load, weight)
            for i in range(num_hops):
                used[route[i]] = 0


@jit
def feasible_flow(routes, capacity):
    """Return the total of the flows, reduced so that no channel exceeds its capacity.

    The flow of a route counts divided by the largest relative load of its channels, if above 1.
    `routes` stays unchanged.

    Parameters
    ----------
    routes : Routes
    capacity : float64 array, shape (C,)

    Returns
    -------
    total : float
        Without rejected traffic.
    greatest : float
        Largest load of a channel over its capacity, before the reduction.
    """
    channels = len(capacity)
    load = np.zeros(channels + 1)
    pairs, slots = routes.flow.shape
    for p in range(pairs):
        for k in range(slots):
            if routes.flow[p, k] > 0:
                _add_load(routes.hops[p, k], routes.length[p, k], routes.flow[p, k], load)
    greatest = 0.0
    for c in range(channels):
        load[c] /= capacity[c]
        greatest = max(greatest, load[c])
    total = 0.0
    for p in range(pairs):
        for k in range(slots):
            if routes.flow[p, k] > 0 and routes.hops[p, k, 0] < channels:
                greatest_load = 1.0  # a route without overloaded channels keeps its flow
                for i in range(routes.length[p, k]):
                    greatest_load = max(greatest_load, load[routes.hops[p, k, i]])
                total += routes.flow[p, k] / greatest_load
    return total, greatest
