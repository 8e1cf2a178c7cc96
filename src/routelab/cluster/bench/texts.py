"""Texts about comparisons: the request, the commands, and a summary of the results."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median
from typing import Literal

from routelab.api import InputError
from routelab.cluster.bench.comparison import Comparison, ComparisonPart, equal_tables, round_name
from routelab.cluster.bench.launchers import HOSTFILE
from routelab.cluster.bench.plan import MeasurementPlan, PlannedRun
from routelab.cluster.bench.results import ComparisonResult
from routelab.cluster.bench.run_comparison import ComparisonSession
from routelab.cluster.bench.statistics import cov_percent
from routelab.registry.instances import load, load_routing, name_of
from routelab.registry.requirements import collect_errors
from routelab.study.bench_settings import BenchSettings
from routelab.study.cluster.keys import load_cluster, require_cluster

SUMMARY = (
    *("routing", "benchmark", "metric", "size", "unit"),
    *("median", "cov_percent", "runs", "failed", "reason"),
)
"""Columns of `summary_table`."""


def make_comparison(
    topology: str | None,
    routings: Sequence[str],
    benchmarks: Sequence[str],
    settings: BenchSettings,
) -> Comparison:
    """Return the comparison of parts that are given by name.

    Parameters
    ----------
    topology : str or None
        None: the network of the cluster.
    routings, benchmarks : sequence of str
        Instance names.
    settings : BenchSettings

    Raises
    ------
    InputError
        Lists all mistakes.
    """
    if not benchmarks:
        raise InputError(
            "no benchmark is named; add --benchmark NAME (see `routelab plugins list benchmark`)"
        )
    # The plugins are loaded here only to report all wrong names together.
    network, *_ = collect_errors(
        lambda: _network_name(topology, routings, settings),
        *(partial(load, "benchmark", text) for text in benchmarks),
        *(partial(load_routing, text) for text in routings),
        lambda: _require_baseline(settings.baseline, routings),
    )
    return Comparison(
        topology=network,
        routings=tuple(
            ComparisonPart(id=text, text=load_routing(text).name)
            for text in dict.fromkeys(routings)
        ),
        benchmarks=tuple(
            ComparisonPart(id=text, text=name_of(load("benchmark", text)))
            for text in dict.fromkeys(benchmarks)
        ),
        settings=settings,
    )


def _network_name(topology: str | None, routings: Sequence[str], settings: BenchSettings) -> str:
    """Return the network's name: as given, or that of the cluster; empty if none is needed.

    Raises
    ------
    InputError
        If routings need one and neither has it.
    """
    file = load_cluster(require_cluster(settings.cluster, word="cluster"))
    network = topology or file.cluster.topology or ""
    if not network and routings:
        raise InputError(
            f"routings need a network, but {file.path} names none; add --topology NAME"
        )
    return network


def _require_baseline(baseline: str, routings: Sequence[str]) -> None:
    if baseline and baseline not in routings:
        raise InputError(f"--baseline {baseline}: it is not one of the routings; add --routing")


def fabric_warning(plan: MeasurementPlan) -> str:
    """Return a warning if the fabric is not switched between routings, else an empty text."""
    if len(plan.comparison.routings) < 2 or plan.switches_fabric:
        return ""
    return (
        f"nothing switches the fabric of {plan.file.path.stem}: all routings are measured as "
        "the fabric is, and differences between them are noise"
    )


def dry_run_lines(measurement: ComparisonSession, salloc_command: Sequence[str]) -> Iterator[str]:
    """Iterate over every command that would be run, in order; lines with # are comments.

    Parameters
    ----------
    measurement : ComparisonSession
    salloc_command : sequence of str
        The command that makes the allocation; empty if none is needed.
    """
    plan = measurement.plan
    for sentence in equal_tables(plan.digests if plan.switches_fabric else {}):
        yield f"# {sentence}"
    if salloc_command:
        yield "# one allocation:"
        yield shlex.join(salloc_command)
    missing_turns = measurement.session.missing_turns()
    num_missing = sum(len(turn.runs) for turn in missing_turns)
    num_runs = sum(1 for _ in plan.runs)
    for run in plan.runs:
        if run.refusal and run.round == 1:  # it is the same in every round
            yield f"# {run.routing.id}, {run.benchmark.id}: not run: {run.refusal}"
    yield f"# {num_missing} of {num_runs} runs are missing"
    for turn in missing_turns:
        yield f"# {round_name(turn.round)}: {turn.routing.id}"
        if plan.switches_fabric:
            yield from _switch_lines(measurement, turn.routing, action="apply")
        for run in turn.runs:
            yield from _run_lines(plan, run)
    if missing_turns and plan.switches_fabric:
        yield "# at the end, also after errors:"
        # the command to restore may name the routing that was applied last
        yield from _switch_lines(measurement, missing_turns[-1].routing, action="restore")


def _switch_lines(
    measurement: ComparisonSession, routing: ComparisonPart, action: Literal["apply", "restore"]
) -> list[str]:
    """Return the commands that apply a routing to the fabric, or restore the fabric after it."""
    lines: list[str] = []
    plan = measurement.plan
    job = plan.job(routing, measurement.session.journal.folder.resolve())
    # `Fabric.apply` and `Fabric.restore` call the function that they get with each command. This
    # one notes the commands instead of running them.
    switch = getattr(plan.fabric, action)
    switch(job, lambda arguments, _seconds: lines.append(shlex.join(arguments)))
    return lines


def _run_lines(plan: MeasurementPlan, run: PlannedRun) -> Iterator[str]:
    """Yield the command of a run as a line for a shell, and its file of hosts as a comment."""
    step_name = run.fingerprint[:16]  # as in the real launch
    launch = plan.launcher.make_launch(run.command, step_name)
    variables = [f"{name}={shlex.quote(text)}" for name, text in launch.environment.items()]
    yield " ".join([*variables, shlex.join(launch.arguments)])
    if launch.hostfile:
        yield f"#   {HOSTFILE}: {' '.join(launch.hostfile.split())}"


def summary_table(result: ComparisonResult) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return a table of results: `SUMMARY`, a row per routing, benchmark, metric and size.

    Returns
    -------
    columns : tuple of str
    rows : list of list of str
    """
    # 1. The values of each figure. Warm-up rounds have the numbers 0, −1, ..., and no value counts;
    #    a figure that only they have gets a row without a value.
    rows: list[list[str]] = []
    values_of_figure: dict[tuple[str, ...], list[float]] = {}
    units: dict[tuple[str, ...], str] = {}
    for row in result.figures:
        if not row["better"]:
            continue  # for example a count of iterations
        key = tuple(str(row[name]) for name in ("routing", "benchmark", "metric", "size"))
        values_of_figure.setdefault(key, [])
        units[key] = str(row["unit"])
        if row["round"] > 0:
            values_of_figure[key].append(float(row["value"]))

    # 2. The rows, in the order of pairs of a routing and a benchmark. A pair without any figure has
    #    one row, without metric and size, which says how many runs failed, and why.
    pairs = dict.fromkeys((row["routing"], row["benchmark"]) for row in result.runs)
    for pair in pairs:
        failed_runs = [
            row
            for row in result.runs
            if (row["routing"], row["benchmark"]) == pair
            and row["round"] > 0  # not a warm-up round
            and row["status"] != "ok"
        ]
        reason = str(failed_runs[0]["reason"]) if failed_runs else ""
        keys_of_pair = [key for key in values_of_figure if key[:2] == pair]
        without_figure = (*pair, "", "")
        for key in keys_of_pair or [without_figure]:
            values = values_of_figure.get(key, [])
            variation = cov_percent(values)
            rows.append(
                [
                    *key,
                    units.get(key, ""),
                    f"{median(values):.6g}" if values else "",
                    "" if variation is None else f"{variation:.2f}",
                    str(len(values)),
                    str(len(failed_runs)),
                    reason,
                ]
            )
    return SUMMARY, rows
