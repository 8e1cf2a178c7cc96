"""The flow stage: when the ranks of a program end on one network with one table of routes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from routelab._progress import tell
from routelab.api import (
    Job,
    RouteTable,
    Topology,
    UnsupportedError,
    WorkloadPlugin,
)
from routelab.api.topology import Float64Array, Int32Array
from routelab.artifacts.tables import write_csv
from routelab.config.cluster import find_cluster, load_cluster
from routelab.registry.instances import Routing, name_of
from routelab.simulation.collectives import parse_choice
from routelab.simulation.flow import run_flows
from routelab.simulation.flow_paths import Paths
from routelab.simulation.flow_result import FlowRun
from routelab.simulation.flow_settings import FlowSettings
from routelab.simulation.machine import Machine
from routelab.simulation.placement import (
    OPTIMISED,
    bytes_between,
    is_file,
    optimised,
    place,
    read_placement,
)
from routelab.simulation.schedule import Schedule, schedule
from routelab.stages import engine_task
from routelab.stages.chain import apply_routing
from routelab.stages.engine_task import EngineTask
from routelab.stages.facts import topology_facts
from routelab.stages.simulation_tables import Columns
from routelab.stages.together import together
from routelab.stages.workload import program_of

CHANNELS, RANKS = "channels.csv", "ranks.csv"
"""Files of a flow simulation's folder beside its outcome."""

TIMES = ("engine_seconds", "routing_seconds")
"""Facts that differ from one machine, or moment, to another; all others are those of the seed."""


@dataclass(frozen=True, eq=False)
class Flows:
    """All that is known after a flow simulation.

    Attributes
    ----------
    facts : dict
        Of network, workload, job, machine and settings, and what was found.
    channels : dict of str to list
        ``channel, source, target, direction, bytes, seconds`` that it takes for them, and the
        ``share`` of the timed seconds that this is.
    ranks : dict of str to list
        ``rank, terminal, switch, begin, end, finish``: when it comes to the timed part, leaves it
        and ends; ``timed_s``.
    """

    facts: dict[str, Any]
    channels: Columns
    ranks: Columns


def task_of(
    topology: str | Topology, routing: str, workload: str, settings: FlowSettings
) -> EngineTask:
    """Look up all that is named, the machine included.

    Parameters
    ----------
    topology, routing, workload
        As for `routelab.stages.engine_task.task_of`.
    settings : FlowSettings

    Raises
    ------
    InputError
        With all that is wrong.
    """
    task, _ = together(
        lambda: engine_task.task_of("workload", topology, routing, workload, settings),
        lambda: machine_of(settings),
    )
    found: EngineTask = task
    return found


def machine_of(settings: FlowSettings) -> Machine:
    """The machine that settings name, with what they change of it.

    Raises
    ------
    InputError
        If there is no such cluster, or its file is wrong.
    """
    if not settings.machine:
        return settings.on(Machine())
    return settings.on(load_cluster(find_cluster(settings.machine)).machine)


@dataclass(frozen=True, eq=False)
class Placed:
    """Ranks on a network.

    Attributes
    ----------
    paths : Paths
        Routes, and where the ranks are.
    machine : Machine
    facts : dict
        Of network, job and machine.
    """

    paths: Paths
    machine: Machine
    facts: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Prepared(Placed):
    """A job that is ready to run, by whatever engine; the facts are those of its workload, too.

    Attributes
    ----------
    schedule : Schedule
    """

    schedule: Schedule


def place_ranks(network: Topology, routing: Routing | RouteTable, settings: FlowSettings) -> Placed:
    """Route the network and place the ranks; those of an optimised placement as ``block``.

    Raises
    ------
    UnsupportedError
        If the routing has no table, or does not go with the network.
    InputError
        If the machine or the placement is wrong.
    PluginError
        If a plugin breaks its contract.
    """
    machine = machine_of(settings)
    table, seconds = _table(network, routing)
    terminal = place(
        settings.placement, _ranks(network, settings), network, settings.ranks_per_node
    )
    facts = {
        **topology_facts(network),
        **settings.model_dump(mode="json"),
        **machine.model_dump(mode="json"),
        "ranks": len(terminal),
        "terminals_used": len(np.unique(terminal)),
        "routing_seconds": seconds,
    }
    return Placed(Paths.create(table, terminal), machine, facts)


