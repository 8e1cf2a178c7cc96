"""Run a job in SimGrid and return the facts of the flow engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from routelab.api import EngineCase, EngineResult, WorkloadPlugin
from routelab.registry.instances import load
from routelab.registry.requirements import require_support
from routelab.simulation.flow.columns import FACTS
from routelab.simulation.flow.paths import Paths
from routelab.simulation.flow.settings import FlowSettings
from routelab.simulation.flow.simulate import place_ranks, set_up_flows
from routelab.simulation.smpi.simgrid import SmpiRun, replay, run_executable
from routelab.toolkit.machine import Machine

EXPORT = "simgrid~latency=per-route,cores={cores}"
"""Export of the platform; equal latencies make flows share links as in the flow engine."""

FILE = "platform.xml"


def simulate_smpi(case: EngineCase, settings: FlowSettings) -> EngineResult:
    """Replay a workload, or run an MPI program, in SimGrid.

    Facts that SimGrid does not report are None.

    Raises
    ------
    UnsupportedError
        If the routing has no table, SimGrid cannot use its routes, or the routing or the workload
        does not support the network or the job.
    InputError
        If the machine or the placement is invalid, or ranks that send messages have no route.
    PluginError
        If a plugin breaks its contract.
    SmpiError
        If SimGrid fails.
    """
    if isinstance(case.work, Path):
        paths, machine, setup_facts = place_ranks(case, settings)
        platform, hosts = _platform(paths, machine, settings)
        run = run_executable(case.work, platform, hosts, machine)
        facts = _run_facts(run) | setup_facts | {"completion_time_s": run.seconds}
        return EngineResult(facts, output=run.output)
    assert isinstance(case.work, WorkloadPlugin)
    schedule, paths, machine, setup_facts = set_up_flows(case, settings)
    platform, hosts = _platform(paths, machine, settings)
    case.report_progress(case.work.name, "SimGrid")
    # SimGrid would abort at a missing route; `between` raises an InputError.
    source_ranks, target_ranks = np.nonzero(schedule.bytes_between())
    paths.between(paths.terminal[source_ranks], paths.terminal[target_ranks])
    run = replay(schedule, platform, hosts, machine)
    is_all_timed = schedule.timed == (0, len(schedule.tape))
    # millions of operations per second; None if the workload counts none
    mops = schedule.operations / run.seconds / 1e6 if schedule.operations else None
    facts = (
        _run_facts(run)
        | setup_facts
        | {
            # SimGrid's time is that of the timed part only
            "completion_time_s": run.seconds if is_all_timed else None,
            "timed_s": run.seconds,
            "mops": mops,
            "operations": schedule.operations or None,
        }
    )
    return EngineResult(facts, notes=[f"workload: {facts['convention']}"])


def _run_facts(run: SmpiRun) -> dict[str, Any]:
    """Return all facts of the flow engine; those that SimGrid does not report are None."""
    return {
        **{column.name: None for column in FACTS},
        "iterations_simulated": run.rounds,
        "iterations_of": run.total_rounds,
        "engine_seconds": run.wall_seconds,
    }


def _platform(paths: Paths, machine: Machine, settings: FlowSettings) -> tuple[str, Sequence[str]]:
    """Return the text of the platform file, and the host of each rank."""
    exporter = load("export", EXPORT.format(cores=settings.ranks_per_node))
    require_support(exporter.name, exporter.supports(paths.table))
    platform = exporter.export(paths.table, machine)[FILE]
    return platform, [paths.topology.host_names[terminal] for terminal in paths.terminal.tolist()]
