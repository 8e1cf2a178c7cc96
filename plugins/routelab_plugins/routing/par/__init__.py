"""par: progressive adaptive routing, a packet on its minimal route may still decide to leave it.

Jiang, Kim and Dally, *Indirect Adaptive Routing on Large Scale Interconnection Networks*, ISCA
2009, doi 10.1145/1555754.1555783: on a Dragonfly, a packet chooses at its source as in UGAL. If it
goes minimally, it chooses again at the further switches of its source group, with their queues.
Once it has left the group, or has chosen to go by way of a random switch, the choice is final.

This form works on any network: a packet on its minimal route chooses again after each of its first
`hops` hops. On a Dragonfly or Megafly, it does so only in its source group, where minimal routes
have one hop: the default is the published algorithm. Other networks have no groups.

At a switch c, a packet for t draws a switch v and goes by way of it if

    queue towards t x D(c, t) > queue towards v x (D(c, v) + D(v, t)) + threshold

with D the distances on the bare network, and the queues as in `ugal`: the shortest of the first
hops that the base offers. If v is c, t or the source, the packet stays on its minimal route.

Virtual channels: the n-th hop of each half takes the n-th class, whatever classes the base uses, so
that dependencies form no cycle. The first half has up to `hops` more hops than a route of the base.
On a Dragonfly these are 2 x (3 + 1) classes, where Valiant routing with a class per hop has 6.
The base is called at every switch as if the packet were injected there: it must
lead to the target from everywhere, as `minimal` and `dragonfly-minimal` do.
"""

from __future__ import annotations

import numpy as np
from typing_extensions import override

from routelab.api import (
    Capabilities,
    HopProgram,
    HopRoutingPlugin,
    Topology,
    UnsupportedError,
    append_tables,
    parameter,
)
from routelab.api.parameters import RoutingName
from routelab.api.topology import Int32Array
from routelab.toolkit.families.graph_hops import (
    endpoint_diameter,
    endpoint_numbers,
    switch_distances,
    too_large,
)
from routelab.toolkit.families.queue_choice import QueueParameters
from routelab_plugins import works

from .kernels import inject, progressive


class ParParameters(QueueParameters):
    """Base, number of choices, threshold and queues."""

    base: RoutingName = parameter(
        "minimal",
        description="Routing of both halves of the route: a hop-by-hop algorithm that depends "
        "only on the target and the switch, without choices at injection and without waypoints",
    )
    hops: int = parameter(
        1,
        ge=0,
        le=16,
        description="First hops of the minimal route after which a packet chooses again (0: UGAL)",
    )


class Par(HopRoutingPlugin):
    """Minimal, or via a random switch, with several choices on the way."""

    name = "par"
    summary = "UGAL that chooses again in the first hops of minimal routes (PAR)"
    citations = (
        works.JIANG2009("progressive adaptive routing"),
        works.SINGH2005("the choice by queue length times hops"),
        works.MERLIN1980("a class of buffers for each hop"),
    )
    capabilities = Capabilities(minimal=False, multipath=True, virtual_channels=None)
    proof = "acyclic"
    Parameters = ParParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require a base of the right kind, and a virtual channel per hop."""
        base = self.parts["base"]
        if not base.hop_by_hop:
            return f"base {base.name} has a table, which has no routes that begin on the way"
        reason = too_large(topology) or base.supports(topology, virtual_channels)
        if reason is not None:
            return f"base {base.name}: {reason}"
        distance = switch_distances(topology)
        if endpoint_diameter(topology, distance) is None:
            return "some pairs of switches with terminals have no path"
        program = base.prepare(topology, virtual_channels)
        # A base with two phases sets waypoints itself, and a packet can have one only.
        if program.inject is not None or program.phases != 1 or program.by_terminal:
            return (
                f"base {base.name} makes choices at injection, sets waypoints or has routes to "
                "terminals; par needs one that depends on the target switch only"
            )
        if program.max_hops is None:
            return f"base {base.name} has no largest number of hops"
        needed = 2 * self._classes_per_half(topology, distance, program.max_hops)
        if virtual_channels < needed:
            return (
                f"needs {needed} virtual channels, one for each hop of both halves of the route; "
                f"the routers have {virtual_channels}: raise vcs to {needed}"
            )
        return None

    def _classes_per_half(self, topology: Topology, distance: Int32Array, base_hops: int) -> int:
        """Return the largest number of hops of half a route: it has a class for each of them.

        `base_hops` is the largest number of hops of a route of the base.
        """
        hops_before_choice: int = self.parameters.hops
        if hops_before_choice == 0:
            return max(1, base_hops)
        # The packet chooses a waypoint after up to `hops_before_choice` hops. Then it may be at a
        # switch without terminals, which can be further away from switches with terminals than
        # these are from each other. From there, half a route can be longer than the base's longest
        # by that difference.
        ends = topology.endpoints
        extra_hops = int(distance[ends].max()) - int(distance[np.ix_(ends, ends)].max())
        return base_hops + hops_before_choice + extra_hops

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        if reason := self.supports(topology, virtual_channels):
            raise UnsupportedError(reason)
        base = self.parts["base"].prepare(topology, virtual_channels)
        options, ends = self.parameters, topology.endpoints
        distance = switch_distances(topology)
        assert base.max_hops is not None
        # each half of a route has a separate class for each of its hops
        classes = self._classes_per_half(topology, distance, base.max_hops)
        return HopProgram(
            hop=progressive(base.hop),
            inject=inject,
            # in the order of the constants of the kernels: first the numbers of HEAD
            tables=append_tables(
                base.tables,
                [
                    len(ends),  # ENDPOINTS
                    topology.num_switches,  # SWITCHES
                    options.threshold,  # THRESHOLD
                    options.queue_number,  # QUEUE
                    options.hops,  # CHOICES
                ],
                ends,
                endpoint_numbers(topology),
                distance[ends],
                _groups(topology),
            ),
            vc_classes=classes,
            phases=2,  # to the waypoint, and from there
            candidates=base.candidates,
            by_occupancy=base.by_occupancy,
            ranking=base.ranking,
            again=base.again,
            waiting=options.counts_waiting,
            max_hops=2 * classes,
        )


def _groups(topology: Topology) -> Int32Array:
    """Return the group of each switch; one group for networks without groups."""
    coordinates = topology.coordinates
    if topology.family in ("dragonfly", "megafly") and coordinates is not None:
        groups: Int32Array = coordinates[:, 0].astype(np.int32)
        return groups
    return np.zeros(topology.num_switches, np.int32)
