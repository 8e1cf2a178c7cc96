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
        check_groups(self.name, groups, spines, h, letter="spines")
        size = leaves + spines
        local_links = groups * leaves * spines
        check_size(self.name, groups * size, local_links + groups * spines * h // 2)
        joined = global_links(groups, spines * h, parameters.arrangement, parameters.seed)
        local_ends, local_ports = _local_links(groups, leaves, spines)
        group, place = np.divmod(np.arange(groups * size), size)
        level = place >= leaves
        index = place - leaves * level
        rows = zip(group.tolist(), level.tolist(), index.tolist(), strict=True)
        return linked_network(
            self.name,
            switch_names=[f"g{g}.{'s' if spine else 'l'}{i}" for g, spine, i in rows],
            ends=np.concatenate((local_ends, joined.group * size + leaves + joined.port // h)),
            ports=np.concatenate((local_ports, leaves + joined.port % h)),
            terminal_switch=np.repeat(np.flatnonzero(~level), p),
            parameters={
                "groups": groups,
                "leaves": leaves,
                "spines": spines,
                "p": p,
                "h": h,
                "arrangement": parameters.arrangement,
                COORDINATE_NAMES: ["group", "level", "index"],
                GROUP_COORDINATES: [0],
            },
            facts={
                **joined.facts(local_links),
                # up, global, down; inside a group up and down
                "leaf_diameter": 3,
                "leaf_mean_distance": (2 * (leaves - 1) + 3 * leaves * (groups - 1))
                / (leaves * groups - 1),
            },
            coordinates=np.stack((group, level, index), axis=1),
            failures=parameters,
        )


def _local_links(groups: int, leaves: int, spines: int) -> tuple[Int64Array, Int64Array]:
    """Return ends and ports of the links inside groups; int64, shape (L, 2) each."""
    leaf, spine = np.divmod(np.arange(leaves * spines), spines)
    inside = np.stack((leaf, leaves + spine), axis=1)
    begin = np.arange(groups)[:, np.newaxis, np.newaxis] * (leaves + spines)
    return (begin + inside).reshape(-1, 2), np.tile(np.stack((spine, leaf), axis=1), (groups, 1))
