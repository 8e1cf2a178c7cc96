"""Texts about comparisons: the request, the commands, and a summary of the results."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from statistics import median

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
    network, *_ = collect_errors(
        lambda: _network(topology, routings, settings),
        *(_check("benchmark", text) for text in benchmarks),
        *(_check("routing", text) for text in routings),
        lambda: _baseline(settings.baseline, routings),
    )
    return Comparison(
        network,
        tuple(ComparisonPart(text, load_routing(text).name) for text in dict.fromkeys(routings)),
        tuple(
            ComparisonPart(text, name_of(load("benchmark", text)))
            for text in dict.fromkeys(benchmarks)
        ),
        settings,
    )


def _network(topology: str | None, routings: Sequence[str], settings: BenchSettings) -> str:
    file = load_cluster(require_cluster(settings.cluster, word="cluster"))
    network = topology or file.cluster.topology or ""
    if not network and routings:
        raise InputError(
            f"routings need a network, but {file.path} names none; add --topology NAME"
        )
    return network


def _check(kind: str, text: str) -> Callable[[], object]:
    return lambda: load_routing(text) if kind == "routing" else load(kind, text)


def _baseline(baseline: str, routings: Sequence[str]) -> None:
    if baseline and baseline not in routings:
        raise InputError(f"--baseline {baseline}: it is not one of the routings; add --routing")


def fabric_warning(plan: MeasurementPlan) -> str:
    """Return a warning if the fabric is not switched between routings, else an empty text."""
    if len(plan.comparison.routings) < 2 or plan.apply:
        return ""
    return (
        f"nothing switches the fabric of {plan.file.path.stem}: all routings are measured as "
        "the fabric is, and differences between them are noise"
    )


def rehearsal_lines(measurement: ComparisonSession, in_salloc: Sequence[str]) -> Iterator[str]:
    """Iterate over every command that would be run, in order; lines with # are comments.

    Parameters
    ----------
    measurement : ComparisonSession
    in_salloc : sequence of str
        The command that makes the allocation, if one is needed.
    """
    plan = measurement.plan
    for sentence in equal_tables(plan.digests if plan.apply else {}):
        yield f"# {sentence}"
    if in_salloc:
        yield "# one allocation:"
        yield shlex.join(in_salloc)
    turns = measurement.session.missing()
    total = sum(1 for _ in plan.runs)
    for run in plan.runs:
        if run.refusal and run.round == 1:
            yield f"# {run.routing.id}, {run.benchmark.id}: not run: {run.refusal}"
    yield f"# {sum(len(turn.runs) for turn in turns)} of {total} runs are missing"
    for turn in turns:
        yield f"# {round_name(turn.round)}: {turn.routing.id}"
        if plan.apply:
            yield from _switch_lines(measurement, turn.routing, "apply")
        for run in turn.runs:
            yield from _run_lines(plan, run)
    if turns and plan.apply:
        yield "# at the end, also after errors:"
        yield from _switch_lines(measurement, turns[-1].routing, "restore")


def _switch_lines(
    measurement: ComparisonSession, routing: ComparisonPart, what: str
) -> Iterator[str]:
    lines: list[str] = []
    plan = measurement.plan
    job = plan.job(routing, measurement.session.journal.folder.resolve())
    getattr(plan.fabric, what)(job, lambda arguments, _: lines.append(shlex.join(arguments)))
    yield from lines


def _run_lines(plan: MeasurementPlan, run: PlannedRun) -> Iterator[str]:
    launch = plan.launcher.launch(run.command, run.fingerprint[:16])
    variables = [f"{name}={shlex.quote(text)}" for name, text in launch.environment.items()]
    yield " ".join([*variables, shlex.join(launch.arguments)])
    if launch.hostfile:
        yield f"#   {HOSTFILE}: {' '.join(launch.hostfile.split())}"


def summary_table(collected: ComparisonResult) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return a table of results: `SUMMARY`, a row per routing, benchmark, metric and size.

    Returns
    -------
    columns : tuple of str
    rows : list of list of str
    """
    # 1. The values of each figure. One that only warm-up rounds have gets a row without a value.
    rows: list[list[str]] = []
    cells: dict[tuple[str, ...], list[float]] = {}
    units: dict[tuple[str, ...], str] = {}
    for row in collected.figures:
        if not row["better"]:
            continue  # for example a count of iterations
        key = tuple(str(row[name]) for name in SUMMARY[:4])
        cells.setdefault(key, [])
        units[key] = str(row["unit"])
        if row["round"] > 0:
            cells[key].append(float(row["value"]))

    # 2. The rows. A pair without any figure has one, too, which says how many runs failed, and why.
    pairs = dict.fromkeys((row["routing"], row["benchmark"]) for row in collected.runs)
    for pair in pairs:
        failed = [
            row
            for row in collected.runs
            if (row["routing"], row["benchmark"]) == pair
            and row["round"] > 0
            and row["status"] != "ok"
        ]
        reason = str(failed[0]["reason"]) if failed else ""
        keys_of_pair = [key for key in cells if key[:2] == pair]
        for key in keys_of_pair or [(*pair, "", "")]:
            values = cells.get(key, [])
            variation = cov_percent(values)
            rows.append(
                [
                    *key,
                    units.get(key, ""),
                    f"{median(values):.6g}" if values else "",
                    "" if variation is None else f"{variation:.2f}",
                    *(str(len(values)), str(len(failed)), reason),
                ]
            )
    return SUMMARY, rows
