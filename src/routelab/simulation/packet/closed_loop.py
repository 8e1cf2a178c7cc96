"""Messages of closed-loop runs, drawn from a demand or listed by a pattern."""

from __future__ import annotations

import numpy as np

from routelab.api import Demand, InputError, Messages, Topology, TrafficPlugin, UnsupportedError
from routelab.api.topology import Float64Array, Int64Array
from routelab.routing.demands import demand_of, list_messages

MOST_MESSAGES = 10**8
"""Largest number of messages of a run, which are all listed before it begins."""

STREAM = 2
"""Stream of the draws of targets, different from that of patterns with the same seed."""


def messages_of(traffic: TrafficPlugin, topology: Topology, count: int, seed: int) -> Messages:
    """Return the messages that the terminals of a pattern send in a closed loop.

    Parameters
    ----------
    traffic : TrafficPlugin
    topology : Topology
    count : int
        Messages of every terminal that sends; for a pattern with a list, the number of repetitions
        of the list.
    seed : int

    Raises
    ------
    UnsupportedError
        If no terminal sends.
    InputError
        If the messages are too many for a list.
    PluginError
        If the plugin returns invalid objects.
    """
    # too many messages are refused before memory is allocated for them
    listed = list_messages(traffic, topology, seed)
    if listed is None:
        demand = demand_of(traffic, topology, seed)
        _check_number(int(np.count_nonzero(demand.rate)), count)
        messages = draw_messages(demand, count, seed)
    else:
        _check_number(len(listed.target), count)
        messages = repeat_messages(listed, count)
    if not len(messages.target):
        raise UnsupportedError(f"{traffic.name}: no terminal sends anything on this network")
    return messages


def _check_number(per_round: int, count: int) -> None:
    """Raise InputError if `count` rounds of messages are more than a run can list."""
    if per_round * count > MOST_MESSAGES:
        raise InputError(
            f"{per_round * count} messages are more than the {MOST_MESSAGES} that a run can list; "
            f"lower messages to {MOST_MESSAGES // per_round}"
        )


def draw_messages(demand: Demand, count: int, seed: int) -> Messages:
    """Draw the targets of `count` messages of every terminal that sends from a demand."""
    random = np.random.PCG64([seed, STREAM])
    sends = demand.rate > 0
    senders = np.flatnonzero(sends).tolist()
    targets = [_draw_targets(demand, terminal, count, random) for terminal in senders]
    start = np.concatenate(([0], np.cumsum(np.where(sends, count, 0))))
    return Messages.create(start, np.concatenate(targets) if targets else ())


def _draw_targets(demand: Demand, terminal: int, count: int, random: np.random.PCG64) -> Int64Array:
    """Draw the targets of a terminal's messages; int64, shape (count,)."""
    # 1. A set of terminals for each message, by share: the first whose cumulative share is above a
    #    number in [0, 1). The sum of the shares is rounded, so the number may be above it: then the
    #    last set.
    parts = slice(demand.part_start[terminal], demand.part_start[terminal + 1])
    shares = np.cumsum(demand.part_share[parts])
    part = np.minimum(np.searchsorted(shares, _uniform(random, count), "right"), len(shares) - 1)
    terminal_set = demand.part_set[parts][part]
    # 2. A member of each set, all equally likely; the sender itself is drawn again.
    begin, size = demand.set_start[terminal_set], np.diff(demand.set_start)[terminal_set]
    member = (_uniform(random, count) * size).astype(np.int64)
    targets: Int64Array = demand.members[begin + member].astype(np.int64)
    while not demand.to_self and (again := np.flatnonzero(targets == terminal)).size:
        member = (_uniform(random, again.size) * size[again]).astype(np.int64)
        targets[again] = demand.members[begin[again] + member]
    return targets


def _uniform(random: np.random.PCG64, count: int) -> Float64Array:
    """Draw numbers in [0, 1) from raw bits, which are the same in every version of NumPy."""
    bits = np.atleast_1d(np.asarray(random.random_raw(count)))
    # the upper 53 of 64 bits, as many as a float has
    uniform: Float64Array = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return uniform


def repeat_messages(messages: Messages, count: int) -> Messages:
    """Repeat the whole list of every terminal's messages: twice 1 2 is 1 2 1 2."""
    lists = [
        np.tile(messages.target[begin:end], count)
        for begin, end in zip(messages.start[:-1], messages.start[1:], strict=True)
    ]
    return Messages.create(messages.start * count, np.concatenate(lists) if lists else ())
