"""hotspot: a share of the traffic goes to a few terminals or groups, the rest is uniform.

Pfister and Norton, *"Hot Spot" Contention and Combining in Multistage Interconnection Networks*,
1985, doi 10.1109/TC.1985.6312198.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import AfterValidator

from routelab.api import (
    Demand,
    InputError,
    Integers,
    Parameters,
    Topology,
    TrafficPlugin,
    UnsupportedError,
    parameter,
)
from routelab.api.topology import Int64Array
from routelab.toolkit import terminal_groups, too_few_terminals
from routelab_plugins import works


def _check_spots(spots: tuple[int, ...]) -> tuple[int, ...]:
    if not spots or len(set(spots)) < len(spots) or min(spots) < 0:
        raise ValueError("name at least one rank, each once, as 0+7")
    return spots


class HotspotParameters(Parameters):
    """Share and targets of hot traffic."""

    share: float = parameter(
        0.1,
        gt=0,
        le=1,
        description="Share of every terminal's traffic that goes to the hot terminals",
    )
    spots: Annotated[Integers, AfterValidator(_check_spots)] = parameter(
        (0,), description="Ranks of the hot terminals, e.g. 0+7"
    )
    groups: Integers = parameter(
        (), description="Numbers of groups whose terminals are all hot, instead of spots, e.g. 0+3"
    )


class Hotspot(TrafficPlugin):
    """Every terminal, hot or not, sends a share of its traffic to the hot terminals.

    For each message a terminal draws a set by the shares, all terminals or the hot ones, and then
    a terminal of this set other than itself. If only one terminal is hot, it has no other hot one
    to send to: all of its traffic is uniform.
    """

    name = "hotspot"
    summary = "A share of all traffic goes to a few terminals or groups; the rest is uniform"
    citations = (works.PFISTER1985("a share of the requests to one place, the rest uniform"),)
    Parameters = HotspotParameters

    def supports(self, topology: Topology) -> str | None:
        """Return why there are fewer than two terminals, or no groups although some are hot."""
        if self.parameters.groups:
            try:
                terminal_groups(topology)
            except UnsupportedError as reason:
                return str(reason)
        return too_few_terminals(topology)

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return two parts of each terminal: uniform to all others, and uniform to hot ones.

        Raises
        ------
        InputError
            If a hot terminal or group does not exist, or both spots and groups are given.
        """
        count = topology.num_terminals
        spots, spots_text = self._hot_terminals(topology)
        # Shares by (terminal, set): set 0 has all terminals, set 1 the hot ones. A single hot
        # terminal has no other one to send to. A share of 0 is no part: so with share=1, only the
        # single hot terminal has the part of set 0.
        share = np.tile((1 - self.parameters.share, self.parameters.share), (count, 1))
        if len(spots) == 1:
            share[spots[0]] = (1, 0)
        is_part = share > 0
        _, part_set = np.nonzero(is_part)
        return Demand.create(
            rate=np.ones(count),
            part_start=np.concatenate(([0], np.cumsum(is_part.sum(axis=1)))),
            part_share=share[is_part],
            part_set=part_set,
            set_start=(0, count, count + len(spots)),
            members=np.concatenate((np.arange(count), spots)),
            to_self=False,
            convention=f"{self.parameters.share:g} of each terminal's traffic to the hot "
            f"{spots_text}, the rest to all other terminals equally",
        )

    def _hot_terminals(self, topology: Topology) -> tuple[Int64Array, str]:
        """Return the hot terminals, and a text that names them: "ranks 0+7" or "groups 0+3".

        Raises
        ------
        InputError
            If a hot terminal or group does not exist, or both spots and groups are given.
        """
        count, spots, groups = topology.num_terminals, self.parameters.spots, self.parameters.groups
        if not groups:
            text = "+".join(map(str, spots))
            if max(spots) >= count:
                raise InputError(
                    f"hotspot: spots={text}: terminal {max(spots)} does not exist; terminals are "
                    f"0..{count - 1}"
                )
            return np.array(spots, dtype=np.int64), f"ranks {text}"
        text = "+".join(map(str, groups))
        if spots != (0,):  # not the default
            raise InputError("hotspot: use either spots (terminals) or groups, not both")
        group = terminal_groups(topology)
        if min(groups) < 0 or max(groups) > group.max():
            missing = min(groups) if min(groups) < 0 else max(groups)
            raise InputError(
                f"hotspot: groups={text}: group {missing} does not exist; groups are "
                f"0..{group.max()}"
            )
        return np.flatnonzero(np.isin(group, groups)), f"groups {text}"
