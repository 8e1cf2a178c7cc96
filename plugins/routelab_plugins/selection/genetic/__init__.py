"""A genetic algorithm over whole route tables.

Section 4.2 of Mukosey, Semenov, Tretiakov, *Optimized Graph Based Routing Algorithm for the Angara
Interconnect*. A gene is the route of one pair among its shortest legal ones; a chromosome is a
table; fitness is σ(k), the deviation of relative loads from the perfect load.

The paper stops "after 30 consecutive iteration or if the fitness value of next best solution less
then 0.05 of fitness value of global best solution". That is read to the letter: after `patience`
generations in a row without a better best, or when a new best falls below `solved` times the one
before (a table that is all but perfect). Read as a least relative gain (0.05 over
`patience` generations) the second rule ends the search while it still improves: σ(4) about 6.8 on
4x2x2x2, where the paper reports 6.274.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api import (
    Capabilities,
    Column,
    Parameters,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    Topology,
    parameter,
)
from routelab.api.topology import Float64Array, Int32Array, Int64Array
from routelab.metrics import channel_factors, total_capacity
from routelab.toolkit import ListedRoutes, too_many_routes
from routelab_plugins import works

from .kernels import deviations


class GeneticParameters(Parameters):
    """Constants of the paper, as parameters."""

    seed: int = parameter(0, ge=0, description="Seed of all random choices")
    population: int = parameter(100, ge=2, description="Chromosomes in a generation")
    mutation: float = parameter(0.02, ge=0, le=1, description="Mutation probability of each gene")
    sigma: float = parameter(4.0, gt=0, description="The k of the fitness function σ(k)")
    patience: int = parameter(
        30, ge=1, description="Generations without improvement after which the search ends"
    )
    solved: float = parameter(
        0.05, ge=0, lt=1, description="End if a new best is below this share of the previous best"
    )
    max_generations: int = parameter(10_000, ge=1, description="Largest number of generations")


@dataclass(frozen=True)
class _Genes:
    """Genes, one for each pair whose routes have hops (G genes), and the routes to choose from.

    Attributes
    ----------
    pairs : int64 array, shape (G,)
        Source index · P + target index.
    choices : int64 array, shape (G,)
        Number of the pair's routes.
    hop_start : int64 array, shape (G,)
        Index in `hops` of the pair's first route; the others follow.
    length : int32 array, shape (G,)
        Hops of each of the pair's routes.
    hops : int32 array
        Channels.
    demand : float64 array, shape (G,)
        Terminal pairs that take the route.
    """

    pairs: Int64Array
    choices: Int64Array
    hop_start: Int64Array
    length: Int32Array
    hops: Int32Array
    demand: Float64Array


class Genetic(SelectionPlugin):
    """Evolves tables with two-point crossover, panmixia and mutation."""

    name = "genetic"
    summary = "Genetic search over route tables, fitness σ(4) (Angara, section 4.2)"
    citations = (works.MUKOSEY2020("genetic algorithm (section 4.2)"),)
    capabilities = Capabilities(minimal=None, max_switches=512)
    columns = (Column("generations", "`genetic`: number of generations", group="Computing effort"),)
    Parameters = GeneticParameters

    def supports(self, graph: RoutingGraph) -> str | None:
        """Require that all shortest legal routes fit in memory."""
        return too_many_routes(graph)

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Return the best table found; O(population · total hops) per generation."""
        routes = ListedRoutes.of(graph)
        genes = _list_genes(routes)
        chromosome, generations = self._evolve(genes, graph.topology)
        # The number of each pair's route among all: that of its first one, plus its gene. A pair of
        # an endpoint with itself has no gene and one route; unreachable pairs have none.
        route_of_pair = routes.route_start[:-1].copy()
        route_of_pair[genes.pairs] += chromosome
        reachable = np.diff(routes.route_start) > 0
        return routes.table(route_of_pair[reachable], counters={"generations": generations})

    def _evolve(self, genes: _Genes, topology: Topology) -> tuple[Int32Array, int]:
        """Run generations until a stopping rule holds; return best chromosome and generations."""
        options: GeneticParameters = self.parameters
        random = np.random.default_rng(options.seed)
        num_genes = len(genes.pairs)
        total_hops = float((genes.demand * genes.length).sum())
        # The load that all channels would have if all hops were spread evenly; a network without
        # channels has no hops either.
        perfect = total_hops / float(total_capacity(topology) or 1)
        factor = channel_factors(topology)

        def fitness(chromosomes: Int32Array) -> Float64Array:
            """Return the deviation of each chromosome's channel loads; the least is best."""
            sums: Float64Array = deviations(
                genes=chromosomes,
                routes=(genes.hop_start, genes.length, genes.hops),
                demand=genes.demand,
                factor=factor,
                perfect=perfect,
                power=options.sigma,
            )
            return (sums / max(topology.num_channels, 1)) ** (1 / options.sigma)

        shape = (options.population, num_genes)
        population = random.integers(0, genes.choices, size=shape, dtype=np.int32)
        scores = fitness(population)
        history = [float(scores.min())]
        for generation in range(1, options.max_generations + 1):
            children = _offspring(population, genes.choices, options.mutation, random)
            # parents and children compete; a stable sort keeps the result independent of ties
            population = np.concatenate((population, children))
            scores = np.concatenate((scores, fitness(children)))
            survivors = np.argsort(scores, kind="stable")[: options.population]
            population, scores = population[survivors], scores[survivors]
            history.append(float(scores[0]))
            if history[-1] <= options.solved * history[-2]:
                break
            # the best score never rises, so it stood still if both ends are equal
            if generation >= options.patience and history[-1 - options.patience] == history[-1]:
                break
        return population[int(np.argmin(scores))], len(history) - 1


def _offspring(
    population: Int32Array, choices: Int64Array, mutation: float, random: np.random.Generator
) -> Int32Array:
    """Return children of random pairs (panmixia): two-point crossover, then mutation."""
    population_size, num_genes = population.shape
    parents = random.integers(0, population_size, size=((population_size + 1) // 2, 2))
    cuts = np.sort(random.integers(0, num_genes + 1, size=(len(parents), 2)), axis=1)
    position = np.arange(num_genes)
    swapped = (position >= cuts[:, :1]) & (position < cuts[:, 1:])
    # Two parents have two children. Each takes the genes between the cuts from the other parent. If
    # the population is odd, the last child is left out.
    mates = population[parents.T]
    children = np.where(swapped, mates[::-1], mates).reshape(2 * len(parents), num_genes)
    children = children[:population_size]
    mutated = np.nonzero(random.random(children.shape) < mutation)
    children[mutated] = random.integers(0, choices[mutated[1]], dtype=np.int32)
    return children


def _list_genes(routes: ListedRoutes) -> _Genes:
    """Return the genes: one for each pair that has a route with hops."""
    num_routes = np.diff(routes.route_start)
    first_route = routes.route_start[:-1]
    # all routes of a pair are as long as its first one; an unreachable pair has length 0
    length = np.zeros(len(num_routes), dtype=np.int32)
    length[num_routes > 0] = np.diff(routes.hop_start)[first_route[num_routes > 0]]
    pairs = np.flatnonzero(length)
    return _Genes(
        pairs=pairs,
        choices=num_routes[pairs],
        hop_start=routes.hop_start[first_route[pairs]],
        length=length[pairs],
        hops=routes.hops,
        demand=routes.pair_demand[pairs].astype(np.float64),
    )
