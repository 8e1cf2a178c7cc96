"""Upper bounds of throughput for any routing, and their verification.

A routing may split and detour traffic as it likes; what it sends over channel c is at most the
capacity of c. For any non-negative weights y of the channels, the traffic that arrives therefore
satisfies ::

    sum over pairs of flow × (least y-weight of a route) <= sum of capacity × y

because each flit of a pair crosses channels of at least this weight. If all pairs are served at
load x, their flows are x × demand: x is at most the quotient of both sums. At an offered load l the
flow of a pair is at most l × demand, and flow × (1 − least weight) is at most
l × demand × max(0, 1 − least weight), so that ::

    sum of flows <= sum of capacity × y + l × sum of demand × max(0, 1 − least y-weight)

Both hold for any y, and a shortest-path routine can check them: y is the certificate. They are the
dual programs of maximum concurrent flow and of maximum flow of several commodities: Shahrokhi,
Matula, *The maximum concurrent flow problem*, J. ACM 37(2), 1990. The channels from and to
terminals, of one flit per cycle, belong to the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from routelab.api import InputError
from routelab.api.topology import Int64Array, Topology, frozen_array
from routelab.metrics import load_factors
from routelab.metrics.bounds.throughput.kernels.pairs import sum_costs
from routelab.metrics.bounds.throughput.kernels.trees import lightest_costs
from routelab.metrics.bounds.throughput.problem import Traffic, network_arrays

SUM_LIMIT = 2**62
"""Sums of integer weights must be smaller than this, to fit into 64 bits."""


@dataclass(frozen=True, eq=False)
class ChannelWeights:
    """Weights that prove a bound: integers that are not negative.

    Attributes
    ----------
    channel : int64 array, shape (C,)
        Weights of the channels between switches.
    injection, ejection : int64 array, shape (T,)
        Weights of the channels from and to terminals.
    one : int
        The integer that stands for a weight of 1: if it is 6, then 3 means 1/2. Only the bound of
        the accepted load depends on it.
    """

    channel: Int64Array
    injection: Int64Array
    ejection: Int64Array
    one: int

    @classmethod
    def of_channels(cls, topology: Topology, channel: Int64Array) -> ChannelWeights:
        """Return weights for the channels between switches, and 0 for those of terminals."""
        zeros = frozen_array(np.zeros(topology.num_terminals), np.int64)
        return cls(frozen_array(channel, np.int64), zeros, zeros, 1)

    def __post_init__(self) -> None:
        for name in ("channel", "injection", "ejection"):
            values = getattr(self, name)
            if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
                raise InputError(
                    f"bound: expected a list of integers as the weights of {name}, found "
                    f"{values.dtype} of shape {values.shape}"
                )
            if values.size and values.min() < 0:
                raise InputError(f"bound: {name} {int(values.argmin())} has a negative weight")
        if self.one < 1:
            raise InputError(f"bound: the weight that represents 1 is {self.one}, not positive")


def sustained_from_weights(traffic: Traffic, weights: ChannelWeights) -> Fraction | None:
    """Return the largest load that any routing can sustain, as far as weights prove it.

    Uses only the traffic, the capacities and shortest-path searches, in integers and fractions.

    Parameters
    ----------
    traffic : Traffic
    weights : ChannelWeights

    Returns
    -------
    load : Fraction or None
        No routing sustains a greater load. None if all lightest routes have the weight 0, so that
        the weights prove nothing. Pairs without a route do not count.

    Raises
    ------
    InputError
        If the weights do not fit the network.
    """
    capacity_sum, demand_sum, _ = _weighted_sums(traffic, weights)
    return capacity_sum / demand_sum if demand_sum else None


def accepted_from_weights(traffic: Traffic, weights: ChannelWeights) -> tuple[Fraction, Fraction]:
    """Return the bound of the accepted load that weights prove, as a line over the offered load.

    Parameters
    ----------
    traffic : Traffic
    weights : ChannelWeights

    Returns
    -------
    start, slope : Fraction
        At offered load l, no routing delivers more than start + slope × l flits per cycle and
        sending terminal.

    Raises
    ------
    InputError
        If the weights do not fit the network, or no terminal sends.
    """
    if not traffic.senders:
        raise InputError("bound: no terminal sends anything")
    capacity_sum, _, missing_sum = _weighted_sums(traffic, weights)
    # `missing_sum` is the sum of demand × max(0, 1 − least weight) of the module's docstring. `one`
    # stands for a weight of 1, and the accepted load is per terminal that sends.
    divisor = weights.one * traffic.senders
    return capacity_sum / divisor, missing_sum / divisor


def terminal_limit(traffic: Traffic) -> Fraction | None:
    """Return the load at which the first terminal sends or receives a flit every cycle.

    Returns
    -------
    load : Fraction or None
        None if no terminal sends.
    """
    # 1. The busiest of all channels from (the first half) and to terminals.
    loads = np.concatenate([traffic.sent, traffic.received])
    busiest = int(loads.argmax()) if len(loads) else 0
    if not len(loads) or not loads[busiest]:
        return None
    # 2. With weight 1 for it and 0 for all others, the bound is its capacity over its load: as a
    #    fraction, whereas `loads` are rounded.
    num_terminals = traffic.topology.num_terminals
    terminal_weights = np.zeros(2 * num_terminals, dtype=np.int64)
    terminal_weights[busiest] = 1
    injection, ejection = terminal_weights[:num_terminals], terminal_weights[num_terminals:]
    channel = np.zeros(traffic.topology.num_channels, dtype=np.int64)
    weights = ChannelWeights(channel=channel, injection=injection, ejection=ejection, one=1)
    return sustained_from_weights(traffic, weights)


def _weighted_sums(
    traffic: Traffic, weights: ChannelWeights
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the sums of capacity × weight, demand × weight and demand × missing weight.

    The weight of a pair is that of its lightest route; its missing weight is the difference to
    `weights.one`, or 0 if the route weighs more. Demands are those of load 1.
    """
    # 1. Weights of another network, and sums that exceed 64 bits, would prove something wrong. So
    #    limit the sum: a lightest route passes no switch twice, and the number of pairs is at most
    #    the number of destinations, counted over all parts of the demand.
    topology = traffic.topology
    for name, expected in (
        ("channel", topology.num_channels),
        ("injection", topology.num_terminals),
        ("ejection", topology.num_terminals),
    ):
        count = len(getattr(weights, name))
        if count != expected:
            raise InputError(f"bound: {count} weights of {name} for {expected}")
    ends = int(weights.injection.max(initial=0)) + int(weights.ejection.max(initial=0))
    heaviest_route = int(weights.channel.max(initial=0)) * topology.num_switches + ends
    set_size = np.diff(traffic.demand.set_start)
    max_pairs = int(set_size[traffic.demand.part_set].sum())
    if max(heaviest_route, weights.one) * max(max_pairs, 1) >= SUM_LIMIT:
        raise InputError("bound: the sum of the weights is too large; divide them by 1000")
    # 2. Capacity × weight. Weights of channels with one factor are added up first, as integers.
    factors, factor_index = load_factors(topology)
    by_factor = [sum(weights.channel[factor_index == k].tolist()) for k in range(len(factors))]
    capacity_sum = sum((w / f for w, f in zip(by_factor, factors, strict=True)), Fraction(0))
    capacity_sum += sum(weights.injection.tolist()) + sum(weights.ejection.tolist())
    # 3. Demand × weight likewise: the weights of all pairs with equal demands, a class, are added
    #    up first. `traffic.amounts` has the demand of a pair of each class.
    class_weight, class_missing = sum_costs(
        traffic.arrays,
        part_class=traffic.part_class,
        num_classes=len(traffic.amounts),
        terminal_switch=topology.terminal_switch,
        cost=lightest_costs(network_arrays(topology), np.array(weights.channel, dtype=np.int64)),
        injection=np.array(weights.injection, dtype=np.int64),
        ejection=np.array(weights.ejection, dtype=np.int64),
        one=weights.one,
    )

    def times_demand(class_sums: Int64Array) -> Fraction:
        terms = zip(traffic.amounts, class_sums.tolist(), strict=True)
        return sum((amount * class_sum for amount, class_sum in terms), Fraction(0))

    return capacity_sum, times_demand(class_weight), times_demand(class_missing)
