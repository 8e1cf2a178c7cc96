"""alltoall: every terminal sends one message to every other.

In a closed loop rank i sends to i + 1, i + 2, ... in this order, so that no two ranks send to the
same one while they are synchronous: the shift order of MPI_Alltoall implementations. Thakur,
Rabenseifner and Gropp, *Optimization of Collective Communication Operations in MPICH*, 2005, doi
10.1177/1094342005051521, "Alltoall".
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Demand,
    Messages,
    Topology,
    TrafficPlugin,
    UnsupportedError,
)
from routelab.toolkit import too_few_terminals
from routelab_plugins import works

MAX_TERMINALS = 10_000
"""Largest number of terminals in a closed loop; their list of messages takes 400 MB."""


class AllToAll(TrafficPlugin):
    """The order of messages goes by rank; in an open loop, the pattern is that of `uniform`."""

    name = "alltoall"
    summary = "Every terminal sends one message to every other, beginning with the next one"
    citations = (works.THAKUR2005("the order of an all-to-all exchange's messages"),)

    def supports(self, topology: Topology) -> str | None:
        """Require at least two terminals."""
        return too_few_terminals(topology)

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return uniform demand, without messages to oneself."""
        return Demand.uniform(
            topology, "each terminal to all others; messages to finish: i to i + 1, i + 2, ..."
        )

    def messages(self, topology: Topology, seed: int) -> Messages:
        """Return messages: message m of rank i, counted from 0, goes to (i + 1 + m) mod T.

        Raises
        ------
        UnsupportedError
            If there are too many terminals to list the messages.
        """
        count = topology.num_terminals
        if count > MAX_TERMINALS:
            raise UnsupportedError(
                f"the messages of {count} terminals are too many to list; the limit is "
                f"{MAX_TERMINALS} terminals"
            )
        ranks = np.arange(count, dtype=np.int32)
        shifts = ranks[1:]
        targets = (ranks[:, None] + shifts) % count
        first_message = np.arange(count + 1) * (count - 1)  # of each rank, then the end
        return Messages.create(start=first_message, target=targets.reshape(-1))
