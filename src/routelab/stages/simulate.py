"""The simulate stage: what packets feel with one network, routing and traffic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from routelab._progress import tell
from routelab.api import (
    Demand,
    HopProgram,
    RouteTable,
    Topology,
    TrafficPlugin,
    UnsupportedError,
)
from routelab.artifacts.tables import write_csv
from routelab.metrics import channel_load_bound, ejection_bound
from routelab.registry.instances import Routing, name_of
from routelab.simulation.closed_loop import messages_of
from routelab.simulation.engine import Simulation
from routelab.simulation.measure import Simulated as Run
from routelab.simulation.measured import Measured
from routelab.simulation.offered import Ends, demand_of, ends_of
from routelab.simulation.saturation import saturation
from routelab.simulation.settings import SimulationSettings
from routelab.simulation.sweep import Make, sweep
from routelab.stages import engine_task
from routelab.stages.engine_task import EngineTask
from routelab.stages.facts import topology_facts
from routelab.stages.kept_proofs import KeptProofs
from routelab.stages.kept_runs import KeptRuns
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
from routelab.stages.watched import Watch

CURVE, CHANNELS, TERMINALS, LATENCIES = (
    "curve.csv",
    "channels.csv",
    "terminals.csv",
    "latencies.csv",
)
"""Files of a simulation's folder beside its outcome."""

MOST_PAIRED = 2048
"""Terminals up to which the traffic of all pairs is added up."""


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


def task_of(
    topology: str | Topology, routing: str, traffic: str, settings: SimulationSettings
) -> EngineTask:
    """Look up all that is named.

    Parameters
    ----------
    topology, routing, traffic
        As for `routelab.stages.engine_task.task_of`.
    settings : SimulationSettings

    Raises
    ------
    InputError
        With all that is wrong.
    """
    return engine_task.task_of("traffic", topology, routing, traffic, settings)


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
    tell(traffic.name, "traffic")
    reason = traffic.supports(network)
    if reason is not None:
        raise UnsupportedError(f"{traffic.name}: {reason}")
    demand = cache(lambda seed: demand_of(traffic, network, seed))
    first = demand(settings.seed)
    if not first.rate.any():
        raise UnsupportedError(f"{traffic.name}: no terminal sends anything on this network")
    tell(traffic.name, "ok", ended=True)
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
        limit = _most(prepared.table, first)
        found = saturation(make, settings, tuple(points), None, heard, recall, limit)
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


def _most(table: RouteTable | None, demand: Demand) -> float:
    """A load above which a terminal or, with a table, a channel gets more than it can take."""
    if len(demand.rate) > MOST_PAIRED:
        return inf
    limits = [ejection_bound(demand)]
    if table is not None:
        limits.append(channel_load_bound(table, demand))
    return min(limits)


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
