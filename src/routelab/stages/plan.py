"""From studies to jobs: what has to run, under which names and with which inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from routelab.api import InputError
from routelab.artifacts.fingerprint import fingerprint
from routelab.config import Choice, ConfigError, Limits, Study, Use, choices, load_draft, load_study
from routelab.registry.catalogue import installed
from routelab.stages.batches import TRY_AGAIN, Batch, Kind, Run
from routelab.stages.instances import Instance, instance_of
from routelab.stages.jobs import (
    BARE,
    MAX_ID,
    BoundJob,
    RouteJob,
    TopologyJob,
    bound_folder,
    cut,
    route_folder,
)
from routelab.stages.plan_bounds import WantedBounds
from routelab.stages.samples import chosen
from routelab.stages.shards import Item, Shard, store
from routelab.stages.surveys import SurveyPlan, plan_survey

Key = TypeVar("Key")


@dataclass(frozen=True)
class StudyPlan:
    """What a study shows.

    Attributes
    ----------
    study : Study
    runs : tuple of (str, str)
        Ids of topology and routing, in the study's order.
    inputs : tuple of str
        The study's file and the files of the reference that it cites.
    fingerprint : str
        Changes when the report may look different though no result changed.
    rules : dict of (str, str) to str
        For every run the id of its rules, `BARE` for a complete algorithm; empty if the study asks
        for no bounds.
    """

    study: Study
    runs: tuple[tuple[str, str], ...]
    inputs: tuple[str, ...]
    fingerprint: str
    rules: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def bounds(self) -> tuple[tuple[str, str], ...]:
        """Ids of topology and rules of all bounds that the study shows."""
        networks = ((topology, BARE) for topology, _ in self.rules)
        named = ((topology, rules) for (topology, _), rules in self.rules.items())
        return tuple(dict.fromkeys((*networks, *named)))


@dataclass(frozen=True)
class Plan:
    """All jobs of some studies.

    Attributes
    ----------
    results : Path
    topologies : dict of str to TopologyJob
        By id.
    routes : dict of (str, str) to RouteJob
        By ids of topology and routing.
    studies : dict of str to StudyPlan
        By name.
    kernel_users : tuple of str
        Routings that use, between them, the plugins of all routings.
    batches : dict of (kind, str) to Batch
        By kind and id.
    quarantined : tuple of str
        Why topologies and routings of the studies cannot be used; their jobs fail for it.
    surveys : dict of str to SurveyPlan
        Of the studies that are surveys, by name; their runs are no jobs.
    bounds : dict of (str, str) to BoundJob
        By ids of topology and rules.
    """

    results: Path
    topologies: Mapping[str, TopologyJob]
    routes: Mapping[tuple[str, str], RouteJob]
    studies: Mapping[str, StudyPlan]
    kernel_users: tuple[str, ...]
    batches: Mapping[tuple[Kind, str], Batch]
    quarantined: tuple[str, ...] = ()
    surveys: Mapping[str, SurveyPlan] = field(default_factory=dict)
    bounds: Mapping[tuple[str, str], BoundJob] = field(default_factory=dict)

    def spec(self, batch: Batch) -> Path:
        """The file that tells a process what the batch is."""
        return self.results / ".plan" / batch.kind / f"{batch.id}.json"

    def manifest(self, batch: Batch) -> Path:
        """The file that a batch leaves when all its jobs have an outcome."""
        return self.results / "batches" / batch.kind / f"{batch.id}.json"

    def manifests(
        self,
        runs: Iterable[tuple[str, str]] | None = None,
        bounds: Iterable[tuple[str, str]] = (),
    ) -> list[str]:
        """Manifests of all batches, or of those that do some runs and bounds."""
        wanted = None
        if runs is not None:
            wanted = {route_folder(self.results, *ids) for ids in runs}
            wanted |= {bound_folder(self.results, *ids) for ids in bounds}
        return [
            str(self.manifest(batch))
            for batch in self.batches.values()
            if wanted is None or any(run.folder in wanted for run in batch.runs)
        ]

    def shards(self) -> dict[str, Shard]:
        """All shards by id."""
        return {shard.id: shard for survey in self.surveys.values() for shard in survey.shards}

    def shard_spec(self, shard: Shard) -> Path:
        """The file that tells a process what the shard is."""
        return self.results / ".plan" / "surveys" / f"{shard.id}.json"

    def tables(self, study: str | None = None) -> list[str]:
        """Tables of the shards of all surveys, or of one study, which may be none."""
        surveys = [plan for name, plan in self.surveys.items() if study in (None, name)]
        return [str(path) for survey in surveys for path in survey.tables(self.results)]

    def manifests_of_networks(self, batch: Batch) -> list[str]:
        """Manifests of the topology batches that a batch of routings or bounds needs."""
        return [str(self.manifest(self.batches["topologies", id_])) for id_ in batch.after]

    def again(self) -> list[Run]:
        """Jobs of finished batches that have to run again.

        They failed, ran out of time, or their outcome is missing or belongs to other code.
        """
        finished = [batch for batch in self.batches.values() if self.manifest(batch).exists()]
        return [run for batch in finished for run in batch.runs if not run.is_done()]

    def write_specs(self) -> None:
        """Write all specs, and forget the manifests of batches with jobs that run `again`.

        So with the tables of shards.
        """
        again = set(self.again())
        for batch in self.batches.values():
            batch.write_spec(self.spec(batch))
            if again.intersection(batch.runs):
                self.manifest(batch).unlink()
        if not self.surveys:
            return
        statuses = store(self.results).statuses()
        for survey in self.surveys.values():
            for shard in survey.shards:
                shard.write_spec(self.shard_spec(shard))
                if shard.missing(statuses):
                    survey.table(self.results, shard).unlink(missing_ok=True)

    def failed(self) -> list[Run | Item]:
        """Jobs that failed or ran out of time, and those whose outcome cannot be read."""
        return self._ended(TRY_AGAIN)

    def unsupported(self) -> list[Run | Item]:
        """Jobs of routings that do not apply to the network, or of networks that cannot be."""
        return self._ended(("unsupported",))

    def _ended(self, with_: Collection[str]) -> list[Run | Item]:
        """Jobs with an outcome of one of some statuses."""
        runs = [run for batch in self.batches.values() for run in batch.runs]
        statuses = store(self.results).statuses() if self.surveys else {}
        rows = [
            item
            for shard in self.shards().values()
            for item in shard.items
            if statuses.get(item.fingerprint) in with_
        ]
        return [*(run for run in runs if run.status() in with_), *rows]


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
class _Wanted:
    """A job that studies ask for, before all of them have been read."""

    instances: tuple[Instance, ...]
    limits: Limits
    metrics: dict[str, Instance]


class _Expansion:
    """Jobs and mistakes, collected study by study."""

    def __init__(self) -> None:
        self.mistakes: list[str] = []
        self.studies: dict[str, tuple[Study, list[tuple[str, str]]]] = {}
        self.topologies: dict[str, _Wanted] = {}
        self.routes: dict[tuple[str, str], _Wanted] = {}
        self._meanings: dict[tuple[str, str], tuple[str, str]] = {}
        self._instances: dict[tuple[object, ...], Instance] = {}
        self.quarantined: dict[str, None] = {}
        self.surveys: dict[str, SurveyPlan] = {}
        self.rules: dict[str, dict[tuple[str, str], str]] = {}
        self._wanted_bounds = WantedBounds()

    def add(self, path: Path) -> None:
        """Read a study and note its jobs."""
        try:
            study = load_study(path)
        except ConfigError as error:
            self.mistakes += error.mistakes
            draft = load_draft(path)
            if draft is not None:
                self._named(draft, "topologies", "topology")
                self._named(draft, "routings", "routing")
                self._metrics(draft)
            return
        if study.name in self.studies:
            other = self.studies[study.name][0].path
            self.mistakes.append(f"{path}: another study has that name: {other}")
            return
        networks = self._named(study, "topologies", "topology")
        topologies = _merged(networks)
        entries = self._named(study, "routings", "routing")
        routings = _merged(entries)
        metrics = self._metrics(study)
        runs = self._runs(study, networks, entries)
        self.studies[study.name] = study, runs
        if study.survey:
            if not self.mistakes:
                self.surveys[study.name] = plan_survey(study, topologies, routings, metrics, runs)
            return
        self.rules[study.name] = self._wanted_bounds.add(study, runs, routings)
        for t, r in runs:
            _want(self.topologies, t, (topologies[t],), study.limits, {})
            _want(self.routes, (t, r), (topologies[t], routings[r]), study.limits, metrics)

    def _runs(
        self,
        study: Study,
        networks: Sequence[Mapping[str, Instance]],
        entries: Sequence[Mapping[str, Instance]],
    ) -> list[tuple[str, str]]:
        """Ids of topology and routing of all runs, those of a network together."""
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
        topologies = {t: _topology_job(t, wanted) for t, wanted in self.topologies.items()}
        routes = {
            (t, r): _route_job(topologies[t], r, wanted) for (t, r), wanted in self.routes.items()
        }
        studies = {
            name: _study_plan(study, tuple(runs), self.rules.get(name, {}))
            for name, (study, runs) in self.studies.items()
        }
        bounds = self._wanted_bounds.jobs(topologies)
        kernel_users: dict[tuple[type, ...], str] = {}
        routings = [wanted.instances[1] for wanted in self.routes.values()]
        routings += [one for survey in self.surveys.values() for one in survey.routings.values()]
        for routing in routings:
            if not routing.quarantine:
                kernel_users.setdefault(tuple(map(type, routing.plugins)), routing.text)
        return Plan(
            results,
            topologies,
            routes,
            studies,
            tuple(kernel_users.values()),
            cut(results, topologies, routes, bounds, {n: s.runs for n, s in studies.items()}),
            tuple(self.quarantined),
            self.surveys,
            bounds,
        )

    def _named(self, study: Study, part: str, kind: str) -> list[dict[str, Instance]]:
        """Instances of each entry of a list of the study, by id."""
        entries: list[dict[str, Instance]] = []
        for position, entry in enumerate(getattr(study, part)):
            named: dict[str, Instance] = {}
            entries.append(named)
            place = study.place(part, position)
            if part == "topologies" and isinstance(entry, Use) and entry.on:
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
                problem = self._clash(kind, id_, instance.text, place) or _unfit(id_, instance)
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


def _unfit(id_: str, instance: Instance) -> str | None:
    """Why `id_` cannot name a directory."""
    mend = f"give it an alias: {{use: {instance.written!r}, as: <alias>}}"
    if "/" in id_:
        return f"{id_} has a path in it and cannot name a directory; {mend}"
    if len(id_) > MAX_ID:
        return f"{id_} is longer than {MAX_ID} characters; {mend}"
    return None


def _want(
    jobs: dict[Key, _Wanted],
    key: Key,
    instances: tuple[Instance, ...],
    limits: Limits,
    metrics: dict[str, Instance],
) -> None:
    job = jobs.setdefault(key, _Wanted(instances, limits, {}))
    job.metrics.update(metrics)
    job.limits = Limits(
        seconds=max(job.limits.seconds, limits.seconds),
        memory_gb=max(job.limits.memory_gb, limits.memory_gb),
    )


def _topology_job(id_: str, wanted: _Wanted) -> TopologyJob:
    (topology,) = wanted.instances
    return TopologyJob(
        id=id_,
        text=topology.text,
        fingerprint=fingerprint(
            "routelab.stages.topology",
            topology.text + topology.quarantine,
            _classes(topology),
            topology.inputs,
        ),
        inputs=topology.inputs,
        limits=wanted.limits,
    )


def _route_job(topology: TopologyJob, id_: str, wanted: _Wanted) -> RouteJob:
    _, routing = wanted.instances
    metrics = dict(sorted(wanted.metrics.items()))
    classes = _classes(routing, *metrics.values())
    inputs = (*routing.inputs, *(file for metric in metrics.values() for file in metric.inputs))
    # the network's fingerprint stands for its code, too
    text = " ".join(
        [topology.text, topology.fingerprint, routing.text + routing.quarantine, *metrics]
    )
    return RouteJob(
        topology=topology,
        id=id_,
        text=routing.text,
        fingerprint=fingerprint("routelab.stages.route", text, classes, inputs),
        inputs=inputs,
        limits=wanted.limits,
        metrics=tuple(metrics),
    )


def _classes(*instances: Instance) -> list[type]:
    return [type(plugin) for instance in instances for plugin in instance.plugins]


def _study_plan(
    study: Study,
    runs: tuple[tuple[str, str], ...],
    rules: Mapping[tuple[str, str], str],
) -> StudyPlan:
    inputs = [study.path]
    if study.reference:
        inputs += [study.reference.folder / "citation.yaml", *study.reference.tables.values()]
    files = tuple(map(str, inputs))
    changes = fingerprint("routelab.stages.report", "", (), files)
    return StudyPlan(study, runs, files, changes, rules)
