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
        Hops of the longest route; None if packets may never arrive. An upper bound after
        `explore_fixed` of a program with waypoints: it adds the longest walk to a waypoint and the
        longest walk from there, even if no single packet makes both.
        If there are too few classes (`missing_class_states`), a walk ends where its next class does
        not exist. Only `explore_fixed` with `FixedStates.ascending` follows it further, here and in
        `long_route_pairs`.
    diameter : int
        Longest distance between two switches with terminals.
    pairs : int
        Connected pairs of different switches with terminals; of terminals for programs that are
        `by_terminal`.
    long_route_pairs : int
        Pairs with a route of more than twice the diameter; an upper bound where `longest` is one.
    dead_ends : int
        Number of reachable states (source, target, switch) without a candidate.
    dead_end_example : str
        One of them, in words.
    missing_class_states : int
        Number of states (source, target, switch, class) that packets reach on the existing classes,
        with a candidate of a class that does not exist: there are too few virtual channels.
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
        obstacles = []
        if self.dead_ends:
            noun = "dead end" if self.dead_ends == 1 else "dead ends"
            obstacles.append(
                f"{self.dead_ends:,} {noun} without a candidate: {self.dead_end_example}"
            )
        if self.missing_class_states:
            subject = "state needs" if self.missing_class_states == 1 else "states need"
            obstacles.append(
                f"{self.missing_class_states:,} {subject} more virtual channels than available: "
                f"{self.missing_class_example}"
            )
        return "; ".join(obstacles)


def sample_sources(topology: Topology, pairs_per_source: int) -> Int32Array:
    """Return the switches where packets begin: all with terminals, or a random sample of them.

    It is a sample if all of them would have more than `MAX_PAIRS` pairs of source and destination.

    Parameters
    ----------
    topology : Topology
    pairs_per_source : int
        Number of pairs of each source switch.
    """
    sources = topology.endpoints
    # at least one source; a network without terminals has no pairs
    max_sources = max(1, MAX_PAIRS // max(pairs_per_source, 1))
    if len(sources) > max_sources:
        random = np.random.default_rng(SEED)
        sources = np.sort(random.choice(sources, max_sources, replace=False))
    return sources.astype(np.int32)


def endpoint_distances(topology: Topology, sources: Int32Array) -> Int32Array:
    """Return the hops from each source to every switch; −1 if no path leads there.

    Shape (number of sources, number of switches).
    """
    distance = np.empty((len(sources), topology.num_switches), np.int32)
    queue = np.empty(topology.num_switches, np.int32)  # working space
    for distance_row, source in zip(distance, sources, strict=True):
        # fills `distance_row`
        hop_distances(*topology.outgoing, topology.channel_target, source, distance_row, queue)
    return distance
