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
    records = _route_records(study_plan)
    if study_plan.study.survey:
        tables = [
            SurveyJob.manifest(results, job.ids[0]) for job in study_plan.jobs[SurveyJob.kind]
        ]
        records = survey_records(records, tables)
    simulations = _engine_records(study_plan, SimulationJob)
    # The plan also has flow simulations that only predict measurements. They are not rows of the
    # study, unless it has the same workload.
    flow_ids = {job.ids for job in FlowJob.of_workloads(parts)}
    flows = _engine_records(study_plan, FlowJob, flow_ids)
    benchmarks = _bench_records(study_plan)
    plugins = study_plugins(parts, study_plan.jobs)
    with only_columns_of(plugins):
        write_study_report(
            study_plan.study,
            records,
            results=results,
            directory=directory,
            plugins=plugins,
            simulations=simulations,
            flows=flows,
            benchmarks=benchmarks,
            also=also,
            keep_going=keep_going,
        )
    report_phase(study.stem, "written", ended=True)


def write_report_index(results: Path) -> None:
    """Write the list of all reports in ``<results>/report``."""
    write_index(results / "report")


def _route_records(study_plan: StudyPlan) -> list[RouteRecord]:
    """Return a record of each table of a study, with the folders of its results."""
    parts, results = study_plan.parts, study_plan.parts.results
    # Records name the metrics only if one of them does not run by default, or has other parameters.
    metrics = () if set(parts.metrics) <= set(default_metrics()) else tuple(parts.metrics)
    rules_id_of = rules_ids(parts)

    def bound_folder(topology: str, rules_id: str) -> Path:
        return Path(BoundJob.folder_of(results, (topology, rules_id)))

    records = []
    for topology, routing in parts.runs:
        # None: the study has no bounds, or it is a survey, whose rows have them
        rules_id = rules_id_of.get((topology, routing))
        rules_bound = None
        if rules_id is not None and rules_id != BARE:  # `BARE`: the routing has no rules
            rules_bound = bound_folder(topology, rules_id)
        metrics_directory = Path(MetricJob.folder_of(results, (topology, routing)))
        records.append(
            RouteRecord(
                **_record_fields(study_plan, topology, routing),
                directory=Path(RouteJob.folder_of(results, (topology, routing))),
                metrics=metrics,
                metrics_directory=metrics_directory if parts.metrics else None,
                rules_bound=rules_bound,
                network_bound=None if rules_id is None else bound_folder(topology, BARE),
                any_length_bound=bound_folder(topology, ANY) if bounds_any_length(parts) else None,
            )
        )
    return records


def _record_fields(study_plan: StudyPlan, topology: str, routing: str) -> dict[str, Any]:
    """Return the fields that records of all kinds have: names and parameters of the two ids."""
    parts = study_plan.parts
    network, algorithm = parts.topologies[topology].text, parts.routings[routing].text
    return {
        "topology": topology,
        "routing": routing,
        "topology_name": network,
        "routing_name": algorithm,
        "topology_directory": Path(TopologyJob.folder_of(parts.results, (topology,))),
        "topology_parameters": _plugin_parameters("topology", network),
        "routing_parameters": _routing_parameters(algorithm),
    }


def _engine_records(
    study_plan: StudyPlan, kind: type[EngineJob], ids: Collection[tuple[str, ...]] | None = None
) -> list[SimulationRecord]:
    """Return a record for every simulation of a kind, or only for those in `ids`."""
    # Only traffic has bounds of throughput. None are looked up for workloads: one with the id of a
    # traffic would get those of the traffic.
    bound_jobs = study_plan.jobs.get(ThroughputJob.kind, ()) if kind is SimulationJob else ()
    throughput_bounds = {job.ids: Path(job.folder) for job in bound_jobs}
    records = []
    for job in study_plan.jobs.get(kind.kind, ()):
        if not isinstance(job, kind) or (ids is not None and job.ids not in ids):
            continue
        topology, routing, work, settings = job.ids
        records.append(
            SimulationRecord(
                **_record_fields(study_plan, topology, routing),
                directory=Path(job.folder),
                work=work,
                work_name=job.work,
                work_parameters=_plugin_parameters(job.work_kind, job.work),
                engine=load("engine", job.engine),
                settings_id=settings,
                throughput=throughput_bounds.get((topology, work)),
            )
        )
    return records


def _bench_records(study_plan: StudyPlan) -> list[BenchmarkRecord]:
    """Return a record for every benchmark under every routing of every comparison."""
    results = study_plan.parts.results
    settings_of = {settings_id(bench): bench for bench in study_plan.study.bench_settings}
    flow_of = {prediction.ids: prediction.flow for prediction in predictions(study_plan.parts)}
    jobs = study_plan.jobs.get(ComparisonJob.kind, ())
    # a study without benchmarks needs no cluster
    located_settings = settings_and_hosts(study_plan.parts)[0] if jobs else ()
    has_fabric = {bench.id: bench.cluster.cluster.fabric is not None for bench in located_settings}
    records = []
    for job in jobs:
        assert isinstance(job, ComparisonJob)
        _, topology, bench_id = job.ids
        routing_names = {routing.id: routing.text for routing in job.comparison.routings}
        # without a baseline in the settings, the first routing is compared with
        baseline = settings_of[bench_id].baseline or next(iter(routing_names))
        cluster = Path(job.comparison.settings.cluster)
        for routing, benchmark in product(routing_names, job.comparison.benchmarks):
            # None: no flow simulation predicts this measurement
            flow = flow_of.get((topology, routing, benchmark.id, bench_id))
            records.append(
                BenchmarkRecord(
                    **_record_fields(study_plan, topology, routing),
                    directory=Path(job.folder),
                    benchmark=benchmark.id,
                    benchmark_name=benchmark.text,
                    benchmark_parameters=_plugin_parameters("benchmark", benchmark.text),
                    plugin=_benchmark(benchmark.text),
                    settings=settings_of[bench_id],
                    settings_id=bench_id,
                    # a file of the usual folder is known by its name
                    cluster=cluster.stem if cluster.parent == CLUSTERS else str(cluster),
                    switched=has_fabric[bench_id],
                    baseline=baseline,
                    baseline_name=routing_names.get(baseline, ""),
                    prediction=Path(FlowJob.folder_of(results, flow)) if flow else None,
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
def _plugin_parameters(kind: str, text: str) -> dict[str, str]:
    """Return all parameters of a topology, traffic, workload or benchmark, by name.

    If the plugin cannot be used, its defaults are unknown, and only the parameters in the name
    `text` are returned.
    """
    try:
        texts: dict[str, str] = load(kind, text).parameters.texts()
    except QuarantinedError:
        texts = dict(parse_name(text).parameters)
    return texts


@cache
def _routing_parameters(text: str) -> dict[str, str]:
    """Return all parameters of a routing by name.

    A name that several of its plugins have, such as ``rounds``, becomes ``selection.rounds`` and
    ``layers.rounds``.
    """
    try:
        plugins = load_routing(text).plugins
    except QuarantinedError:
        names = parse_routing(text)
        return dict(names[0].parameters) if len(names) == 1 else {}
    texts = [(plugin.kind, plugin.parameters.texts()) for plugin in plugins]
    num_plugins_with = Counter(name for _, parameters in texts for name in parameters)
    return {
        name if num_plugins_with[name] == 1 else f"{kind}.{name}": value
        for kind, parameters in texts
        for name, value in parameters.items()
    }
