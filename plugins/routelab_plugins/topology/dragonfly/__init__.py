"""Dragonflies: groups of fully linked switches, with global links between all groups.

Kim, Dally, Scott and Abts, *Technology-Driven, Highly-Scalable Dragonfly Topology*, ISCA 2008,
doi 10.1109/ISCA.2008.19: a switches in a group, p terminals and h global links at each
switch, at most a·h + 1 groups, balanced if a = 2p = 2h. The arrangements of global links are those
of `routelab.toolkit.families.global_links`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from routelab.api import Parameters, Topology, TopologyPlugin, parameter
from routelab.api.topology import Int64Array
from routelab.toolkit.families.global_links import (
    ArrangementParameters,
    check_groups,
    global_links,
)
from routelab.toolkit.families.groups import COORDINATE_NAMES, GROUP_COORDINATES
from routelab.toolkit.families.linked_network import check_size, linked_network
from routelab_plugins import works


class DragonflySize(Parameters):
    """Size of the Dragonfly."""

    h: int = parameter(2, ge=1, le=1000, description="Global links at each switch")
    a: int | None = parameter(
        None, ge=1, le=10_000, description="Switches in each group; none: 2h, which is balanced"
    )
    p: int | None = parameter(
        None, ge=1, le=10_000, description="Terminals at each switch; none: h, which is balanced"
    )
    groups: int | None = parameter(
        None, ge=2, description="Number of groups, at most a·h + 1; none: a·h + 1"
    )


class DragonflyParameters(ArrangementParameters, DragonflySize):
    """Size of the Dragonfly, arrangement of its global links, and its failures."""


class Dragonfly(TopologyPlugin):
    """Groups are complete graphs, and every pair of groups has a global link."""

    name = "dragonfly"
    summary = "Dragonfly: fully linked groups, and global links between all groups"
    citations = (
        works.KIM2008("definition of the Dragonfly"),
        works.CAMARERO2014("palmtree and consecutive arrangements of global links"),
    )
    Parameters = DragonflyParameters

    def build(self) -> Topology:
        """Build the Dragonfly.

        Switch s of group g is named ``g3.s2`` and has the coordinates (g, s). Its ports 0 … a − 2
        lead to the other switches of the group in ascending order, ports a − 1 … a + h − 2 are
        global. With fewer than a·h + 1 groups, pairs of groups have several global links; their
        numbers differ by at most one.

        Raises
        ------
        InputError
            If the global links of a group do not reach all others, the network is too large, or
            more parts shall fail than exist.
        """
        parameters = self.parameters
        h = parameters.h
        a = 2 * h if parameters.a is None else parameters.a
        p = h if parameters.p is None else parameters.p
        groups = a * h + 1 if parameters.groups is None else parameters.groups
        # `letter` is what messages call the number of switches in a group
        check_groups(self.name, groups=groups, switches=a, h=h, letter="a")
        local_links = groups * (a * (a - 1) // 2)
        check_size(self.name, groups * a, local_links + groups * a * h // 2)
        between_groups = global_links(groups, a * h, parameters.arrangement, parameters.seed)
        local_ends, local_ports = _local_links(groups, a)
        # `global_links` numbers all global ports of a group: switch s has s·h … s·h + h − 1. At the
        # switch they follow the a − 1 local ports.
        group, global_port = between_groups.group, between_groups.port
        global_ends, global_ports = group * a + global_port // h, a - 1 + global_port % h
        num_switches = groups * a
        return linked_network(
            self.name,
            switch_names=[f"g{g}.s{s}" for g in range(groups) for s in range(a)],
            ends=np.concatenate((local_ends, global_ends)),
            ports=np.concatenate((local_ports, global_ports)),
            terminal_switch=np.repeat(np.arange(num_switches), p),
            parameters={
                "groups": groups,
                "a": a,
                "p": p,
                "h": h,
                "arrangement": parameters.arrangement,
                COORDINATE_NAMES: ["group", "switch"],
                GROUP_COORDINATES: [0],  # switches of a group share coordinate 0
            },
            facts={
                **between_groups.facts(local_links),
                **_diameter_fact(a, h, groups),
            },
            coordinates=np.stack(np.divmod(np.arange(num_switches), a), axis=1),
            failures=parameters,
        )


def _local_links(groups: int, a: int) -> tuple[Int64Array, Int64Array]:
    """Return the switches at the ends of all links inside groups, and their ports there.

    Both are int64, shape (L, 2). A group of 3 switches has the links 0-1, 0-2 and 1-2, with the
    ports 0-0, 1-0 and 1-1.
    """
    # all pairs of switches of one group
    low, high = np.triu_indices(a, 1)
    pairs = np.stack((low, high), axis=1)
    first_switch = np.arange(groups)[:, np.newaxis, np.newaxis] * a
    ends = (first_switch + pairs).reshape(-1, 2)
    # A switch has no port to itself: port i leads to switch i below it, but to i + 1 above it.
    return ends, np.tile(np.stack((high - 1, low), axis=1), (groups, 1))


def _diameter_fact(a: int, h: int, groups: int) -> dict[str, Any]:
    """Return the diameter, or an upper bound ``diameter_at_most`` if only that is certain.

    Three hops always suffice: local, global, local.
    """
    if a == 1:
        # every group is one switch, and all groups are linked
        return {"diameter": 1}
    # At most this many switches are within two hops of one: itself and its group (a), the ends of
    # its global links (h), and the ends of paths local-global and global-local ((a − 1) · h each)
    # and global-global (h · (h − 1)). If the network has more, some are three hops away.
    most_within_two_hops = a + h + 2 * (a - 1) * h + h * (h - 1)
    return {"diameter" if most_within_two_hops < a * groups else "diameter_at_most": 3}
