"""Traffic that terminals offer, and that of plugins, checked before compiled code reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from routelab.api import Demand, Messages


@dataclass(frozen=True, eq=False)
class OpenLoop:
    """Endless traffic: terminals generate messages at random.

    Attributes
    ----------
    demand : Demand
        Rates and destinations of terminals.
    load : float
        Flits per cycle that a terminal of rate 1 offers.
    message_packets : int
        Packets of every message.
    in_order : bool
        Whether latencies of delivery in the order of each message are counted, too.
    """

    demand: Demand
    load: float
    message_packets: int = 1
    in_order: bool = False

    @property
    def terminals(self) -> int:
        """Number of terminals."""
        return len(self.demand.rate)


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """Messages to deliver, all generated in cycle 0.

    Attributes
    ----------
    messages : Messages
    message_packets, in_order
        As of `OpenLoop`.
    """

    messages: Messages
    message_packets: int = 1
    in_order: bool = False

    load: ClassVar[float] = 0.0
    """Messages that are all generated at once have no load."""

    @property
    def terminals(self) -> int:
        """Number of terminals."""
        return len(self.messages.start) - 1


OfferedTraffic = OpenLoop | ClosedLoop
"""Traffic that terminals offer to a simulated network."""


def active_terminals(traffic: OfferedTraffic) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether each terminal sends, and whether it may receive, at any load; shapes (T,)."""
    if isinstance(traffic, ClosedLoop):
        send = np.diff(traffic.messages.start) > 0
        return send, np.bincount(traffic.messages.target, minlength=len(send)) > 0
    demand = traffic.demand
    send = demand.rate > 0
    sets = len(demand.set_start) - 1
    source = np.repeat(np.arange(len(send)), np.diff(demand.part_start))
    drawn = send[source] & (demand.part_share > 0)
    # sources and the sets that they draw from, each pair once
    pairs = np.unique(source[drawn] * sets + demand.part_set[drawn])
    of_set = np.repeat(np.arange(sets), np.diff(demand.set_start))
    senders = np.bincount(pairs % sets, minlength=sets)[of_set] if sets else of_set
    if not demand.to_self:
        senders = senders - np.isin(demand.members * sets + of_set, pairs)
    receive = np.zeros(len(send), bool)
    receive[demand.members[senders > 0]] = True
    return send, receive
