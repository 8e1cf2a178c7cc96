"""The simulate stage: what packets feel with one network, routing and traffic."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from routelab.api import (
    Demand,
    HopProgram,
    InputError,
    Plugin,
    RouteTable,
    Topology,
    TrafficPlugin,
    UnsupportedError,
)
from routelab.artifacts.atomic import atomic_directory
from routelab.artifacts.outcome import Outcome, Status, write_outcome
from routelab.artifacts.provenance import Measured as Taken
from routelab.artifacts.routes_file import load_routes
from routelab.artifacts.tables import write_csv
from routelab.registry.catalogue import QuarantinedError
from routelab.registry.instances import Routing, load, load_routing, name_of
from routelab.simulation.closed_loop import messages_of
from routelab.simulation.engine import Simulation
from routelab.simulation.measure import Simulated as Run
from routelab.simulation.measured import Measured
from routelab.simulation.offered import Ends, demand_of, ends_of
from routelab.simulation.saturation import saturation
from routelab.simulation.settings import SimulationSettings
from routelab.simulation.sweep import Make, sweep
from routelab.stages.blame import PluginRaisedError, blamed
from routelab.stages.facts import topology_facts
from routelab.stages.kept_proofs import FOLDER as PROOFS
from routelab.stages.kept_proofs import KeptProofs
from routelab.stages.kept_runs import KeptRuns
from routelab.stages.limits import Breach
from routelab.stages.simulated_routing import prepare
from routelab.stages.simulation_facts import (
    blocked_at,
    curve_row,
    measured_facts,
    saturation_facts,
    settings_facts,
)
from routelab.stages.simulation_tables import (
    Columns,
    channel_table,
    latency_table,
    terminal_table,
)
from routelab.stages.together import together
from routelab.stages.topology import OUTCOME, fingerprint_at, name_at, obtain, unusable
from routelab.stages.watched import Watch

CURVE, CHANNELS, TERMINALS, LATENCIES = (
    "curve.csv",
    "channels.csv",
    "terminals.csv",
    "latencies.csv",
)
"""Files of a simulation's folder beside its outcome."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """All that is known after a simulation.

    Attributes
    ----------
    facts : dict
        Of network, routing, traffic and settings; what was measured at the highest load; where the
        network saturates, if that was asked for.
    curve : list of dict
        What was measured, a row for each offered load, in ascending order.
    channels, terminals, distributions : dict of str to list
        Columns by name; see `routelab.stages.simulation_tables`.
    """

    facts: dict[str, Any]
    curve: list[dict[str, Any]]
    channels: Columns
    terminals: Columns
    distributions: Columns


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be simulated.

    Attributes
    ----------
    topology : str
        Canonical name.
    network : Topology
    routing : Routing or RouteTable
    routing_name : str
        Canonical name, or the table's file.
    traffic : TrafficPlugin
    settings : SimulationSettings
    """

    topology: str
    network: Topology
    routing: Routing | RouteTable
    routing_name: str
    traffic: TrafficPlugin
    settings: SimulationSettings

    @property
    def plugins(self) -> list[Plugin]:
        """All that take part."""
        return [*_plugins(self.routing), self.traffic]


def task_of(
    topology: str | Topology, routing: str, traffic: str, settings: SimulationSettings
) -> Task:
    """Look up all that is named.

    Parameters
    ----------
    topology : str or Topology
        As for `routelab.stages.topology.obtain`.
    routing : str
        Instance name, or a ``routes.npz`` that was made on this network.
    traffic : str
        Instance name.
    settings : SimulationSettings

    Raises
    ------
    InputError
        With all that is wrong.
    """
    chosen, (name, network), pattern = together(
        lambda: None if _is_table(routing) else load_routing(routing),
        lambda: obtain(topology),
        lambda: load("traffic", traffic),
    )
    if chosen is None:
        table = load_routes(routing, network)
        return Task(name, table.topology, table, routing, pattern, settings)
    return Task(name, network, chosen, chosen.name, pattern, settings)


