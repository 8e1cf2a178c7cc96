"""``routelab simulate``: run traffic or a workload on a routed network."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import FILE, FOLDER, NETWORK, add_format_option
from routelab.commands._shared.output import (
    cell_text,
    check_result_folder,
    print_facts,
    print_table,
)
from routelab.commands._shared.settings import (
    add_settings,
    option,
    refuse_others,
    settings_from_options,
    with_option_names,
)

if TYPE_CHECKING:
    from routelab.api import EnginePlugin
    from routelab.api.errors import RoutelabError
    from routelab.workflow.stages.simulations import EngineJob

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
        "routing and the work do not support each other. It is 6 if packets are blocked (deadlock, "
        "livelock, no route); then the result is printed as well.",
        examples=(
            "routelab simulate torus~dims=8x8 dor valiant uniform --plot curve.svg",
            "routelab simulate torus~dims=8x8 dor uniform --load 0.1,0.3,0.5 --saturation",
            "routelab simulate torus~dims=4x2x2x2 angara-sssp npb-ft~class=A --engine flow",
        ),
    )
    parser.add_argument("topology", **NETWORK)
    parser.add_argument(
        "routings",
        metavar="ROUTING",
        nargs="+",
        help="routing: instance name or file; several are compared",
    )
    parser.add_argument(
        "work",
        metavar="WORK",
        help="traffic or workload: instance name; or the file of an MPI program (smpi)",
    )
    parser.add_argument(
        "-o",
        "--output",
        **FOLDER,
        help="folder for the result files; with several routings, it has a folder for each",
    )
    parser.add_argument(
        "--plot",
        **FILE,
        help="plot of latency against load, or of the time of a workload, for each routing (.svg, "
        ".png, .pdf; .csv for the numbers)",
    )
    add_format_option(parser)
    parser.add_argument(
        "--engine",
        metavar="ENGINE",
        default=ENGINE,
        help="engine: packet (packets, cycle by cycle), flow (messages of a workload), smpi (a "
        "workload in SimGrid) or another engine plugin (default: packet)",
    )
    parser.set_defaults(run=run)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the settings of all engines as options, each once."""
    from routelab.registry.engines import engine_classes

    shared_options: set[str] = set()
    often = parser.add_argument_group("most used settings")
    models = dict.fromkeys(engine.Parameters for engine in engine_classes())
    for model in models:
        names = [engine.name for engine in engine_classes() if engine.Parameters is model]
        add_settings(
            parser, model, f"settings of --engine {', '.join(names)}", shared_options, often
        )
        shared_options |= set(map(option, model.model_fields))


@dataclass(frozen=True)
class Run:
    """A finished simulation.

    Attributes
    ----------
    names : mapping
        ``topology`` and ``routing``.
    facts : mapping
    curve : sequence of mapping
        A row per offered load; empty if the engine has none.
    notes : sequence of str
    output : str
        What a program printed.
    status : str
        As in `routelab.results.outcome.Outcome`.
    error : RoutelabError or None
        Why there is no result.
    """

    names: Mapping[str, str]
    facts: Mapping[str, Any]
    curve: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    output: str = ""
    status: str = "ok"
    error: RoutelabError | None = None


def run(arguments: argparse.Namespace) -> int:
    """Simulate, then write or print, and draw."""
    from routelab.api.errors import RoutelabError
    from routelab.api.verdicts import EXIT_CODES
    from routelab.jobs.child import run_in_child
    from routelab.registry.engines import engine_class, engine_classes
    from routelab.report.plots import check_plot

    engine = engine_class(arguments.engine)
    models = {
        f"--engine {offered.name}": offered.Parameters.model_fields for offered in engine_classes()
    }
    refuse_others(vars(arguments), models, f"--engine {engine.name}")
    try:
        check_plot(arguments.plot)
        runs = run_in_child(partial(_simulate, arguments, engine))
    except RoutelabError as error:
        error.args = (_message(error, engine),)
        raise
    if arguments.output is None:
        _print(arguments, engine, runs)
    if arguments.plot is not None:
        _plot(arguments, engine, runs)
    # what is wrong with the input or the work comes first: a verdict is about all of it
    codes = {_code(result, engine, len(runs) > 1) for result in runs}
    return next(code for code in (2, 1, EXIT_CODES["broken"], 0) if code in codes)


