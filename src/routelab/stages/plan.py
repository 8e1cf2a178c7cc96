"""From studies to jobs: what has to run, under which names and with which inputs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from routelab.api import InputError
from routelab.artifacts.fingerprint import fingerprint
from routelab.config import Choice, ConfigError, Limits, Study, choices, load_study
from routelab.registry.catalogue import installed
from routelab.stages.instances import Instance, instance_of

Key = TypeVar("Key")

MAX_ID = 150
"""Longest name of a job's directory: file names have 255 bytes, and log files add an ending."""

TRY_AGAIN = ("failed", "timeout")
"""Outcomes that the next run tries to better."""


@dataclass(frozen=True)
class TopologyJob:
    """Build a network.

    Attributes
    ----------
    id : str
        Name of its directory: the canonical name of the instance, or its alias.
    text : str
        Canonical name of the instance.
    fingerprint : str
        Changes when the result may change.
    inputs : tuple of str
        Files that the instance reads.
    limits : Limits
        The most generous of all studies that ask for the job.
    """

    id: str
    text: str
    fingerprint: str
    inputs: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True)
class RouteJob:
    """Route a network, prove and measure the routes.

    Attributes
    ----------
    topology : TopologyJob
    id, text, fingerprint, inputs, limits
        As in `TopologyJob`; the inputs are those of the routing alone.
    metrics : tuple of str
        Canonical names, those of all studies that ask for the job.
    """

    topology: TopologyJob
    id: str
    text: str
    fingerprint: str
    inputs: tuple[str, ...]
    limits: Limits
    metrics: tuple[str, ...]


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
    """

    study: Study
    runs: tuple[tuple[str, str], ...]
    inputs: tuple[str, ...]
    fingerprint: str


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
    """

    results: Path
    topologies: Mapping[str, TopologyJob]
    routes: Mapping[tuple[str, str], RouteJob]
    studies: Mapping[str, StudyPlan]
    kernel_users: tuple[str, ...]

    def outcomes(self, runs: Iterable[tuple[str, str]] | None = None) -> list[str]:
        """Outcome files of some runs and of their networks; of all by default."""
        runs = list(self.routes if runs is None else runs)
        folders = [f"topologies/{topology}" for topology in dict.fromkeys(run[0] for run in runs)]
        folders += [f"routes/{topology}/{routing}" for topology, routing in runs]
        return [f"{self.results}/{folder}/outcome.json" for folder in folders]

    def failed(self) -> list[Path]:
        """Outcome files of jobs that failed or ran out of time, and unreadable ones."""
        return [path for path in map(Path, self.outcomes()) if _wants_another_try(path)]

    def forget_failed(self) -> list[Path]:
        """Remove the `failed` outcomes, so that the next run makes them anew, and list them."""
        paths = self.failed()
        for path in paths:
            path.unlink(missing_ok=True)
        return paths


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

    def add(self, path: Path) -> None:
        """Read a study and note its jobs."""
        try:
            study = load_study(path)
        except ConfigError as error:
            self.mistakes += error.mistakes
            return
        if study.name in self.studies:
            other = self.studies[study.name][0].path
            self.mistakes.append(f"{path}: another study has that name: {other}")
            return
        topologies = self._named(study, "topologies", "topology")
        routings = self._named(study, "routings", "routing")
        metrics = self._metrics(study)
        self.studies[study.name] = study, [(t, r) for t in topologies for r in routings]
        for t, topology in topologies.items():
            _want(self.topologies, t, (topology,), study.limits, {})
            for r, routing in routings.items():
                _want(self.routes, (t, r), (topology, routing), study.limits, metrics)

    def plan(self, results: Path) -> Plan:
        """Everything that was added, if nothing is wrong with it."""
        if self.mistakes:
            raise ConfigError(self.mistakes)
        topologies = {t: _topology_job(t, wanted) for t, wanted in self.topologies.items()}
        routes = {
            (t, r): _route_job(topologies[t], r, wanted) for (t, r), wanted in self.routes.items()
        }
        studies = {
            name: _study_plan(study, tuple(runs)) for name, (study, runs) in self.studies.items()
        }
        kernel_users: dict[tuple[type, ...], str] = {}
        for wanted in self.routes.values():
            routing = wanted.instances[1]
            kernel_users.setdefault(tuple(map(type, routing.plugins)), routing.text)
        return Plan(results, topologies, routes, studies, tuple(kernel_users.values()))

    def _named(self, study: Study, part: str, kind: str) -> dict[str, Instance]:
        """Instances of a list of the study, by id."""
        named: dict[str, Instance] = {}
        for position, entry in enumerate(getattr(study, part)):
            place = study.place(part, position)
            for choice in choices(entry):
                try:
                    instance = self._instance(kind, choice, study.path.parent)
                except InputError as error:
                    self.mistakes.append(f"{place}{error}")
                    continue
                id_ = choice.alias or instance.text
                problem = self._clash(kind, id_, instance.text, place) or _unfit(id_, instance)
                if problem:
                    self.mistakes.append(f"{place}{problem}")
                named[id_] = instance
        return named

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
        """The study's metrics by canonical name; all that are installed by default."""
        if study.metrics is None:
            names = [entry.key for entry in installed().entries("metric") if entry.plugin]
        else:
            names = study.metrics
        metrics = {}
        for position, name in enumerate(names):
            try:
                instance = self._instance("metric", Choice(name), study.path.parent)
            except InputError as error:
                self.mistakes.append(f"{study.place('metrics', position)}{error}")
            else:
                metrics[instance.text] = instance
        return metrics


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
            "routelab.stages.topology", topology.text, _classes(topology), topology.inputs
        ),
        inputs=topology.inputs,
        limits=wanted.limits,
    )


def _route_job(topology: TopologyJob, id_: str, wanted: _Wanted) -> RouteJob:
    _, routing = wanted.instances
    metrics = dict(sorted(wanted.metrics.items()))
    classes = _classes(routing, *metrics.values())
    text = " ".join([topology.text, routing.text, *metrics])
    return RouteJob(
        topology=topology,
        id=id_,
        text=routing.text,
        fingerprint=fingerprint("routelab.stages.route", text, classes, routing.inputs),
        inputs=routing.inputs,
        limits=wanted.limits,
        metrics=tuple(metrics),
    )


def _classes(*instances: Instance) -> list[type]:
    return [type(plugin) for instance in instances for plugin in instance.plugins]


def _study_plan(study: Study, runs: tuple[tuple[str, str], ...]) -> StudyPlan:
    inputs = [study.path]
    if study.reference:
        inputs += [study.reference.folder / "citation.yaml", *study.reference.tables.values()]
    files = tuple(map(str, inputs))
    return StudyPlan(study, runs, files, fingerprint("routelab.stages.report", "", (), files))


def _wants_another_try(path: Path) -> bool:
    try:
        outcome = json.loads(path.read_bytes())
        return outcome["status"] in TRY_AGAIN
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError):
        return True
