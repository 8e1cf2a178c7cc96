"""Patterns without chance are what the book says, and obey their laws on any network."""

import naive_traffic as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import InputError, Topology
from routelab.toolkit import build_grid
from routelab_plugins.traffic.bit_complement import BitComplement
from routelab_plugins.traffic.bit_reversal import BitReversal
from routelab_plugins.traffic.neighbor import NeighborTraffic
from routelab_plugins.traffic.shuffle import Shuffle
from routelab_plugins.traffic.tornado import TornadoTraffic
from routelab_plugins.traffic.transpose import TransposeTraffic

dimensions = st.lists(st.integers(2, 5), min_size=1, max_size=3).map(tuple)


def switches(count, **more):
    return Topology.create(num_switches=count, channel_source=[], channel_target=[], **more)


def targets(pattern, topology):
    """Target of each terminal, itself where it is silent; checks that the demand says the same."""
    assert pattern.supports(topology) is None
    receivers, _ = pattern.send(topology)
    matrix = pattern.demand(topology, 0).between_terminals()
    moved = receivers != np.arange(len(receivers))
    assert np.array_equal(matrix.sum(axis=1), moved)
    assert np.array_equal(matrix[np.flatnonzero(moved), receivers[moved]], np.ones(moved.sum()))
    return receivers.tolist()


@pytest.mark.parametrize("count", [4, 8, 16, 64])
@pytest.mark.parametrize(
    ("pattern", "twin"),
    [
        (BitComplement(), naive.bit_complement),
        (BitReversal(), naive.bit_reversal),
        (Shuffle(), naive.shuffle),
    ],
)
def test_bits_of_ranks(pattern, twin, count):
    assert targets(pattern, switches(count)) == twin(count)
    # which switches the terminals are at does not matter
    assert targets(pattern, switches(2, terminal_switch=[0] * 3 + [1] * (count - 3))) == twin(count)


@pytest.mark.parametrize("pattern", [BitComplement(), BitReversal(), Shuffle()])
@pytest.mark.parametrize("count", [3, 6, 12])
def test_bits_need_a_power_of_two(pattern, count):
    reason = pattern.supports(switches(count))
    assert reason == f"needs a power of two terminals; this network has {count}"


@pytest.mark.parametrize(
    ("pattern", "count", "silent"),
    [(BitComplement(), 1, 1), (BitReversal(), 2, 2), (Shuffle(), 2, 2), (TransposeTraffic(), 1, 1)],
)
def test_nobody_is_kept_silent_altogether(pattern, count, silent):
    assert pattern.supports(switches(count)) == "every terminal would send to itself"


@pytest.mark.parametrize("dims", [(4, 4), (8, 8), (2, 4, 2, 4)])
def test_transpose_by_coordinates_swaps_the_halves_of_the_address(dims):
    network = build_grid("torus", dims, wrap=True)
    assert targets(TransposeTraffic(), network) == naive.transpose(network.num_terminals)
    assert "by coordinates" in TransposeTraffic().demand(network, 0).convention


@pytest.mark.parametrize("dims", [(8, 2), (2, 8), (4, 2, 2), (16,)])
def test_transpose_by_rank_does_the_same(dims):
    network = build_grid("mesh", dims, wrap=False)
    assert targets(TransposeTraffic(), network) == naive.transpose(16)
    assert "by rank" in TransposeTraffic().demand(network, 0).convention


def test_transpose_of_sizes_that_are_no_powers_of_two():
    receivers = targets(TransposeTraffic(), build_grid("torus", (3, 3), wrap=True))
    assert receivers == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    assert receivers == targets(TransposeTraffic(), switches(9))


def test_transpose_says_both_reasons():
    reason = TransposeTraffic().supports(build_grid("torus", (4, 3), wrap=True))
    assert "this network has 12 (the two halves of the dimensions 4x3 are not the same)" in reason
    assert "this network has 7 (needs coordinates" in TransposeTraffic().supports(switches(7))


@given(dims=dimensions, terminals=st.integers(1, 3), data=st.data())
def test_shifts_are_sums_modulo_the_sizes(dims, terminals, data):
    network = build_grid("torus", dims, wrap=True, terminals=terminals)
    shift = data.draw(st.tuples(*(st.integers(0, 2 * size) for size in dims)))
    pattern = TornadoTraffic(shift=shift)
    if not any(s % k for s, k in zip(shift, dims, strict=True)):
        assert pattern.supports(network) == "every terminal would send to itself"
        return
    by_switch = naive.shifted(dims, shift)
    expected = [to * terminals + i for to in by_switch for i in range(terminals)]
    assert targets(pattern, network) == expected
    assert sorted(expected) == list(range(len(expected)))


@pytest.mark.parametrize(
    ("dims", "shift"), [((8, 8), (3, 3)), ((5,), (2,)), ((4, 2), (1, 0)), ((7, 6, 3), (3, 2, 1))]
)
def test_tornado_is_half_of_the_way_round_rounded_up_less_one(dims, shift):
    network = build_grid("torus", dims, wrap=True)
    assert targets(TornadoTraffic(), network) == naive.shifted(dims, shift)
    assert "x".join(map(str, shift)) in TornadoTraffic().demand(network, 0).convention


def test_a_shift_is_for_as_many_dimensions_as_there_are():
    message = "shift=3x0 is for 2 dimensions, but this network has 3"
    with pytest.raises(InputError, match=message):
        TornadoTraffic(shift="3x0").supports(build_grid("torus", (4, 4, 4), wrap=True))


@given(dims=dimensions)
def test_neighbor_is_one_further_in_every_dimension(dims):
    network = build_grid("mesh", dims, wrap=False)
    assert targets(NeighborTraffic(), network) == naive.shifted(dims, [1] * len(dims))


@pytest.mark.parametrize("pattern", [NeighborTraffic(), TornadoTraffic()])
def test_coordinates_are_needed_and_have_to_fill_a_grid(pattern):
    assert "needs coordinates" in pattern.supports(switches(4))
    holed = build_grid("torus", (4, 4), wrap=True, failed_switches=(5,))
    assert pattern.supports(holed) == "needs a whole grid, 15 switches do not fill one of 4x4"
    cut = build_grid("torus", (4, 4), wrap=True, failed_links=("0-1", "5-6"))
    assert pattern.supports(cut) is None
    uneven = switches(4, coordinates=[[0], [1], [2], [3]], terminal_switch=[0, 0, 1, 2, 3])
    assert (
        "the same number of terminals at every switch, but there are from 1 to 2"
        in pattern.supports(uneven)
    )
    twice = switches(4, coordinates=[[0], [1], [3], [3]])
    assert "do not fill one of 4" in pattern.supports(twice)


def test_terminals_need_not_be_in_the_order_of_their_switches():
    """Switch 0 has terminals 1 and 2, switch 1 terminal 0 and 3."""
    pair = switches(2, coordinates=[[0], [1]], terminal_switch=[1, 0, 0, 1])
    assert targets(NeighborTraffic(), pair) == [1, 0, 3, 2]
