"""The search for trees with evenly loaded channels.

Trees are int32 arrays of shape (T, S): the next channel of each switch, destination after
destination; −1 at the destination's switch and where no route exists.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Int32Array, Int64Array
from routelab.kernels.forwarding.balance import balance_trees
from routelab.kernels.forwarding.growth import grow_trees
from routelab.kernels.forwarding.trees import Fabric, Legality, channel_loads, reaching_switches
from routelab.toolkit.forwarding.fabric import fabric_of

POWERS = (4, 8, 16, 32, 64, 8, 24, 64, 128)
"""Powers of the load that are a channel's cost, sweep after sweep.

High powers look at the most loaded channels only; low ones in between leave dead ends of the
search.
"""
MOVES, FEWEST_MOVES, MOST_MOVES = 24, 20_000_000, 250_000_000
"""Moves for each channel and tree, and limits on their number, if no number is given."""
STEEP = 32
"""Power from which on routes over channels far from the largest load are skipped."""


class TreeSearch:
    """Grow and balance trees of one network.

    Parameters
    ----------
    topology : Topology
    seed : int
        Seed of the order in which trees and switches are looked at.
    moves : int or None
        Moves that one call of `balance` may examine; None: `MOVES` for every channel and tree, at
        least `FEWEST_MOVES` and at most `MOST_MOVES`.
    sources : int64 array, shape (T,), or None
        Number of switches that have a legal route to each destination, with the destination's own;
        None: all switches from which it can be reached. A tree with fewer switches has a dead end.

    Attributes
    ----------
    tried : int
        Moves looked at so far.
    """

    def __init__(
        self,
        topology: Topology,
        seed: int,
        moves: int | None = None,
        sources: Int64Array | None = None,
    ) -> None:
        self.topology, self.seed = topology, seed
        by_size = MOVES * topology.num_channels * topology.num_terminals
        default = min(max(by_size, FEWEST_MOVES), MOST_MOVES)
        self.moves = default if moves is None else moves
        self.tried = 0
        self.fabric: Fabric = fabric_of(topology)
        self.sources = reaching_switches(self.fabric) if sources is None else sources

    def peak(self, load: Int64Array) -> float:
        """Return the largest load relative to its channel's capacity."""
        return float((load / self.topology.channel_capacity).max(initial=0.0))

    def loads(self, legality: Legality, trees: Int32Array) -> tuple[Int64Array, Int64Array]:
        """Return the packets on each channel, and the trees with an illegal route."""
        load, illegal = channel_loads(self.fabric, legality, trees)
        return load, np.flatnonzero(illegal)

    def no_trees(self) -> Int32Array:
        """Return trees without routes, to be grown."""
        shape = (self.topology.num_terminals, self.topology.num_switches)
        return np.full(shape, -1, np.int32)

    def grow(self, legality: Legality, trees: Int32Array, waiting: Int64Array) -> Int64Array:
        """Grow the trees `waiting`, and return those that ended before all switches joined.

        `trees` is updated. Nearest switches join first. Trees with dead ends are grown again: first
        so that switches join where most arrivals are good, then in two other random orders.
        """
        random = np.random.default_rng(self.seed)
        # each round has another order of equally loaded channels, `rank`
        for widest in (False, True, True, True):
            if not len(waiting):
                break
            trees[waiting] = -1
            load, _ = self.loads(legality, trees)
            rank = random.permutation(self.topology.num_channels)
            joined = grow_trees(self.fabric, legality, trees, load, waiting, rank, np.bool_(widest))
            waiting = waiting[joined < self.sources[waiting]]
        return waiting

    def grow_widest(self, legality: Legality, trees: Int32Array) -> None:
        """Grow all trees so that switches join first where most arrivals are good.

        Trees are longer and have fewer dead ends. Those that have some stay incomplete. `trees` is
        updated. Nothing is random: of equally loaded channels the one with the lowest number is
        taken.
        """
        rank = np.arange(self.topology.num_channels)
        load = np.zeros(self.topology.num_channels, np.int64)
        grow_trees(self.fabric, legality, trees, load, np.arange(len(trees)), rank, np.bool_(True))

    def balance(
        self, legality: Legality, trees: Int32Array, floor: float = 0.0, rounds: int = 10
    ) -> tuple[Int32Array, float]:
        """Move routes away from the most loaded channels.

        Parameters
        ----------
        legality : Legality
        trees : int32 array, shape (T, S)
            Every route in them is legal.
        floor : float
            Load at which the search ends; it never goes below.
        rounds : int
            Most rounds of `POWERS`; the search ends earlier after six without success.

        Returns
        -------
        trees : int32 array, shape (T, S)
        peak : float
            Largest load relative to its channel's capacity.
        """
        # 1. The trees so far. A sweep changes trees and loads, so the best trees are copies.
        random = np.random.default_rng(self.seed)
        load, _ = self.loads(legality, trees)
        best_trees, best_peak = trees, self.peak(load)
        trees = trees.copy()
        capacities = np.unique(self.topology.channel_capacity)
        # The tolerance is for rounding: 1.1 * 50 is 55.00000000000001, but means 55 packets.
        goal = np.ceil(floor * capacities - 1e-9).astype(np.int64)
        budget, sweeps_without_gain = self.moves, 0
        for power in POWERS * rounds:
            if budget <= 0 or best_peak <= floor or sweeps_without_gain == 6 * len(POWERS):
                break
            # 2. The cost of a channel, by its capacity and its packets: a power of its load
            #    relative to the largest load of now. Infinite above that, so that no move exceeds
            #    it; 1e-9 is for rounding errors.
            peak = self.peak(load)
            packets = np.arange(int(peak * capacities.max(initial=1.0) + 1e-9) + 1)
            relative = packets / (capacities[:, None] * peak if peak else 1.0)
            cost = np.where(relative > 1 + 1e-9, np.inf, relative**power)
            # 3. One sweep in random order. Steep powers skip routes that cost less than a tenth of
            #    a channel at 90 % of the largest load. The budget also pays for reading each tree.
            num_examined = balance_trees(
                fabric=self.fabric,
                legality=legality,
                trees=trees,
                load=load,
                cost=cost,
                goal=goal,
                tree_order=random.permutation(len(trees)),
                switch_order=random.permutation(trees.shape[1]),
                min_cost=0.1 * 0.9**power if power >= STEEP else 0.0,
                budget=np.int64(budget),
            )
            self.tried += num_examined
            budget -= num_examined + len(trees)
            sweeps_without_gain += 1
            if self.peak(load) < best_peak - 1e-9:
                best_trees, best_peak, sweeps_without_gain = trees.copy(), self.peak(load), 0
        return best_trees, best_peak
