"""The report stage: write the page of a study from its outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from routelab._runtime.progress import report_phase
from routelab.api import BenchmarkPlugin
from routelab.registry.catalogue import QuarantinedError
from routelab.registry.columns import default_metrics, only_columns_of
from routelab.registry.instances import load, load_routing
from routelab.registry.names import parse_name, parse_routing
from routelab.report.page.index_page import write_index
from routelab.report.page.study_page import write_study_report
from routelab.report.rows.bench_rows import BenchmarkRecord
from routelab.report.rows.routes import RouteRecord
from routelab.report.rows.simulations import SimulationRecord
from routelab.report.rows.survey import survey_records
from routelab.routing.bound import ANY, BARE
from routelab.study.cluster.keys import CLUSTERS
from routelab.workflow.parts.settings import settings_id
from routelab.workflow.plan.expansion import StudyPlan, expand_studies
from routelab.workflow.plan.plugins import study_plugins
from routelab.workflow.stages.bounds import BoundJob, bounds_any_length, rules_ids
from routelab.workflow.stages.comparisons import ComparisonJob, settings_and_hosts
from routelab.workflow.stages.metrics import MetricJob
from routelab.workflow.stages.predictions import predictions
from routelab.workflow.stages.routes import RouteJob
from routelab.workflow.stages.simulations import EngineJob, FlowJob, SimulationJob
from routelab.workflow.stages.surveys import SurveyJob
from routelab.workflow.stages.throughput import ThroughputJob
from routelab.workflow.stages.topologies import TopologyJob


def write_report(
    study: Path,
    results: Path,
    directory: Path,
    also: Collection[str] = (),
    *,
    cluster: str = "",
    keep_going: bool = False,
) -> None:
    """Write the tables, figures and page of a study.

    Parameters
    ----------
    study : path
        Its YAML file.
    results : path
        Folder of its results.
    directory : path
        Folder for the report.
    also : collection of str
        Suffixes of further files of every figure: ``png``, ``pdf``.
    cluster : str
        Cluster that was measured on instead of those of the study.
    keep_going : bool
        Whether a table or figure that does not fit the results only leaves a gap with the reason.

    Raises
    ------
    InputError
        If the study is invalid, or the folder cannot be written.
    """
    report_phase(study.stem, "plan")
    (study_plan,) = expand_studies([study], results, cluster).studies.values()
    parts = study_plan.parts
    records = _records(study_plan)
    if study_plan.study.survey:
        tables = [
            SurveyJob.manifest(results, job.ids[0]) for job in study_plan.jobs[SurveyJob.kind]
        ]
        records = survey_records(records, tables)
    simulated = _engine_records(study_plan, SimulationJob)
    # simulations that only predict measurements are not rows of the study
    flow_ids = {job.ids for job in FlowJob.of_workloads(parts)}
    flows = _engine_records(study_plan, FlowJob, flow_ids)
    measured = _bench_records(study_plan)
    plugins = study_plugins(parts, study_plan.jobs)
    with only_columns_of(plugins):
        write_study_report(
            *(study_plan.study, records, results, directory, plugins),
            *(simulated, flows, measured, also),
            keep_going=keep_going,
        )
    report_phase(study.stem, "written", ended=True)


def write_report_index(results: Path) -> None:
    """Write the list of all reports in ``<results>/report``."""
    write_index(results / "report")


def _records(study_plan: StudyPlan) -> list[RouteRecord]:
    """Return a record of each table of a study, with the folders of its results."""
    parts, results = study_plan.parts, study_plan.parts.results
    # the metrics are named only if one of them does not run by default, or has other parameters
    metrics = () if set(parts.metrics) <= set(default_metrics()) else tuple(parts.metrics)
    rules = rules_ids(parts)

    def bound_of(topology: str, rules: str) -> Path:
        return Path(BoundJob.folder_of(results, (topology, rules)))

    def measured(pair: tuple[str, str]) -> Path:
        return Path(MetricJob.folder_of(results, pair))

    return [
        RouteRecord(
            **_of_pair(study_plan, topology, routing),
            directory=Path(RouteJob.folder_of(results, (topology, routing))),
            metrics=metrics,
            metrics_directory=measured(pair) if parts.metrics else None,
            rules_bound=None if rules.get(pair, BARE) == BARE else bound_of(topology, rules[pair]),
            network_bound=bound_of(topology, BARE) if pair in rules else None,
            any_length_bound=bound_of(topology, ANY) if bounds_any_length(parts) else None,
        )
        for pair in parts.runs
        for topology, routing in [pair]
    ]


def _of_pair(study_plan: StudyPlan, topology: str, routing: str) -> dict[str, Any]:
    """Return the common fields of the records of all jobs on a network."""
    parts = study_plan.parts
    network, algorithm = parts.topologies[topology].text, parts.routings[routing].text
    return {
        "topology": topology,
        "routing": routing,
        "topology_name": network,
        "routing_name": algorithm,
        "topology_directory": Path(TopologyJob.folder_of(parts.results, (topology,))),
        "topology_parameters": _of_plugin("topology", network),
        "routing_parameters": _of_routing(algorithm),
    }


def _engine_records(
    study_plan: StudyPlan, kind: type[EngineJob], ids: Collection[tuple[str, ...]] | None = None
) -> list[SimulationRecord]:
    """Return a record for every simulation of a kind, or only for those in `ids`."""
    bounded = study_plan.jobs.get(ThroughputJob.kind, ()) if kind is SimulationJob else ()
    bounds = {job.ids: Path(job.folder) for job in bounded}
    return [
        SimulationRecord(
            **_of_pair(study_plan, *job.ids[:2]),
            directory=Path(job.folder),
            work=job.ids[2],
            work_name=job.work,
            work_parameters=_of_plugin(job.work_kind, job.work),
            engine=load("engine", job.engine),
            settings_id=job.ids[3],
            throughput=bounds.get((job.ids[0], job.ids[2])),
        )
        for job in study_plan.jobs.get(kind.kind, ())
        if isinstance(job, kind) and (ids is None or job.ids in ids)
    ]


def _bench_records(study_plan: StudyPlan) -> list[BenchmarkRecord]:
    """Return a record for every benchmark under every routing of every comparison."""
    settings_of = {settings_id(bench): bench for bench in study_plan.study.bench_settings}
    flows = {prediction.ids: prediction.flow for prediction in predictions(study_plan.parts)}
    jobs = study_plan.jobs.get(ComparisonJob.kind, ())
    # a study without benchmarks needs no cluster
    settings = settings_and_hosts(study_plan.parts)[0] if jobs else ()
    switched = {bench.id: bench.cluster.cluster.fabric is not None for bench in settings}
    records = []
    for job in jobs:
        assert isinstance(job, ComparisonJob)
        _, topology, chosen_settings = job.ids
        names = {routing_part.id: routing_part.text for routing_part in job.comparison.routings}
        baseline = settings_of[chosen_settings].baseline or next(iter(names))
        cluster = Path(job.comparison.settings.cluster)
        for routing, benchmark in product(names, job.comparison.benchmarks):
            flow = flows.get((topology, routing, benchmark.id, chosen_settings))
            records.append(
                BenchmarkRecord(
                    **_of_pair(study_plan, topology, routing),
                    directory=Path(job.folder),
                    benchmark=benchmark.id,
                    benchmark_name=benchmark.text,
                    benchmark_parameters=_of_plugin("benchmark", benchmark.text),
                    plugin=_benchmark(benchmark.text),
                    settings=settings_of[chosen_settings],
                    settings_id=chosen_settings,
                    cluster=cluster.stem if cluster.parent == CLUSTERS else str(cluster),
                    switched=switched[chosen_settings],
                    baseline=baseline,
                    baseline_name=names.get(baseline, ""),
                    prediction=flow and Path(FlowJob.folder_of(study_plan.parts.results, flow)),
                    store=Path(job.store),
                )
            )
    return records


@cache
def _benchmark(text: str) -> BenchmarkPlugin | None:
    try:
        plugin = load("benchmark", text)
    except QuarantinedError:
        return None
    assert isinstance(plugin, BenchmarkPlugin)
    return plugin


@cache
def _of_plugin(kind: str, text: str) -> dict[str, str]:
    """Return all parameters of a topology, traffic, workload or benchmark, by name."""
    try:
        texts: dict[str, str] = load(kind, text).parameters.texts()
    except QuarantinedError:
        texts = dict(parse_name(text).parameters)
    return texts


@cache
def _of_routing(text: str) -> dict[str, str]:
    """Return all parameters of a routing by name; qualify a name that two parts have."""
    try:
        plugins = load_routing(text).plugins
    except QuarantinedError:
        names = parse_routing(text)
        return dict(names[0].parameters) if len(names) == 1 else {}
    texts = [(plugin.kind, plugin.parameters.texts()) for plugin in plugins]
    often = Counter(name for _, parameters in texts for name in parameters)
    return {
        name if often[name] == 1 else f"{kind}.{name}": value
        for kind, parameters in texts
        for name, value in parameters.items()
    }