def prepare(
    network: Topology,
    routing: Routing | RouteTable,
    workload: WorkloadPlugin,
    settings: FlowSettings,
) -> Prepared:
    """Route the network, place the ranks and make their program.

    Raises
    ------
    UnsupportedError
        If the routing has no table, or it or the workload does not go with the network or the job.
    InputError
        If the machine or the placement is wrong.
    PluginError
        If a plugin breaks its contract.
    """
    placed = place_ranks(network, routing, settings)
    paths = placed.paths
    tell(workload.name, "program")
    program = program_of(workload, Job.placed(paths.terminal, network))
    made = schedule(program, parse_choice(settings.collectives), settings.iterations or None)
    if settings.placement == OPTIMISED:
        tell(workload.name, "placement")
        between = bytes_between(made)
        terminal = optimised(between, paths.table, settings.ranks_per_node, settings.seed)
        paths = Paths.create(paths.table, terminal)
    facts = placed.facts | {
        "workload": name_of(workload),
        "convention": program.convention,
        "terminals_used": len(np.unique(paths.terminal)),
    }
    return Prepared(paths, placed.machine, facts, made)


def _table(network: Topology, routing: Routing | RouteTable) -> tuple[RouteTable, float]:
    """Routes, and how long it took to make them."""
    if isinstance(routing, RouteTable):
        return routing, 0.0
    if routing.hops is not None:
        raise UnsupportedError(
            f"{routing.hops.name}: it decides hop by hop and has no table of routes for messages "
            "to flow along; simulate its packets under some traffic"
        )
    routed = apply_routing(network, routing)
    return routed.table, routed.seconds


def _ranks(network: Topology, settings: FlowSettings) -> int:
    if settings.ranks:
        return settings.ranks
    if is_file(settings.placement):
        return len(read_placement(Path(settings.placement)))
    return network.num_terminals * settings.ranks_per_node


def simulate(
    network: Topology,
    routing: Routing | RouteTable,
    workload: WorkloadPlugin,
    settings: FlowSettings,
) -> Flows:
    """Run a program on a network.

    Parameters
    ----------
    network : Topology
    routing : Routing or RouteTable
        A table has to be one of this network.
    workload : WorkloadPlugin
    settings : FlowSettings

    Raises
    ------
    UnsupportedError, InputError, PluginError
        As `prepare`.
    StuckError
        If the ranks come to wait for each other (an `InputError`).
    """
    prepared = prepare(network, routing, workload, settings)
    tell(workload.name, "flows")
    began = time.perf_counter()
    run = run_flows(prepared.schedule, prepared.paths, prepared.machine, settings.seed)
    seconds = time.perf_counter() - began
    facts = prepared.facts | run_facts(run) | {"engine": "flow", "engine_seconds": seconds}
    return Flows(facts, channel_table(run), rank_table(run, prepared.paths.terminal))


def run_facts(run: FlowRun) -> dict[str, Any]:
    """What a run found, in one line."""
    return {
        "completion_time_s": float(run.finish.max(initial=0)),
        "timed_s": run.seconds,
        "mops": run.mops if run.operations else None,
        "operations": run.operations or None,
        "bottleneck_channel": run.bottleneck_channel or None,
        "bottleneck_share": run.bottleneck_share,
        "bottleneck_bytes": float(run.channel_bytes.max(initial=0)),
        "messages": run.messages,
        "bytes": run.bytes,
        "network_bytes": float(run.injected_bytes.sum()),
        "memory_bytes": float(run.memory_bytes.sum()),
        "iterations_simulated": run.rounds,
        "iterations_of": run.rounds_of,
    }


def channel_table(run: FlowRun) -> Columns:
    """What crossed each channel in the timed part; see `Flows`."""
    topology = run.topology
    names = topology.switch_names
    share: Float64Array = run.channel_seconds / run.seconds if run.seconds else run.channel_seconds
    return {
        "channel": list(range(topology.num_channels)),
        "source": [names[switch] for switch in topology.channel_source],
        "target": [names[switch] for switch in topology.channel_target],
        "direction": [
            topology.directions[d].name if d >= 0 else "" for d in topology.channel_direction
        ],
        "bytes": run.channel_bytes.tolist(),
        "seconds": run.channel_seconds.tolist(),
        "share": share.tolist(),
    }


def rank_table(run: FlowRun, terminal: Int32Array) -> Columns:
    """Where each rank is, and its times; see `Flows`."""
    topology = run.topology
    names = [topology.terminal_names[t] for t in terminal] if topology.terminal_names else []
    return {
        "rank": list(range(len(terminal))),
        "terminal": terminal.tolist(),
        **({"name": names} if names else {}),
        "switch": [topology.switch_names[s] for s in topology.terminal_switch[terminal]],
        "begin": run.begin.tolist(),
        "end": run.end.tolist(),
        "finish": run.finish.tolist(),
        "timed_s": (run.end - run.begin).tolist(),
    }


def write_result(result: Flows, folder: Path) -> None:
    """Write everything of a result but its outcome into a folder."""
    for name, table in ((CHANNELS, result.channels), (RANKS, result.ranks)):
        write_csv(folder / name, list(table), zip(*table.values(), strict=True))
