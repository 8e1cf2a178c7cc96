"""From studies to jobs: what has to run, under which names and with which inputs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from routelab.api import InputError
from routelab.artifacts.fingerprint import fingerprint
from routelab.config import (
    Choice,
    ConfigError,
    Figure,
    Study,
    Table,
    Use,
    choices,
    load_draft,
    load_study,
)
from routelab.config.mistakes import suggestion
from routelab.config.study import ENTRIES
from routelab.registry.catalogue import installed
from routelab.stages.batches import Kind
from routelab.stages.comparisons import ComparisonIds
from routelab.stages.instances import Instance, instance_of
from routelab.stages.jobs import MAX_ID, SimulationIds, SimulationJob, SimulationKind, cut
from routelab.stages.plan_bounds import WantedBounds
from routelab.stages.plan_comparisons import (
    WantedComparisons,
    of_benchmarks,
    places_of,
    terminals,
)
from routelab.stages.plan_predictions import PredictionIds, predictions
from routelab.stages.plan_routes import WantedJob, route_job, topology_job, want
from routelab.stages.plan_simulations import (
    WantedSimulations,
    is_hop_by_hop,
    of_traffic,
    of_workloads,
)
from routelab.stages.planned import Plan, StudyPlan
from routelab.stages.samples import chosen
from routelab.stages.surveys import SurveyPlan, plan_survey

__all__ = ["MAX_ID", "Plan", "StudyPlan", "expand"]


def expand(studies: Sequence[Path | str], results: Path | str = "results") -> Plan:
    """All jobs of `studies`.

    Parameters
    ----------
    studies : sequence of path
        Study files. Files that their parameters name are looked up in the study's folder.
    results : path
        Where outcomes are written.

    Returns
    -------
    Plan

    Raises
    ------
    ConfigError
        An `InputError` with everything that is wrong in any of the studies.
    """
    expansion = _Expansion()
    for path in dict.fromkeys(map(Path, studies)):
        expansion.add(path)
    return expansion.plan(Path(results))


@dataclass
class _Shown:
    """What a study shows; see `StudyPlan`."""

    study: Study
    runs: list[tuple[str, str]]
    rules: Mapping[tuple[str, str], str] = field(default_factory=dict)
    simulations: tuple[SimulationIds, ...] = ()
    flows: tuple[SimulationIds, ...] = ()
    benchmarks: tuple[str, ...] = ()
    comparisons: tuple[ComparisonIds, ...] = ()
    predictions: dict[PredictionIds, SimulationIds] = field(default_factory=dict)


class _Expansion:
    """Jobs and mistakes, collected study by study."""

    def __init__(self) -> None:
        self.mistakes: list[str] = []
        self.studies: dict[str, _Shown] = {}
        self.topologies: dict[str, WantedJob] = {}
        self.routes: dict[tuple[str, str], WantedJob] = {}
        self._meanings: dict[tuple[str, str], tuple[str, str]] = {}
        self._instances: dict[tuple[object, ...], Instance] = {}
        self.quarantined: dict[str, None] = {}
        self.surveys: dict[str, SurveyPlan] = {}
        self._wanted_bounds = WantedBounds()
        self._wanted_simulations = WantedSimulations("simulations")
        self._wanted_flows = WantedSimulations("flows")
        self._wanted_comparisons = WantedComparisons()

    def add(self, path: Path) -> None:
        """Read a study and note its jobs."""
        try:
            study = load_study(path)
        except ConfigError as error:
            self.mistakes += error.mistakes
            draft = load_draft(path)
            if draft is not None:
                for part in ENTRIES:
                    self._named(draft, part)
                self._metrics(draft)
            return
        if study.name in self.studies:
            other = self.studies[study.name].study.path
            self.mistakes.append(f"{path}: another study has that name: {other}")
            return
        networks = self._named(study, "topologies")
        topologies = _merged(networks)
        entries = self._named(study, "routings")
        routings = _merged(entries)
        traffic = of_traffic(study, _merged(self._named(study, "traffic")))
        workloads, wrong = of_workloads(study, _merged(self._named(study, "workloads")))
        benchmarks = _merged(self._named(study, "benchmarks"))
        self.mistakes += wrong
        metrics = self._metrics(study)
        self.mistakes += _unknown_references(study, routings)
        pairs = self._pairs(study, networks, entries)
        runs = [(t, r) for t, r in pairs if not is_hop_by_hop(routings[r])]
        shown = self.studies[study.name] = _Shown(study, runs)
        if study.survey:
            if not self.mistakes:
                self.surveys[study.name] = plan_survey(study, topologies, routings, metrics, runs)
            return
        shown.rules = self._wanted_bounds.add(study, runs, routings)
        simulated = study.limits, pairs, routings
        shown.simulations = self._wanted_simulations.add(*simulated, traffic)
        shown.flows = self._wanted_flows.add(*simulated, workloads)
        if benchmarks:
            self._compare(shown, topologies, routings, benchmarks)
        for t, _ in pairs:
            want(self.topologies, t, (topologies[t],), study.limits, {})
        for t, r in runs:
            want(self.routes, (t, r), (topologies[t], routings[r]), study.limits, metrics)

    def _compare(
        self,
        shown: _Shown,
        topologies: Mapping[str, Instance],
        routings: Mapping[str, Instance],
        benchmarks: Mapping[str, Instance],
    ) -> None:
        """Note what a study measures, and the flows that predict it."""
        study, runs = shown.study, shown.runs
        tables = {r: one for r, one in routings.items() if not is_hop_by_hop(one)}
        settings, wrong = of_benchmarks(study, tables)
        sizes = {t: terminals(topologies[t]) for t in dict.fromkeys(t for t, _ in runs)}
        places, more = places_of(study, settings, topologies, sizes)
        expected, still_more = predictions(study, settings, runs, sizes, benchmarks)
        self.mistakes += wrong + more + still_more
        shown.benchmarks = tuple(benchmarks)
        shown.comparisons = self._wanted_comparisons.add(
            study, settings, runs, places, tables, benchmarks
        )
        for one in expected:
            clash = self._clash("workload", one.work_id, one.work.text, study.place("benchmarks"))
            self.mistakes += [f"{study.place('benchmarks')}{clash}"] if clash else []
            pair = one.ids[:2]
            work = {one.work_id: (one.work, [one.chosen])}
            (flow,) = self._wanted_flows.add(study.limits, [pair], routings, work)
            shown.predictions[one.ids] = flow

    def _pairs(
        self,
        study: Study,
        networks: Sequence[Mapping[str, Instance]],
        entries: Sequence[Mapping[str, Instance]],
    ) -> list[tuple[str, str]]:
        """Ids of all topologies and routings that meet, those of a network together."""
        everywhere = list(_merged(networks))
        where: dict[str, set[str]] = {}
        for position, (entry, routings) in enumerate(zip(study.routings, entries, strict=True)):
            on = entry.on if isinstance(entry, Use) else None
            try:
                ids = everywhere if on is None else chosen(on, networks)
            except InputError as error:
                self.mistakes.append(f"{study.place('routings', position)}{error}")
                continue
            for r in routings:
                where.setdefault(r, set()).update(ids)
        return [(t, r) for t in everywhere for r in where if t in where[r]]

    def plan(self, results: Path) -> Plan:
        """Everything that was added, if nothing is wrong with it."""
        if self.mistakes:
            raise ConfigError(self.mistakes)
        topologies = {t: topology_job(t, wanted) for t, wanted in self.topologies.items()}
        routes = {
            (t, r): route_job(topologies[t], r, wanted) for (t, r), wanted in self.routes.items()
        }
        studies = {name: _study_plan(shown) for name, shown in self.studies.items()}
        bounds = self._wanted_bounds.jobs(topologies)
        simulations = self._wanted_simulations.jobs(topologies)
        flows = self._wanted_flows.jobs(topologies)
        kernel_users: dict[tuple[type, ...], str] = {}
        routings = [wanted.instances[1] for wanted in self.routes.values()]
        routings += [one for survey in self.surveys.values() for one in survey.routings.values()]
        for routing in routings:
            if not routing.quarantine:
                kernel_users.setdefault(tuple(map(type, routing.plugins)), routing.text)
        ids: dict[str, dict[Kind, Sequence[tuple[str, ...]]]] = {
            name: {
                "routes": shown.runs,
                "simulations": shown.simulations,
                "flows": (*shown.flows, *shown.predictions.values()),
            }
            for name, shown in studies.items()
        }
        simulated: dict[SimulationKind, Mapping[SimulationIds, SimulationJob]] = {
            "simulations": simulations,
            "flows": flows,
        }
        batches = cut(results, topologies, routes, bounds, simulated, ids)
        return Plan(
            results,
            topologies,
            routes,
            studies,
            tuple(kernel_users.values()),
            batches,
            tuple(self.quarantined),
            self.surveys,
            bounds,
            simulations,
            self._wanted_simulations.rehearsals(),
            flows,
            self._wanted_flows.rehearsals(),
            self._wanted_comparisons.jobs(results, topologies, routes, batches),
        )

    def _named(self, study: Study, part: str) -> list[dict[str, Instance]]:
        """Instances of each entry of a list of the study, by id."""
        kind = ENTRIES[part]
        entries: list[dict[str, Instance]] = []
        for position, entry in enumerate(getattr(study, part)):
            named: dict[str, Instance] = {}
            entries.append(named)
            place = study.place(part, position)
            if part != "routings" and isinstance(entry, Use) and entry.on:
                self.mistakes.append(f"{place}on: only routings run on some of the networks")
            for choice in choices(entry):
                try:
                    instance = self._instance(kind, choice, study.path.parent)
                except InputError as error:
                    self.mistakes.append(f"{place}{error}")
                    continue
                if instance.quarantine:
                    self.quarantined[instance.quarantine] = None
                id_ = choice.alias or instance.text
                problem = (
                    self._clash(kind, id_, instance.text, place)
                    or _unfit(id_, instance)
                    or _without_traffic(study, instance)
                )
                if problem:
                    self.mistakes.append(f"{place}{problem}")
                named[id_] = instance
        return entries

    def _instance(self, kind: str, choice: Choice, folder: Path) -> Instance:
        key = (kind, choice.name, repr(choice.values), folder)
        if key not in self._instances:
            self._instances[key] = instance_of(kind, choice, folder)
        return self._instances[key]

    def _clash(self, kind: str, id_: str, text: str, place: str) -> str | None:
        """Why `id_` cannot stand for `text`: it stands for something else already."""
        meaning, other_place = self._meanings.setdefault((kind, id_), (text, place))
        if meaning == text:
            return None
        return (
            f"the name {id_!r} stands for {text} here, and for {meaning} at "
            f"{other_place.rstrip(': ')}; a name has one meaning in all studies"
        )

    def _metrics(self, study: Study) -> dict[str, Instance]:
        """The study's metrics by canonical name; by default the usual ones, in surveys none."""
        names = study.metrics or []
        if study.metrics is None and not study.survey:
            names = installed().default_metrics()
        metrics = {}
        for position, name in enumerate(names):
            try:
                instance = self._instance("metric", Choice(name), study.path.parent)
            except InputError as error:
                self.mistakes.append(f"{study.place('metrics', position)}{error}")
                continue
            if instance.quarantine:
                # a job measures all metrics at once, so none of the study's jobs could be ok
                self.mistakes.append(f"{study.place('metrics', position)}{instance.quarantine}")
            metrics[instance.text] = instance
        return metrics


