"""Routes for a given number of virtual channels, found together with the order that proves them.

A set of routes needs at most K virtual channels per hop exactly if there is a *word*, a sequence in
which each channel occurs K times, such that every route is a subsequence of it: number the
occurrences of a channel, and all dependencies rise in the word; conversely, a topological order of
an acyclic dependency graph is such a word. If a packet keeps its virtual channel (``per=pair``, as
the service levels of InfiniBand ask for), there are K words in which each channel occurs once, and
every route is a subsequence of one of them. Routes and words are searched in turns:

    sweep      one scan of a word finds the cheapest routes of all pairs that follow it; a route may
               begin the word again, which breaks it, for a toll
    exchange   each pair is offered its cheapest route, and takes it unless it is dearer
    reorder    each channel moves in its word to where fewest routes break; then blocks of channels
               jump over others, as in the dynamic topological order of Pearce and Kelly (2007)

The toll rises from 1.5 to 6 hops and the prices exp(β · load) get steeper, so that few routes break
a word when `rounds` have passed. Random changes of the routes' weights in `reorder` fade out before
that. Then pairs take routes that break no word, and the most loaded channels get dearer round by
round. The turns inside one spanning tree weigh more than all routes, in the last word: so all pairs
of a connected network can be routed. The search ends early at the mean load of shortest routes.

The words need no file of their own: the ranks in the certificate of the table are a word.
``cheapest@up-down~vcs=K`` has a fixed word, and is faster and as good where K is 2 or more per hop.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    Column,
    Parameters,
    RouteTable,
    RoutingPlugin,
    Topology,
    parameter,
)
from routelab.toolkit.words import WordSearch
from routelab_plugins import works

ROUNDS, FEWEST_ROUNDS = 400, 30
"""Rounds of a search on small networks, and at least."""
MOST_PAIRS = 60_000_000
"""Pairs of switches that all rounds of a search examine: more rounds lower the load by less than
1 % on 1,024 switches, and take minutes."""


class WordsParameters(Parameters):
    """Virtual channels, and effort of the search."""

    vcs: int = parameter(2, ge=1, le=15, description="Virtual channels")
    per: Literal["pair", "hop"] = parameter(
        "pair",
        description="Whether a packet keeps its virtual channel (pair) or may change it (hop)",
    )
    seed: int = parameter(0, ge=0, le=2**62, description="Seed of the first search")
    runs: int = parameter(
        1, ge=1, le=10**6, description="Searches with different seeds, of which the best one counts"
    )
    rounds: int | None = parameter(
        None,
        ge=1,
        le=10**6,
        description="Rounds in which routes and words change in turns (default: 400, or on large "
        "networks as many as examine 60 million pairs, but at least 30)",
    )
    legal_rounds: int | None = parameter(
        None,
        ge=2,
        le=10**6,
        description="Rounds after these, with routes that break no word (default: half as many)",
    )


class Words(RoutingPlugin):
    """Alternates between routes and the words that they follow."""

    name = "words"
    summary = (
        "Near-optimal maximum load on a given number of virtual channels, by words over channels"
    )
    citations = (
        works.PEARCE2007("blocks that move in an order"),
        works.YOUNG1995("choosing by exponential prices"),
        works.MORRIS1993("emphasis that grows on the most loaded channels"),
    )
    capabilities = Capabilities(minimal=False, flow_control="plain", virtual_channels=None)
    columns = (
        Column(
            "word_rounds",
            "`words`: number of rounds of the search",
            group="Computing effort",
        ),
    )
    Parameters = WordsParameters

    def supports(self, topology: Topology) -> str | None:
        """Require links with channels in both directions."""
        if np.any(topology.links < 0):
            return "some links have a channel in one direction only"
        return None

    def route(self, topology: Topology) -> RouteTable:
        """Search routes and words `runs` times, and return the table of the best search.

        A round costs O(K C S) for the sweep of S switches, and O(hops) for the exchange; memory is
        4 K C S bytes for each scan of a word.
        """
        options: WordsParameters = self.parameters
        rounds = options.rounds or _rounds(topology)
        # Two legal rounds at least: only the second one is sure to have a route for every pair.
        legal_rounds = options.legal_rounds or max(rounds // 2, 2)
        best: WordSearch | None = None
        for run in range(options.runs):
            search = WordSearch(
                topology,
                options.vcs,
                per=options.per,
                seed=options.seed + run,
                rounds=rounds,
                legal_rounds=legal_rounds,
            )
            search.run()
            if best is None or search.best_load < best.best_load:
                best = search
            # no table has a smaller maximum load
            if best.best_load <= best.lower_bound:
                break
        assert best is not None
        return best.table()


def _rounds(topology: Topology) -> int:
    """Return the rounds of a search by the size of the network."""
    pairs_per_round = max(topology.num_switches**2, 1)
    return max(min(ROUNDS, MOST_PAIRS // pairs_per_round), FEWEST_ROUNDS)
