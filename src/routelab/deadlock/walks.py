"""Facts about the routes that the states of an algorithm allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Int32Array
from routelab.kernels.distances import hop_distances


@dataclass(frozen=True)
class Walks:
    """The routes that an algorithm allows on a network, over all reachable states.

    Attributes
    ----------
    longest : int or None
        Hops of the longest route; None if packets may walk for ever. With waypoints an upper bound.
        With `short_states` on a large network, this and the numbers below are those with as many
        virtual channels as are needed; on a small one, routes end where classes do.
    diameter : int
        Longest distance between two switches with terminals.
    pairs : int
        Connected pairs of different switches with terminals.
    far_pairs : int
        Pairs with a route of more than twice the diameter; with waypoints an upper bound.
    dead_ends : int
        Reachable states (source, target, switch) without a candidate.
    dead_end : str
        One of them.
    short_states : int
        States (source, target, switch, class) that packets reach on the existing classes, with a
        candidate of a class that does not exist: there are too few virtual channels.
    short_state : str
        One of them, with the class.
    """

    longest: int | None
    diameter: int
    pairs: int
    far_pairs: int
    dead_ends: int = 0
    dead_end: str = ""
    short_states: int = 0
    short_state: str = ""

    @property
    def text(self) -> str:
        """Describe the longest route for reports."""
        if self.longest is None:
            return "packets may walk for ever"
        text = f"no route exceeds {self.longest} hops"
        if self.far_pairs:
            text += (
                f"; {self.far_pairs:,} of {self.pairs:,} pairs can exceed twice the diameter "
                f"({self.diameter})"
            )
        return text

    @property
    def obstacle(self) -> str:
        """Say why the algorithm cannot run, empty if it can: dead ends, or too few classes."""
        found = []
        if self.dead_ends:
            found.append(f"{self.dead_ends:,} dead ends without a candidate: {self.dead_end}")
        if self.short_states:
            found.append(
                f"{self.short_states:,} states need more virtual channels than there are: "
                f"{self.short_state}"
            )
        return "; ".join(found)


def endpoint_distances(topology: Topology) -> Int32Array:
    """Return the hops from each switch with terminals to every switch; (E, S), −1 if no path."""
    ends = topology.endpoints
    distance = np.empty((len(ends), topology.num_switches), np.int32)
    queue = np.empty(topology.num_switches, np.int32)
    for row, end in zip(distance, ends, strict=True):
        hop_distances(*topology.outgoing, topology.channel_target, end, row, queue)
    return distance
