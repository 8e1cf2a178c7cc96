"""Megafly, also called Dragonfly+: a Dragonfly whose groups are fat trees with two levels.

Flajslik, Borch and Parker, *Megafly: A Topology for Exascale Systems*, ISC 2018,
doi 10.1007/978-3-319-92040-5_15; Shpiner et al., *Dragonfly+: Low Cost Topology for Scaling
Datacenters*, HiPINEB 2017, doi 10.1109/HiPINEB.2017.11. Leaves have the terminals, spines have the
global links, and every leaf of a group is linked to every spine of it.
"""

from __future__ import annotations

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


class MegaflySize(Parameters):
    """Size of the Megafly."""

    h: int = parameter(2, ge=1, le=1000, description="Global links at each spine")
    spines: int | None = parameter(
        None, ge=1, le=10_000, description="Spines in each group; none: h, which is balanced"
    )
    leaves: int | None = parameter(
        None,
        ge=1,
        le=10_000,
        description="Leaves in each group; none: as many as spines, which is balanced",
    )
    p: int | None = parameter(
        None,
        ge=1,
        le=10_000,
        description="Terminals at each leaf; none: as many as spines, which is balanced",
    )
    groups: int | None = parameter(
        None, ge=2, description="Number of groups, at most spines·h + 1; none: spines·h + 1"
    )


class MegaflyParameters(ArrangementParameters, MegaflySize):
    """Size of the Megafly, arrangement of its global links, and its failures."""


class Megafly(TopologyPlugin):
    """Groups are complete bipartite graphs, and every pair of groups has a global link."""

    name = "megafly"
    summary = "Megafly (Dragonfly+): two-level fat trees, with global links between their spines"
    citations = (
        works.FLAJSLIK2018("definition of the Megafly"),
        works.SHPINER2017("definition of the Dragonfly+"),
        works.CAMARERO2014("palmtree and consecutive arrangements of global links"),
    )
    Parameters = MegaflyParameters

    def build(self) -> Topology:
        """Build the Megafly.

        Group 3 has the leaves ``g3.l0``, ``g3.l1``, … and then the spines ``g3.s0``, …; the
        coordinates are group, level (0: leaf, 1: spine) and index. Port i of a leaf leads to spine
        i, port i of a spine to leaf i; the other ports of spines are global. Arrangements and the
        numbers of links between groups are those of the Dragonfly, with spines as its switches.

        Raises
        ------
        InputError
            If the global links of a group do not reach all others, the network is too large, or
            more parts shall fail than exist.
        """
        parameters = self.parameters
        h = parameters.h
        spines = h if parameters.spines is None else parameters.spines
        leaves = spines if parameters.leaves is None else parameters.leaves
        p = spines if parameters.p is None else parameters.p
        groups = spines * h + 1 if parameters.groups is None else parameters.groups
        # `letter` is what messages call the number of switches with global links in a group
        check_groups(self.name, groups=groups, switches=spines, h=h, letter="spines")
        group_size = leaves + spines
        local_links = groups * leaves * spines
        check_size(self.name, groups * group_size, local_links + groups * spines * h // 2)
        between_groups = global_links(groups, spines * h, parameters.arrangement, parameters.seed)
        local_ends, local_ports = _local_links(groups, leaves, spines)
        # `global_links` numbers all global ports of a group: spine s has s·h … s·h + h − 1. At the
        # spine they follow the ports to the leaves.
        spine, global_port = np.divmod(between_groups.port, h)
        global_ends = between_groups.group * group_size + leaves + spine
        # coordinates of all switches
        group, index = np.divmod(np.arange(groups * group_size), group_size)
        level = (index >= leaves).astype(np.int64)
        index -= leaves * level
        coordinates = np.stack((group, level, index), axis=1)
        return linked_network(
            self.name,
            switch_names=[
                f"g{group}.{'ls'[level]}{index}" for group, level, index in coordinates.tolist()
            ],
            ends=np.concatenate((local_ends, global_ends)),
            ports=np.concatenate((local_ports, leaves + global_port)),
            terminal_switch=np.repeat(np.flatnonzero(level == 0), p),
            parameters={
                "groups": groups,
                "leaves": leaves,
                "spines": spines,
                "p": p,
                "h": h,
                "arrangement": parameters.arrangement,
                COORDINATE_NAMES: ["group", "level", "index"],
                GROUP_COORDINATES: [0],  # switches of a group share coordinate 0
            },
            facts={
                **between_groups.facts(local_links),
                # From a leaf, the leaves − 1 others of its group are 2 hops away (up, down), and
                # all leaves of other groups 3 hops (up, global, down).
                "leaf_diameter": 3,
                "leaf_mean_distance": (2 * (leaves - 1) + 3 * leaves * (groups - 1))
                / (leaves * groups - 1),
            },
            coordinates=coordinates,
            failures=parameters,
        )


def _local_links(groups: int, leaves: int, spines: int) -> tuple[Int64Array, Int64Array]:
    """Return the switches at the ends of all links inside groups, and their ports there.

    Both are int64, shape (L, 2), the leaf first.
    """
    leaf, spine = np.divmod(np.arange(leaves * spines), spines)
    pairs = np.stack((leaf, leaves + spine), axis=1)
    first_switch = np.arange(groups)[:, np.newaxis, np.newaxis] * (leaves + spines)
    ends = (first_switch + pairs).reshape(-1, 2)
    return ends, np.tile(np.stack((spine, leaf), axis=1), (groups, 1))
