"""Relative loads of channels, in units of the fastest channel.

A channel of half the capacity needs twice the time for the same traffic. The *relative load* of a
channel is its load × greatest capacity of the network / capacity of the channel. The busiest
channel is the one with the greatest relative load. If all channels have the same capacity, relative
loads equal the loads.
"""

from __future__ import annotations

from fractions import Fraction
from math import isclose

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Float64Array, Int64Array, frozen_array

SIMPLE = 1000
"""Greatest denominator of fractions that `as_fraction` rounds to."""

ROUNDING = 1e-14
"""Relative distance from a simple fraction that counts as a rounding error."""


def as_fraction(number: float) -> Fraction:
    """Return the fraction that a float represents.

    This is a fraction with a denominator of at most `SIMPLE` if the float differs from it only by
    rounding, and otherwise the exact value of the float. For example, 100 / 56 is 25/14. Equal
    loads therefore compare equal for all units of the capacities.
    """
    exact = Fraction(number)
    simple = exact.limit_denominator(SIMPLE)
    return simple if isclose(simple, exact, rel_tol=ROUNDING) else exact


def load_factors(topology: Topology) -> tuple[tuple[Fraction, ...], Int64Array]:
    """Compute how much a route adds to the relative load of each channel: its factor.

    For example, channels with capacities 1, 4 and 4 have the factors (4, 1) and the indices 0, 1
    and 1.

    Returns
    -------
    factors : tuple of Fraction
        Greatest capacity / capacity for each different capacity, slowest first; the last one is 1.
        Empty for a network without channels.
    factor_index : int64 array, shape (C,)
        Index of each channel's factor.
    """
    capacities, factor_index = np.unique(topology.channel_capacity, return_inverse=True)
    factors = tuple(as_fraction(float(capacities[-1] / capacity)) for capacity in capacities)
    return factors, frozen_array(factor_index.reshape(-1), np.int64)


def channel_factors(topology: Topology) -> Float64Array:
    """Return greatest capacity / capacity for each channel; float64, shape (C,)."""
    return relative_loads(topology, np.ones(topology.num_channels))


def relative_loads(topology: Topology, loads: Float64Array) -> Float64Array:
    """Multiply the load of each channel by its factor: greatest capacity over its capacity.

    Parameters
    ----------
    topology : Topology
    loads : float64 array, shape (C,)
        Routes, messages or bytes that cross each channel.

    Returns
    -------
    relative : float64 array, shape (C,)
        In the unit of `loads`, for the fastest channel. Equal to `loads` if all channels have the
        same capacity.
    """
    factors, factor_index = load_factors(topology)
    numerator = np.array([float(factor.numerator) for factor in factors])
    denominator = np.array([float(factor.denominator) for factor in factors])
    # multiply before dividing, so that a whole number of routes is rounded only once
    relative: Float64Array = loads * numerator[factor_index] / denominator[factor_index]
    return relative


def total_capacity(topology: Topology) -> Fraction:
    """Return the total capacity of all channels in units of the fastest: C if all are equal."""
    factors, factor_index = load_factors(topology)
    counts = np.bincount(factor_index, minlength=len(factors)).tolist()
    # a channel with a factor of 4 has a quarter of the greatest capacity
    return sum((count / factor for count, factor in zip(counts, factors, strict=True)), Fraction(0))


def least_attainable(topology: Topology, load: Fraction) -> Fraction:
    """Round a load up to the smallest relative load that whole routes can cause on a channel.

    Relative loads of whole routes are k × factor, for an integer k and the factor of a channel. If
    all channels have the same capacity, this rounds up to the next integer. With the factors 5/2
    and 1, 4.5 becomes 5, but 2.2 becomes 5/2: one route on a slow channel.
    """
    factors, _ = load_factors(topology)
    # for each factor the least multiple that is not below the load: -(-a // b) rounds a / b up
    return min((-(-load // factor) * factor for factor in factors), default=load)
