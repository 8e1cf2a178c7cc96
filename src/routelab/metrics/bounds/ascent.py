"""Weights by multiplicative updates, for graphs with too large a linear program.

Every channel has a share; the shares add up to 1. The weight of a channel is its share times its
factor, greatest capacity / capacity. The bound that the weights prove is a concave function of the
shares, and the relative loads of lightest routes are its slope. So every round routes all pairs by
lightest routes and multiplies the share of each channel by a factor that grows with its load. That
is entropic mirror ascent: Nemirovsky, Yudin, *Problem Complexity and Method Efficiency in
Optimization*, 1983; as multiplicative weights: Arora, Hazan, Kale, Theory of Computing 8 (2012).
The mean of the shares converges at the rate 1/sqrt(rounds); the search returns its best weights.
"""

from __future__ import annotations

from time import monotonic

import numpy as np

from routelab.api import RoutingGraph
from routelab.api.topology import Float64Array, Int64Array, Topology
from routelab.metrics import channel_factors
from routelab.metrics.bounds.kernels import tree_loads
from routelab.toolkit import SourceSymmetry

ROUNDS = 1000
"""Largest number of rounds."""

WORK = 2_000_000_000
"""Largest number of edges that all rounds visit: about 20 s."""

SCALE = 1_000_000
"""Integer weight of the channels with the greatest weight."""

STEP = 0.5
"""Factor of the length of all steps."""


class Ascent:
    """Search for channel weights that prove a large lower bound of the maximum load.

    All channels of a class have one weight. A class holds the channels that translations of the
    network map to each other; without symmetry, every channel is a class.

    Parameters
    ----------
    graph : RoutingGraph
    symmetry : SourceSymmetry
        Symmetry of the graph.

    Attributes
    ----------
    weights : int64 array, shape (classes,)
        Weight of each class: the best weights so far.
    """

    def __init__(self, graph: RoutingGraph, symmetry: SourceSymmetry) -> None:
        self._graph = graph
        self._channel_class = symmetry.channel_class
        self._sources = symmetry.representatives
        self._terminals = graph.topology.terminals_per_switch.astype(np.int64)
        self._num_classes = int(self._channel_class.max()) + 1
        self._class_factor: Float64Array = symmetry.by_class(channel_factors(graph.topology))
        self._best_bound = -1.0  # less than any bound, so that the first weights replace these
        self.weights: Int64Array = np.ones(self._num_classes, dtype=np.int64)

    def run(self, seconds: float) -> Int64Array:
        """Run the search; return the best weights of the channel classes, int64.

        The number of rounds depends on the size of the graph. The time limit is for safety: unless
        it is reached, the same graph always gets the same weights.
        """
        # 1. Simple weights: 1 for every channel, or for those of one direction only.
        end = monotonic() + seconds
        self._try_weights(np.ones(self._num_classes))
        for direction_weights in _direction_weights(
            self._graph.topology, self._channel_class, self._num_classes
        ):
            if monotonic() < end:
                self._try_weights(direction_weights)
        # 2. Rounds of the ascent.
        visits_per_round = len(self._sources) * max(self._graph.num_edges, 1)
        log_shares: Float64Array = np.zeros(self._num_classes)
        mean_shares: Float64Array = np.zeros(self._num_classes)
        for round_number in range(min(ROUNDS, WORK // visits_per_round)):
            if monotonic() > end:
                break
            shares = np.exp(log_shares - log_shares.max())  # at most 1: no overflow
            shares /= shares.sum()
            # The slope of the bound is the relative load of each class: its load times its factor.
            slope = self._try_weights(shares * self._class_factor) * self._class_factor
            # The running mean, in which the shares of round k count k + 1 times: those of round k
            # are (k + 1) / (1 + 2 + … + (k + 1)) = 2 / (k + 2) of it.
            mean_shares += (shares - mean_shares) * 2 / (round_number + 2)
            # To try weights takes as long as a round, so the mean is tried in every tenth one only.
            if round_number % 10 == 9:
                self._try_weights(mean_shares * self._class_factor)
            # The share of the busiest class grows by the factor exp(step), relative to that of a
            # class without routes. The greatest slope is at least 1, or no channel has a route.
            step = STEP * np.log(self._num_classes + 1) / np.sqrt(round_number + 1)
            log_shares += slope * (step / max(float(slope.max()), 1.0))
        return self.weights

    def _try_weights(self, weights: Float64Array) -> Float64Array:
        """Keep weights that prove the best bound so far; return the loads that they cause.

        Every pair takes its lightest route. The load of a class is the number of routes from one
        source of each class of sources over its channels; float64, shape (classes,).
        """
        rounded = np.rint(weights / weights.max() * SCALE).astype(np.int64)
        loads = np.zeros(self._num_classes, dtype=np.int64)  # filled by the kernel
        total_weight = tree_loads(
            self._graph.arrays,
            sources=self._sources,
            terminals=self._terminals,
            weight=rounded[self._channel_class],
            channel_class=self._channel_class,
            loads=loads,
        )
        # The bound is (sum of demand × least weight) / (sum of capacity × weight). Every class has
        # as many sources or channels as there are translations, so one of each is enough.
        bound = int(total_weight) / float((rounded / self._class_factor).sum())
        if bound > self._best_bound:
            self._best_bound, self.weights = bound, rounded
        return loads.astype(np.float64)


def _direction_weights(
    topology: Topology, channel_class: np.ndarray, num_classes: int
) -> list[Float64Array]:
    """Return weights of the classes for each direction: 1 for its channels and 0 for others.

    They prove more than equal weights where one direction is the bottleneck, as along the longest
    side of a mesh, or round the longest odd rings of a torus. In an even ring they prove less. Its
    opposite switches have shortest routes in both directions, so their lightest route takes the
    other direction and has weight 0.
    """
    weights_by_direction = []
    for direction in range(len(topology.directions)):
        weights = np.zeros(num_classes)
        weights[channel_class[topology.channel_direction == direction]] = 1.0
        if weights.any():  # weights of 0 prove nothing
            weights_by_direction.append(weights)
    return weights_by_direction
