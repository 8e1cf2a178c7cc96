"""dragonfly-minimal: at most one local, one global and one local hop (hierarchical minimal routes).

Kim, Dally, Scott and Abts, *Technology-Driven, Highly-Scalable Dragonfly Topology*, ISCA 2008, doi
10.1109/ISCA.2008.19 (MIN): a packet for another group goes to a switch of its group
with a link to that group, unless its own switch has one; over the link; then to its destination. If
several links qualify, the packet takes the one with the shortest queue, or draws one (`links`).

The routing `minimal` takes shortest paths of the graph instead, and some of them lead through a
third group: two global hops can be shorter than local, global, local.

Class 0 of virtual channels serves local hops in the first group, class 1 local hops to the
destination, global hops take either. Hops depend on later ones of this order only. A packet inside
a group takes class 1.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from typing_extensions import override

from routelab.api import (
    Capabilities,
    HopProgram,
    HopRoutingPlugin,
    Parameters,
    Topology,
    UnsupportedError,
    parameter,
)
from routelab.api.topology import BoolArray, Int64Array
from routelab.toolkit.families.graph_hops import graph_tables, most_channels
from routelab_plugins import works

from .kernels import hop


class DragonflyMinimalParameters(Parameters):
    """Choice among several links to the destination's group."""

    links: Literal["adaptive", "random"] = parameter(
        "adaptive",
        description="Choice between several links to the destination's group: by queue length "
        "(adaptive), or at random",
    )


class DragonflyMinimal(HopRoutingPlugin):
    """Routes packets over a direct link between the groups of source and destination."""

    name = "dragonfly-minimal"
    summary = "Minimal Dragonfly routes over a direct link between the groups: local, global, local"
    citations = (works.KIM2008("minimal routes of the Dragonfly (MIN)"),)
    capabilities = Capabilities(
        families=("dragonfly",),
        minimal=False,  # a path through a third group may be shorter (module docstring)
        multipath=True,
        tolerates_failures=False,
        virtual_channels=2,
    )
    proof = "acyclic"
    Parameters = DragonflyMinimalParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require complete groups, a link between any two of them, and two virtual channels."""
        try:
            _read_groups(topology)
        except UnsupportedError as error:
            return str(error)
        if virtual_channels < 2:
            return (
                f"needs 2 virtual channels, but the routers have {virtual_channels}; raise vcs to 2"
            )
        return None

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        group, has_link_to = _read_groups(topology)
        # GROUPS and IS_DRAWN of the kernel
        numbers = [has_link_to.shape[1], self.parameters.links == "random"]
        distance = None  # the kernel reads no distances
        return HopProgram(
            hop=hop,
            tables=graph_tables(topology, distance, numbers, group, has_link_to),
            vc_classes=2,
            # each global hop is offered on both classes
            candidates=2 * most_channels(topology),
            # The shortest queue first. With links=random, hop draws the link itself, and queues
            # still decide which class a global hop takes.
            by_occupancy=True,
            max_hops=3,
        )


def _read_groups(topology: Topology) -> tuple[Int64Array, BoolArray]:
    """Return the group of each switch, and which switches have links to which groups.

    Returns
    -------
    group : int64 array, shape (S,)
        Group of each switch, numbered from 0.
    has_link_to : bool array, shape (S, groups)
        Whether a switch has a channel to a switch of the group.

    Raises
    ------
    UnsupportedError
        If the network is not a Dragonfly, or lacks links.
    """
    coordinates = topology.coordinates
    if topology.family != "dragonfly" or coordinates is None:
        raise UnsupportedError(f"needs a Dragonfly, this network is of family {topology.family}")
    # 1. Number the groups without gaps: all switches of a group may have failed.
    group_names, group = np.unique(coordinates[:, 0], return_inverse=True)
    group = group.reshape(-1)
    # 2. Each switch needs a channel to every other switch of its group. Parallel ones count once.
    source, target = np.unique((topology.channel_source, topology.channel_target), axis=1)
    is_local = group[source] == group[target]
    num_local_neighbours = np.bincount(source[is_local], minlength=len(group))
    group_sizes = np.bincount(group)
    incomplete = np.flatnonzero(num_local_neighbours < group_sizes[group] - 1)
    if incomplete.size:
        raise UnsupportedError(
            f"needs a Dragonfly with complete groups; {topology.switch_names[incomplete[0]]} has "
            "no link to some other switch of its group"
        )
    # 3. Each group needs a channel to every other group.
    has_link_to = np.zeros((len(group), len(group_names)), np.bool_)
    has_link_to[source, group[target]] = True
    are_joined = np.zeros((len(group_names), len(group_names)), np.bool_)
    are_joined[group[source], group[target]] = True
    np.fill_diagonal(are_joined, True)
    missing = np.argwhere(~are_joined)
    if missing.size:
        source_group, target_group = missing[0]
        raise UnsupportedError(
            f"no direct link from group {group_names[source_group]} to group "
            f"{group_names[target_group]}"
        )
    return group, has_link_to
