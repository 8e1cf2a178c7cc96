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
    refuse_options_of_others,
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
        add_late_options=_add_settings,
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
    """Add the settings of all engines as options, one group for each class of settings.

    Engines may share a class of settings, and classes an option such as ``--machine``; each option
    is added once.
    """
    from routelab.registry.engines import engine_classes

    added_options: set[str] = set()
    most_used = parser.add_argument_group("most used settings")
    models = dict.fromkeys(engine.Parameters for engine in engine_classes())
    for model in models:
        names = [engine.name for engine in engine_classes() if engine.Parameters is model]
        add_settings(
            parser,
            model,
            title=f"settings of --engine {', '.join(names)}",
            omitted=added_options,
            most_used=most_used,
        )
        added_options |= set(map(option, model.model_fields))


@dataclass(frozen=True)
class Run:
    """A finished simulation of one routing, with or without a result.

    Attributes
    ----------
    names : mapping
        ``topology`` and ``routing``, the canonical names.
    facts : mapping
        Settings and results by name; with a curve, the results at the highest load.
    curve : sequence of mapping
        A row per offered load; empty if the engine runs a workload.
    notes : sequence of str
        Lines that the engine prints below its table.
    output : str
        What an MPI program printed.
    status : {"ok", "unsupported", "failed", "timeout"}
    error : RoutelabError or None
        Why the status is not ``ok``.
    """

    names: Mapping[str, str]
    facts: Mapping[str, Any]
    curve: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    output: str = ""
    status: str = "ok"
    error: RoutelabError | None = None


def run(arguments: argparse.Namespace) -> int:
    """Simulate each routing in a child process; write or print the results, and draw the plot."""
    from routelab.api.errors import RoutelabError
    from routelab.api.verdicts import EXIT_CODES
    from routelab.jobs.child import run_in_child
    from routelab.registry.engines import engine_class, engine_classes
    from routelab.report.plots import check_plot

    # 1. Options of other engines and a wrong name of the plot are refused before the work.
    engine = engine_class(arguments.engine)
    fields_by_choice = {
        f"--engine {offered.name}": offered.Parameters.model_fields for offered in engine_classes()
    }
    refuse_options_of_others(vars(arguments), fields_by_choice, f"--engine {engine.name}")
    try:
        check_plot(arguments.plot)
        runs = run_in_child(partial(_simulate, arguments, engine))
    except RoutelabError as error:
        error.args = (_error_text(error, engine),)
        raise
    # 2. With -o, the jobs have written the results already.
    if arguments.output is None:
        _print(arguments, engine, runs)
    if arguments.plot is not None:
        _plot(arguments, engine, runs)
    # 3. One exit code for all routings, the first that occurs: wrong input, no result, blocked
    #    packets, success. "Blocked" is a verdict, so it needs a result of each routing.
    codes = {_log_failure(run, engine, several=len(runs) > 1) for run in runs}
    return next(code for code in (2, 1, EXIT_CODES["broken"], 0) if code in codes)


def _error_text(error: RoutelabError, engine: type[EnginePlugin]) -> str:
    """Return an error's text, with options such as ``--load`` instead of settings such as `loads`.

    The text of an unexpected error in a plugin mentions ``--verbose``, which shows its traceback.
    """
    import logging

    from routelab.jobs.plugin_errors import UnexpectedError

    text = with_option_names(str(error), engine.Parameters)
    if not isinstance(error, UnexpectedError):
        return text
    # the child process has attached the traceback as notes
    logging.getLogger(__name__).debug("%s", "\n".join(getattr(error, "__notes__", ())))
    return f"{text}; --verbose shows the traceback"


