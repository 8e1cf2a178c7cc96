"""Next-hop tables are checked before compiled code reads them, which checks nothing."""

import numpy as np
import pytest
from numba import njit

from routelab.api import PluginError, RouteTable, Topology
from routelab.toolkit import build_grid

RING = build_grid("torus", (4,), wrap=True)
FORWARD = np.tile(np.flatnonzero(RING.channel_direction == 0)[:, None], 4)


def test_next_hops_are_followed_to_every_target():
    table = RouteTable.from_next_hops(RING, FORWARD)
    assert np.array_equal(
        table.path_length.reshape(4, 4), (np.arange(4)[None] - np.arange(4)[:, None]) % 4
    )


@pytest.mark.parametrize(
    ("hops", "said"),
    [
        (FORWARD[:, :3], r"has shape \(4, 3\), expected \(4, 4\)"),
        (FORWARD.reshape(-1), r"has shape \(16,\), expected \(4, 4\)"),
        (FORWARD + RING.num_channels, "names a channel that does not exist"),
        (FORWARD * 0 - 2, "names a channel that does not exist"),
    ],
)
def test_a_table_that_does_not_fit_the_network_is_refused(hops, said):
    with pytest.raises(PluginError, match=said):
        RouteTable.from_next_hops(RING, hops)


PAIR = Topology.create(num_switches=2, channel_source=[0, 1], channel_target=[1, 0])
ARRAYS = {
    "pair_start": [0, 1, 2, 3, 4],
    "path_start": [0, 0, 1, 2, 2],
    "hop_channel": [0, 1],
}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"path_weight": [1, np.nan, 1, 1]}, "must be positive and add up to 1"),
        ({"path_weight": np.ones((4, 1))}, r"path_weight has shape \(4, 1\)"),
        ({"path_start": []}, "path_start is empty"),
        ({"path_start": [0, 0, 1.5, 2, 2]}, "path_start has 1.5, which is no int64"),
        ({"hop_channel": [0.9, 1.2]}, "hop_channel has 0.9, which is no int32"),
        ({"hop_channel": [[0], [1]]}, r"hop_channel has shape \(2, 1\)"),
        ({"hop_channel": [[0], [1, 0]]}, "hop_channel is a list of lists of unequal length"),
        ({"hop_channel": ["a", "b"]}, "hop_channel holds <U1"),
        # cast to 32 and 16 bits these would be channel 0 and virtual channel 0
        ({"hop_channel": np.array([2**32, 1])}, "hop_channel has 4294967296, which is no int32"),
        ({"hop_vc": np.array([65536, 0])}, "hop_vc has 65536, which is no int16"),
        ({"counters": {"trees": "many"}}, "counter 'trees' is 'many', expected a number"),
    ],
)
def test_arrays_that_would_be_bent_to_fit_are_refused(wrong, said):
    with pytest.raises(PluginError, match=said):
        RouteTable.create(PAIR, **{**ARRAYS, **wrong})


@njit
def _twice():
    buffer = np.arange(2, dtype=np.int32)
    return buffer, buffer[:]


def _of_a_buffer():
    memory = bytearray(np.arange(2, dtype=np.int32).tobytes())
    return np.frombuffer(memory, np.int32), np.frombuffer(memory, np.int32)


def _of_a_parent():
    parent = np.arange(2, dtype=np.int32)
    return parent[:], parent


@pytest.mark.parametrize("make", [_twice, _of_a_buffer, _of_a_parent])
def test_who_holds_the_same_memory_cannot_change_a_table(make):
    given, other = make()
    table = RouteTable.create(PAIR, **{**ARRAYS, "hop_channel": given})
    other[:] = 7
    assert table.hop_channel.tolist() == [0, 1]
    assert not table.hop_channel.flags.writeable


def test_arrays_with_memory_of_their_own_are_not_copied():
    hops = np.arange(2, dtype=np.int32)
    assert RouteTable.create(PAIR, **{**ARRAYS, "hop_channel": hops}).hop_channel is hops
    with pytest.raises(ValueError, match="read-only"):
        hops[0] = 1
