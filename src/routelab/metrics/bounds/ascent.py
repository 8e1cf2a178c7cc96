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
WORK = 2_000_000_000
"""Largest number of edges that all rounds visit: about 20 s."""

SCALE = 1_000_000
STEP = 0.5


class Ascent:
    """Search for weights of the channel classes that prove a large bound.

    Parameters
    ----------
    graph : RoutingGraph
    symmetry : SourceSymmetry
        Symmetry of the graph.
    """

    def __init__(self, graph: RoutingGraph, symmetry: SourceSymmetry) -> None:
        self._graph = graph
        self._class = symmetry.channel_class
        self._sources = symmetry.representatives
        self._terminals = graph.topology.terminals_per_switch.astype(np.int64)
        self._classes = int(self._class.max()) + 1
        self._factor: Float64Array = symmetry.by_class(channel_factors(graph.topology))
        self._best = -1.0
        self.weights: Int64Array = np.ones(self._classes, dtype=np.int64)

    def run(self, seconds: float) -> Int64Array:
        """Return the best weights of a number of rounds that depends on the graph's size.

        The time limit is for safety: the same graph has the same weights unless it is reached.
        """
        end = monotonic() + seconds
        self._try(np.ones(self._classes))
        for alone in _by_direction(self._graph.topology, self._class, self._classes):
            if monotonic() < end:
                self._try(alone)
        visits = len(self._sources) * max(self._graph.num_edges, 1)
        heat: Float64Array = np.zeros(self._classes)
        mean: Float64Array = np.zeros(self._classes)
        for number in range(min(ROUNDS, WORK // visits)):
            if monotonic() > end:
                break
            shares = np.exp(heat - heat.max())
            shares /= shares.sum()
            slope = self._try(shares * self._factor) * self._factor
            mean += (shares - mean) * 2 / (number + 2)
            if number % 10 == 9:
                self._try(mean * self._factor)
            step = STEP * np.log(self._classes + 1) / np.sqrt(number + 1)
            heat += slope * (step / max(float(slope.max()), 1.0))
        return self.weights

    def _try(self, weights: Float64Array) -> Float64Array:
        """Store weights that prove a larger bound; return the routes over each channel class."""
        rounded = np.rint(weights / weights.max() * SCALE).astype(np.int64)
        loads = np.zeros(self._classes, dtype=np.int64)
        least = tree_loads(
            self._graph.arrays,
            self._sources,
            self._terminals,
            rounded[self._class],
            self._class,
            loads,
        )
        proven = int(least) / float((rounded / self._factor).sum())
        if proven > self._best:
            self._best, self.weights = proven, rounded
        return loads.astype(np.float64)


def _by_direction(
    topology: Topology, channel_class: np.ndarray, classes: int
) -> list[Float64Array]:
    """Return weights for every direction that count only its channels."""
    chosen = []
    for direction in range(len(topology.directions)):
        weights = np.zeros(classes)
        weights[channel_class[topology.channel_direction == direction]] = 1.0
        if weights.any():
            chosen.append(weights)
    return chosen
