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
        Number of messages of every terminal that sends, with targets drawn from the demand; if the
        pattern lists messages itself, the number of repetitions of its list.
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
        _require_listable(int(np.count_nonzero(demand.rate)), count)
        messages = draw_messages(demand, count, seed)
    else:
        _require_listable(len(listed.target), count)
        messages = repeat_messages(listed, count)
    if not len(messages.target):
        raise UnsupportedError(f"{traffic.name}: no terminal sends anything on this network")
    return messages


def _require_listable(messages_per_round: int, rounds: int) -> None:
    """Raise InputError if all rounds together have more messages than a run can list."""
    num_messages = messages_per_round * rounds
    if num_messages > MOST_MESSAGES:
        raise InputError(
            f"{num_messages} messages are more than the {MOST_MESSAGES} that a run can list; "
            f"lower messages to {MOST_MESSAGES // messages_per_round}"
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
    """Draw the targets of a terminal's messages; int64, shape (count,).

    The demand of a terminal has *parts*: each is a share of its messages, whose targets are drawn
    from one set of terminals.
    """
    # 1. A part for each message, by share: the first part whose cumulative share is above a random
    #    number in [0, 1). With shares .5 and .5 (cumulative .5 and 1), .3 gives part 0. The sum of
    #    the shares is rounded, so the number may be above it: then it is the last part.
    parts = slice(demand.part_start[terminal], demand.part_start[terminal + 1])
    cumulative = np.cumsum(demand.part_share[parts])
    part = np.searchsorted(cumulative, _uniform(random, count), "right")
    part = np.minimum(part, len(cumulative) - 1)
    terminal_set = demand.part_set[parts][part]
    # 2. A member of the set of each message, all equally likely.
    set_begin, set_size = demand.set_start[terminal_set], np.diff(demand.set_start)[terminal_set]
    member = (_uniform(random, count) * set_size).astype(np.int64)
    targets: Int64Array = demand.members[set_begin + member].astype(np.int64)
    # 3. Messages to the sender itself are drawn again, unless the demand allows them.
    while not demand.to_self and (to_self := np.flatnonzero(targets == terminal)).size:
        member = (_uniform(random, to_self.size) * set_size[to_self]).astype(np.int64)
        targets[to_self] = demand.members[set_begin[to_self] + member]
    return targets


def _uniform(random: np.random.PCG64, count: int) -> Float64Array:
    """Draw numbers in [0, 1) from raw bits, which are the same in every version of NumPy."""
    bits = np.atleast_1d(np.asarray(random.random_raw(count)))
    # the upper 53 of 64 bits, as many as the mantissa of a float has
    uniform: Float64Array = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return uniform


def repeat_messages(messages: Messages, count: int) -> Messages:
    """Repeat the whole list of every terminal's messages: twice 1 2 is 1 2 1 2."""
    lists = [
        np.tile(messages.target[begin:end], count)
        for begin, end in zip(messages.start[:-1], messages.start[1:], strict=True)
    ]
    return Messages.create(messages.start * count, np.concatenate(lists) if lists else ())