def _is_table(routing: str) -> bool:
    return Path(routing).suffix == ".npz"


def _plugins(routing: Routing | RouteTable) -> Sequence[Plugin]:
    return routing.plugins if isinstance(routing, Routing) else ()


def simulate(
    network: Topology,
    routing: Routing | RouteTable,
    traffic: TrafficPlugin,
    settings: SimulationSettings,
    kept: KeptRuns | None = None,
    proofs: KeptProofs | None = None,
) -> Simulated:
    """Simulate at all loads, with all seeds, on as many threads as the process may use.

    The numbers do not depend on the threads, but for `routelab.stages.simulation_facts.TIMES`.

    Parameters
    ----------
    network : Topology
    routing : Routing or RouteTable
        A table has to be one of this network.
    traffic : TrafficPlugin
    settings : SimulationSettings
    kept : KeptRuns, optional
        Where finished runs are kept, and found again.
    proofs : KeptProofs, optional
        The same for what the checker says of hop-by-hop algorithms on this network.

    Raises
    ------
    UnsupportedError
        If routing, traffic and routers like these do not go with the network or with each other.
    PluginError
        If a plugin breaks its contract.
    """
    reason = traffic.supports(network)
    if reason is not None:
        raise UnsupportedError(f"{traffic.name}: {reason}")
    demand = cache(lambda seed: demand_of(traffic, network, seed))
    first = demand(settings.seed)
    if not first.rate.any():
        raise UnsupportedError(f"{traffic.name}: no terminal sends anything on this network")
    prepared = prepare(network, routing, settings.router(), proofs)
    watch = Watch(settings)
    make = _maker(network, prepared.program, traffic, demand, settings, watch)

    def heard(measured: Measured) -> None:
        if kept is not None:
            kept.keep(measured)
        watch.ended(measured)

    recall = None if kept is None else kept.find
    watch.begin()
    points = sweep(make, settings, heard=heard, recall=recall)
    facts = {
        **topology_facts(network),
        **settings_facts(settings),
        "traffic": name_of(traffic),
        "convention": first.convention,
        **prepared.facts,
        **measured_facts(points, network),
    }
    curve = [curve_row(point) for point in points]
    if settings.find_saturation:
        found = saturation(make, settings, tuple(points), heard=heard, recall=recall)
        facts |= saturation_facts(found)
        curve = [curve_row(point) for point in found.points]

    @cache
    def ends(seed: int) -> Ends:
        if settings.messages:
            return ends_of(messages_of(traffic, network, settings.messages, seed))
        return ends_of(demand(seed))

    return Simulated(
        facts | {"blocked": blocked_at(curve)},
        curve,
        channel_table(points, network),
        terminal_table(points, network, ends),
        latency_table(points),
    )


def _maker(
    network: Topology,
    program: HopProgram,
    traffic: TrafficPlugin,
    demand: Callable[[int], Demand],
    settings: SimulationSettings,
    watch: Watch,
) -> Make:
    """Makes a simulation at a load with a seed."""
    router = settings.router()
    asked: dict[str, Any] = {
        "message_packets": settings.message_packets,
        "in_order": settings.in_order,
    }

    def make(load: float, seed: int) -> Run:
        offered: dict[str, Any] = {"demand": demand(seed), "load": load}
        if settings.messages:
            offered = {"messages": messages_of(traffic, network, settings.messages, seed)}
        return watch.follow(Simulation(network, program, router, **offered, **asked, seed=seed))

    return make