def _simulate(arguments: argparse.Namespace, engine: type[EnginePlugin]) -> list[Run]:
    """Simulate each routing; of several, one that fails becomes a `Run` with its error."""
    from routelab.api.engine import TABLES
    from routelab.api.errors import InputError, RoutelabError, UnsupportedError
    from routelab.commands._shared.logging import show_progress
    from routelab.jobs.folder_job import run_job
    from routelab.jobs.plugin_errors import as_unexpected_error
    from routelab.results.tables import read_rows
    from routelab.simulation.case import look_up
    from routelab.simulation.run import run_simulation

    # 1. What the arguments name; all mistakes are reported together. `configured_engine` is an
    #    object of the class `engine`, with the settings of the options.
    topology, network, algorithms, work, configured_engine = look_up(
        topology=arguments.topology,
        routings=arguments.routings,
        work=arguments.work,
        engine=engine,
        settings=lambda: settings_from_options(engine.Parameters, vars(arguments)),
    )
    jobs = {}
    if arguments.output is not None:
        jobs = _jobs(arguments, [*algorithms], work, configured_engine)
    runs = []
    with show_progress(arguments):
        for routing, algorithm in algorithms.items():
            names = {"topology": topology, "routing": routing}
            # 2. With -o a job, which writes a folder; an error becomes its outcome.
            if jobs:
                outcome = run_job(jobs[routing])
                failure = None if outcome.status == "ok" else RoutelabError(outcome.reason)
                # Workloads have no table of loads. The path is then the folder, not a file.
                file = Path(jobs[routing].folder, TABLES[engine.work].get("loads", ""))
                curve = read_rows(file, ["load"]) if file.is_file() else []
                runs.append(Run(names, outcome.facts, curve, status=outcome.status, error=failure))
                continue
            # 3. Else in memory, because an outcome would lack the notes and the output of a
            #    program, and MPI programs have no job. If there is only one routing, its error is
            #    raised, and decides the exit code of the command.
            try:
                with as_unexpected_error():
                    result = run_simulation(network, algorithm, work, configured_engine)
            except RoutelabError as error:
                if len(algorithms) == 1:
                    raise
                is_refusal = isinstance(error, (UnsupportedError, InputError))
                status = "unsupported" if is_refusal else "failed"
                runs.append(Run(names, facts={}, status=status, error=error))
                continue
            # The table of loads has columns, {"load": [0.1, 0.2], ...}, and a curve has rows.
            columns = result.tables.get("loads", {})
            rows = zip(*columns.values(), strict=True)
            curve = [dict(zip(columns, row, strict=True)) for row in rows]
            runs.append(Run(names, result.facts, curve, notes=result.notes, output=result.output))
    return runs


