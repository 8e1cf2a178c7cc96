"""Facts about the routes that the states of an algorithm allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Int32Array
from routelab.kernels.distances import hop_distances

MAX_PAIRS = 4_000_000
"""Largest number of pairs; of larger networks, only some sources are examined."""
SEED = 0
"""Seed of the order in which pairs are examined, and of the sources."""


@dataclass(frozen=True)
class AllowedRoutes:
    """The routes that an algorithm allows on a network, over all examined states.

    Attributes
    ----------
    longest : int or None
        Hops of the longest route; None if packets may never arrive. With waypoints, an upper bound
        after `explore_fixed`, which joins the two halves of routes freely.
        If classes are missing (`missing_class_states`), a search by switches counts hops as if they
        existed, here and in `long_route_pairs`; other searches end a route where they miss a class.
    diameter : int
        Longest distance between two switches with terminals.
    pairs : int
        Connected pairs of different switches with terminals; of terminals for programs that are
        `by_terminal`.
    long_route_pairs : int
        Pairs with a route of more than twice the diameter; an upper bound where `longest` is one.
    dead_ends : int
        Reachable states (source, target, switch) without a candidate.
    dead_end_example : str
        One of them, in words.
    missing_class_states : int
        States (source, target, switch, class) that packets reach on the existing classes, with a
        candidate of a class that does not exist: there are too few virtual channels.
    missing_class_example : str
        One of them, in words, with the class.
    """

    longest: int | None
    diameter: int
    pairs: int
    long_route_pairs: int
    dead_ends: int = 0
    dead_end_example: str = ""
    missing_class_states: int = 0
    missing_class_example: str = ""

    @property
    def text(self) -> str:
        """Describe the longest route for reports."""
        if self.longest is None:
            return "packets may walk forever"
        text = f"no route exceeds {self.longest} {'hop' if self.longest == 1 else 'hops'}"
        if self.long_route_pairs:
            text += (
                f"; {self.long_route_pairs:,} of {self.pairs:,} pairs can exceed twice the "
                f"diameter ({self.diameter})"
            )
        return text

    @property
    def obstacle(self) -> str:
        """Say why the algorithm cannot run, empty if it can: dead ends, or too few classes."""
        causes = []
        if self.dead_ends:
            ends = "dead end" if self.dead_ends == 1 else "dead ends"
            causes.append(f"{self.dead_ends:,} {ends} without a candidate: {self.dead_end_example}")
        if self.missing_class_states:
            states = "state needs" if self.missing_class_states == 1 else "states need"
            causes.append(
                f"{self.missing_class_states:,} {states} more virtual channels than available: "
                f"{self.missing_class_example}"
            )
        return "; ".join(causes)


def sample_sources(topology: Topology, pairs_per_source: int) -> Int32Array:
    """Return the switches with terminals; of a large network a drawn sample of them.

    Parameters
    ----------
    topology : Topology
    pairs_per_source : int
        Pairs with the same source switch, so that there are at most `MAX_PAIRS` in all.
    """
    ends = topology.endpoints
    max_sources = max(1, MAX_PAIRS // max(pairs_per_source, 1))
    if len(ends) > max_sources:
        ends = np.sort(np.random.default_rng(SEED).choice(ends, max_sources, replace=False))
    return ends.astype(np.int32)


def endpoint_distances(topology: Topology, sources: Int32Array) -> Int32Array:
    """Return the hops from each of some switches to every switch; (E, S), −1 if no path."""
    distance = np.empty((len(sources), topology.num_switches), np.int32)
    queue = np.empty(topology.num_switches, np.int32)
    for row, end in zip(distance, sources, strict=True):
        hop_distances(*topology.outgoing, topology.channel_target, end, row, queue)
    return distance