def _merged(entries: Sequence[Mapping[str, Instance]]) -> dict[str, Instance]:
    return {id_: instance for entry in entries for id_, instance in entry.items()}


def _unknown_references(study: Study, routings: Collection[str]) -> Iterator[str]:
    """Routings to compare with that the study does not have; parameters may be pooled away."""
    known = {re.sub(r"~[^@]*", "", id_) for id_ in routings} | set(routings)
    views: dict[str, Mapping[str, Table | Figure]] = {
        "tables": study.tables,
        "figures": study.figures,
    }
    for part, named in views.items():
        for name, view in named.items():
            for other in view.relative.routings if view.relative and routings else ():
                if re.sub(r"~[^@]*", "", other) not in known:
                    place = study.place(part, name, "relative")
                    mend = suggestion(other, sorted(known))
                    yield f"{place}the study has no routing {other!r} to compare with{mend}"


def _unfit(id_: str, instance: Instance) -> str | None:
    """Why `id_` cannot name a directory."""
    mend = f"give it an alias: {{use: {instance.written!r}, as: <alias>}}"
    if "/" in id_:
        return f"{id_} has a path in it and cannot name a directory; {mend}"
    if len(id_) > MAX_ID:
        return f"{id_} is longer than {MAX_ID} characters; {mend}"
    return None


def _without_traffic(study: Study, instance: Instance) -> str | None:
    """Why a routing has nothing to do in a study."""
    if study.traffic or not is_hop_by_hop(instance):
        return None
    if study.benchmarks:
        return (
            f"{instance.text} decides hop by hop and has no table; it cannot be measured: leave it "
            "out, or say 'traffic' to simulate it"
        )
    return (
        f"{instance.text} decides hop by hop and has no table: it can only be simulated; say "
        "'traffic'"
    )


def _study_plan(shown: _Shown) -> StudyPlan:
    study = shown.study
    inputs = [study.path]
    if study.reference:
        inputs += [study.reference.folder / "citation.yaml", *study.reference.tables.values()]
    files = tuple(map(str, inputs))
    changes = fingerprint("routelab.stages.report", "", (), files)
    return StudyPlan(
        study,
        tuple(shown.runs),
        files,
        changes,
        shown.rules,
        shown.simulations,
        shown.flows,
        shown.benchmarks,
        shown.comparisons,
        shown.predictions,
    )
