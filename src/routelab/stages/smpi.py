"""SimGrid in the place of the flow engine: the same job, as a row of the same columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from routelab._progress import tell
from routelab.api import RouteTable, Topology, UnsupportedError, WorkloadPlugin
from routelab.registry.instances import Routing, load
from routelab.simulation.flow_paths import Paths
from routelab.simulation.flow_settings import FlowSettings
from routelab.simulation.machine import Machine
from routelab.simulation.smpi import SmpiRun, replay, run_executable
from routelab.stages.flow import place_ranks, prepare

EXPORT = "simgrid~latency=per-route,cores={cores}"
"""The platform: one latency for all routes, so that flows share links as in the flow engine."""

FILE = "platform.xml"


def is_executable(path: str) -> bool:
    """Whether a name is that of an MPI program's file, and not of a workload."""
    return os.sep in path and Path(path).is_file()


def simulate(
    network: Topology,
    routing: Routing | RouteTable,
    workload: WorkloadPlugin,
    settings: FlowSettings,
) -> dict[str, Any]:
    """Replay a workload in SimGrid.

    Returns
    -------
    facts : dict
        As those of `routelab.stages.flow.simulate`; None for what SimGrid does not tell.

    Raises
    ------
    UnsupportedError, InputError, PluginError
        As `routelab.stages.flow.prepare`; if SimGrid is not installed, or cannot have the routes.
    SmpiError
        If SimGrid does not come to an end.
    """
    prepared = prepare(network, routing, workload, settings)
    platform, hosts = _platform(prepared.paths, prepared.machine, settings)
    tell(workload.name, "SimGrid")
    schedule = prepared.schedule
    run = replay(schedule, platform, hosts, prepared.machine)
    whole = schedule.timed == (0, len(schedule.tape))
    mops = schedule.operations / run.seconds / 1e6 if schedule.operations else None
    return (
        prepared.facts
        | _facts(run)
        | {
            "completion_time_s": run.seconds if whole else None,
            "timed_s": run.seconds,
            "mops": mops,
            "operations": schedule.operations or None,
        }
    )


def simulate_executable(
    network: Topology, routing: Routing | RouteTable, executable: Path, settings: FlowSettings
) -> tuple[dict[str, Any], str]:
    """Run an MPI program in SimGrid.

    Returns
    -------
    facts : dict
    output : str
        What the program printed.

    Raises
    ------
    UnsupportedError, InputError, SmpiError
        As `simulate`.
    """
    placed = place_ranks(network, routing, settings)
    platform, hosts = _platform(placed.paths, placed.machine, settings)
    run = run_executable(executable, platform, hosts, placed.machine)
    more = {"workload": str(executable), "completion_time_s": run.seconds, "timed_s": None}
    return placed.facts | _facts(run) | more, run.output


def _facts(run: SmpiRun) -> dict[str, Any]:
    return {
        "engine": "smpi",
        "mops": None,
        "operations": None,
        "bottleneck_channel": None,
        "bottleneck_share": None,
        "bottleneck_bytes": None,
        "messages": None,
        "bytes": None,
        "network_bytes": None,
        "memory_bytes": None,
        "iterations_simulated": run.rounds,
        "iterations_of": run.rounds_of,
        "engine_seconds": run.wall_seconds,
    }


def _platform(paths: Paths, machine: Machine, settings: FlowSettings) -> tuple[str, Sequence[str]]:
    """The platform's file, and the host of each rank."""
    exporter = load("export", EXPORT.format(cores=settings.ranks_per_node))
    reason = exporter.supports(paths.table)
    if reason is not None:
        raise UnsupportedError(f"{exporter.name}: {reason}")
    platform = exporter.export(paths.table, machine)[FILE]
    return platform, [paths.topology.host_names[terminal] for terminal in paths.terminal.tolist()]
