"""Messages of closed loops: as many as asked for, to where the demand says."""

from __future__ import annotations

import numpy as np
import pytest

from routelab.api import (
    Demand,
    InputError,
    Messages,
    TrafficPlugin,
    UnsupportedError,
)
from routelab.simulation.packet.closed_loop import draw_messages, messages_of, repeat_messages
from routelab.toolkit import build_grid

NETWORK = build_grid("mesh", (2, 2), wrap=False)


def skewed(to_self: bool = False) -> Demand:
    """Terminal 0 sends to 3 and, three times as often, to all; 1 to 2; 2 is silent; 3 to {3, 0}."""
    return Demand.create(
        rate=[1.0, 0.5, 0.0, 2.0],
        part_start=[0, 2, 3, 3, 4],
        part_share=[0.25, 0.75, 1.0, 1.0],
        part_set=[0, 1, 2, 3],
        set_start=[0, 1, 5, 6, 8],
        members=[3, 0, 1, 2, 3, 2, 3, 0],
        to_self=to_self,
        convention="skewed",
    )


class Traffic(TrafficPlugin):
    name = "test"
    summary = "A demand, or a list"

    def __init__(self, demand, listed=None):
        super().__init__()
        self._demand, self._listed = demand, listed

    def demand(self, topology, seed):
        return self._demand

    def messages(self, topology, seed):
        return self._listed


@pytest.mark.parametrize("to_self", [False, True])
def test_targets_are_drawn_as_the_demand_says(to_self: bool) -> None:
    demand, count = skewed(to_self), 20_000
    messages = draw_messages(demand, count, seed=5)
    assert np.diff(messages.start).tolist() == [count, count, 0, count]
    expected = demand.between_terminals()
    for terminal in (0, 1, 3):
        targets = messages.target[messages.start[terminal] : messages.start[terminal + 1]]
        share = np.bincount(targets, minlength=4) / count
        # five standard deviations
        assert share == pytest.approx(expected[terminal] / demand.rate[terminal], abs=0.018)
        if not to_self:
            assert share[terminal] == 0


def test_a_list_is_sent_as_often_as_asked_for() -> None:
    listed = Messages.create([0, 2, 2, 3, 3], [1, 3, 0])
    messages = repeat_messages(listed, 3)
    assert messages.start.tolist() == [0, 6, 6, 9, 9]
    assert messages.target.tolist() == [1, 3, 1, 3, 1, 3, 0, 0, 0]
    assert messages_of(Traffic(skewed(), listed), NETWORK, 2, 0).target.tolist() == [
        1,
        3,
        1,
        3,
        0,
        0,
    ]
    assert len(messages_of(Traffic(skewed()), NETWORK, 2, 0).target) == 6


def test_traffic_without_senders_is_rejected() -> None:
    silent = Demand.permutation([-1, -1, -1, -1], "silent")
    with pytest.raises(UnsupportedError, match="no terminal sends"):
        messages_of(Traffic(silent), NETWORK, 1, 0)


def test_more_messages_than_can_be_listed_are_refused() -> None:
    listed = Messages.create([0, 2, 2, 3, 3], [1, 3, 0])
    for traffic, most in ((Traffic(skewed()), 33333333), (Traffic(skewed(), listed), 33333333)):
        with pytest.raises(InputError, match=f"lower messages to {most}"):
            messages_of(traffic, NETWORK, most + 1, 0)
