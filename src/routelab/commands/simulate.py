"""``routelab simulate``: what packets feel."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from routelab.commands._output import FORMATS, cell, check_folder, print_table, warn
from routelab.commands._settings import add_settings, in_options, read_settings, refuse_others

if TYPE_CHECKING:
    from routelab.api.errors import RoutelabError
    from routelab.artifacts.outcome import Outcome
    from routelab.stages.engine_task import EngineTask

SHOWN = (
    "load",
    "state",
    "accepted_load",
    "latency_mean",
    "latency_p50",
    "latency_p99",
    "latency_max",
    "hops_mean",
    "utilisation_max",
    "worst_share",
    "cycles",
    "flit_hops_per_cpu_s",
)
"""Columns of the table for people; CSV and JSON have all."""

CLOSED = ("completion_cycles",)
"""The same of runs with messages to be finished, after the state."""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "simulate",
        later=_add_settings,
        help="let packets or programs run, and tell what they feel",
        description="Simulate a network with a routing under some traffic, packet by packet: "
        "accepted load, latencies with confidence intervals, hops, utilisation of every channel. "
        "Or, with --engine flow, run a workload, a program of MPI ranks, whose messages share the "
        "network max-min fairly: its time and what limits it; with --engine smpi the same in "
        "SimGrid, which runs an MPI program's file, too. "
        "Exit code 1 if what is named does not go together, or packets "
        "could not go on (deadlock, livelock, no route); then the result is told all the same.",
        epilog="Examples: routelab simulate torus~dims=8x8 dor uniform --load 0.1,0.3,0.5 "
        "--saturation; routelab simulate torus~dims=4x2x2x2 angara-sssp npb-ft~class=A "
        "--engine flow --machine desmos --ranks-per-node 4",
    )
    parser.add_argument("topology", metavar="TOPOLOGY", help="instance name, folder or npz file")
    parser.add_argument("routing", metavar="ROUTING", help="instance name, or a routes.npz")
    parser.add_argument("work", metavar="WORK", help="instance name of traffic, or of a workload")
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, help="write it here")
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument(
        "--engine",
        choices=("packet", "flow", "smpi"),
        default="packet",
        help="packets, cycle by cycle (default); messages of programs; the same in SimGrid",
    )
    parser.set_defaults(run=run)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    from routelab.simulation.flow_settings import FlowSettings
    from routelab.simulation.settings import SimulationSettings

    add_settings(parser, SimulationSettings, "settings of packets")
    both = SimulationSettings.model_fields
    add_settings(parser, FlowSettings, "settings of workloads (--engine flow, smpi)", both)


def run(arguments: argparse.Namespace) -> int:
    """Simulate, then write or print."""
    from routelab.api.errors import RoutelabError
    from routelab.simulation.flow_settings import FlowSettings
    from routelab.simulation.settings import SimulationSettings

    flow = FlowSettings.model_fields
    models = {"packet": SimulationSettings.model_fields, "flow": flow, "smpi": flow}
    by_option = {f"--engine {name}": fields for name, fields in models.items()}
    refuse_others(vars(arguments), by_option, f"--engine {arguments.engine}")
    if arguments.engine != "packet":
        from routelab.commands import _flows

        return _flows.run(arguments)
    try:
        return _write(arguments) if arguments.output is not None else _print(arguments)
    except RoutelabError as error:
        error.args = (_told(error),)
        raise


def _told(error: RoutelabError) -> str:
    """An error in the words of the options; of a plugin's own, with the way to its traceback."""
    import logging

    from routelab.jobs.blame import PluginRaisedError
    from routelab.simulation.settings import SimulationSettings

    text = in_options(str(error), SimulationSettings)
    if not isinstance(error, PluginRaisedError):
        return text
    logging.getLogger(__name__).debug("%s", "\n".join(getattr(error, "__notes__", ())))
    return f"{text}; --verbose shows the traceback"


