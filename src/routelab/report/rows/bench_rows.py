"""Rows of measurements: one for each figure of merit of a benchmark under a routing.

A comparison of a study runs benchmarks under several routings; it has a record for each benchmark
under each routing, and a record has a row for each figure of merit, such as a latency or a rate.
"Figure" stands for figure of merit here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

from routelab.api import BenchmarkPlugin, BenchmarkTask, FigureOfMerit
from routelab.cluster.bench import statistics
from routelab.registry.names import parse_name
from routelab.report.rows.comparison_files import (
    ComparisonFiles,
    Key,
    Merit,
    MeritSample,
    RunGroup,
    empty_group,
    read_comparison,
)
from routelab.report.rows.derivation import IMPROVEMENT
from routelab.report.rows.pending_jobs import PendingOutcome
from routelab.report.rows.row_set import OK, Record, num_terminals, read_job_outcome
from routelab.results.missing_results import NOT_RUN
from routelab.results.outcome import Outcome
from routelab.study.bench_settings import BenchSettings

KINDS = ("topology", "routing", "benchmark")


@dataclass(frozen=True)
class BenchmarkRecord(Record):
    """A benchmark under a routing, in a comparison of a study.

    Attributes
    ----------
    benchmark, benchmark_name : str
        Name in the study, and canonical name.
    benchmark_parameters : mapping
        All parameters by name, defaults included.
    plugin : BenchmarkPlugin or None
        None if it cannot be loaded.
    settings : BenchSettings
    settings_id : str
        Name of the settings' folder: the settings that differ from the defaults.
    cluster : str
        Name of the cluster for commands.
    switched : bool
        Whether the cluster has a fabric that is switched to the routing, which needs permission.
    baseline, baseline_name : str
        The routing that others are compared with: name in the study, and canonical name.
    prediction : Path or None
        Folder of the flow simulation that predicts the result.
    store : Path
        Folder of raw runs.
    """

    benchmark: str = ""
    benchmark_name: str = ""
    benchmark_parameters: Mapping[str, Any] = field(default_factory=dict)
    plugin: BenchmarkPlugin | None = None
    settings: BenchSettings = field(default_factory=BenchSettings)
    settings_id: str = ""
    cluster: str = ""
    switched: bool = False
    baseline: str = ""
    baseline_name: str = ""
    prediction: Path | None = None
    store: Path = Path("results/bench/runs")


@dataclass(frozen=True, eq=False)
class BenchRow:
    """A figure of merit of a benchmark under a routing.

    Attributes
    ----------
    record : BenchmarkRecord
    files : ComparisonFiles
    outcome : Outcome
        Outcome of its runs; a failure if no run printed this figure.
    values : dict
        Values of the row, by column.
    sample : dict of int to float
        Measured values of the figure, by round.
    """

    record: BenchmarkRecord
    files: ComparisonFiles
    outcome: Outcome
    values: dict[str, Any]
    sample: Mapping[int, float]

    @property
    def is_merit(self) -> bool:
        """Whether this is the main figure of the benchmark."""
        plugin = self.record.plugin
        return plugin is None or self.values["metric"] == plugin.figure


def bench_rows(records: Sequence[BenchmarkRecord]) -> list[BenchRow]:
    """Return the rows of all records, at least one for each.

    Raises
    ------
    InputError
        If a comparison's table is damaged.
    """
    # 1. The files of each comparison, which its records share, and the predictions of each record.
    comparisons: dict[Path, ComparisonFiles] = {}
    predictions: dict[tuple[Path, str, str], dict[Key, FigureOfMerit]] = {}
    for record in records:
        directory = record.directory
        if directory not in comparisons:
            outcome = read_job_outcome("comparison", record)
            comparisons[directory] = read_comparison(directory, outcome)
        predictions[directory, record.routing, record.benchmark] = _predict_figures(
            record, comparisons[directory]
        )
    # 2. The rows, each with the predictions for its routing and for the baseline.
    rows = []
    for record in records:
        predicted, base_predicted = (
            predictions.get((record.directory, routing, record.benchmark), {})
            for routing in (record.routing, record.baseline)
        )
        rows += _merit_rows(record, comparisons[record.directory], predicted, base_predicted)
    return rows


def _merit_rows(
    record: BenchmarkRecord,
    files: ComparisonFiles,
    predictions: Mapping[Key, FigureOfMerit],
    base_predictions: Mapping[Key, FigureOfMerit],
) -> list[BenchRow]:
    """Return a row for each figure of merit of a benchmark under a routing, at least one.

    Parameters
    ----------
    record : BenchmarkRecord
    files : ComparisonFiles
    predictions, base_predictions : mapping
        Figures that the flow engine predicts for this routing and for the baseline.
    """
    group = files.groups.get((record.routing, record.benchmark)) or empty_group(files.outcome)
    base = files.groups.get((record.baseline, record.benchmark))
    # 1. The figures: those that were measured under any routing, or else those that are predicted.
    #    The main figure is always among them, so that a benchmark without it has a row, too. If its
    #    plugin cannot be loaded, the main figure is not known; then a row without a name stands for
    #    it if there is no other figure.
    keys = files.keys(record.benchmark) or list(predictions)
    main_figure = record.plugin.figure if record.plugin else ""
    metrics = {metric for metric, _ in keys}
    if not keys or main_figure not in {"", *metrics}:
        keys = [*keys, (main_figure, None)]
    # 2. A row for each figure.
    shared_columns = _shared_columns(record, files, group)
    rows = []
    for key in keys:
        metric, size = key
        sample = group.samples.get(key)
        if sample is None:
            unit, better = _unit_and_direction(files, record.benchmark, key, predictions)
            sample = MeritSample(unit, better)
        values = shared_columns | {"metric": metric, "size": size}
        values |= {"unit": sample.unit, "better": sample.better}
        values |= _sample_columns(sample) | {"failed": group.failed, "failures": group.failures}
        if base is not None:
            values |= _improvement_columns(
                sample,
                base.samples.get(key),
                applied={group.applied, base.applied},
                is_baseline=record.routing == record.baseline,
            )
        prediction, base_prediction = predictions.get(key), base_predictions.get(key)
        values["predicted"] = prediction.value if prediction else None
        if prediction and base_prediction and prediction.better:
            values["predicted_improvement_percent"] = statistics.improvement_percent(
                prediction.value, base_prediction.value, prediction.better
            )
        # a figure without a value has failed although the runs did not
        if group.status == OK and not sample.values:
            values |= {"status": "failed", "reason": "no run gave this figure"}
        # an `Outcome` refuses the status not-run
        outcome_class = PendingOutcome if values["status"] == NOT_RUN else Outcome
        names = "comparison", record.topology_name, record.routing_name
        outcome = outcome_class(*names, values["status"], values["reason"])
        rows.append(BenchRow(record, files, outcome, values, sample.values))
    return rows


def _shared_columns(
    record: BenchmarkRecord, files: ComparisonFiles, group: RunGroup
) -> dict[str, Any]:
    """Return the columns that all figures of a benchmark under a routing share.

    These are names, parameters and settings, and what is known of the runs, `group`.
    """
    facts = files.outcome.facts
    row: dict[str, Any] = {}
    for kind in KINDS:
        parameters = getattr(record, f"{kind}_parameters")
        row |= {f"{kind}.{key}": text for key, text in parameters.items()}
    row |= {f"bench.{key}": value for key, value in record.settings.model_dump().items()}
    nodes = facts.get("nodes") or num_terminals(record, files.outcome)
    return row | {
        "topology": record.topology,
        "routing": record.routing,
        "benchmark": record.benchmark,
        "program": parse_name(record.benchmark_name).key,
        "bench": record.settings_id,
        "cluster": facts.get("cluster", record.cluster),
        "baseline": record.baseline,
        "nodes": nodes,
        "ranks": group.ranks if group.ranks is not None else facts.get("ranks"),
        "hosts": group.hosts,
        "job_ids": group.allocations,
        "applied": group.applied,
        "version": group.version,
        "status": group.status,
        "reason": group.reason,
    }


def _unit_and_direction(
    files: ComparisonFiles, benchmark: str, key: Key, predictions: Mapping[Key, FigureOfMerit]
) -> tuple[str, Merit]:
    """Return unit and preferred direction of a figure that no run under this routing has.

    They are those of its prediction, or of the runs under another routing.
    """
    if key in predictions:
        return predictions[key].unit, predictions[key].better
    return files.unit_and_direction(benchmark, key)


def _sample_columns(sample: MeritSample) -> dict[str, Any]:
    """Return the statistics of a sample; None where it has too few values."""
    values = list(sample.values.values())
    interval = statistics.median_interval(values)
    return {
        "median": median(values) if values else None,
        "mean": fmean(values) if values else None,
        "cov_percent": statistics.cov_percent(values),
        "ci_low": interval.low if interval else None,
        "ci_high": interval.high if interval else None,
        "runs": len(values),
    }


def _improvement_columns(
    sample: MeritSample,
    base: MeritSample | None,
    applied: Collection[str],
    *,
    is_baseline: bool,
) -> dict[str, Any]:
    """Return the improvement over the baseline; none without values of both or a better direction.

    Parameters
    ----------
    sample, base : MeritSample
        Values under the routing and under the baseline.
    applied : collection of str
        Whether the fabric was switched to the two routings: ``yes``, ``no`` or ``partly``.
    is_baseline : bool
        Whether the routing is the baseline itself: its improvement is 0, without an interval.
    """
    better = sample.better
    if not sample.values or base is None or not base.values or not better:
        return {}
    if is_baseline:
        return {IMPROVEMENT: 0.0}
    sample_median, base_median = (median([*side.values.values()]) for side in (sample, base))
    gain = statistics.improvement_percent(sample_median, base_median, better)
    if gain is None:
        return {}
    interval = statistics.improvement_interval(sample.values, base.values, better)
    is_noise = statistics.within_noise(interval, len(sample.values), len(base.values))
    return {
        IMPROVEMENT: gain,
        "improvement_low": interval.low if interval else None,
        "improvement_high": interval.high if interval else None,
        # Routings that were not applied cannot cause a difference.
        "within_noise": is_noise or set(applied) != {"yes"},
    }


def _predict_figures(record: BenchmarkRecord, files: ComparisonFiles) -> dict[Key, FigureOfMerit]:
    """Return the figures of merit that the benchmark's flow simulation predicts, if any."""
    facts = files.outcome.facts
    if record.prediction is None or record.plugin is None or not facts.get("ranks"):
        return {}
    flow_record = Record(
        topology=record.topology,
        routing=record.routing,
        topology_name=record.topology_name,
        routing_name=record.routing_name,
        directory=record.prediction,
        topology_directory=record.topology_directory,
    )
    flow = read_job_outcome("flow", flow_record)
    # A prediction for another route table than that of the runs says nothing about them.
    table = flow.provenance.get("sources", {}).get("table")
    if flow.status != OK or not files.may_have_used(record.routing, table):
        return {}
    # Nothing is run: the program and the folder only complete the task.
    task = BenchmarkTask(
        ranks=int(facts["ranks"]),
        nodes=int(facts["nodes"]),
        executable=Path(record.plugin.name),
        folder=record.directory,
    )
    figures = record.plugin.predicted(flow.facts, task)
    return {(figure.metric, figure.size): figure for figure in figures}
