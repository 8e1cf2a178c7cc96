"""Demands and messages of traffic plugins, checked before compiled code reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from routelab.api import Demand, Messages, PluginError, Topology, TrafficPlugin


@dataclass(frozen=True, eq=False)
class Ends:
    """Terminals that take part in a traffic.

    Attributes
    ----------
    send : bool array, shape (T,)
        Whether the terminal sends.
    receive : bool array, shape (T,)
        Whether the terminal may receive.
    """

    send: NDArray[np.bool_]
    receive: NDArray[np.bool_]


def active_terminals(offered: Demand | Messages) -> Ends:
    """Return the terminals that send or receive in a demand or in messages."""
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
    """Return the demand of a pattern on a network.

    Raises
    ------
    PluginError
        If it is not a demand, is invalid or has another number of terminals.
    """
    made = traffic.demand(topology, seed)
    if not isinstance(made, Demand):
        raise PluginError(f"{traffic.name}: demand() returned {made!r}, expected a Demand")
    _same_size(traffic, "demand", len(made.rate), topology)
    try:
        # a demand without `create` was not checked
        return Demand.create(**vars(made))
    except PluginError as error:
        raise PluginError(f"{traffic.name}: {error}") from error


def list_messages(traffic: TrafficPlugin, topology: Topology, seed: int) -> Messages | None:
    """Return the messages that a pattern lists; None if the engine draws them from its demand.

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
            f"{traffic.name}: {what} of {found} terminals, but the network has "
            f"{topology.num_terminals}"
        )