def run(
    topology: str,
    routing: str,
    traffic: str,
    settings: SimulationSettings,
    directory: Path,
    fingerprint: str = "",
) -> Outcome:
    """Do one job and write its folder; what goes wrong in a plugin becomes the outcome.

    Parameters
    ----------
    topology : str
        Instance name, or a folder that the topology stage wrote.
    routing, traffic
        As for `task_of`.
    settings : SimulationSettings
    fingerprint : str
        Of the job. With one, runs that have finished are kept beside the folder until all have,
        and a job that was killed goes on with the others.

    Raises
    ------
    InputError
        If a name is wrong or the folder cannot be written.
    """
    lost = unusable(topology)
    if lost is not None:
        return _lost(lost, routing, traffic, settings, directory, fingerprint)
    task = task_of(topology, routing, traffic, settings)
    kept = KeptRuns(directory, fingerprint, settings) if fingerprint else None
    network = fingerprint_at(topology)
    # shared by all traffic: <network>/<routing>/<traffic>/<settings> is the simulation's folder
    proofs = KeptProofs(directory.parents[1] / PROOFS, network) if fingerprint and network else None
    result: Simulated | None = None
    status: Status = "ok"
    reason = ""
    with Taken() as taken:
        try:
            with blamed(task.plugins):
                result = simulate(task.network, task.routing, task.traffic, settings, kept, proofs)
        except (UnsupportedError, InputError) as error:
            # an input error here is about parameters that do not fit this network
            status, reason = "unsupported", str(error)
        except Exception as error:
            traceback.print_exc()
            status, reason = "failed", f"{type(error).__name__}: {error}"
            if isinstance(error, PluginRaisedError):
                reason = str(error)  # it says what was raised, and where
    provenance = taken.provenance(task.plugins, settings.seed, fingerprint)
    provenance["settings"] = settings.model_dump(mode="json")
    facts = {**topology_facts(task.network), "traffic": name_of(task.traffic)}
    if result is not None:
        facts = result.facts
    outcome = Outcome(
        "simulation", task.topology, task.routing_name, status, reason, facts, provenance
    )
    _write(outcome, result, directory)
    if kept is not None:
        kept.close(done=status in ("ok", "unsupported"))
    return outcome


def _lost(
    lost: Outcome,
    routing: str,
    traffic: str,
    settings: SimulationSettings,
    directory: Path,
    fingerprint: str,
) -> Outcome:
    """The outcome of a simulation on a network that there is not."""
    chosen, pattern = together(
        lambda: None if _is_table(routing) else load_routing(routing),
        lambda: load("traffic", traffic),
    )
    plugins = [pattern] if chosen is None else [*chosen.plugins, pattern]
    with Taken() as nothing:
        provenance = nothing.provenance(plugins, settings.seed, fingerprint)
    outcome = replace(
        lost,
        kind="simulation",
        routing=routing if chosen is None else chosen.name,
        facts={**lost.facts, "traffic": name_of(pattern)},
        provenance=provenance,
    )
    _write(outcome, None, directory)
    return outcome


def write_breach(
    topology: str,
    routing: str,
    traffic: str,
    directory: Path,
    breach: Breach,
    fingerprint: str = "",
) -> Outcome:
    """Write the outcome of a job that was stopped at its limits or whose plugin is broken."""
    plugins: Sequence[Plugin] = ()
    with suppress(QuarantinedError):
        chosen, pattern = load_routing(routing), load("traffic", traffic)
        routing, traffic = chosen.name, name_of(pattern)
        plugins = (*chosen.plugins, pattern)
    with Taken() as taken:
        provenance = taken.provenance(plugins, None, fingerprint)
    outcome = Outcome(
        "simulation",
        name_at(topology),
        routing,
        breach.status,
        breach.reason,
        {"traffic": traffic},
        provenance,
    )
    _write(outcome, None, directory)
    return outcome


def _write(outcome: Outcome, result: Simulated | None, directory: Path) -> None:
    with atomic_directory(directory) as folder:
        if result is not None:
            write_result(result, folder)
        write_outcome(outcome, folder / OUTCOME)


def write_result(result: Simulated, folder: Path) -> None:
    """Write everything of a result but its outcome into a folder."""
    columns = list(result.curve[0])
    write_csv(folder / CURVE, columns, ([row[name] for name in columns] for row in result.curve))
    for name, table in (
        (CHANNELS, result.channels),
        (TERMINALS, result.terminals),
        (LATENCIES, result.distributions),
    ):
        write_csv(folder / name, list(table), zip(*table.values(), strict=True))
