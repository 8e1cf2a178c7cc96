"""Relative loads: the naive twin and laws of units."""

from dataclasses import replace
from fractions import Fraction

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_tables import networks, tables

from routelab.api import Demand, InputError, RouteTable, Topology
from routelab.metrics import (
    as_fraction,
    channel_factors,
    channel_load_bound,
    channel_loads,
    effective_bisection,
    least_attainable,
    load_factors,
    mean_load,
    perfect_load,
    phase_load,
    relative_loads,
    sigma,
    total_capacity,
    worst_permutation,
)


def at(table: RouteTable, capacity: np.ndarray) -> RouteTable:
    """The table on the network with other capacities."""
    return replace(table, topology=replace(table.topology, channel_capacity=capacity))


def busiest(table: RouteTable) -> float:
    return float(relative_loads(table.topology, channel_loads(table)).max(initial=0))


@given(tables())
def test_loads_are_those_of_the_definition(table):
    topology = table.topology
    loads = channel_loads(table)
    assert relative_loads(topology, loads) == pytest.approx(
        [float(load) for load in naive.relative(topology, loads.tolist())]
    )
    factors, factor_index = load_factors(topology)
    assert [factors[k] for k in factor_index] == naive.factors(topology)
    assert total_capacity(topology) == naive.total_capacity(topology)
    assert mean_load(topology, loads) == pytest.approx(
        float(sum(loads) / (naive.total_capacity(topology) or 1))
    )


@given(tables(), st.sampled_from([0.1, 3.0, 1e-9 / 7, 12.5e9]))
def test_the_unit_of_capacities_does_not_matter(table, unit):
    other = at(table, table.topology.channel_capacity * unit)
    assert load_factors(other.topology)[0] == load_factors(table.topology)[0]
    assert busiest(other) == busiest(table)
    assert perfect_load(other.topology) == perfect_load(table.topology)
    assert worst_permutation(other).load == worst_permutation(table).load
    assert phase_load(other, "shift") == phase_load(table, "shift")
    assert effective_bisection(other, 30, 0) == effective_bisection(table, 30, 0)
    demand = Demand.uniform(table.topology, "everybody to everybody")
    assert channel_load_bound(other, demand) == channel_load_bound(table, demand)


@given(tables())
def test_no_table_is_better_than_perfect(table):
    assume(table.topology.num_channels)
    topology, loads = table.topology, channel_loads(table)
    perfect, mean = perfect_load(topology), mean_load(topology, loads)
    relative = relative_loads(topology, loads)
    assert relative.min() * (1 - 1e-12) <= mean <= relative.max() * (1 + 1e-12)
    if np.diff(table.pair_start).all():
        assert perfect <= mean * (1 + 1e-12)
    # perfect balance: every channel has routes in proportion to its capacity
    even = perfect / channel_factors(topology)
    assert sigma(relative_loads(topology, even), perfect) <= 1e-9 * perfect
    assert mean_load(topology, even) == pytest.approx(perfect)


@given(networks(), st.fractions(0, 1000, max_denominator=50))
def test_the_least_attainable_load_is_that_of_whole_routes(topology, load):
    assume(topology.num_channels)
    least = least_attainable(topology, load)
    options = [k * f for f in naive.factors(topology) for k in range(1001)]
    assert least == min(option for option in options if option >= load)


def test_a_rounded_fraction_is_restored():
    assert as_fraction(100 / 56) == Fraction(25, 14)
    assert as_fraction(0.3 / 0.1) == 3
    assert as_fraction(7 * (100 / 56)) == Fraction(25, 2)
    # what no small fraction is near to stays what it is
    assert as_fraction(2**0.5) == Fraction(2**0.5)
    assert as_fraction(1e6 + 1e-6) == Fraction(1e6 + 1e-6)


@pytest.mark.parametrize("capacity", [0, -1, np.nan, np.inf])
def test_a_channel_without_a_capacity_is_refused(capacity):
    with pytest.raises(InputError, match="channel 1 has capacity"):
        Topology.create(
            num_switches=2,
            channel_source=[0, 1],
            channel_target=[1, 0],
            channel_capacity=[1, capacity],
        )
