"""The report stage: from a study's outcomes to its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from routelab._progress import tell
from routelab.api import BenchmarkPlugin, Plugin
from routelab.config.cluster import CLUSTERS
from routelab.registry.catalogue import QuarantinedError, installed
from routelab.registry.instances import load, load_routing
from routelab.registry.names import Name, parse_name, parse_routing
from routelab.report.bench_rows import BenchRecord
from routelab.report.flows import FlowRecord
from routelab.report.frames import JobRecord
from routelab.report.simulations import SimulationRecord
from routelab.report.site import write_index, write_study_report
from routelab.report.survey import kept_records
from routelab.simulation.flow_settings import FlowSettings
from routelab.simulation.settings import SimulationSettings
from routelab.stages.jobs import (
    BARE,
    SimulationIds,
    SimulationKind,
    bound_folder,
    comparison_folder,
    route_folder,
    simulation_folder,
    topology_folder,
)
from routelab.stages.plan import Plan, StudyPlan, expand
from routelab.stages.plan_simulations import settings_id


def run(study: Path, results: Path, directory: Path) -> None:
    """Write the tables, figures and page of a study.

    Parameters
    ----------
    study : path
        Its YAML file.
    results : path
        Where its jobs have written.
    directory : path
        Where the report goes.

    Raises
    ------
    InputError
        If the study is wrong, a job has not run, or the folder cannot be written.
    """
    tell(study.stem, "plan")
    plan = expand([study], results)
    (shown,) = plan.studies.values()
    topologies = {id_: job.text for id_, job in plan.topologies.items()}
    routings = {job.id: job.text for job in plan.routes.values()}
    simulations = (*plan.simulations.values(), *plan.flows.values())
    routings |= {job.id: job.text for job in simulations}
    traffic = {job.work_id: job.work for job in plan.simulations.values()}
    workloads = {job.work_id: job.work for job in plan.flows.values()}
    metrics = dict.fromkeys(name for job in plan.routes.values() for name in job.metrics)
    for survey in plan.surveys.values():
        topologies |= {id_: instance.text for id_, instance in survey.topologies.items()}
        routings |= {id_: instance.text for id_, instance in survey.routings.items()}
        metrics |= dict.fromkeys(name for shard in survey.shards for name in shard.metrics)
    records = _records(shown, topologies, routings, _to_name(metrics), results)
    if shown.study.name in plan.surveys:
        survey = plan.surveys[shown.study.name]
        records = kept_records(records, survey.tables(results))
    simulated = [
        SimulationRecord(
            **_of_job(plan, "simulations", ids, topologies, routings),
            traffic=ids[2],
            traffic_name=traffic[ids[2]],
            traffic_parameters=_of_plugin("traffic", traffic[ids[2]]),
            settings=SimulationSettings.model_validate_json(plan.simulations[ids].settings),
        )
        for ids in shown.simulations
    ]
    flows = [
        FlowRecord(
            **_of_job(plan, "flows", ids, topologies, routings),
            workload=ids[2],
            workload_name=workloads[ids[2]],
            workload_parameters=_of_plugin("workload", workloads[ids[2]]),
            settings=FlowSettings.model_validate_json(plan.flows[ids].settings),
        )
        for ids in shown.flows
    ]
    measured = _measured(plan, shown, topologies, routings)
    plugins = _plugins(
        [
            *(("topology", text) for text in topologies.values()),
            *(("routing", text) for text in dict.fromkeys(routings.values())),
            *(("traffic", text) for text in traffic.values()),
            *(("workload", text) for text in workloads.values()),
            *(("benchmark", one.benchmark_name) for one in measured),
            *(("metric", text) for text in metrics),
        ]
    )
    write_study_report(
        shown.study, records, results, directory, plugins, simulated, flows, measured
    )
    tell(study.stem, "written", ended=True)


def run_index(results: Path) -> None:
    """Write the list of all reports in ``<results>/report``."""
    write_index(results / "report")


def _to_name(metrics: Iterable[str]) -> tuple[str, ...]:
    """The metrics if any of them runs only where it is named, or in another way than usual."""
    named = tuple(metrics)
    return () if set(named) <= set(installed().default_metrics()) else named


def _records(
    shown: StudyPlan,
    topologies: dict[str, str],
    routings: dict[str, str],
    metrics: tuple[str, ...],
    results: Path,
) -> list[JobRecord]:
    networks = {id_: _of_plugin("topology", text) for id_, text in topologies.items()}
    algorithms = {id_: _of_routing(text) for id_, text in routings.items()}
    return [
        JobRecord(
            topology=topology,
            routing=routing,
            topology_name=topologies[topology],
            routing_name=routings[routing],
            directory=Path(route_folder(results, topology, routing)),
            topology_directory=Path(topology_folder(results, topology)),
            topology_parameters=networks[topology],
            routing_parameters=algorithms[routing],
            metrics=metrics,
            rules_bound=_rules_bound(shown, (topology, routing), results),
            network_bound=_network_bound(shown, (topology, routing), results),
        )
        for topology, routing in shown.runs
    ]


def _of_job(
    plan: Plan,
    kind: SimulationKind,
    ids: SimulationIds,
    topologies: Mapping[str, str],
    routings: Mapping[str, str],
) -> dict[str, Any]:
    """What the records of all simulations have."""
    return {
        "topology": ids[0],
        "routing": ids[1],
        "topology_name": topologies[ids[0]],
        "routing_name": routings[ids[1]],
        "directory": Path(simulation_folder(plan.results, kind, ids)),
        "topology_directory": Path(topology_folder(plan.results, ids[0])),
        "topology_parameters": _of_plugin("topology", topologies[ids[0]]),
        "routing_parameters": _of_routing(routings[ids[1]]),
        "settings_id": ids[3],
    }


def _measured(
    plan: Plan, shown: StudyPlan, topologies: Mapping[str, str], routings: Mapping[str, str]
) -> list[BenchRecord]:
    """A record for every benchmark under every routing of every comparison."""
    told = {settings_id(one): one for one in shown.study.measured}
    records = []
    for ids in shown.comparisons:
        _, topology, settings = ids
        spec = plan.comparisons[ids].spec
        names = {one.id: one.text for one in spec.comparison.routings}
        baseline = told[settings].baseline or next(iter(names))
        cluster = Path(spec.comparison.settings.cluster)
        for routing, benchmark in product(names, spec.comparison.benchmarks):
            flow = shown.predictions.get((topology, routing, benchmark.id, settings))
            records.append(
                BenchRecord(
                    topology=topology,
                    routing=routing,
                    topology_name=topologies[topology],
                    routing_name=routings[routing],
                    directory=Path(comparison_folder(plan.results, *ids)),
                    topology_directory=Path(topology_folder(plan.results, topology)),
                    topology_parameters=_of_plugin("topology", topologies[topology]),
                    routing_parameters=_of_routing(routings[routing]),
                    benchmark=benchmark.id,
                    benchmark_name=benchmark.text,
                    benchmark_parameters=_of_plugin("benchmark", benchmark.text),
                    plugin=_benchmark(benchmark.text),
                    settings=told[settings],
                    settings_id=settings,
                    cluster=cluster.stem if cluster.parent == CLUSTERS else str(cluster),
                    baseline=baseline,
                    baseline_name=names.get(baseline, ""),
                    prediction=flow and Path(simulation_folder(plan.results, "flows", flow)),
                    store=Path(spec.store),
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


def _rules_bound(shown: StudyPlan, run: tuple[str, str], results: Path) -> Path | None:
    rules = shown.rules.get(run, BARE)
    return None if rules == BARE else Path(bound_folder(results, run[0], rules))


def _network_bound(shown: StudyPlan, run: tuple[str, str], results: Path) -> Path | None:
    return Path(bound_folder(results, run[0], BARE)) if run in shown.rules else None


def _plugins(named: Iterable[tuple[str, str]]) -> list[Plugin]:
    """All plugins that take part and can be loaded, for what they cite; by kind and text."""
    plugins: list[Plugin] = []
    for kind, text in named:
        try:
            plugins += load_routing(text).plugins if kind == "routing" else [load(kind, text)]
        except QuarantinedError:
            continue
    return plugins


@cache
def _of_plugin(kind: str, text: str) -> dict[str, str]:
    """All parameters of a topology, of traffic, of a workload or a benchmark, by name."""
    try:
        texts: dict[str, str] = load(kind, text).parameters.texts()
    except QuarantinedError:
        texts = dict(parse_name(text).parameters)
    return texts


@cache
def _of_routing(text: str) -> dict[str, str]:
    """All parameters of a routing by name; a name that two parts have is qualified."""
    try:
        plugins = load_routing(text).plugins
    except QuarantinedError:
        name = parse_routing(text)
        return dict(name.parameters) if isinstance(name, Name) else {}
    texts = [(plugin.kind, plugin.parameters.texts()) for plugin in plugins]
    often = Counter(name for _, parameters in texts for name in parameters)
    return {
        name if often[name] == 1 else f"{kind}.{name}": value
        for kind, parameters in texts
        for name, value in parameters.items()
    }
