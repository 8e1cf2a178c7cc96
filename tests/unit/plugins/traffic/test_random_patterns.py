"""Patterns with chance: bijections where they should be, and the same for the same seed."""

import naive_traffic as naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from routelab.api import Topology
from routelab.toolkit import build_grid
from routelab_plugins.traffic.half_pairs import HalfPairs
from routelab_plugins.traffic.random_permutation import RandomPermutation
from routelab_plugins.traffic.switch_permutation import SwitchPermutation
from routelab_plugins.traffic.switch_permutation.matching import match_all

seeds = st.integers(0, 2**70)


def switches(count):
    return Topology.create(num_switches=count, channel_source=[], channel_target=[])


@given(count=st.integers(2, 40), seed=seeds)
def test_random_permutation_is_one_without_fixed_points(count, seed):
    demand = RandomPermutation().demand(switches(count), seed)
    matrix = demand.between_terminals()
    assert np.array_equal(matrix.sum(axis=0), np.ones(count))
    assert np.array_equal(matrix.sum(axis=1), np.ones(count))
    assert not matrix.diagonal().any()


def test_all_permutations_without_fixed_points_are_as_likely():
    """There are nine of four; chi-squared of eight degrees of freedom stays below 26 (99.9 %)."""
    network = switches(4)
    drawn = [tuple(RandomPermutation().demand(network, seed).members) for seed in range(1800)]
    _, times = np.unique(drawn, axis=0, return_counts=True)
    assert len(times) == 9
    assert ((times - 200) ** 2 / 200).sum() < 26


@given(count=st.integers(2, 40), seed=seeds)
def test_half_pairs_are_disjoint(count, seed):
    matrix = HalfPairs().demand(switches(count), seed).between_terminals()
    sends, receives = matrix.sum(axis=1), matrix.sum(axis=0)
    assert sends.sum() == receives.sum() == count // 2
    assert set((sends + receives).tolist()) <= {0.0, 1.0}
    assert (sends + receives == 0).sum() == count % 2


def test_every_terminal_sends_in_half_of_the_draws():
    network = switches(10)
    sent = sum(HalfPairs().demand(network, seed).rate for seed in range(1000))
    # standard deviation: 16
    assert np.all(np.abs(sent - 500) < 65)


@pytest.mark.parametrize("pattern", [RandomPermutation, HalfPairs, SwitchPermutation])
def test_a_seed_of_its_own_goes_before_the_run_s(pattern):
    network = build_grid("torus", (6, 6), wrap=True)

    def drawn(run_seed, **own):
        return pattern(**own).demand(network, run_seed).between_terminals().tolist()

    assert drawn(3) == drawn(3) == drawn(8, seed=3)
    assert drawn(3) != drawn(8)


neighbourhoods = st.integers(1, 6).flatmap(
    lambda count: st.lists(
        st.lists(st.integers(0, count - 1), unique=True), min_size=count, max_size=count
    )
)


@given(neighbours=neighbourhoods, data=st.data())
def test_a_matching_or_the_proof_that_there_is_none(neighbours, data):
    order = data.draw(st.permutations(range(len(neighbours))))
    target, short = match_all(neighbours, order)
    if short:
        reached = {place for sender in short for place in neighbours[sender]}
        assert len(set(short)) == len(short) > len(reached)
        assert naive.most_with_a_neighbour_of_their_own(neighbours) < len(neighbours)
    else:
        assert sorted(target) == list(range(len(neighbours)))
        assert all(to in near for to, near in zip(target, neighbours, strict=True))


def test_different_numbers_of_terminals_are_sent_to_alike():
    ring = Topology.create(
        num_switches=3,
        channel_source=[0, 1, 2],
        channel_target=[1, 2, 0],
        terminal_switch=[0, 1, 1, 2, 2, 2],
    )
    matrix = SwitchPermutation().demand(ring, 0).between_terminals()
    third = 1 / 3
    assert matrix.tolist() == [
        [0, 0.5, 0.5, 0, 0, 0],
        *[[0, 0, 0, third, third, third]] * 2,
        *[[1, 0, 0, 0, 0, 0]] * 3,
    ]


@given(count=st.integers(3, 9), seed=seeds)
def test_a_line_has_a_permutation_if_its_switches_are_even(count, seed):
    line = build_grid("mesh", (count,), wrap=False)
    assert (SwitchPermutation().supports(line) is None) == (count % 2 == 0)
    assume(count % 2 == 0)
    members = SwitchPermutation().demand(line, seed).members
    # pairs swap: nobody else can send to an end
    assert members.tolist() == [rank ^ 1 for rank in range(count)]
