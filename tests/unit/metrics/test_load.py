"""Channel loads: the naive twin, conservation, and numbers of the paper."""

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import networks, tables

from routelab.metrics import channel_loads, perfect_load, served_pairs, sigma, terminal_pairs
from routelab.toolkit import build_grid


@given(tables())
def test_loads_are_those_of_the_definition(table):
    loads = channel_loads(table)
    assert loads == pytest.approx(naive.channel_loads(table))
    # conservation: every hop of every route loads one channel
    hops = table.path_length * table.path_weight
    pairs = served_pairs(table).reshape(-1)[table.path_pair]
    assert loads.sum() == pytest.approx((hops * pairs).sum())


@given(networks())
def test_the_perfect_load_is_that_of_the_definition(topology):
    assert perfect_load(topology) == pytest.approx(naive.perfect_load(topology))


@given(networks())
def test_terminal_pairs_are_all_pairs(topology):
    pairs = terminal_pairs(topology)
    assert pairs.sum() == topology.num_terminals * (topology.num_terminals - 1)
    assert np.array_equal(pairs, pairs.T)


@pytest.mark.parametrize(
    ("dims", "perfect"), [((2,), 1), ((4,), 2), ((4, 2), 4), ((4, 2, 2), 8), ((4, 2, 2, 2), 16)]
)
def test_perfect_loads_of_the_systems_of_table_2(dims, perfect):
    # per dimension, a ring of 4 and a link of 2 are 1 and 1/2 hop long on average (the pair of a
    # switch with itself included); 32 switches: (1 + 3/2) * 32² / 160 = 16
    assert perfect_load(build_grid("torus", dims, True)) == perfect


@given(st.integers(1, 30), st.floats(0, 1e9), st.integers(1, 64))
def test_balanced_loads_have_no_deviation(count, load, k):
    assert sigma(np.full(count, load), load, k) == 0


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20), st.floats(0, 1e6), st.integers(1, 12))
def test_sigma_is_a_power_mean_of_the_deviations(loads, perfect, k):
    value = sigma(np.array(loads), perfect, k)
    deviations = [abs(perfect - load) for load in loads]
    assert value == pytest.approx((sum(d**k for d in deviations) / len(loads)) ** (1 / k), abs=1e-9)
    assert value <= max(deviations) * (1 + 1e-12)
    # power means rise with the power
    assert value <= sigma(np.array(loads), perfect, k + 1) * (1 + 1e-12)


def test_no_power_overflows():
    assert sigma(np.array([0.0, 1e100]), 0.0, 8) == pytest.approx(1e100 / 2 ** (1 / 8))
