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
    UnsupportedError, InputError, PluginError
        As `routelab.simulation.flow.simulate.set_up_flows`; also if SimGrid cannot use
        the routes.
    SmpiError
        If SimGrid fails.
    """
    if isinstance(case.work, Path):
        return _program(case, case.work, settings)
    assert isinstance(case.work, WorkloadPlugin)
    schedule, paths, machine, setup = set_up_flows(case, settings)
    platform, hosts = _platform(paths, machine, settings)
    case.report_progress(case.work.name, "SimGrid")
    ends = paths.terminal[np.array(np.nonzero(schedule.bytes_between()))]
    paths.between(*ends)  # SimGrid aborts where there is no route
    run = replay(schedule, platform, hosts, machine)
    whole = schedule.timed == (0, len(schedule.tape))
    mops = schedule.operations / run.seconds / 1e6 if schedule.operations else None
    facts = (
        _facts(run)
        | setup
        | {
            "completion_time_s": run.seconds if whole else None,
            "timed_s": run.seconds,
            "mops": mops,
            "operations": schedule.operations or None,
        }
    )
    return EngineResult(facts, notes=[f"workload: {facts['convention']}"])


def _program(case: EngineCase, executable: Path, settings: FlowSettings) -> EngineResult:
    """Run an MPI program."""
    paths, machine, setup = place_ranks(case, settings)
    platform, hosts = _platform(paths, machine, settings)
    run = run_executable(executable, platform, hosts, machine)
    facts = _facts(run) | setup | {"completion_time_s": run.seconds}
    return EngineResult(facts, output=run.output)


def _facts(run: SmpiRun) -> dict[str, Any]:
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
