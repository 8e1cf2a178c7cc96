"""Checks of traffic patterns."""

from __future__ import annotations

import numpy as np

from routelab.api import Demand, Messages
from routelab.api.topology import Topology
from routelab.testing.result_form import check_form
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Trial, demand_and_messages

SEEDS = (0, 1, 2**32 + 1)
"""Seeds in addition to the seed of the other checks."""


def convention(trial: Trial) -> str:
    """Check that the demand describes the pattern in words."""
    demand: Demand = trial.result[0]
    if not isinstance(demand.convention, str) or not demand.convention.strip():
        raise Failed(
            f"the convention is {demand.convention!r}; describe who sends to whom, by rank or by "
            "coordinates, whether to itself, and who is silent"
        )
    return demand.convention


def senders(trial: Trial) -> str:
    """Check that a terminal sends, and that none sends more than one flit per cycle at load 1."""
    demand: Demand = trial.result[0]
    rate = demand.rate
    if not rate.any():
        raise Failed("no terminal sends anything; refuse such a network in supports()")
    if rate.max() > 1:
        raise Failed(
            f"terminal {int(rate.argmax())} has rate {rate.max():g}, and a terminal can send one "
            "flit a cycle; scale the rates"
        )
    return f"{np.count_nonzero(rate)} of {len(rate)} terminals send"


def seeds(trial: Trial) -> str:
    """Check that every seed leads to a well-formed demand."""
    topology: Topology = trial.value
    trial.result  # noqa: B018 - skips where there is none
    for seed in SEEDS:
        try:
            check_form(
                "traffic", topology, demand_and_messages(trial.subject.plugin, topology, seed)
            )
        except Failed as problem:
            raise Failed(f"with seed {seed}: {problem}") from None
    return f"{len(SEEDS)} seeds"


def messages(trial: Trial) -> str:
    """Check that messages to finish, if any, only go to targets of the demand."""
    demand: Demand = trial.result[0]
    messages_: Messages | None = trial.result[1]
    if messages_ is None:
        raise Skipped("messages are drawn from the demand")
    if not len(messages_.target):
        raise Failed("messages() lists none; return None to draw them from the demand")
    # the messages of terminal t are start[t] to start[t + 1]
    source = np.repeat(np.arange(len(demand.rate)), np.diff(messages_.start))
    undemanded = np.flatnonzero(demand.between_terminals()[source, messages_.target] == 0)
    if undemanded.size:
        first = undemanded[0]
        raise Failed(
            f"{len(undemanded)} messages, such as one from terminal {source[first]} to "
            f"{messages_.target[first]}, are for pairs that demand() leaves out"
        )
    return f"{len(messages_.target)} messages"