def _jobs(
    arguments: argparse.Namespace, routings: Sequence[str], work: Any, engine: EnginePlugin
) -> dict[str, EngineJob]:
    """Return the job of each routing by its canonical name, after a check of all their folders.

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
        # a route table is a file, whose path cannot name a folder
        table_files = [text for text in arguments.routings if Path(text).suffix == ".npz"]
        if table_files:
            raise InputError(
                f"-o makes a folder named after each routing, and {table_files[0]} is a file; "
                "simulate it alone"
            )
        folders = [arguments.output / routing for routing in routings]
    job_class = SimulationJob if engine.work == "traffic" else FlowJob
    jobs: dict[str, EngineJob] = {}
    for folder, routing, name_or_file in zip(folders, routings, arguments.routings, strict=True):
        check_result_folder(folder)
        jobs[routing] = job_class(
            folder=str(folder),
            topology=arguments.topology,
            text=name_or_file,
            work=arguments.work,
            # an instance name, such as packet~vcs=2, which holds the settings
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

        json_runs = [_json_object(engine, run, several=len(runs) > 1) for run in runs]
        # an object for one routing, a list of objects for several
        answer = to_plain(json_runs if len(runs) > 1 else json_runs[0])
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    elif arguments.format == "csv":
        _print_csv(engine, runs)
    else:
        _print_tables(engine, runs)
        for run in runs:
            prefix = f"{run.names['routing']}: " if len(runs) > 1 else ""
            for note in run.notes:
                print(prefix + with_option_names(note, engine.Parameters))


def _important_facts(engine: type[EnginePlugin]) -> list[str]:
    """Return the names of the facts that come first: the case, then those that the engine marks."""
    from routelab.api.engine import FACTS

    case = ("topology", "routing", engine.work, "engine")
    return [*case, *_table_columns(engine, FACTS[engine.work])]


def _facts(engine: type[EnginePlugin], run: Run) -> dict[str, Any]:
    """Return names and facts of a run; without a curve, the important ones come first."""
    facts = {**run.names, **run.facts}
    if run.curve:
        return facts
    important = {name: facts[name] for name in _important_facts(engine) if name in facts}
    return important | facts


def _json_object(engine: type[EnginePlugin], run: Run, *, several: bool) -> dict[str, Any]:
    status = {"status": run.status, "reason": _reason(run, engine)} if several else {}
    curve = {"curve": run.curve} if run.curve else {}
    return {**_facts(engine, run), **status, **curve}


def _reason(run: Run, engine: type[EnginePlugin]) -> str:
    return "" if run.error is None else with_option_names(str(run.error), engine.Parameters)


def _print_csv(engine: type[EnginePlugin], runs: Sequence[Run]) -> None:
    """Print a row for each load, or one for each run without a curve.

    With several routings, a row begins with routing, status and reason.
    """
    from routelab.toolkit.csv_cells import write_csv_rows

    rows: list[Mapping[str, Any]] = []
    for run in runs:
        run_rows = run.curve or [_facts(engine, run)]
        if len(runs) > 1:
            first_cells = {"routing": run.names["routing"], "status": run.status}
            first_cells["reason"] = _reason(run, engine)
            # They stand first because of the first `**`; the last one lets them replace cells of
            # the same names in the row.
            run_rows = [{**first_cells, **row, **first_cells} for row in run_rows]
        rows += run_rows
    columns = list(dict.fromkeys(name for row in rows for name in row))
    write_csv_rows(sys.stdout, [columns])
    write_csv_rows(sys.stdout, ([row.get(name) for name in columns] for row in rows))


def _print_tables(engine: type[EnginePlugin], runs: Sequence[Run]) -> None:
    """Print a row per load or, for workloads, per routing; of a single workload, its facts."""
    from routelab.api.engine import FACTS

    several = len(runs) > 1
    # 1. Traffic: a row for each load of each routing.
    if any(run.curve for run in runs):
        columns = _load_columns(engine, runs)
        # A routing without result has one row. Its status, such as "failed", stands in the column
        # "state", which says for a load how its simulation ended.
        rows = [(run, row) for run in runs for row in run.curve or [{"state": run.status}]]
        texts = [[_with_interval(row, name) for name in columns] for _, row in rows]
    # 2. A workload: a row for each routing, with the columns in which any of them has a value.
    elif several:
        columns = [
            name
            for name in _table_columns(engine, FACTS[engine.work])
            if any(run.facts.get(name) is not None for run in runs)
        ]
        rows = [(run, run.facts) for run in runs]
        texts = [[cell_text(row.get(name)) for name in columns] for _, row in rows]
    # 3. A workload with one routing: a line for each fact.
    else:
        facts = _facts(engine, runs[0])
        names = _important_facts(engine)
        fact_texts = {name: cell_text(facts[name]) for name in names if facts.get(name) is not None}
        print_facts(fact_texts, engine.columns)
        return
    if several:
        columns = ["routing", *columns]
        texts = [[run.names["routing"], *row] for (run, _), row in zip(rows, texts, strict=True)]
    print_table(columns, texts, declared=engine.columns)


def _table_columns(engine: type[EnginePlugin], row_kind: str) -> list[str]:
    """Return the columns of the printed table of "loads", "simulations" or "flows".

    These are the columns whose declaration has "simulate" in `Column.shown`; without any, all.
    """
    declared = [column for column in engine.columns if row_kind in column.of]
    marked = [column.name for column in declared if "simulate" in column.shown]
    return marked or [column.name for column in declared]


def _load_columns(engine: type[EnginePlugin], runs: Sequence[Run]) -> list[str]:
    """Return the columns of the printed table of loads that any run has.

    A column that needs a setting, as `completion_cycles` needs `messages`, is left out without it.
    """
    needed_setting = {
        column.name: column.needs for column in engine.columns if "loads" in column.of
    }

    def has_column(run: Run, name: str) -> bool:
        setting = needed_setting[name]
        is_on = not setting or run.facts.get(setting)
        return bool(run.curve) and name in run.curve[0] and bool(is_on)

    columns = [
        name
        for name in _table_columns(engine, "loads")
        if any(has_column(run, name) for run in runs)
    ]
    # Runs with `messages` send a fixed number of messages instead of an offered load. The load in
    # their rows is 0, and not printed.
    if not any(row.get("load") for run in runs for row in run.curve):
        columns = [name for name in columns if name != "load"]
    return columns


def _plot(arguments: argparse.Namespace, engine: type[EnginePlugin], runs: Sequence[Run]) -> None:
    """Draw latency against load for each routing; without loads, a bar of the main result."""
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
    # 2. Else a bar for each routing, of its main result: the first printed column that has values
    #    and for which lower or higher values are better (`better` is then not empty).
    row_kind = FACTS[engine.work]
    printed = _table_columns(engine, row_kind)
    rankable_columns = [
        column
        for column in engine.columns
        if row_kind in column.of and column.better and column.name in printed
    ]
    for column in rankable_columns:
        values = {
            run.names["routing"]: float(run.facts[column.name])
            for run in finished
            if run.facts.get(column.name) is not None
        }
        if values:
            plot_merit(title, column, values, arguments.plot)
            return
    logging.getLogger(__name__).warning("%s: there is no value to draw", arguments.plot)


def _log_failure(run: Run, engine: type[EnginePlugin], *, several: bool) -> int:
    """Log why a run has no result, or that packets were blocked; return its exit code.

    2 if a parameter is wrong for the network, 1 if there is no result, 6 if packets were blocked.
    """
    import logging

    from routelab.api.errors import InputError
    from routelab.api.verdicts import EXIT_CODES

    logger = logging.getLogger(__name__)
    # in a pipe, the results come before the errors
    sys.stdout.flush()
    prefix = f"{run.names['routing']}: "
    if run.error is not None:
        reason = _error_text(run.error, engine)
        names_routing = reason.startswith(prefix)
        logger.error("%s%s", "" if names_routing else prefix, reason)
        return 2 if isinstance(run.error, InputError) else 1
    if run.facts.get("blocked") is None:
        return 0
    logger.error("%spackets are blocked: %s", prefix if several else "", run.facts["blocked"])
    return EXIT_CODES["broken"]


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    """Format a value of a row; with a confidence interval, such as 18 to 22, as ``20 ± 2``."""
    value = row.get(name)
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if value is None or low is None or high is None:
        return cell_text(value)
    return f"{cell_text(value)} ± {(high - low) / 2:.2g}"