def _write(arguments: argparse.Namespace) -> int:
    from dataclasses import replace

    from routelab.jobs.child import in_child
    from routelab.simulation.settings import SimulationSettings

    outcome = in_child(lambda: _written(arguments))
    if outcome.status != "ok":
        reason = in_options(outcome.reason, SimulationSettings)
        warn(outcome.routing, replace(outcome, reason=reason))
        return 1
    return _code(outcome.facts)


def _print(arguments: argparse.Namespace) -> int:
    from routelab.jobs.child import in_child

    facts, curve = in_child(lambda: _simulated(arguments))
    if arguments.format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(curve[0])
        writer.writerows(row.values() for row in curve)
    elif arguments.format == "json":
        from routelab.artifacts.json_files import plain

        print(json.dumps(plain({**facts, "curve": curve}), indent=2, ensure_ascii=False))
    else:
        _print_for_people(facts, curve)
    return _code(facts)


def _code(facts: Mapping[str, Any]) -> int:
    """What a script has to know of a result: 1 if packets could not go on, and then why."""
    if facts["blocked"] is None:
        return 0
    import logging

    sys.stdout.flush()
    logging.getLogger(__name__).error("packets could not go on: %s", facts["blocked"])
    return 1


def _written(arguments: argparse.Namespace) -> Outcome:
    from routelab.commands._logging import progress
    from routelab.jobs.execution import perform
    from routelab.stages.kinds.simulations import SimulationJob

    settings = _task(arguments).settings
    check_folder(arguments.output)
    job = SimulationJob(
        folder=str(arguments.output),
        topology=arguments.topology,
        text=arguments.routing,
        work=arguments.work,
        settings=settings,
    )
    with progress(arguments):
        return perform(job)


def _simulated(arguments: argparse.Namespace) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    from routelab.commands._logging import progress
    from routelab.jobs.blame import blamed
    from routelab.stages import simulate as stage

    task = _task(arguments)
    with progress(arguments), blamed(task.plugins):
        result = stage.simulate(task.network, task.algorithm, task.work, task.settings)
    names = {"topology": task.topology, "routing": task.routing}
    return {**names, **result.facts}, result.curve


def _task(arguments: argparse.Namespace) -> EngineTask:
    """What is asked for; all that is wrong is told at once."""
    from dataclasses import replace

    from routelab.simulation.settings import SimulationSettings
    from routelab.stages.simulate import task_of
    from routelab.stages.together import together

    names = arguments.topology, arguments.routing, arguments.work
    settings, task = together(
        lambda: read_settings(SimulationSettings, vars(arguments)),
        lambda: task_of(*names, SimulationSettings()),
    )
    return replace(cast("EngineTask", task), settings=settings)


def _print_for_people(facts: dict[str, Any], curve: list[dict[str, Any]]) -> None:
    from routelab.simulation.settings import SimulationSettings

    columns = list(SHOWN)
    if facts["messages"]:
        columns[0:2] = ["state", *CLOSED]
    rows = [[_with_interval(row, name) for name in columns] for row in curve]
    print_table(columns, rows)
    print(f"traffic: {facts['convention']}")
    used, unused = facts["virtual_channels_used"], facts["virtual_channels_unused"]
    print(f"virtual channels: {used} used" + (f", {unused} left over" if unused else ""))
    print(f"deadlock: {facts['deadlock']}: {facts['deadlock_reason']}")
    for line in [facts["deadlock_coverage"], *facts["deadlock_cycle"].splitlines()]:
        if line:
            print(f"    {line}")
    if "saturation_text" in facts:
        print(f"saturation: {in_options(facts['saturation_text'], SimulationSettings)}")
    for row in curve:
        if row["text"] not in ("stationary", "finished: all messages arrived"):
            text = in_options(row["text"], SimulationSettings)
            print(f"load {row['load']:g}: {text}" if row["load"] else text)


def _with_interval(row: dict[str, Any], name: str) -> str:
    """A value, and half the width of its interval if it has one."""
    value = row[name]
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if value is None or low is None or high is None:
        return cell(value)
    return f"{cell(value)} ± {(high - low) / 2:.2g}"
