"""hotspot: a share of the traffic goes to a few terminals, the rest is uniform.

Pfister and Norton, *"Hot Spot" Contention and Combining in Multistage Interconnection Networks*,
1985, doi 10.1109/TC.1985.6312198.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import AfterValidator

from routelab.api import (
    Citation,
    Demand,
    InputError,
    Integers,
    Parameters,
    Topology,
    TrafficPlugin,
    parameter,
)
from routelab.toolkit import too_few_terminals


def _ranks(spots: tuple[int, ...]) -> tuple[int, ...]:
    if not spots or len(set(spots)) < len(spots) or min(spots) < 0:
        raise ValueError("name at least one rank, each once, as 0+7")
    return spots


class HotspotParameters(Parameters):
    """Share and targets of hot traffic."""

    share: float = parameter(
        0.1, gt=0, le=1, description="Share of every terminal's traffic that goes to the spots"
    )
    spots: Annotated[Integers, AfterValidator(_ranks)] = parameter(
        (0,), description="Ranks of the terminals that are hot, e.g. 0+7"
    )


class Hotspot(TrafficPlugin):
    """Rank-based. Hot terminals also send to the other hot ones; a single one sends uniformly."""

    name = "hotspot"
    summary = "A share of all traffic goes to a few terminals, the rest is uniform"
    citations = (Citation("pfister1985", "a share of the requests to one place, the rest uniform"),)
    Parameters = HotspotParameters

    def supports(self, topology: Topology) -> str | None:
        """Require two terminals."""
        return too_few_terminals(topology)

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return two parts per terminal: uniform to all others, and uniform to hot ones.

        Raises
        ------
        InputError
            If a hot terminal does not exist.
        """
        count, spots = topology.num_terminals, self.parameters.spots
        if max(spots) >= count:
            raise InputError(
                f"hotspot: spots={'+'.join(map(str, spots))}: terminal {max(spots)} does not "
                f"exist; terminals are 0..{count - 1}"
            )
        share = np.tile((1 - self.parameters.share, self.parameters.share), (count, 1))
        if len(spots) == 1:
            share[spots[0]] = (1, 0)
        parts = share > 0
        return Demand.create(
            rate=np.ones(count),
            part_start=np.concatenate(([0], np.cumsum(parts.sum(axis=1)))),
            part_share=share[parts],
            part_set=np.nonzero(parts)[1],
            set_start=(0, count, count + len(spots)),
            members=(*range(count), *spots),
            to_self=False,
            convention=f"{self.parameters.share:g} of each terminal's traffic to the hot ranks "
            f"{'+'.join(map(str, spots))}, the rest to all other terminals alike",
        )