def _message(error: RoutelabError, engine: type[EnginePlugin]) -> str:
    """Return an error text with names of options; for errors in plugins, mention --verbose."""
    import logging

    from routelab.jobs.plugin_errors import UnexpectedError

    text = with_option_names(str(error), engine.Parameters)
    if not isinstance(error, UnexpectedError):
        return text
    logging.getLogger(__name__).debug("%s", "\n".join(getattr(error, "__notes__", ())))
    return f"{text}; --verbose shows the traceback"


def _simulate(arguments: argparse.Namespace, engine: type[EnginePlugin]) -> list[Run]:
    """Run all simulations; the error of one of several does not end the others."""
    from routelab.api.engine import TABLES
    from routelab.api.errors import InputError, RoutelabError, UnsupportedError
    from routelab.commands._shared.logging import show_progress
    from routelab.jobs.folder_job import run_job
    from routelab.jobs.plugin_errors import one_message
    from routelab.results.tables import read_rows
    from routelab.simulation.case import look_up
    from routelab.simulation.run import run_simulation

    # 1. What the arguments name; all mistakes are reported together.
    topology, network, algorithms, work, runner = look_up(
        *(arguments.topology, arguments.routings, arguments.work, engine),
        lambda: settings_from_options(engine.Parameters, vars(arguments)),
    )
    jobs = {} if arguments.output is None else _jobs(arguments, [*algorithms], work, runner)
    runs = []
    with show_progress(arguments):
        for routing, algorithm in algorithms.items():
            names = {"topology": topology, "routing": routing}
            # 2. With -o a job, which writes a folder; an error becomes its outcome.
            if jobs:
                outcome = run_job(jobs[routing])
                reason = None if outcome.status == "ok" else RoutelabError(outcome.reason)
                file = Path(jobs[routing].folder, TABLES[engine.work].get("loads", ""))
                curve = read_rows(file, ["load"]) if file.is_file() else []
                runs.append(Run(names, outcome.facts, curve, status=outcome.status, error=reason))
                continue
            # 3. Else in memory: MPI programs have no job, and outcomes no notes and no output. The
            #    error of a single routing is the command's, with its exit code.
            try:
                with one_message():
                    result = run_simulation(network, algorithm, work, runner)
            except RoutelabError as error:
                if len(algorithms) == 1:
                    raise
                is_refusal = isinstance(error, (UnsupportedError, InputError))
                status = "unsupported" if is_refusal else "failed"
                runs.append(Run(names, {}, status=status, error=error))
                continue
            loads = result.tables.get("loads", {})
            rows = zip(*loads.values(), strict=True)
            curve = [dict(zip(loads, row, strict=True)) for row in rows]
            runs.append(Run(names, result.facts, curve, result.notes, result.output))
    return runs


def _jobs(
    arguments: argparse.Namespace, routings: Sequence[str], work: Any, engine: EnginePlugin
) -> dict[str, EngineJob]:
    """Return the job of each routing; check their folders before any of them runs.

    Raises
    ------
    InputError
        If the results cannot be written into folders.
    """
    from routelab.api.errors import InputError
    from routelab.registry.instances import name_of
    from routelab.workflow.stages.simulations import FlowJob, SimulationJob

    if isinstance(work, Path):
        raise InputError("-o cannot write the results of an MPI program; omit -o")
    folders = [arguments.output]
    if len(routings) > 1:
        tables = [text for text in arguments.routings if Path(text).suffix == ".npz"]
        if tables:
            raise InputError(
                f"-o makes a folder named after each routing, and {tables[0]} is a file; simulate "
                "it alone"
            )
        folders = [arguments.output / routing for routing in routings]
    kind = SimulationJob if engine.work == "traffic" else FlowJob
    jobs: dict[str, EngineJob] = {}
    for folder, routing, text in zip(folders, routings, arguments.routings, strict=True):
        check_result_folder(folder)
        jobs[routing] = kind(
            folder=str(folder),
            topology=arguments.topology,
            text=text,
            work=arguments.work,
            # an instance name, which holds the settings
            engine=name_of(engine),
        )
    return jobs


