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
    fold,
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
        What fractional routes deliver.
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
        The load that fractional routes sustain.
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
        See `ThroughputBound`.
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
        return ChannelBound(None, inf, "none", _no_weights(traffic.topology))
    folding = fold(problem)
    outcome, method = None if folding is None else solve_sustained(problem, folding, seconds), "lp"
    if outcome is None:
        outcome, method = balance_sustained(problem, seconds, RATE * seconds, enough), "balance"
    load, weights = _prove_sustained(traffic, outcome.weights)
    return ChannelBound(load, outcome.attained, method, weights)


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
    value = inf if bound.load is None else float(bound.load)
    attained = min(bound.attained, value, terminal)
    accepted = tuple(
        _accepted(traffic, load, attained, bound.weights.channel, seconds) for load in sorted(loads)
    )
    return ThroughputBound(
        channel=value,
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
    """Return the smallest bound that integer multiples of weights prove; None if none does."""
    least: Fraction | None = None
    chosen = _no_weights(traffic.topology)
    equal = np.ones(len(weights), dtype=np.int64)
    for candidate in [equal, *_integers(weights)]:
        certificate = ChannelWeights.of_channels(traffic.topology, candidate)
        value = sustained_from_weights(traffic, certificate)
        if value is not None and (least is None or value < least):
            least, chosen = value, certificate
    return least, chosen


def _accepted(
    traffic: Traffic,
    load: float,
    sustained: float,
    channel: Int64Array,
    seconds: float,
) -> AcceptedBound:
    """Bound the accepted load at an offered load.

    `sustained` is a load that fractional routes sustain, and `channel` proves a bound of it.
    """
    problem = flow_problem(traffic, load)
    count = len(problem.capacity)
    # 1. Up to a load that is sustained, everything arrives, and weights of 0 prove no less. Beyond,
    #    at least as much arrives as at that load.
    weights, attained = np.zeros(count), problem.routed
    if load > sustained and problem.routed:
        folding = fold(problem)
        outcome = None if folding is None else solve_accepted(problem, folding, seconds)
        if outcome is None:
            known_weights = np.concatenate([channel, np.zeros(count - len(channel))])
            outcome = balance_accepted(problem, known_weights, seconds, RATE * seconds)
        weights = np.minimum(outcome.weights, 1.0)
        attained = max(outcome.attained, problem.routed * sustained / load)
    # 2. The best of the bounds that integer multiples of the weights prove, and of weights of 0.
    exact = as_fraction(load)
    tightest: tuple[Fraction, Fraction, Fraction, ChannelWeights] | None = None
    top = float(weights.max(initial=0.0))
    for candidate, one in [
        (np.zeros(count, dtype=np.int64), 1),
        *((rounded, max(round(int(rounded.max()) / top), 1)) for rounded in _integers(weights)),
    ]:
        certificate = _split(problem, traffic.topology, candidate, one)
        start, slope = accepted_from_weights(traffic, certificate)
        value = start + slope * exact
        if tightest is None or value < tightest[0]:
            tightest = value, start, slope, certificate
    assert tightest is not None
    bound, start, slope, certificate = tightest
    mean = float((attained + problem.local) / traffic.senders)
    return AcceptedBound(load, float(bound), min(mean, float(bound)), start, slope, certificate)


def _integers(weights: Float64Array) -> list[Int64Array]:
    """Round multiples of weights to integers, without repetitions."""
    top = float(weights.max(initial=0.0))
    if top <= 0:
        return []
    rounded = [np.rint(weights / top * scale).astype(np.int64) for scale in SCALES]
    least = [multiple // max(int(np.gcd.reduce(multiple)), 1) for multiple in rounded]
    return list({multiple.tobytes(): multiple for multiple in least}.values())


def _split(
    problem: FlowProblem, topology: Topology, weights: Int64Array, one: int
) -> ChannelWeights:
    """Return weights of a problem's channels as those of the network and of all terminals."""
    channels, senders = problem.num_channels, len(problem.senders)
    injection, ejection = np.zeros((2, topology.num_terminals), dtype=np.int64)
    injection[problem.senders] = weights[channels : channels + senders]
    ejection[problem.receivers] = weights[channels + senders :]
    parts = (weights[:channels], injection, ejection)
    channel, injected, ejected = (frozen_array(part, np.int64) for part in parts)
    return ChannelWeights(channel, injected, ejected, one)
