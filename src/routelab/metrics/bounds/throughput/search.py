"""Searches for bounds of throughput, with a method that fits the network."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from time import perf_counter

import numpy as np

from routelab.api import Demand, InputError, Topology, UnsupportedError
from routelab.api.topology import Float64Array, Int64Array, frozen_array
from routelab.metrics import as_fraction
from routelab.metrics.bounds.throughput.balance import (
    RATE,
    balance_accepted,
    balance_sustained,
)
from routelab.metrics.bounds.throughput.certificate import (
    ChannelWeights,
    accepted_from_weights,
    sustained_from_weights,
    terminal_limit,
)
from routelab.metrics.bounds.throughput.problem import FlowProblem, Traffic, flow_problem
from routelab.metrics.bounds.throughput.symmetric_program import (
    find_folding,
    solve_accepted,
    solve_sustained,
)

SCALES = (1, 2, 3, 4, 5, 6, 8, 12, 15, 20, 24, 60, 1_000, 1_000_000)
"""Weights of the greatest channel, coarse ones first: exact weights are often fractions."""


@dataclass(frozen=True, eq=False)
class AcceptedBound:
    """An upper bound of the mean accepted load, whatever the routing.

    Attributes
    ----------
    load : float
        Offered load.
    value : float
        No routing delivers more flits per cycle and sending terminal.
    attained : float
        What fractional routes (routes that split the traffic of pairs) deliver; the best bound is
        not below it.
    start, slope : Fraction
        The line that the weights prove: at any load l the bound is start + slope × l.
    weights : ChannelWeights
        The certificate.
    """

    load: float
    value: float
    attained: float
    start: Fraction
    slope: Fraction
    weights: ChannelWeights


@dataclass(frozen=True, eq=False)
class ThroughputBound:
    """Upper bounds of what a network can deliver of a traffic, whatever the routing.

    Attributes
    ----------
    channel : float
        No routing sustains a greater load, because of the channels between switches; infinite if
        no traffic uses them.
    terminal : float
        The load at which the first terminal sends or receives a flit every cycle.
    attained : float
        The load that fractional routes (routes that split the traffic of pairs) sustain; the best
        bound is not below it.
    method : {"lp", "balance", "none"}
        Source of the weights: a linear program folded by symmetry, loads that were balanced, or
        none, because no traffic uses channels between switches.
    weights : ChannelWeights
        The certificate of `channel`.
    accepted : tuple of AcceptedBound
        Bounds of the accepted load, by offered load.
    seconds : float
        Wall time of the search.
    """

    channel: float
    terminal: float
    attained: float
    method: str
    weights: ChannelWeights
    accepted: tuple[AcceptedBound, ...]
    seconds: float

    @property
    def sustained(self) -> float:
        """No routing sustains a greater load."""
        return min(self.channel, self.terminal)


@dataclass(frozen=True, eq=False)
class ChannelBound:
    """An upper bound of what the channels between switches sustain of a traffic.

    Attributes
    ----------
    load : Fraction or None
        No routing sustains a greater load; None if no traffic uses these channels.
    attained : float
        What fractional routes sustain.
    method : {"lp", "balance", "none"}
        Source of the weights: a linear program, loads that were balanced, or none.
    weights : ChannelWeights
        The certificate of `load`.
    """

    load: Fraction | None
    attained: float
    method: str
    weights: ChannelWeights


def bound_channels(traffic: Traffic, seconds: float, enough: float = inf) -> ChannelBound:
    """Bound what the channels between switches can sustain, whatever the routing.

    Parameters
    ----------
    traffic : Traffic
    seconds : float
        Limit of the search, as in `bound_throughput`.
    enough : float
        Load beyond which the bound does not matter.
    """
    problem = flow_problem(traffic)
    if not problem.routed:
        no_weights = _no_weights(traffic.topology)
        return ChannelBound(load=None, attained=inf, method="none", weights=no_weights)
    # An exact solution, if possible. There is no folding if the program would be too large, as for
    # large networks without symmetry, and no outcome if time runs out. Then balance loads instead.
    folding = find_folding(problem)
    method = "lp"
    outcome = None if folding is None else solve_sustained(problem, folding, seconds)
    if outcome is None:
        method = "balance"
        outcome = balance_sustained(problem, seconds, work=RATE * seconds, enough=enough)
    load, weights = _prove_sustained(traffic, outcome.weights)
    return ChannelBound(load=load, attained=outcome.attained, method=method, weights=weights)


def bound_throughput(
    topology: Topology, demand: Demand, loads: tuple[float, ...] = (1.0,), *, seconds: float = 60.0
) -> ThroughputBound:
    """Bound the loads that any routing can sustain and deliver.

    Symmetric networks and traffic are solved exactly. Otherwise a search finds weights and
    fractional routes, until it no longer helps or its work is done. The work depends on the network
    and on `seconds`, not on the speed of the machine, unless the CPU time reaches `seconds`. The
    bounds are those that integer weights prove.

    Parameters
    ----------
    topology : Topology
    demand : Demand
    loads : tuple of float
        Offered loads whose accepted load is bounded.
    seconds : float
        Approximate limit of the CPU time, shared evenly by the sustained load and `loads`.

    Raises
    ------
    InputError
        If a load is not a positive number.
    UnsupportedError
        If no terminal sends.
    """
    begin = perf_counter()
    for load in loads:
        if not 0 < load < inf:
            raise InputError(f"bound: the load {load:g} is not a positive number")
    traffic = Traffic(topology, demand)
    limit = terminal_limit(traffic)
    if limit is None:
        raise UnsupportedError("no terminal sends anything on this network")
    terminal = float(limit)
    seconds /= 1 + len(loads)
    bound = bound_channels(traffic, seconds, enough=terminal)
    channel = inf if bound.load is None else float(bound.load)
    # the routes sustain no more than the terminals; rounding may put them above the bound
    attained = min(bound.attained, channel, terminal)
    accepted = tuple(
        _bound_accepted(
            traffic,
            load,
            sustained=attained,
            sustained_weights=bound.weights.channel,
            seconds=seconds,
        )
        for load in sorted(loads)
    )
    return ThroughputBound(
        channel=channel,
        terminal=terminal,
        attained=attained,
        method=bound.method,
        weights=bound.weights,
        accepted=accepted,
        seconds=perf_counter() - begin,
    )


def _no_weights(topology: Topology) -> ChannelWeights:
    return ChannelWeights.of_channels(topology, np.zeros(topology.num_channels, dtype=np.int64))


def _prove_sustained(
    traffic: Traffic, weights: Float64Array
) -> tuple[Fraction | None, ChannelWeights]:
    """Return the smallest bound that integer multiples of weights prove, and its certificate.

    Equal weights are a candidate, too: they need no search. The bound is None if no candidate
    proves one.
    """
    smallest: Fraction | None = None
    certificate = _no_weights(traffic.topology)
    equal_weights = np.ones(len(weights), dtype=np.int64)
    for integers in [equal_weights, *_round_multiples(weights)]:
        candidate = ChannelWeights.of_channels(traffic.topology, integers)
        bound = sustained_from_weights(traffic, candidate)
        if bound is not None and (smallest is None or bound < smallest):
            smallest, certificate = bound, candidate
    return smallest, certificate


def _bound_accepted(
    traffic: Traffic,
    load: float,
    *,
    sustained: float,
    sustained_weights: Int64Array,
    seconds: float,
) -> AcceptedBound:
    """Bound the accepted load at an offered load.

    `sustained` is a load that fractional routes sustain, and `sustained_weights` are weights of the
    channels between switches that prove a bound of it: the search begins with them.
    """
    problem = flow_problem(traffic, load)
    num_channels = len(problem.capacity)
    # 1. Up to a load that is sustained, everything arrives: `routed`, all demand between nodes, is
    #    attained, and weights of 0 prove that no more can be. Beyond, at least as much arrives as
    #    at the sustained load.
    weights, attained = np.zeros(num_channels), problem.routed
    if load > sustained and problem.routed:
        folding = find_folding(problem)
        outcome = None if folding is None else solve_accepted(problem, folding, seconds)
        if outcome is None:
            # channels of terminals come behind those between switches
            terminal_weights = np.zeros(num_channels - len(sustained_weights))
            known_weights = np.concatenate([sustained_weights, terminal_weights])
            outcome = balance_accepted(problem, known_weights, seconds, work=RATE * seconds)
        weights = np.minimum(outcome.weights, 1.0)  # more than 1 proves no more
        attained = max(outcome.attained, problem.routed * sustained / load)
    # 2. The best of the bounds that integer multiples of the weights prove, and of weights of 0.
    greatest = float(weights.max(initial=0.0))
    candidates = [(np.zeros(num_channels, dtype=np.int64), 1)]
    for integers in _round_multiples(weights):
        # The integers are about (integers.max() / greatest) × weights: a weight of 1 becomes `one`.
        one = max(round(int(integers.max()) / greatest), 1)
        candidates.append((integers, one))
    exact_load = as_fraction(load)
    bounds = []
    for integers, one in candidates:
        certificate = _certificate_of_network(problem, traffic.topology, integers, one)
        start, slope = accepted_from_weights(traffic, certificate)
        bounds.append((start + slope * exact_load, start, slope, certificate))
    bound, start, slope, certificate = min(bounds, key=lambda row: row[0])  # row[0]: the bound
    # 3. What is attained in flits per cycle and sending terminal, including traffic between
    #    terminals of one switch. Rounding may put it above the bound.
    attained_load = float((attained + problem.local) / traffic.senders)
    return AcceptedBound(
        load=load,
        value=float(bound),
        attained=min(attained_load, float(bound)),
        start=start,
        slope=slope,
        weights=certificate,
    )


def _round_multiples(weights: Float64Array) -> list[Int64Array]:
    """Round multiples of weights to integers without a common divisor, each result once.

    For example, (1, 1/3) becomes (1, 0), (2, 1), (3, 1) and so on: the greatest weight is each of
    `SCALES`.
    """
    greatest = float(weights.max(initial=0.0))
    if greatest <= 0:
        return []
    multiples = [np.rint(weights / greatest * scale).astype(np.int64) for scale in SCALES]
    reduced = [multiple // max(int(np.gcd.reduce(multiple)), 1) for multiple in multiples]
    return list({integers.tobytes(): integers for integers in reduced}.values())


def _certificate_of_network(
    problem: FlowProblem, topology: Topology, weights: Int64Array, one: int
) -> ChannelWeights:
    """Return the certificate for a network, from one weight for each channel of its flow problem.

    A problem has channels of the network, of its senders and of its receivers, in this order. The
    channels of all other terminals have the weight 0.
    """
    first_sender = problem.num_channels
    first_receiver = first_sender + len(problem.senders)
    injection, ejection = np.zeros((2, topology.num_terminals), dtype=np.int64)
    injection[problem.senders] = weights[first_sender:first_receiver]
    ejection[problem.receivers] = weights[first_receiver:]
    return ChannelWeights(
        channel=frozen_array(weights[:first_sender], np.int64),
        injection=frozen_array(injection, np.int64),
        ejection=frozen_array(ejection, np.int64),
        one=one,
    )