def _print(arguments: argparse.Namespace, engine: type[EnginePlugin], runs: Sequence[Run]) -> None:
    """Print the results in the chosen format."""
    for run in runs:
        if run.output:
            # scripts read standard output, which must not contain the output of the program
            print(run.output, file=sys.stderr, end="")
    if arguments.format == "json":
        from routelab.results.json_files import to_plain

        json_runs = [_json_object(engine, run, len(runs) > 1) for run in runs]
        print(
            json.dumps(
                to_plain(json_runs if len(runs) > 1 else json_runs[0]), indent=2, ensure_ascii=False
            )
        )
    elif arguments.format == "csv":
        _print_csv(engine, runs)
    else:
        _print_tables(engine, runs)
        for run in runs:
            start = f"{run.names['routing']}: " if len(runs) > 1 else ""
            for note in run.notes:
                print(start + with_option_names(note, engine.Parameters))


def _columns_first(engine: type[EnginePlugin]) -> list[str]:
    """Return the most important facts."""
    from routelab.api.engine import FACTS

    names = ("topology", "routing", engine.work, "engine")
    return [*names, *_table_columns(engine, FACTS[engine.work])]


def _facts(engine: type[EnginePlugin], run: Run) -> dict[str, Any]:
    """Return names and facts of a run, the important ones first."""
    facts = {**run.names, **run.facts}
    if run.curve:
        return facts
    return {name: facts[name] for name in _columns_first(engine) if name in facts} | facts


def _json_object(engine: type[EnginePlugin], run: Run, several: bool) -> dict[str, Any]:
    status = {"status": run.status, "reason": _reason(run, engine)} if several else {}
    curve = {"curve": run.curve} if run.curve else {}
    return {**_facts(engine, run), **status, **curve}


def _reason(run: Run, engine: type[EnginePlugin]) -> str:
    return "" if run.error is None else with_option_names(str(run.error), engine.Parameters)


def _print_csv(engine: type[EnginePlugin], runs: Sequence[Run]) -> None:
    """Print all rows; those of several routings begin with the routing and its status."""
    from routelab.toolkit.csv_cells import write_csv_rows

    rows: list[Mapping[str, Any]] = []
    for run in runs:
        lines = run.curve or [_facts(engine, run)]
        if len(runs) > 1:
            start = {"routing": run.names["routing"], "status": run.status}
            start["reason"] = _reason(run, engine)
            lines = [start | {k: v for k, v in line.items() if k not in start} for line in lines]
        rows += lines
    columns = list(dict.fromkeys(name for row in rows for name in row))
    write_csv_rows(sys.stdout, [columns])
    write_csv_rows(sys.stdout, ([row.get(name) for name in columns] for row in rows))


def _print_tables(engine: type[EnginePlugin], runs: Sequence[Run]) -> None:
    """Print a row for each load, or a list of facts; of several routings, one table."""
    several = len(runs) > 1
    if any(run.curve for run in runs):
        columns = _load_columns(engine, runs)
        lines = [(run, row) for run in runs for row in run.curve or [{"state": run.status}]]
        texts = [[_with_interval(row, name) for name in columns] for _, row in lines]
    elif several:
        columns = [
            name
            for name in _columns_first(engine)[4:]
            if any(run.facts.get(name) is not None for run in runs)
        ]
        lines = [(run, run.facts) for run in runs]
        texts = [[cell_text(row.get(name)) for name in columns] for _, row in lines]
    else:
        facts = _facts(engine, runs[0])
        names = _columns_first(engine)
        texts_of = {name: cell_text(facts[name]) for name in names if facts.get(name) is not None}
        print_facts(texts_of, engine.columns)
        return
    if several:
        columns = ["routing", *columns]
        texts = [[run.names["routing"], *row] for (run, _), row in zip(lines, texts, strict=True)]
    print_table(columns, texts, declared=engine.columns)


