"""Traffic that terminals offer: endless traffic in open loop, messages in closed loop."""

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
    message_packets : int
        Packets of every message.
    in_order : bool
        Whether latencies of delivery in the order of each message are counted, too.
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
    """Return whether each terminal sends, and whether it may receive; shapes (T,).

    In the table of terminals, the others have no rates.
    """
    if isinstance(traffic, ClosedLoop):
        sends = np.diff(traffic.messages.start) > 0
        return sends, np.bincount(traffic.messages.target, minlength=len(sends)) > 0
    demand = traffic.demand
    sends = demand.rate > 0
    # 1. The sets of destinations that each source draws from: the pairs (source, set), each once,
    #    as the number source * num_sets + set.
    num_sets = len(demand.set_start) - 1
    source_of_part = np.repeat(np.arange(len(sends)), np.diff(demand.part_start))
    is_drawn = sends[source_of_part] & (demand.part_share > 0)
    pairs = np.unique(source_of_part[is_drawn] * num_sets + demand.part_set[is_drawn])
    # 2. For each member of a set, the number of sources that draw from the set.
    set_of_member = np.repeat(np.arange(num_sets), np.diff(demand.set_start))
    if num_sets:
        num_senders = np.bincount(pairs % num_sets, minlength=num_sets)[set_of_member]
    else:
        num_senders = set_of_member  # empty
    # 3. Less the member itself, if it draws from a set that it is in but never sends to itself. If
    #    it is the only source of this set, it receives nothing from it.
    if not demand.to_self:
        num_senders = num_senders - np.isin(demand.members * num_sets + set_of_member, pairs)
    receives = np.zeros(len(sends), bool)
    receives[demand.members[num_senders > 0]] = True
    return sends, receives
