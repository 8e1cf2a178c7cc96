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
        check_groups(self.name, groups, a, h, letter="a")
        local_links = groups * (a * (a - 1) // 2)
        check_size(self.name, groups * a, local_links + groups * a * h // 2)
        # `global_links` numbers the global ports of a whole group: h of them at each switch, whose
        # first a − 1 ports are local.
        joined = global_links(groups, a * h, parameters.arrangement, parameters.seed)
        local_ends, local_ports = _local_links(groups, a)
        count = groups * a
        return linked_network(
            self.name,
            switch_names=[f"g{g}.s{s}" for g in range(groups) for s in range(a)],
            ends=np.concatenate((local_ends, joined.group * a + joined.port // h)),
            ports=np.concatenate((local_ports, a - 1 + joined.port % h)),
            terminal_switch=np.repeat(np.arange(count), p),
            parameters={
                "groups": groups,
                "a": a,
                "p": p,
                "h": h,
                "arrangement": parameters.arrangement,
                COORDINATE_NAMES: ["group", "switch"],
                GROUP_COORDINATES: [0],
            },
            facts={
                **joined.facts(local_links),
                **_diameter(a, h, groups),
            },
            coordinates=np.stack(np.divmod(np.arange(count), a), axis=1),
            failures=parameters,
        )


def _local_links(groups: int, a: int) -> tuple[Int64Array, Int64Array]:
    """Return ends and ports of the links inside groups; int64, shape (L, 2) each."""
    low, high = np.triu_indices(a, 1)
    inside = np.stack((low, high), axis=1)
    ends = (np.arange(groups)[:, np.newaxis, np.newaxis] * a + inside).reshape(-1, 2)
    # a switch has no port to itself
    return ends, np.tile(np.stack((high - 1, low), axis=1), (groups, 1))


def _diameter(a: int, h: int, groups: int) -> dict[str, Any]:
    """Return the diameter if it is certain, otherwise its upper bound: local, global, local."""
    if a == 1:
        return {"diameter": 1}
    # two hops lead to at most this many switches: local and global, global and local, two global
    near = a + h + 2 * (a - 1) * h + h * (h - 1)
    return {"diameter" if near < a * groups else "diameter_at_most": 3}
