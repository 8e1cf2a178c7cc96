"""The bound stage: bounds of tables under rules, and of traffic under any routing.

A lower bound of the maximum load belongs to a network and rules, not to a run; `BARE` stands for
the network without rules, `ANY` for routes of any length. Upper bounds of throughput belong to a
network and traffic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from routelab._runtime.progress import report_phase
from routelab.api import RulesPlugin, Topology, TrafficPlugin, UnsupportedError
from routelab.metrics.bounds import (
    ALL_MINIMAL,
    LoadBound,
    bound_facts,
    lower_bound_any_length,
    lower_bound_rules,
    lower_bound_topology,
    tighten_bound,
)
from routelab.metrics.bounds.throughput import ChannelWeights, ThroughputBound, bound_throughput
from routelab.registry.requirements import require_support, require_unchanged
from routelab.results.tables import write_csv
from routelab.routing.demands import demand_of
from routelab.routing.routing import RoutedNetwork, graph_of_rules

BARE = "_network"
"""Name that stands for no rules (all minimal routes). No plugin can have this name."""

ANY = "_any"
"""Name that stands for all routes, of any length. No plugin can have this name."""

WEIGHTS = "bound.csv"
"""File with the certificate, in a bound's folder."""

WEIGHT_COLUMNS = ("channel", "source", "target", "direction", "weight")

THROUGHPUT_COLUMNS = ("seed", "load", "kind", "number", "source", "target", "weight")
"""Columns of certificates of throughput.

`load` is empty for the sustained load. `kind` is ``channel``, ``injection``, ``ejection`` (with the
number and the ends of the channel or terminal), or ``one``: the weight that counts as 1.
"""


def bound_load(
    topology: Topology,
    rules: RulesPlugin | None,
    *,
    seconds: float = 60.0,
    exact: bool = False,
    any_length: bool = False,
) -> LoadBound:
    """Bound the maximum channel load of a network under some rules.

    Parameters
    ----------
    topology : Topology
    rules : RulesPlugin or None
        None: all minimal routes are allowed.
    seconds : float
        Approximate limit of the wall time; with `any_length`, of the CPU time.
    exact : bool
        Use the rest of the time to find the least maximum load of tables with one path per pair. No
        effect without rules.
    any_length : bool
        Without rules: bound the tables of all routes, not only of minimal ones.

    Raises
    ------
    UnsupportedError
        If the rules do not apply to the network, or are not reproducible: each call of such rules
        may allow other routes, so a bound of one call does not hold for the table of another.
    """
    if rules is None and any_length:
        return lower_bound_any_length(topology, seconds=seconds)
    if rules is None:
        return lower_bound_topology(topology, seconds=seconds)
    if not rules.capabilities.deterministic:
        raise UnsupportedError(
            f"{rules.name}: these rules are not reproducible, so no bound of theirs holds for a "
            "table"
        )
    graph = graph_of_rules(topology, rules)
    return lower_bound_rules(graph, seconds=seconds, exact=exact)


