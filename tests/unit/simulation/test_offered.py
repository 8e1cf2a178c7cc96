"""Patterns that offer nonsense are refused: compiled code would read beyond its arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from routelab.api import Demand, Messages, PluginError, TrafficPlugin, build_grid
from routelab.simulation.offered import demand_of, listed_by

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
        (Demand.permutation([1, 0], "two"), "of 2 terminals, the network has 4"),
        (replace(GOOD, members=np.full(4, 99, np.int32)), "members names a terminal"),
        (replace(GOOD, rate=np.full(4, np.nan)), "rate holds what is no rate"),
    ],
)
def test_a_demand_is_looked_at(demand, part):
    with pytest.raises(PluginError, match=f"^given: .*{part}"):
        demand_of(Given(demand), NETWORK, 0)


@pytest.mark.parametrize(
    ("messages", "part"),
    [
        (5, "returned 5, expected Messages or None"),
        (Messages.create([0, 1], [0]), "of 1 terminals, the network has 4"),
        (Messages(np.arange(5), np.full(4, 99, np.int32)), "target names a terminal"),
    ],
)
def test_messages_are_looked_at(messages, part):
    with pytest.raises(PluginError, match=f"^given: .*{part}"):
        listed_by(Given(GOOD, messages), NETWORK, 0)


def test_what_is_well_formed_is_handed_on():
    """Of the types that compiled code wants, whatever it was made with."""
    wide = replace(GOOD, members=np.arange(4))
    made = demand_of(Given(wide), NETWORK, 0)
    assert made.members.dtype == np.int32
    assert made.between_terminals().tolist() == GOOD.between_terminals().tolist()
    assert listed_by(Given(GOOD), NETWORK, 0) is None