def _table_columns(engine: type[EnginePlugin], of: str) -> list[str]:
    """Return the columns of the printed table of such rows; all if the engine marks none."""
    declared = [column for column in engine.columns if of in column.of]
    marked = [column.name for column in declared if "simulate" in column.shown]
    return marked or [column.name for column in declared]


def _load_columns(engine: type[EnginePlugin], runs: Sequence[Run]) -> list[str]:
    """Return the columns of tables of loads, without loads of 0 and settings that are off."""
    needs = {column.name: column.needs for column in engine.columns if "loads" in column.of}
    columns = [
        name
        for name in _table_columns(engine, "loads")
        if any(
            name in run.curve[0] and (not needs[name] or run.facts.get(needs[name]))
            for run in runs
            if run.curve
        )
    ]
    if not any(row.get("load") for run in runs for row in run.curve):
        columns = [name for name in columns if name != "load"]
    return columns


def _plot(arguments: argparse.Namespace, engine: type[EnginePlugin], runs: Sequence[Run]) -> None:
    """Draw the curves of all routings, or the most important value of those without loads."""
    import logging

    from routelab.api.engine import FACTS
    from routelab.report.plots import LATENCY, plot_latency, plot_merit

    finished = [run for run in runs if run.error is None]
    if not finished:
        logging.getLogger(__name__).warning("%s: there is no result to draw", arguments.plot)
        return
    # 1. Curves, if packets were offered at any load above 0.
    title = f"{finished[0].facts[engine.work]} on {finished[0].names['topology']}"
    curves = {run.names["routing"]: run.curve for run in finished}
    if any(row.get("load") and LATENCY in row for curve in curves.values() for row in curve):
        plot_latency(title, curves, arguments.plot)
        return
    # 2. Else a bar for each routing: the first printed column in which one can be better.
    printed = _table_columns(engine, FACTS[engine.work])
    merits = [
        column
        for column in engine.columns
        if FACTS[engine.work] in column.of and column.better and column.name in printed
    ]
    for column in merits:
        values = {
            run.names["routing"]: float(run.facts[column.name])
            for run in finished
            if run.facts.get(column.name) is not None
        }
        if values:
            plot_merit(title, column, values, arguments.plot)
            return
    logging.getLogger(__name__).warning("%s: there is no value to draw", arguments.plot)


def _code(run: Run, engine: type[EnginePlugin], several: bool) -> int:
    """Return the exit code, and log the reason.

    2 if the network is wrong for a parameter, 1 if there is no result, 6 if packets were blocked.
    """
    import logging

    from routelab.api.errors import InputError
    from routelab.api.verdicts import EXIT_CODES

    logger = logging.getLogger(__name__)
    sys.stdout.flush()
    start = f"{run.names['routing']}: " if several else ""
    if run.error is not None:
        reason = _message(run.error, engine)
        names_routing = reason.startswith(f"{run.names['routing']}: ")
        logger.error("%s%s", "" if names_routing else f"{run.names['routing']}: ", reason)
        return 2 if isinstance(run.error, InputError) else 1
    if run.facts.get("blocked") is None:
        return 0
    logger.error("%spackets are blocked: %s", start, run.facts["blocked"])
    return EXIT_CODES["broken"]


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    """Format a value, with half the width of its interval if it has one."""
    value = row.get(name)
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if value is None or low is None or high is None:
        return cell_text(value)
    return f"{cell_text(value)} ± {(high - low) / 2:.2g}"
