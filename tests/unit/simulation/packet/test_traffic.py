"""Patterns that offer nonsense are refused: compiled code would read beyond its arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from routelab.api import Demand, Messages, PluginError, TrafficPlugin
from routelab.routing.demands import demand_of, list_messages
from routelab.simulation.packet.traffic import ClosedLoop, OpenLoop, active_terminals
from routelab.toolkit import build_grid

NETWORK = build_grid("mesh", (2, 2), wrap=False)
GOOD = Demand.uniform(NETWORK, "to all others")


class Given(TrafficPlugin):
    """Offers what it is given."""

    name = "given"
    summary = "What it is given"

    def __init__(self, demand, messages=None):
        self._made = demand, messages

    def demand(self, topology, seed):
        return self._made[0]

    def messages(self, topology, seed):
        return self._made[1]


@pytest.mark.parametrize(
    ("demand", "part"),
    [
        (None, "returned None, expected a Demand"),
        (Demand.permutation([1, 0], "two"), "of 2 terminals, but the network has 4"),
        (replace(GOOD, members=np.full(4, 99, np.int32)), "members names a terminal"),
        (replace(GOOD, members=np.zeros(4, np.int32)), "terminal 0 has no destination"),
        (replace(GOOD, rate=np.full(4, np.nan)), "rate holds a value that is not a rate"),
    ],
)
def test_a_demand_is_looked_at(demand, part):
    with pytest.raises(PluginError, match=f"^given: .*{part}"):
        demand_of(Given(demand), NETWORK, 0)


def test_a_part_without_packets_may_have_an_empty_set():
    demand = Demand.create(
        rate=[1, 0],
        part_start=[0, 2, 2],
        part_share=[1, 0],
        part_set=[0, 1],
        set_start=[0, 3, 3],
        members=[0, 1, 1],  # terminal 0 is no destination of its own
        to_self=False,
        convention="one pair",
    )
    with np.errstate(all="raise"):
        assert demand.between_terminals().tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("messages", "part"),
    [
        (5, "returned 5, expected Messages or None"),
        (Messages.create([0, 1], [0]), "of 1 terminals, but the network has 4"),
        (Messages(np.arange(5), np.full(4, 99, np.int32)), "target names a terminal"),
    ],
)
def test_messages_are_looked_at(messages, part):
    with pytest.raises(PluginError, match=f"^given: .*{part}"):
        list_messages(Given(GOOD, messages), NETWORK, 0)


def test_well_formed_traffic_is_passed_on():
    """Of the types that compiled code wants, whatever it was made with."""
    wide = replace(GOOD, members=np.arange(4))
    demand = demand_of(Given(wide), NETWORK, 0)
    assert demand.members.dtype == np.int32
    assert demand.between_terminals().tolist() == GOOD.between_terminals().tolist()
    assert list_messages(Given(GOOD), NETWORK, 0) is None


def demand_from(rate, parts, sets, to_self=False):
    """A demand from the (share, set) of each terminal and the members of each set."""
    flat = [part for terminal_parts in parts for part in terminal_parts]
    return Demand.create(
        rate=rate,
        part_start=np.cumsum([0, *map(len, parts)]),
        part_share=[share for share, _ in flat],
        part_set=[chosen for _, chosen in flat],
        set_start=np.cumsum([0, *map(len, sets)]),
        members=[member for terminal_set in sets for member in terminal_set],
        to_self=to_self,
        convention="",
    )


@pytest.mark.parametrize(
    ("demand", "silent", "unwanted"),
    [
        (GOOD, [], []),
        (Demand.permutation([1, 0, -1, -1], "a pair"), [2, 3], [2, 3]),
        # the sender of a set does not send to itself, the others of the set get everything
        (demand_from([1, 0, 0, 0], [[(1, 0)], [], [], []], [[0, 1, 2]]), [1, 2, 3], [0, 3]),
        (
            demand_from([1, 0, 0, 0], [[(1, 0)], [], [], []], [[0, 1, 2]], to_self=True),
            [1, 2, 3],
            [3],
        ),
        (demand_from([1, 1, 0, 0], [[(1, 0)], [(1, 0)], [], []], [[0, 1, 2]]), [2, 3], [3]),
        # a set that nobody draws from, and one of a terminal that is silent
        (
            demand_from(
                [1, 0, 1, 0],
                [[(1, 0), (0, 1)], [(1, 1)], [(1, 0)], []],
                [[0, 2], [3]],
            ),
            [1, 3],
            [1, 3],
        ),
    ],
)
def test_terminals_without_anything_to_send_or_to_get_are_known(demand, silent, unwanted):
    send, receive = active_terminals(OpenLoop(demand, 0.1))
    assert np.flatnonzero(~send).tolist() == silent
    assert np.flatnonzero(~receive).tolist() == unwanted


def test_the_ends_of_messages_are_those_of_the_list():
    send, receive = active_terminals(ClosedLoop(Messages.create([0, 2, 2, 3], [1, 1, 0])))
    assert send.tolist() == [True, False, True]
    assert receive.tolist() == [True, True, False]
