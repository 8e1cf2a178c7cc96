"""The bound stage: how little the busiest channel of a network can carry under some rules.

Bounds belong to a network and rules, not to a run; `BARE` stands for the network without rules.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from routelab._progress import tell
from routelab.api import InputError, Plugin, RulesPlugin, Topology, UnsupportedError, determinized
from routelab.artifacts.atomic import atomic_directory
from routelab.artifacts.outcome import Outcome, Status, write_outcome
from routelab.artifacts.provenance import Measured, seed_of
from routelab.artifacts.tables import write_csv
from routelab.bounds import (
    ALL_MINIMAL,
    LoadBound,
    bound_facts,
    bound_numbers,
    lower_bound_rules,
    lower_bound_topology,
    with_exact,
)
from routelab.registry.catalogue import QuarantinedError
from routelab.registry.instances import load, name_of
from routelab.stages.chain import Routed
from routelab.stages.facts import topology_facts
from routelab.stages.jobs import BARE
from routelab.stages.limits import Breach
from routelab.stages.topology import OUTCOME, name_at, obtain, unusable

WEIGHTS = "bound.csv"
"""File of a bound's folder beside its outcome: the certificate."""

WEIGHT_COLUMNS = ("channel", "source", "target", "direction", "weight")


def compute(
    topology: Topology, rules: RulesPlugin | None, *, seconds: float = 60.0, exact: bool = False
) -> LoadBound:
    """Bound the maximum channel load of a network under some rules.

    Parameters
    ----------
    topology : Topology
    rules : RulesPlugin or None
        None: all minimal routes are allowed.
    seconds, exact
        See `routelab.bounds.lower_bound_rules`; for the bare network `exact` means nothing.

    Raises
    ------
    UnsupportedError
        If the rules cannot be stated on the network.
    """
    if rules is None:
        return lower_bound_topology(topology, seconds=seconds)
    reason = rules.supports(topology)
    if reason is not None:
        raise UnsupportedError(f"{rules.name}: {reason}")
    graph = determinized(rules.routing_graph(topology))
    return lower_bound_rules(graph, seconds=seconds, exact=exact)


class NetworkBounds:
    """The bounds of one network, each found when it is first asked for.

    Parameters
    ----------
    topology : Topology
    seconds : float
        For each bound.
    """

    def __init__(self, topology: Topology, seconds: float = 60.0) -> None:
        self._topology, self._seconds = topology, seconds
        self._rules: dict[str, LoadBound] = {}
        self._exact: set[str] = set()

    @cached_property
    def bare(self) -> LoadBound:
        """That of all minimal routes."""
        tell(ALL_MINIMAL, "bound")
        bound = lower_bound_topology(self._topology, seconds=self._seconds)
        tell(ALL_MINIMAL, "ok", ended=True)
        return bound

    def facts(self, routed: Routed, rules: str, facts: Mapping[str, Any]) -> dict[str, Any]:
        """The bounds beside the load of a table: `routelab.bounds.bound_facts`.

        Where the bound of the rules leaves a gap, a mixed-integer program is tried, once.

        Parameters
        ----------
        routed : Routed
        rules : str
            Name of the rules; of no use for a complete algorithm.
        facts : mapping
            Of the table.
        """
        graph = routed.graph
        if graph is None:
            return bound_facts(facts, None, self.bare)
        if rules not in self._rules:
            self._rules[rules] = lower_bound_rules(graph, seconds=self._seconds)
        beside = bound_facts(facts, self._rules[rules], self.bare)
        if rules in self._exact or beside["gap"] is None or beside["gap"] < 1:
            return beside
        self._exact.add(rules)
        bound = self._rules[rules]
        self._rules[rules] = with_exact(graph, bound, self._seconds - bound.seconds)
        return bound_facts(facts, self._rules[rules], self.bare)


def run(
    topology: str,
    rules: str,
    directory: Path,
    *,
    seconds: float = 60.0,
    exact: bool = False,
    fingerprint: str = "",
) -> Outcome:
    """Do one job and write its folder; what goes wrong in a plugin becomes the outcome.

    Parameters
    ----------
    topology : str
        Instance name, or a folder that the topology stage wrote.
    rules : str
        Instance name, or `BARE`.

    Raises
    ------
    InputError
        If a name is wrong or the folder cannot be written.
    """
    chosen = None if rules == BARE else load("rules", rules)
    assert chosen is None or isinstance(chosen, RulesPlugin)
    plugins: list[Plugin] = [] if chosen is None else [chosen]
    lost = unusable(topology)
    if lost is not None:
        with Measured() as nothing:
            provenance = nothing.provenance(plugins, seed_of(plugins), fingerprint)
        lost = replace(lost, kind="bound", routing=rules, provenance=provenance)
        return _written(lost, None, None, directory)
    name, network = obtain(topology)
    task = rules if chosen is None else name_of(chosen)
    bound: LoadBound | None = None
    status: Status = "ok"
    reason = ""
    tell(task, "bound")
    with Measured() as measured:
        try:
            bound = compute(network, chosen, seconds=seconds, exact=exact)
        except (UnsupportedError, InputError) as error:
            # an input error here is about parameters that do not fit this network
            status, reason = "unsupported", str(error)
        except Exception as error:
            traceback.print_exc()
            status, reason = "failed", f"{type(error).__name__}: {error}"
    tell(task, status, ended=True)
    provenance = measured.provenance(plugins, seed_of(plugins), fingerprint)
    facts = topology_facts(network) | ({} if bound is None else bound_numbers(bound))
    outcome = Outcome("bound", name, task, status, reason, facts, provenance)
    return _written(outcome, bound, network, directory)


def write_breach(
    topology: str, rules: str, directory: Path, breach: Breach, fingerprint: str = ""
) -> Outcome:
    """Write the outcome of a job that was stopped at its limits or whose plugin is broken."""
    plugins: Sequence[Plugin] = ()
    with suppress(QuarantinedError):
        plugins = () if rules == BARE else (load("rules", rules),)
    with Measured() as measured:
        provenance = measured.provenance(plugins, seed_of(plugins), fingerprint)
    name = name_at(topology)
    outcome = Outcome("bound", name, rules, breach.status, breach.reason, {}, provenance)
    return _written(outcome, None, None, directory)


def _written(
    outcome: Outcome, bound: LoadBound | None, network: Topology | None, directory: Path
) -> Outcome:
    with atomic_directory(directory) as folder:
        if bound is not None and network is not None:
            write_csv(folder / WEIGHTS, WEIGHT_COLUMNS, weight_rows(bound, network))
        write_outcome(outcome, folder / OUTCOME)
    return outcome


def weight_rows(bound: LoadBound, topology: Topology) -> Iterator[tuple[Any, ...]]:
    """The certificate of a bound by `WEIGHT_COLUMNS`: the weight of every channel."""
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
