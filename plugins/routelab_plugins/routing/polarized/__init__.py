"""polarized: routes that leave the source and approach the target, never turning back.

Camarero, Martínez and Beivide, *Polarized Routing for Large Interconnection Networks*, IEEE Micro
42(2), 2022, doi 10.1109/MM.2021.3139392. The weight of a switch c on the way from s to t is
D(c, s) - D(c, t). A packet takes only hops that do not decrease it (Table 1 of the paper): of those
that leave it unchanged, hops away from both are allowed while the packet is nearer to the source,
hops towards both otherwise. Among the allowed channels it takes the one with the least queue plus
penalty, which depends on the growth of the weight: 0, 64 and 80 phits for 2, 1 and 0.

The n-th hop uses the n-th class of virtual channels, so there must be as many as the longest route
has hops: at most 4 D - 3 in a network of diameter D (at least 2), and 2 in a complete graph. In
networks of up to `MOST_EXACT` switches, the longest route is computed, and *dead ends*, where no
hop is allowed, are found: meshes have some.

What the paper leaves open is a parameter: whether a packet waits for the best channel (`blocked`),
and whether the greatest growth that a switch offers has no penalty, or only a growth of 2
(`penalties`).
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
from routelab.api.topology import Int32Array
from routelab.toolkit.families.graph_hops import (
    endpoint_diameter,
    graph_tables,
    most_channels,
    switch_distances,
    too_large,
)
from routelab_plugins import works

from .kernels import hop, longest_routes

MOST_EXACT = 300
"""Largest network whose longest route is computed: about a second."""


class PolarizedParameters(Parameters):
    """Penalties, and choices that the paper leaves open."""

    p1: int = parameter(
        64, ge=0, le=1 << 19, description="Penalty of hops that increase the weight by 1, in flits"
    )
    p0: int = parameter(
        80, ge=0, le=1 << 19, description="Penalty of hops that leave the weight, in flits"
    )
    penalties: Literal["absolute", "relative"] = parameter(
        "absolute",
        description="The hops without penalty: those that increase the weight by 2, or those with "
        "the greatest increase that the switch offers",
    )
    blocked: Literal["wait", "skip"] = parameter(
        "wait",
        description="Packets whose best channel is full wait (wait) or take the next best (skip)",
    )


class Polarized(HopRoutingPlugin):
    """Routes packets away from the source and towards the target, by queue length."""

    name = "polarized"
    summary = "Adaptive non-minimal routes away from the source, towards the target (Polarized)"
    citations = (
        works.CAMARERO2022("the algorithm"),
        works.MERLIN1980("a class of buffers for each hop"),
    )
    capabilities = Capabilities(
        minimal=False, multipath=True, tolerates_failures=False, virtual_channels=None
    )
    proof = "acyclic"
    Parameters = PolarizedParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require equal distances in both directions, and a virtual channel for each hop.

        Dead ends and the longest route are found in networks of up to `MOST_EXACT` switches. In
        larger ones, virtual channels for the diameter are necessary, but may not suffice.
        """
        if reason := too_large(topology):
            return reason
        distance = switch_distances(topology)
        if distance.min() < 0:
            return "some pairs of switches have no path"
        if not np.array_equal(distance, distance.T):
            return "distances differ by direction, and routes need links in both directions"
        if topology.num_switches <= MOST_EXACT:
            return self._exact_problem(topology, distance, virtual_channels)
        diameter = endpoint_diameter(topology, distance)
        assert diameter is not None  # all pairs have a path
        if virtual_channels < diameter:
            return _too_few_channels("some routes have", diameter, virtual_channels)
        return None

    def _exact_problem(
        self, topology: Topology, distance: Int32Array, virtual_channels: int
    ) -> str | None:
        """Return why the routing does not apply, from a search of all routes; None if it does.

        It must have no dead end, and a virtual channel for each hop of the longest route.
        """
        ends, names = topology.endpoints, topology.switch_names
        starts, channels = topology.outgoing
        # by (source, target); the kernel fills it
        longest = np.empty((len(ends), len(ends)), np.int32)
        num_dead_ends, (source, target, switch) = longest_routes(
            starts=starts,
            targets=topology.channel_target[channels],
            distance=distance,
            ends=np.asarray(ends, np.int32),
            diameter=int(distance.max()),
            longest=longest,
        )
        if num_dead_ends:
            return (
                f"{num_dead_ends} dead {'end' if num_dead_ends == 1 else 'ends'}, where no hop is "
                f"allowed: at {names[switch]} on the way from {names[source]} to {names[target]}, "
                "for example"
            )
        max_hops = int(longest.max(initial=0))
        if virtual_channels < max_hops:
            source, target = np.unravel_index(longest.argmax(), longest.shape)
            from_to = f"from {names[ends[source]]} to {names[ends[target]]}"
            return _too_few_channels(
                f"the longest route, {from_to}, has", max_hops, virtual_channels
            )
        return None

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        distance = switch_distances(topology)
        if endpoint_diameter(topology, distance) is None:
            raise UnsupportedError("some pairs of switches with terminals have no path")
        # of all switches, because routes may pass those without terminals
        diameter = int(distance.max())
        options = self.parameters
        # penalties of hops that increase the weight by 0, by 1 and by 2; whether they are relative
        numbers = [options.p0, options.p1, 0, options.penalties == "relative"]
        # No route is longer (see the module), so more classes would stay empty.
        longest_route = max(2, 4 * diameter - 3)
        classes = max(1, min(virtual_channels, longest_route))
        return HopProgram(
            hop=hop,
            tables=graph_tables(topology, distance, numbers),
            vc_classes=classes,
            candidates=most_channels(topology),
            by_occupancy=True,
            detour_penalty=max(options.p0, options.p1),
            fixed=True,
            ranking="room" if options.blocked == "skip" else "best",
            again=options.blocked == "wait",
            max_hops=classes,
        )


def _too_few_channels(routes_have: str, hops: int, virtual_channels: int) -> str:
    """Return that some routes have too many hops; `routes_have` is, say, "some routes have"."""
    return (
        f"{routes_have} {hops} hops, and each needs a virtual channel; the routers have "
        f"{virtual_channels}: raise vcs to {hops}"
    )