class NetworkBounds:
    """The bounds of one network, each computed at its first use.

    Parameters
    ----------
    topology : Topology
    seconds : float
        Limit of the time for each bound.
    """

    def __init__(self, topology: Topology, seconds: float = 60.0) -> None:
        self._topology, self._seconds = topology, seconds
        self._rules: dict[str, LoadBound] = {}  # by name of the rules
        self._tightened: set[str] = set()  # rules for which the mixed-integer program has run

    @cached_property
    def bare(self) -> LoadBound:
        """Bound for all minimal routes."""
        report_phase(ALL_MINIMAL, "bound")
        bound = lower_bound_topology(self._topology, seconds=self._seconds)
        report_phase(ALL_MINIMAL, "ok", ended=True)
        return bound

    def facts(self, routed: RoutedNetwork, rules: str, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Compare a table with its bounds; return `routelab.metrics.bounds.bound_facts`.

        If the bound of the rules leaves a gap, a mixed-integer program tries to raise it, once for
        all tables of these rules.

        Parameters
        ----------
        routed : RoutedNetwork
        rules : str
            Name of the rules; ignored for a complete algorithm.
        facts : mapping
            Facts of the table, from `routelab.routing.facts.routing_facts`.
        """
        graph = routed.graph
        if graph is None:
            return bound_facts(facts, None, self.bare)
        if rules not in self._rules:
            self._rules[rules] = lower_bound_rules(graph, seconds=self._seconds)
        compared = bound_facts(facts, self._rules[rules], self.bare)
        # The mixed-integer program raises the bound for one path per pair. A gap below 1 is worth
        # its time, too: a route is 1 on the fastest channel, but 1.25, say, on a slower one.
        # `optimal` is None if the bound does not apply to the table, or if the table splits pairs.
        if rules in self._tightened or compared["optimal"] is not False:
            return compared
        self._tightened.add(rules)
        bound = self._rules[rules]
        seconds_left = self._seconds - bound.seconds
        self._rules[rules] = tighten_bound(graph, bound, seconds_left)
        return bound_facts(facts, self._rules[rules], self.bare)


def write_bound(bound: LoadBound, topology: Topology, folder: Path) -> None:
    """Write the certificate of a bound into a folder."""
    write_csv(folder / WEIGHTS, WEIGHT_COLUMNS, weight_rows(bound, topology))


def weight_rows(bound: LoadBound, topology: Topology) -> Iterator[tuple[Any, ...]]:
    """Iterate over the certificate of a bound, with `WEIGHT_COLUMNS`: a weight per channel."""
    names = topology.switch_names
    for channel, weight in enumerate(bound.weights.tolist()):
        direction = int(topology.channel_direction[channel])
        yield (
            channel,
            names[topology.channel_source[channel]],
            names[topology.channel_target[channel]],
            topology.directions[direction].name if direction >= 0 else "",
            weight,
        )


def bound_traffic(
    topology: Topology,
    traffic: TrafficPlugin,
    loads: Sequence[float],
    *,
    seed: int = 0,
    seconds: float = 60.0,
) -> ThroughputBound:
    """Bound what any routing can deliver of a traffic.

    Parameters
    ----------
    topology : Topology
    traffic : TrafficPlugin
    loads : sequence of float
        Offered loads whose accepted load is bounded.
    seed : int
        Seed of random patterns.
    seconds : float
        Approximate limit of the CPU time.

    Raises
    ------
    UnsupportedError
        If the pattern is not defined on the network or has no rates.
    """
    require_support(traffic.name, traffic.supports(topology))
    demand = demand_of(traffic, topology, seed)
    require_unchanged(traffic.name, topology)
    try:
        return bound_throughput(topology, demand, tuple(loads), seconds=seconds)
    except UnsupportedError as error:
        raise UnsupportedError(f"{traffic.name}: {error}") from None


def write_throughput(
    bounds: Mapping[int, ThroughputBound], topology: Topology, folder: Path
) -> None:
    """Write the certificates of bounds, by seed, into a folder."""
    rows = (row for seed, bound in bounds.items() for row in throughput_rows(bound, topology, seed))
    write_csv(folder / WEIGHTS, THROUGHPUT_COLUMNS, rows)


def throughput_rows(
    bound: ThroughputBound, topology: Topology, seed: int
) -> Iterator[tuple[Any, ...]]:
    """Iterate over the certificates of a bound, with `THROUGHPUT_COLUMNS`.

    First the certificate of the sustained load, then those of the accepted loads.
    """
    yield from _certificate_rows(bound.weights, topology, seed, load="")
    for accepted in bound.accepted:
        yield from _certificate_rows(accepted.weights, topology, seed, load=accepted.load)


def _certificate_rows(
    weights: ChannelWeights, topology: Topology, seed: int, load: float | str
) -> Iterator[tuple[Any, ...]]:
    """Iterate over the weights of one certificate, with `THROUGHPUT_COLUMNS`.

    `load` is the offered load, or empty for the sustained load. Terminals of weight 0 are left out.
    """
    names = topology.switch_names
    # the weight that counts as 1; it has no number and no ends, as it is not that of a channel
    yield seed, load, "one", "", "", "", weights.one
    for channel, weight in enumerate(weights.channel.tolist()):
        source, target = topology.channel_source[channel], topology.channel_target[channel]
        yield seed, load, "channel", channel, names[source], names[target], weight
    for kind, terminal_weights in (
        ("injection", weights.injection),
        ("ejection", weights.ejection),
    ):
        for terminal in terminal_weights.nonzero()[0].tolist():
            name = topology.terminal_name(terminal)
            switch = names[topology.terminal_switch[terminal]]
            ends = (name, switch) if kind == "injection" else (switch, name)
            yield seed, load, kind, terminal, *ends, int(terminal_weights[terminal])
