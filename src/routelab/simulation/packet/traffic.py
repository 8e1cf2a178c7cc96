"""What a traffic plugin offers, looked at before compiled code reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from routelab.api import Demand, Messages, PluginError, Topology, TrafficPlugin


@dataclass(frozen=True, eq=False)
class Ends:
    """Which terminals take part in a traffic.

    Attributes
    ----------
    send : bool array, shape (T,)
        Whether it has anything to send.
    receive : bool array, shape (T,)
        Whether anything may be sent to it.
    """

    send: NDArray[np.bool_]
    receive: NDArray[np.bool_]


def ends_of(offered: Demand | Messages) -> Ends:
    """The terminals that a demand, or a list of messages, gives something to do."""
    if isinstance(offered, Messages):
        send = np.diff(offered.start) > 0
        return Ends(send, np.bincount(offered.target, minlength=len(send)) > 0)
    send = offered.rate > 0
    sets = len(offered.set_start) - 1
    source = np.repeat(np.arange(len(send)), np.diff(offered.part_start))
    drawn = send[source] & (offered.part_share > 0)
    # sources and the sets that they draw from, each pair once
    pairs = np.unique(source[drawn] * sets + offered.part_set[drawn])
    of_set = np.repeat(np.arange(sets), np.diff(offered.set_start))
    senders = np.bincount(pairs % sets, minlength=sets)[of_set] if sets else of_set
    if not offered.to_self:
        senders = senders - np.isin(offered.members * sets + of_set, pairs)
    receive = np.zeros(len(send), bool)
    receive[offered.members[senders > 0]] = True
    return Ends(send, receive)


def demand_of(traffic: TrafficPlugin, topology: Topology, seed: int) -> Demand:
    """The demand of a pattern on a network.

    Raises
    ------
    PluginError
        If it is none, is malformed or is of another number of terminals.
    """
    made = traffic.demand(topology, seed)
    if not isinstance(made, Demand):
        raise PluginError(f"{traffic.name}: demand() returned {made!r}, expected a Demand")
    _same_size(traffic, "demand", len(made.rate), topology)
    try:
        # made by hand, it was not checked
        return Demand.create(**vars(made))
    except PluginError as error:
        raise PluginError(f"{traffic.name}: {error}") from error


def listed_by(traffic: TrafficPlugin, topology: Topology, seed: int) -> Messages | None:
    """The messages that a pattern lists; None if they are to be drawn from its demand.

    Raises
    ------
    PluginError
        As for `demand_of`.
    """
    made = traffic.messages(topology, seed)
    if made is None:
        return None
    if not isinstance(made, Messages):
        raise PluginError(
            f"{traffic.name}: messages() returned {made!r}, expected Messages or None"
        )
    _same_size(traffic, "messages", len(made.start) - 1, topology)
    try:
        return Messages.create(made.start, made.target)
    except PluginError as error:
        raise PluginError(f"{traffic.name}: {error}") from error


def _same_size(traffic: TrafficPlugin, what: str, found: int, topology: Topology) -> None:
    if found != topology.num_terminals:
        raise PluginError(
            f"{traffic.name}: {what} of {found} terminals, the network has {topology.num_terminals}"
        )
