"""``routelab simulate``: run traffic or a workload on a routed network."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.output import (
    FORMATS,
    cell_text,
    check_result_folder,
    print_table,
    warn,
)
from routelab.commands._shared.settings import (
    add_settings,
    option,
    refuse_others,
    settings_from_options,
    with_option_names,
)

if TYPE_CHECKING:
    from routelab.api import EnginePlugin, EngineResult
    from routelab.api.errors import RoutelabError
    from routelab.artifacts.outcome import Outcome
    from routelab.stages.engines.case import EngineTask

ENGINE = "packet"
"""Default engine."""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "simulate",
        later=_add_settings,
        help="simulate packets or MPI programs on a network",
        description="Simulate the packets of some traffic on a routed network, and print accepted "
        "load, latencies with confidence intervals, hops, and the utilisation of channels. With "
        "--engine flow, run a workload (a program of MPI ranks) whose messages share the network "
        "max-min fairly, and print its time and its bottleneck. With --engine smpi, run the same "
        "in SimGrid, which also runs the file of an MPI program. Other engines are plugins: see "
        "`routelab plugins list engine`. The exit code is 1 if the engine, the network, the "
        "routing and the work do not support each other, or if packets are blocked (deadlock, "
        "livelock, no route); in the latter case, the result is printed as well.",
        epilog="Examples: routelab simulate torus~dims=8x8 dor uniform --load 0.1,0.3,0.5 "
        "--saturation; routelab simulate torus~dims=4x2x2x2 angara-sssp npb-ft~class=A "
        "--engine flow --machine desmos --ranks-per-node 4",
    )
    parser.add_argument("topology", metavar="TOPOLOGY", help="instance name, folder or npz file")
    parser.add_argument("routing", metavar="ROUTING", help="instance name, or a routes.npz")
    parser.add_argument(
        "work",
        metavar="WORK",
        help="instance name of traffic or of a workload, or the file of an MPI program (smpi)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", type=Path, help="folder for the result files"
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument(
        "--engine",
        metavar="ENGINE",
        default=ENGINE,
        help="engine: packet (packets, cycle by cycle), flow (messages of a workload), smpi (the "
        "same in SimGrid) or another engine plugin (default: packet)",
    )
    parser.set_defaults(run=run)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    from routelab.registry.engines import engine_classes

    shared_options: set[str] = set()
    models = dict.fromkeys(engine.Parameters for engine in engine_classes())
    for model in models:
        names = [one.name for one in engine_classes() if one.Parameters is model]
        add_settings(parser, model, f"settings of --engine {', '.join(names)}", shared_options)
        shared_options |= set(map(option, model.model_fields))


def run(arguments: argparse.Namespace) -> int:
    """Simulate, then write or print."""
    from routelab.api.errors import RoutelabError
    from routelab.registry.engines import engine_class, engine_classes

    engine = engine_class(arguments.engine)
    models = {f"--engine {one.name}": one.Parameters.model_fields for one in engine_classes()}
    refuse_others(vars(arguments), models, f"--engine {engine.name}")
    try:
        if arguments.output is not None:
            return _write(arguments, engine)
        return _print(arguments, engine)
    except RoutelabError as error:
        error.args = (_message(error, engine),)
        raise


def _message(error: RoutelabError, engine: type[EnginePlugin]) -> str:
    """Return an error text with names of options; for errors in plugins, mention --verbose."""
    import logging

    from routelab.jobs.blame import PluginRaisedError

    text = with_option_names(str(error), engine.Parameters)
    if not isinstance(error, PluginRaisedError):
        return text
    logging.getLogger(__name__).debug("%s", "\n".join(getattr(error, "__notes__", ())))
    return f"{text}; --verbose shows the traceback"


def _write(arguments: argparse.Namespace, engine: type[EnginePlugin]) -> int:
    from dataclasses import replace

    from routelab.jobs.child import in_child

    outcome = in_child(lambda: _run_job(arguments, engine))
    if outcome.status != "ok":
        reason = with_option_names(outcome.reason, engine.Parameters)
        warn(outcome.routing, replace(outcome, reason=reason))
        return 1
    return _code(outcome.facts)


def _run_job(arguments: argparse.Namespace, engine: type[EnginePlugin]) -> Outcome:
    from routelab.api.errors import InputError
    from routelab.commands._shared.logging import show_progress
    from routelab.jobs.folder_job import perform
    from routelab.registry.instances import name_of
    from routelab.stages.kinds.simulations import FlowJob, SimulationJob

    task = _task(arguments, engine)
    if isinstance(task.work, Path):
        raise InputError("-o cannot write the results of an MPI program; omit -o")
    check_result_folder(arguments.output)
    kind = SimulationJob if engine.work == "traffic" else FlowJob
    job = kind(
        folder=str(arguments.output),
        topology=arguments.topology,
        text=arguments.routing,
        work=arguments.work,
        engine=name_of(task.engine),
    )
    with show_progress(arguments):
        return perform(job)


def _print(arguments: argparse.Namespace, engine: type[EnginePlugin]) -> int:
    from routelab.api.engine import FACTS
    from routelab.jobs.child import in_child

    names, result = in_child(lambda: _simulate(arguments, engine))
    if result.output:
        # scripts read standard output, which must not contain the output of the program
        print(result.output, file=sys.stderr, end="")
    loads = result.tables.get("loads", {})
    curve = [dict(zip(loads, row, strict=True)) for row in zip(*loads.values(), strict=True)]
    first = (*names, engine.work, "engine", *_table_columns(engine, FACTS[engine.work]))
    facts = {**names, **result.facts}
    if not curve:
        facts = {name: facts[name] for name in first if name in facts} | facts
    if arguments.format == "json":
        from routelab.artifacts.json_files import to_plain

        whole = {**facts, "curve": curve} if curve else facts
        print(json.dumps(to_plain(whole), indent=2, ensure_ascii=False))
    elif arguments.format == "csv":
        rows = curve or [facts]
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows(row.values() for row in rows)
    else:
        if curve:
            _print_loads(engine, facts, curve)
        else:
            shown = [
                (name, cell_text(facts[name])) for name in first if facts.get(name) is not None
            ]
            print_table(["fact", "value"], shown)
        for note in result.notes:
            print(with_option_names(note, engine.Parameters))
    return _code(facts)


def _table_columns(engine: type[EnginePlugin], of: str) -> list[str]:
    """Return the columns of the printed table of such rows; all if the engine marks none."""
    mine = [column for column in engine.columns if of in column.of]
    shown = [column.name for column in mine if "simulate" in column.shown]
    return shown or [column.name for column in mine]


def _print_loads(
    engine: type[EnginePlugin], facts: Mapping[str, Any], curve: Sequence[Mapping[str, Any]]
) -> None:
    """Print a row for each load; omit loads of 0, and columns of settings that are off."""
    needs = {column.name: column.needs for column in engine.columns if "loads" in column.of}
    columns = [
        name
        for name in _table_columns(engine, "loads")
        if name in curve[0] and (not needs[name] or facts.get(needs[name]))
    ]
    if not any(row.get("load") for row in curve):
        columns = [name for name in columns if name != "load"]
    print_table(columns, [[_with_interval(row, name) for name in columns] for row in curve])


def _code(facts: Mapping[str, Any]) -> int:
    """Return the exit code: 1 if packets were blocked, after printing the reason."""
    if facts.get("blocked") is None:
        return 0
    import logging

    sys.stdout.flush()
    logging.getLogger(__name__).error("packets are blocked: %s", facts["blocked"])
    return 1


def _simulate(
    arguments: argparse.Namespace, engine: type[EnginePlugin]
) -> tuple[dict[str, str], EngineResult]:
    from routelab.commands._shared.logging import show_progress
    from routelab.jobs.blame import blame_plugin
    from routelab.stages.engines.run import run_simulation

    task = _task(arguments, engine)
    assert task.network is not None
    with show_progress(arguments), blame_plugin(task.plugins):
        result = run_simulation(task.network, task.algorithm, task.work, task.engine)
    return {"topology": task.topology, "routing": task.routing}, result


def _task(arguments: argparse.Namespace, engine: type[EnginePlugin]) -> EngineTask:
    """Look up what the arguments name; all mistakes are reported together."""
    from routelab.stages.engines.case import task_of

    names = arguments.topology, arguments.routing, arguments.work
    return task_of(
        *names, engine, lambda: settings_from_options(engine.Parameters, vars(arguments))
    )


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    """Format a value, with half the width of its interval if it has one."""
    value = row[name]
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if value is None or low is None or high is None:
        return cell_text(value)
    return f"{cell_text(value)} ± {(high - low) / 2:.2g}"
