"""Next-hop tables are checked before compiled code reads them, which checks nothing."""

import numpy as np
import pytest
from numba import njit

from routelab.api import InputError, PluginError, RouteTable, Topology
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
        ({"path_start": [0, 0, 1.5, 2, 2]}, "path_start has 1.5, which is not a valid int64"),
        ({"hop_channel": [0.9, 1.2]}, "hop_channel has 0.9, which is not a valid int32"),
        ({"hop_channel": [[0], [1]]}, r"hop_channel has shape \(2, 1\)"),
        ({"hop_channel": [[0], [1, 0]]}, "hop_channel is a list of lists of unequal length"),
        ({"hop_channel": ["a", "b"]}, "hop_channel holds <U1"),
        # cast to 32 and 16 bits these would be channel 0 and virtual channel 0
        (
            {"hop_channel": np.array([2**32, 1])},
            "hop_channel has 4294967296, which is not a valid int32",
        ),
        ({"hop_vc": np.array([65536, 0])}, "hop_vc has 65536, which is not a valid int16"),
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
    hops, other = make()
    table = RouteTable.create(PAIR, **{**ARRAYS, "hop_channel": hops})
    other[:] = 7
    assert table.hop_channel.tolist() == [0, 1]
    assert not table.hop_channel.flags.writeable


def test_arrays_with_memory_of_their_own_are_not_copied():
    hops = np.arange(2, dtype=np.int32)
    table = RouteTable.create(PAIR, **{**ARRAYS, "hop_channel": hops})
    assert np.shares_memory(table.hop_channel, hops)
    assert table.with_vcs(table.hop_vc).hop_vc is table.hop_vc
    with pytest.raises(ValueError, match="read-only"):
        hops[0] = 1


HOSTS = Topology.create(
    num_switches=3,
    channel_source=[0, 1, 1, 2, 0, 1],
    channel_target=[1, 0, 2, 1, 1, 0],
    terminal_switch=[2, 0, 2],
    terminal_names=["x", "", "y"],
)
"""Three switches in a row, the first two joined twice; terminals at both ends."""
STEPS = np.array([[0, -1, 4], [2, 1, 2], [-1, 3, -1]])
"""Terminals 0 and 2, of one switch, are reached over different channels."""


def test_terminals_of_one_switch_may_have_routes_of_their_own():
    table = RouteTable.from_next_hops(HOSTS, STEPS, per_terminal=True)
    assert table.num_pairs == 2 * 3
    assert [table.paths(0, terminal) for terminal in range(3)] == [[[0, 2]], [[]], [[4, 2]]]
    assert [table.paths(2, terminal) for terminal in range(3)] == [[[]], [[3, 1]], [[]]]
    np.testing.assert_array_equal(table.next_hops(), STEPS)
    assert table.destination_based
    assert table.destination_switch.tolist() == [2, 0, 2]
    assert table.destination_demand.tolist() == [1, 1, 1]
    assert table.pair_switches(table.pair(0, 2)) == (0, 2)
    assert table.describe_pair(table.pair(0, 2)) == "switch 0 to terminal y at 2"
    assert table.describe_pair(table.pair(2, 1)) == "switch 2 to terminal 1 at 0"
    assert table.with_vcs(table.hop_vc).per_terminal


def test_routes_to_switches_are_all_that_there_is_by_default():
    table = RouteTable.from_next_hops(HOSTS, STEPS[:, 1:])
    assert not table.per_terminal
    assert table.num_pairs == 4
    assert table.destination_demand is HOSTS.demand
    assert table.destination_switch is HOSTS.endpoints
    assert table.describe_pair(1) == "switch 0 to 2"
    assert table.ends.destination_demand.tolist() == [1, 2]


def test_two_next_hops_for_one_destination_are_not_destination_based():
    # both terminals of switch 2 over channel 0: then half of what is for the first over channel 4
    arrays = {
        "pair_start": [0, 1, 2, 3, 4, 5, 6],
        "path_start": [0, 2, 2, 4, 4, 6, 6],
        "hop_channel": [0, 2, 4, 2, 3, 1],
    }
    assert RouteTable.create(HOSTS, **arrays, per_terminal=True).destination_based
    both = RouteTable.create(
        HOSTS,
        pair_start=[0, 2, 3, 4, 5, 6, 7],
        path_start=[0, 2, 4, 4, 6, 6, 8, 8],
        path_weight=[0.5, 0.5, 1, 1, 1, 1, 1],
        hop_channel=[0, 2, 4, 2, 0, 2, 3, 1],
        per_terminal=True,
    )
    assert not both.destination_based
    assert both.next_hops() is None


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((1, 0), "no routes from switch 1: no terminals there"),
        ((0, 3), "no routes to terminal 3: terminals are 0 to 2"),
        ((0, -1), "no routes to terminal -1"),
    ],
)
def test_ends_that_are_not_there_are_refused(ends, said):
    with pytest.raises(InputError, match=said):
        RouteTable.from_next_hops(HOSTS, STEPS, per_terminal=True).pair(*ends)


def test_routes_that_do_not_fit_the_terminals_are_rejected():
    with pytest.raises(PluginError, match=r"has shape \(3, 2\), expected \(3, 3\)"):
        RouteTable.from_next_hops(HOSTS, STEPS[:, 1:], per_terminal=True)
    with pytest.raises(PluginError, match="2 endpoints and 3 terminals"):
        RouteTable.create(
            HOSTS, pair_start=[0] * 5, path_start=[0], hop_channel=[], per_terminal=True
        )
    with pytest.raises(PluginError, match="from switch 0 to terminal x at 2 is not a walk"):
        RouteTable.from_lengths(HOSTS, [[1, 0, -1], [0, 2, 0]], [0, 3, 1], per_terminal=True)
    loop = STEPS.copy()
    loop[1, 2] = 1
    with pytest.raises(PluginError, match="from switch 0 to terminal y at 2 never arrive"):
        RouteTable.from_next_hops(HOSTS, loop, per_terminal=True)
