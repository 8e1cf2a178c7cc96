"""ugal: minimal, or via a random switch if the queues there are shorter (UGAL-L and UGAL-G).

Singh, *Load-Balanced Routing in Interconnection Networks*, PhD thesis, Stanford University, 2005:
each packet draws a random switch as in Valiant's algorithm, and goes there first only if it pays.
Kim, Dally, Scott and Abts, *Technology-Driven, Highly-Scalable Dragonfly Topology*, ISCA 2008, doi
10.1109/ISCA.2008.19, call the variant that knows the queues of the source switch alone UGAL-L. A
packet goes minimally if

    queue of its first hop x hops <= queue of the first hop to the random switch x hops + threshold

where the hops are those of the whole route: on the left of the shortest one, on the right of the
one through the random switch. Both are distances on the bare network; routes of the base may be
longer.

With ``mode=global`` it knows the queues of all switches (UGAL-G), as in Besta and Hoefler, *Slim
Fly: A Cost Effective Low-Diameter Network Topology*, SC 2014, doi 10.1109/SC.2014.34, who choose
the route with the smallest sum of the queues on it. A packet goes minimally if

    sum of the queues along its route <= sum along the route through the random switch + threshold

where each route is the one that the base would take now: at every switch the first hop with the
shortest queue. No queue changes while it is followed.

Conventions:

- The random switch is drawn uniformly from all switches with terminals. If it is the source or the
  destination, the packet goes minimally.
- The queue is in flits. ``output``, the default, is the length of the output queue as simulators
  with credits count it: what waits inside the switch for the channel, and what the credits of all
  virtual channels behind it show to be occupied or on the way. ``waiting`` and ``channel`` are
  these two alone, ``class`` the occupied room of the class of virtual channels that would be taken.
- Of several first hops that the base offers, the one with the shortest queue counts; escapes count
  only if nothing else is offered.
- A packet that goes minimally uses the virtual channels of the first half only.

Virtual channels and proof are those of the base, twice; see `valiant`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from routelab.api import Capabilities, HopProgram, Topology, parameter
from routelab.api.topology import Int32Array
from routelab.kernels.distances import hop_distances
from routelab.toolkit.families.graph_hops import endpoint_numbers
from routelab.toolkit.families.queue_choice import QueueParameters
from routelab.toolkit.waypoint_routing import WaypointParameters, WaypointRouting
from routelab_plugins import works

from .kernels import inject

MOST_ENDPOINTS = 5000
"""Switches with terminals; the table of their distances takes 100 MB."""


class UgalParameters(QueueParameters, WaypointParameters):
    """Base routing, threshold and queues."""

    mode: Literal["local", "global"] = parameter(
        "local",
        description="Queues to compare: the queue of the first hop times the hops of the route, "
        "or all queues of the route",
    )


class Ugal(WaypointRouting):
    """Minimal, or via a random switch, depending on the queues of the source or of all switches."""

    name = "ugal"
    summary = "Minimal route or one through a random switch, by queue length (UGAL)"
    citations = (
        works.SINGH2005(
            "UGAL: the choice between the minimal and Valiant's way by queue length times hops",
        ),
        works.KIM2008("UGAL-L, which knows the queues of the source switch alone"),
        works.BESTA2014("UGAL-G by the sum of the queues along the route"),
    )
    capabilities = Capabilities(minimal=False, multipath=True, virtual_channels=None)
    Parameters = UgalParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Return why the base does not serve both halves, or the network is too large."""
        count = len(topology.endpoints)
        if count > MOST_ENDPOINTS:
            return (
                f"{count} switches with terminals: the table of their distances would take "
                f"{4 * count**2 // 10**6} MB, at most {MOST_ENDPOINTS} switches are supported"
            )
        return super().supports(topology, virtual_channels)

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Return the base's program with a waypoint for some packets.

        Raises
        ------
        UnsupportedError
            If the base does not apply.
        """
        ends, options = topology.endpoints, self.parameters
        # the arrays are in the order of the constants of the kernels: first the numbers of HEAD
        return self.two_halves(
            topology,
            virtual_channels,
            inject,
            [
                len(ends),  # ENDPOINTS
                options.threshold,  # THRESHOLD
                options.queue_number,  # QUEUE
                options.mode == "global",  # IS_GLOBAL
                # MOST_HOPS: a base that takes more hops is not followed further
                2 * topology.num_switches,
            ],
            ends,
            endpoint_numbers(topology),
            _distances(topology),
            topology.channel_target,
            waiting=options.counts_waiting,
        )


def _distances(topology: Topology) -> Int32Array:
    """Return the hops between switches with terminals, by (source, destination); int32, (P, P)."""
    ends = topology.endpoints
    distances = np.empty((len(ends), len(ends)), np.int32)
    hops, queue = (np.empty(topology.num_switches, np.int32) for _ in range(2))
    for source, switch in enumerate(ends):
        hop_distances(*topology.outgoing, topology.channel_target, switch, hops, queue)
        distances[source] = hops[ends]
    return distances
