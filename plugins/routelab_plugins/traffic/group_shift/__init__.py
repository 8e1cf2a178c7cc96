"""group-shift: all terminals of a group send to those of one other group.

Papers on Dragonflies call a shift by n ADV+n and use it as adversarial traffic: minimal routes have
only the links between two groups for all terminals of a group.
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Demand,
    Parameters,
    Topology,
    TrafficPlugin,
    UnsupportedError,
    parameter,
)
from routelab.toolkit import terminal_groups


class GroupShiftParameters(Parameters):
    """Distance of the target group."""

    shift: int = parameter(
        1, description="Distance in groups, modulo their number; negative numbers go backwards"
    )


class GroupShift(TrafficPlugin):
    """Target group at a fixed distance; the terminal in it is drawn for every packet."""

    name = "group-shift"
    summary = "All terminals of a group send to those of the group n places further (ADV+n)"
    Parameters = GroupShiftParameters

    def supports(self, topology: Topology) -> str | None:
        """Return why there are fewer than two groups, or the shift leads back to the same one."""
        try:
            group = terminal_groups(topology)
        except UnsupportedError as reason:
            return str(reason)
        # groups are numbered from 0; a network without terminals has none
        count, shift = int(group.max(initial=-1)) + 1, self.parameters.shift
        if count < 2:
            return f"needs two groups with terminals or more; this network has {count}"
        if shift % count == 0:
            return (
                f"shift={shift} leads back to the same group, because the network has {count}; "
                f"use 1 to {count - 1}"
            )
        return None

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return demand in which a terminal sends to all terminals of its target group, equally.

        Raises
        ------
        UnsupportedError
            If the network has no groups.
        """
        group = terminal_groups(topology)
        group_size = np.bincount(group)
        shift = self.parameters.shift
        # Each terminal t has one part, number t: the set of its target group. Set g has the
        # terminals of group g.
        return Demand.create(
            rate=np.ones(len(group)),
            part_start=np.arange(len(group) + 1),
            part_share=np.ones(len(group)),
            part_set=(group + shift) % len(group_size),
            set_start=np.concatenate(([0], np.cumsum(group_size))),
            members=np.argsort(group, kind="stable"),
            to_self=False,
            convention=f"all terminals of group g to those of group g{shift:+d}, equally",
        )
