"""Balanced routes: near the least maximum load that shortest legal routes allow.

Every pair takes one of its few distinct shortest legal routes. This is a small packing problem:
each row (pair) has several ways to load bins (channels), and the load of the fullest bin is
minimized.

1. **Symmetry.** On a torus without failures, the problem is folded under a group of translations:
   pairs that are translations of one another choose alike, and a whole class of channels is one
   bin. A row of the folded problem adds to its bins exactly what its pairs add to each of their
   channels, so only freedom of choice is lost. The group: let n be the length of an even ring. A
   pair that is n/2 apart may go either way, and takes n/2 consecutive channels; for equal loads of
   all channels, the choices must repeat after n/2 steps. So the group consists of the
   translations by multiples of the least prime factor of n/2 in each even ring (2 for rings of 4,
   8 and 12; 3 for 6; 5 for 10), and of all translations in odd rings, where nothing is tied.
   10x10x10 shrinks from 271,000 rows and 6,000 bins to 33,875 and 750.
2. **Annealing.** Sweeps over the rows: each row is removed and placed on the route that is
   cheapest at prices exp(β · load), with β from 0.03 to 2. Equal routes are drawn at random.
3. **Repair.** The goal is one less than the best maximum so far. The price of bins above it rises
   by a tenth after every sweep that misses the goal.
4. **Proof.** Prices prove a lower bound at any time: the mean load, weighted with the prices, if
   every row took its cheapest route. Where that meets the maximum load, the search ends.
5. **Evening out.** Moves that lower the sum of |load − mean|⁴ (the paper's σ(4)) and leave the
   maximum.

All channels count alike, whatever their capacity. On a network of several speeds the search
balances numbers of routes, and so its proof says nothing about relative loads.

With `phases=xor` or `shift` the bins are channels in each phase of an all-to-all exchange, and
the objective is the sum of the phases' maximum loads.

Costs: one breadth-first search a class of sources, O(V + E) each; O(total hops of the listed
routes) a sweep; O(total hops) for the table. Annealing by prices: Young, *Randomized rounding
without solving the linear program* (SODA 1995); breaking out: Morris, *The breakout method for
escaping from local minima* (AAAI 1993). That the folded problem is enough on tori, and the choice
of the group, is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    Column,
    Parameters,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    parameter,
)
from routelab.api.topology import Int32Array, Int64Array
from routelab.kernels.translations import single_route_load
from routelab.toolkit import RouteChoices, SourceSymmetry, route_choices
from routelab_plugins import works

from .kernels import Rows, balance, bin_loads, even_out, fullest_bins, objective

COOLING_SWEEPS = 40
"""Number of sweeps of annealing, if they are cheap."""

EVEN_OUT_SWEEPS = 20
"""Largest number of sweeps of evening out."""

KICKS = 50
"""Largest number of random kicks while evening out."""

WORK = 40e6
"""Number of hops that a search visits before it stops."""

CHEAP = 1_000_000
"""Largest number of hops per sweep for which smaller groups are searched too."""


class BalancedParameters(Parameters):
    """Effort and objective of the search."""

    seed: int = parameter(
        0, ge=0, le=2**63 - 1, description="Seed of the draws between equally cheap routes"
    )
    phases: Literal["none", "xor", "shift"] = parameter(
        "none",
        description="Balance the sum of all pairs (none), or each phase of an all-to-all exchange "
        "in which terminal i sends to i xor p, or to i + p",
    )
    routes: int = parameter(
        32, ge=1, le=4096, description="Largest number of routes to choose from for each pair"
    )
    sweeps: int = parameter(
        400, ge=1, le=10**9, description="Largest number of sweeps over the pairs"
    )
    effort: float = parameter(
        1.0, gt=0, le=1e6, description="Work of a search, relative to 40 million examined hops"
    )


@dataclass(frozen=True, eq=False)
class _Problem:
    """Rows and bins of `choices`; `open` are the numbers of the rows with more than one route."""

    choices: RouteChoices
    rows: Rows
    base: Int64Array
    open: Int64Array

    @property
    def hops(self) -> int:
        """Number of hops that a sweep visits."""
        return int((self.rows.routes.astype(np.int64) * self.rows.length).sum())

    def fullest(self, choice: Int32Array) -> int:
        """Return the objective of a choice of a route for every row."""
        return int(objective(bin_loads(self.rows, self.base, choice[self.open]), self.rows.segment))


class Balanced(SelectionPlugin):
    """Anneals, repairs and evens out; stops when prices prove optimality."""

    name = "balanced"
    summary = "Near-optimal maximum load by annealing over distinct routes and symmetry"
    citations = (
        works.YOUNG1995("choosing by exponential prices"),
        works.MORRIS1993("emphasis that grows where the goal is missed"),
    )
    capabilities = Capabilities(minimal=None)
    columns = (
        Column(
            "sweeps",
            "`balanced`: number of sweeps over all pairs until nothing improved",
            group="Computing effort",
        ),
    )
    Parameters = BalancedParameters

    def supports(self, graph: RoutingGraph) -> str | None:
        """Require one terminal per switch for phases, and a power of two of them for XOR."""
        options: BalancedParameters = self.parameters
        ranks = graph.topology.num_terminals
        if options.phases == "none":
            return None
        if len(graph.topology.endpoints) != ranks:
            return "phases are balanced with one terminal at each switch that has any"
        if options.phases == "xor" and ranks & (ranks - 1):
            return f"phases=xor needs a power of two of terminals, not {ranks}"
        return None

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Choose one shortest legal route per pair, with balanced loads."""
        choices = route_choices(graph, self.parameters.routes)
        if self.parameters.phases == "none":
            choices, chosen, sweeps = self._balance_sum(choices)
        else:
            choices = choices.each_source()
            problem = _by_phase(choices, self.parameters.phases)
            chosen, sweeps, _ = self._search(problem, None)
            chosen, evened = self._even(problem, chosen, EVEN_OUT_SWEEPS)
            sweeps += evened
        lengths, hops = choices.table(chosen)
        return RouteTable.from_lengths(graph.topology, lengths, hops, counters={"sweeps": sweeps})

    def _balance_sum(self, choices: RouteChoices) -> tuple[RouteChoices, Int32Array, int]:
        """Search under one group after another, while that is cheap and no optimum is proven."""
        first, *smaller = foldings(choices.symmetry)
        folded = choices.refined(first)
        problem = _all_at_once(folded)
        chosen, sweeps, proven = self._search(problem, None)
        for group in smaller:
            growth = folded.symmetry.order // group.order
            if problem.hops * growth > CHEAP:
                break
            finer = choices.refined(group)
            chosen = chosen[folded.rows_of(finer)]
            folded, problem = finer, _all_at_once(finer)
            if proven:
                continue
            # restart under each group; without a group, search from the best choice so far
            again, more, proven = self._search(problem, chosen if group.order == 1 else None)
            sweeps += more
            if problem.fullest(again) < problem.fullest(chosen):
                chosen = again
        evening = min(EVEN_OUT_SWEEPS, 1 + 4 * CHEAP // max(problem.hops, 1))
        chosen, evened = self._even(problem, chosen, evening)
        return folded, chosen, sweeps + evened

    def _search(self, problem: _Problem, start: Int32Array | None) -> tuple[Int32Array, int, bool]:
        """Anneal and repair; from `start` on, repair only.

        Returns
        -------
        chosen : int32 array, shape (Q · P,)
            Number of every row's route.
        sweeps : int
        proven : bool
            No choice is better.
        """
        options: BalancedParameters = self.parameters
        affordable = max(8, int(WORK * options.effort / max(problem.hops, 1)))
        sweeps = min(options.sweeps, affordable)
        cooling = min(COOLING_SWEEPS, (sweeps + 1) // 2) if start is None else 0
        result = np.zeros(len(problem.choices.arrays.routes), dtype=np.int32)
        if start is not None:
            result[:] = start
        choice = result[problem.open]
        if not len(choice):
            return result, 0, True
        sweeps_done, proven = balance(
            problem.rows, problem.base, choice, cooling, sweeps - cooling, options.seed
        )
        result[problem.open] = choice
        return result, sweeps_done, proven

    def _even(self, problem: _Problem, start: Int32Array, sweeps: int) -> tuple[Int32Array, int]:
        """Lower σ(4) without a higher maximum; return the choice and the number of sweeps."""
        rows, choice = problem.rows, start[problem.open]
        if not len(choice):
            return start, 0
        load = bin_loads(rows, problem.base, choice)
        limit = fullest_bins(load, rows.segment)[rows.segment]
        mean = float(load.mean())
        kicks = min(KICKS, CHEAP // max(problem.hops, 1))
        sweeps_done = even_out(rows, load, choice, limit, mean, sweeps, kicks, self.parameters.seed)
        result = start.copy()
        result[problem.open] = choice
        return result, sweeps_done


def foldings(symmetry: SourceSymmetry) -> list[SourceSymmetry]:
    """Return the groups for folding the problem, from the largest to none."""
    halves = [n // 2 if n > 2 and n % 2 == 0 else 1 for n in symmetry.arrays.period.tolist()]
    factors = [_least_prime_factor(half) for half in halves]
    groups = [symmetry.subgroup(steps) for steps in (factors, halves, symmetry.arrays.period)]
    return [g for k, g in enumerate(groups) if k == 0 or g.order < groups[k - 1].order]


def _least_prime_factor(n: int) -> int:
    return next((p for p in range(2, n + 1) if n % p == 0), 1)


def _all_at_once(choices: RouteChoices) -> _Problem:
    """Return the problem whose bins are classes of channels."""
    bins = choices.symmetry.channel_class
    count = int(bins.max(initial=-1)) + 1
    return _problem(choices, bins[choices.arrays.hops], np.zeros(count, dtype=np.int32))


def _by_phase(choices: RouteChoices, phases: str) -> _Problem:
    """Return the problem whose bins are channels in each phase, with phases as segments."""
    topology = choices.topology
    ranks, channels = topology.num_terminals, topology.num_channels
    source, target = np.divmod(np.arange(ranks * ranks), max(ranks, 1))
    phase = source ^ target if phases == "xor" else (target - source) % max(ranks, 1)
    arrays = choices.arrays
    hops = np.maximum(arrays.length, 0).astype(np.int64) * arrays.routes
    bins = np.repeat(phase, hops) * channels + arrays.hops
    segment = np.repeat(np.arange(ranks, dtype=np.int32), channels)
    return _problem(choices, bins.astype(np.int32), segment)


def _problem(choices: RouteChoices, bins: Int32Array, segment: Int32Array) -> _Problem:
    arrays, weight = choices.arrays, choices.row_weight
    base = single_route_load(arrays, weight, bins, len(segment))
    rows = np.flatnonzero(arrays.routes > 1)
    table = Rows(
        first=arrays.first_hop[rows],
        routes=arrays.routes[rows],
        length=arrays.length[rows],
        weight=weight[rows],
        bins=bins,
        segment=segment,
    )
    return _Problem(choices, table, base, rows)
