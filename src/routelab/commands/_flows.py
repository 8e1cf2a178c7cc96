"""``routelab simulate --engine flow`` and ``smpi``: when programs end, and what limits them."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from routelab.commands._output import cell, check_folder, print_table, warn
from routelab.commands._settings import in_options, read_settings

if TYPE_CHECKING:
    from routelab.artifacts.outcome import Outcome
    from routelab.stages.engine_task import EngineTask

FIRST = (
    "topology",
    "routing",
    "workload",
    "engine",
    "completion_time_s",
    "timed_s",
    "mops",
    "bottleneck_channel",
    "bottleneck_share",
    "messages",
    "bytes",
    "network_bytes",
    "memory_bytes",
    "ranks",
    "terminals_used",
    "iterations_simulated",
    "iterations_of",
)
"""What the table for people shows; CSV and JSON have it first, then all else."""


def run(arguments: argparse.Namespace) -> int:
    """Simulate, then write or print."""
    from routelab.api.errors import RoutelabError
    from routelab.simulation.flow_settings import FlowSettings

    try:
        return _write(arguments) if arguments.output is not None else _print(arguments)
    except RoutelabError as error:
        error.args = (in_options(str(error), FlowSettings),)
        raise


def _write(arguments: argparse.Namespace) -> int:
    from dataclasses import replace

    from routelab.api.errors import InputError
    from routelab.jobs.child import in_child
    from routelab.simulation.flow_settings import FlowSettings

    if arguments.engine != "flow":
        raise InputError("-o writes what --engine flow finds; leave it out, or take that engine")
    outcome = in_child(lambda: _written(arguments))
    if outcome.status == "ok":
        return 0
    warn(outcome.routing, replace(outcome, reason=in_options(outcome.reason, FlowSettings)))
    return 1


def _written(arguments: argparse.Namespace) -> Outcome:
    from routelab.commands._logging import progress
    from routelab.jobs.execution import perform
    from routelab.stages.kinds.flows import FlowJob

    settings = _task(arguments).settings
    check_folder(arguments.output)
    job = FlowJob(
        folder=str(arguments.output),
        topology=arguments.topology,
        text=arguments.routing,
        work=arguments.work,
        settings=settings,
    )
    with progress(arguments):
        return perform(job)


def _print(arguments: argparse.Namespace) -> int:
    from routelab.jobs.child import in_child

    facts, output = in_child(lambda: _simulated(arguments))
    if output:
        # the program's own words are no part of what scripts read
        print(output, file=sys.stderr, end="")
    ordered = {name: facts[name] for name in FIRST if name in facts} | facts
    if arguments.format == "json":
        from routelab.artifacts.json_files import plain

        print(json.dumps(plain(ordered), indent=2, ensure_ascii=False))
    elif arguments.format == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows([ordered.keys(), ordered.values()])
    else:
        shown = [(name, cell(ordered[name])) for name in FIRST if ordered.get(name) is not None]
        print_table(["fact", "value"], shown)
        if ordered.get("convention"):
            print(f"workload: {ordered['convention']}")
    return 0


def _simulated(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from routelab.commands._logging import progress
    from routelab.jobs.blame import blamed
    from routelab.stages import flow, smpi

    if arguments.engine == "smpi" and smpi.is_executable(arguments.work):
        return _executed(arguments)
    task = _task(arguments)
    what = task.network, task.algorithm, task.work, task.settings
    with progress(arguments), blamed(task.plugins):
        facts = smpi.simulate(*what) if arguments.engine == "smpi" else flow.simulate(*what).facts
    return {"topology": task.topology, "routing": task.routing, **facts}, ""


def _executed(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """An MPI program's file, run by SimGrid."""
    from routelab.commands._logging import progress
    from routelab.simulation.flow_settings import FlowSettings
    from routelab.stages import engine_task, smpi

    settings = read_settings(FlowSettings, vars(arguments))
    name, network, routing, routing_name = engine_task.network_of(
        arguments.topology, arguments.routing
    )
    with progress(arguments):
        facts, output = smpi.simulate_executable(network, routing, Path(arguments.work), settings)
    return {"topology": name, "routing": routing_name, **facts}, output


def _task(arguments: argparse.Namespace) -> EngineTask:
    """What is asked for; all that is wrong is told at once."""
    from dataclasses import replace

    from routelab.simulation.flow_settings import FlowSettings
    from routelab.stages import flow
    from routelab.stages.together import together

    names = arguments.topology, arguments.routing, arguments.work
    settings, task = together(
        lambda: _settings(arguments), lambda: flow.task_of(*names, FlowSettings())
    )
    return replace(cast("EngineTask", task), settings=settings)


def _settings(arguments: argparse.Namespace) -> Any:
    from routelab.simulation.flow_settings import FlowSettings
    from routelab.stages.flow import machine_of

    settings = read_settings(FlowSettings, vars(arguments))
    machine_of(settings)
    return settings
