"""Expansion of studies into jobs, with their names and inputs.

    entry      item of a list of a study, such as `topologies`; values in it may be swept
    choice     a plugin with one value of each parameter, of an entry
    instance   the plugin that a choice names, with its canonical name and its files
    id         name of an instance in the study and in folders: its alias, or its canonical name
    parts      the instances of a study, and which routings run on which networks
    job        what the stages make of the parts

Mistakes are collected and reported together, with the line of each.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from routelab.api import InputError, PluginError
from routelab.jobs.job import BaseJob
from routelab.registry.columns import default_metrics, left_out_metrics, plugin_columns
from routelab.results.fingerprint import page_fingerprint
from routelab.study import (
    UNREADABLE,
    Choice,
    ConfigError,
    Figure,
    Study,
    Table,
    Use,
    choices,
    read_study,
)
from routelab.study.errors import suggestion
from routelab.study.study import ENTRIES
from routelab.workflow.parts.instances import Instance, instance_of
from routelab.workflow.parts.study_plugins import Parts, is_hop_by_hop
from routelab.workflow.plan.columns import column_mistakes
from routelab.workflow.plan.headlines import unknown_in_headline
from routelab.workflow.plan.plan import Plan, StudyPlan, cut_batches
from routelab.workflow.plan.rows import filter_mistakes, row_mistakes
from routelab.workflow.plan.samples import select_networks
from routelab.workflow.stages import kinds
from routelab.workflow.stages.predictions import predictions

__all__ = ["Plan", "StudyPlan", "expand_studies"]

_PARAMETERS = re.compile(r"~[^@]*")
"""Parameters in the name of a routing; ``genetic~seed=3@angara`` is ``genetic@angara`` without."""


def expand_studies(
    studies: Sequence[Path | str], results: Path | str = "results", cluster: str = ""
) -> Plan:
    """Return all jobs of `studies`.

    Parameters
    ----------
    studies : sequence of path
        Study files. Files that their parameters name are looked up in the study's folder.
    results : path
        Folder of the outcomes.
    cluster : str, optional
        Cluster to measure on instead of those that the studies name.

    Returns
    -------
    Plan

    Raises
    ------
    ConfigError
        An `InputError` with everything that is wrong in any of the studies.
    """
    expansion = _Expansion(Path(results), cluster)
    for path in dict.fromkeys(map(Path, studies)):
        expansion.add(path)
    return expansion.plan()


class _Expansion:
    """Jobs and mistakes, collected study by study: `add` each study, then `plan`.

    Attributes
    ----------
    mistakes : list of str
        Of all studies.
    studies : mapping of str to Parts
        By name.
    jobs : mapping of str to mapping of str to tuple of BaseJob
        By name of the study and kind.
    quarantined, left_out : mapping of str to None
        See `Plan`; each reason once.
    """

    def __init__(self, results: Path, cluster: str) -> None:
        self._results = results
        self._cluster = cluster
        self.mistakes: list[str] = []
        self.studies: dict[str, Parts] = {}
        self.jobs: dict[str, dict[str, tuple[BaseJob, ...]]] = {}
        self.quarantined: dict[str, None] = {}
        self.left_out: dict[str, None] = {}
        # of the present study: the canonical name that an id stands for, and its place in the file
        # for messages, by kind of plugin and id
        self._meanings: dict[tuple[str, str], tuple[str, str]] = {}
        # of the present study: lists, such as `routings`, with a name that is no plugin
        self._unknown_in: set[str] = set()
        # of all studies, which often have the same networks and routings
        self._instances: dict[tuple[object, ...], Instance] = {}

    def add(self, path: Path) -> None:
        """Read a study and add its jobs."""
        self._meanings = {}
        self._unknown_in = set()
        try:
            study, mistakes = read_study(path, self._cluster)
        except ConfigError as error:
            self.mistakes += error.mistakes
            return
        self.mistakes += mistakes
        if study is None:
            return
        if study.name in self.studies:
            same_name = self.studies[study.name].study.path
            self.mistakes.append(f"{path}: another study has this name: {same_name}")
            return
        entries = {key: self._instances_by_id(study, key) for key in ENTRIES}
        parts = Parts(
            study=study,
            results=self._results / study.name,
            # topologies, routings, traffic, workloads and benchmarks
            **{key: _merge(entries_of_key) for key, entries_of_key in entries.items()},
            metrics=self._metrics(study),
            pairs=self._pairs(study, entries["topologies"], entries["routings"]),
        )
        # A mistake is reported once: checks that would fail only because a name is unknown are left
        # out. The columns and parameters of a quarantined plugin are unknown.
        if "routings" not in self._unknown_in:
            self.mistakes += _unknown_references(study, parts.routings)
            self.mistakes += unknown_in_headline(parts)
        if not _any_quarantined(parts):
            self.mistakes += column_mistakes(parts, complete=not self._unknown_in)
        if not self._unknown_in and not _any_quarantined(parts):
            self.mistakes += row_mistakes(parts)
            self.mistakes += filter_mistakes(parts)
        self.studies[study.name] = parts
        self.jobs[study.name] = self._jobs(parts)

    def _jobs(self, parts: Parts) -> dict[str, tuple[BaseJob, ...]]:
        """Return the jobs of a study by kind; what their plans refuse is added to `mistakes`."""
        by_kind: dict[str, tuple[BaseJob, ...]] = {}
        for kind, job_class in kinds().items():
            # surveys consist of one kind of jobs, other studies of all others
            if job_class.of_surveys != bool(parts.study.survey):
                continue
            if job_class.of_surveys and self.mistakes:
                continue
            try:
                by_kind[kind] = tuple(job_class.plan(parts))
            except ConfigError as error:
                self.mistakes += [
                    mistake for mistake in error.mistakes if mistake not in self.mistakes
                ]
        # A predicted benchmark adds a workload to the study. Its id must not stand for another
        # workload of the study, because both would have the same folder.
        try:
            study_predictions = () if parts.study.survey else predictions(parts)
        except ConfigError:
            return by_kind  # the plans of comparisons and flows have reported these mistakes above
        place = parts.study.place("benchmarks")
        for prediction in study_predictions:
            _, _, workload, _ = prediction.flow
            problem = self._record_meaning("workload", workload, prediction.work.text, place)
            if problem:
                self.mistakes.append(f"{place}{problem}")
        return by_kind

    def _pairs(
        self,
        study: Study,
        network_entries: Sequence[Mapping[str, Instance]],
        routing_entries: Sequence[Mapping[str, Instance]],
    ) -> list[tuple[str, str]]:
        """Return the ids of topology and routing of all combinations, grouped by network.

        An entry of `routings` may limit its networks with the key ``on``.
        """
        all_networks = list(_merge(network_entries))
        # The networks of each routing. Several entries may name one routing, each with networks.
        networks_of: dict[str, set[str]] = {}
        entries = zip(study.routings, routing_entries, strict=True)
        for position, (entry, routings) in enumerate(entries):
            on = entry.on if isinstance(entry, Use) else None
            try:
                networks = all_networks if on is None else select_networks(on, network_entries)
            except InputError as error:
                self.mistakes.append(f"{study.place('routings', position)}{error}")
                continue
            for routing_id in routings:
                networks_of.setdefault(routing_id, set()).update(networks)
        return [
            (topology_id, routing_id)
            for topology_id in all_networks
            for routing_id in networks_of
            if topology_id in networks_of[routing_id]
        ]

    def plan(self) -> Plan:
        """Return the plan of all added studies; raise the collected mistakes."""
        if self.mistakes:
            raise ConfigError(self.mistakes)
        # All jobs of a kind are adjacent, those of the first study first.
        jobs = {
            job.folder: job
            for kind in kinds()
            for by_kind in self.jobs.values()
            for job in by_kind.get(kind, ())
        }
        studies = {
            name: _study_plan(parts, self.jobs[name]) for name, parts in self.studies.items()
        }
        max_batches = {name: parts.study.parts for name, parts in self.studies.items()}
        return Plan(
            results=self._results,
            jobs=jobs,
            studies=studies,
            batches=cut_batches(self.jobs, max_batches),
            quarantined=tuple(self.quarantined),
            left_out=tuple(self.left_out),
        )

    def _instances_by_id(self, study: Study, key: str) -> list[dict[str, Instance]]:
        """Return the instances of each entry of a list of the study, by id.

        An entry with swept values has several. What is wrong with an entry is added to `mistakes`.

        Parameters
        ----------
        study : Study
        key : str
            Key of the list, such as ``topologies``.
        """
        kind = ENTRIES[key]
        entries: list[dict[str, Instance]] = []
        for position, entry in enumerate(getattr(study, key)):
            # also entries with mistakes get a mapping, because entries are counted by position
            instances: dict[str, Instance] = {}
            entries.append(instances)
            # The study's reader has reported this entry. Names that refer to its list are not
            # checked, because one of them may be the name that cannot be read.
            if entry == UNREADABLE:
                self._unknown_in.add(key)
                continue
            place = study.place(key, position)
            if key != "routings" and isinstance(entry, Use) and entry.on:
                self.mistakes.append(f"{place}on: only routings run on some of the networks")
            if key != "workloads" and isinstance(entry, Use) and entry.routings:
                self.mistakes.append(f"{place}routings: only workloads run with some of these")
            for choice in choices(entry):
                try:
                    instance = self._instance(kind, choice, study.path.parent)
                except InputError as error:
                    self.mistakes.append(f"{place}{error}")
                    self._unknown_in.add(key)
                    continue
                # A plugin that cannot be used fails in its jobs only, so the study goes on.
                if instance.quarantine:
                    self.quarantined[instance.quarantine] = None
                id_ = choice.alias or instance.text
                problem = (
                    self._record_meaning(kind, id_, instance.text, place)
                    or _directory_problem(id_, instance)
                    or _routing_problem(study, instance)
                )
                if problem:
                    self.mistakes.append(f"{place}{problem}")
                instances[id_] = instance
        return entries

    def _instance(self, kind: str, choice: Choice, folder: Path) -> Instance:
        key = (kind, choice.name, repr(choice.values), folder)
        if key not in self._instances:
            self._instances[key] = instance_of(kind, choice, folder)
        return self._instances[key]

    def _record_meaning(self, kind: str, id_: str, text: str, place: str) -> str | None:
        """Record that `id_` stands for `text`; return why it cannot if it stands for another text.

        For example, two networks cannot have the alias ``large``.
        """
        meaning, other_place = self._meanings.setdefault((kind, id_), (text, place))
        if meaning == text:
            return None
        return (
            f"the name {id_!r} stands for {text} here, and for {meaning} at "
            f"{other_place.rstrip(': ')}; a name has one meaning in a study"
        )

    def _metrics(self, study: Study) -> dict[str, Instance]:
        """Return the study's metrics by canonical name; without a list the default metrics.

        Surveys measure no metrics by default.
        """
        names = study.metrics or []
        if study.metrics is None and not study.survey:
            names = default_metrics()
            self.left_out |= dict.fromkeys(left_out_metrics().values())
        metrics = {}
        for position, name in enumerate(names):
            try:
                instance = self._instance("metric", Choice(name), study.path.parent)
            except InputError as error:
                self.mistakes.append(f"{study.place('metrics', position)}{error}")
                self._unknown_in.add("metrics")
                continue
            if instance.quarantine:
                # a job measures all metrics, so none of the study's jobs could be ok
                self.mistakes.append(f"{study.place('metrics', position)}{instance.quarantine}")
            metrics[instance.text] = instance
        self.mistakes += _shared_columns(study, metrics)
        return metrics


def _shared_columns(study: Study, metrics: Mapping[str, Instance]) -> Iterator[str]:
    """Find columns that two metrics of a study have: a table could show only one of them."""
    metric_of_column: dict[str, str] = {}
    for name, instance in metrics.items():
        with suppress(PluginError):  # `column_mistakes` reads these columns, too, and raises it
            for column in plugin_columns(instance.plugins):
                other = metric_of_column.setdefault(column.name, name)
                if other != name:
                    yield (
                        f"{study.place('metrics')}{other} and {name} both have the column "
                        f"{column.name!r}; name one of them"
                    )


def _any_quarantined(parts: Parts) -> bool:
    """Return whether a plugin cannot be used, so that its columns and parameters are unknown."""
    return any(instance.quarantine for instance in parts.instances())


def _merge(entries: Sequence[Mapping[str, Instance]]) -> dict[str, Instance]:
    return {id_: instance for entry in entries for id_, instance in entry.items()}


def _unknown_references(study: Study, routings: Collection[str]) -> Iterator[str]:
    """Find names of routings that workloads, tables and figures refer to and the study lacks.

    Parameters
    ----------
    study : Study
    routings : collection of str
        Ids of the study's routings; if there are none, nothing is reported.
    """
    for position, entry in enumerate(study.workloads):
        for name in entry.routings if isinstance(entry, Use) and routings else ():
            if name not in routings:
                place = study.place("workloads", position)
                fix = suggestion(name, sorted(routings))
                yield f"{place}routings: the study has no routing {name!r}{fix}"
    # A table or figure may name the routing to compare with without its parameters.
    names = {_PARAMETERS.sub("", id_) for id_ in routings} | set(routings)
    views_of_key: dict[str, Mapping[str, Table | Figure]] = {
        "tables": study.tables,
        "figures": study.figures,
    }
    for key, views in views_of_key.items():
        for name, view in views.items():
            for reference in view.relative.routings if view.relative and routings else ():
                if _PARAMETERS.sub("", reference) not in names:
                    place = study.place(key, name, "relative")
                    fix = suggestion(reference, sorted(names))
                    yield f"{place}the study has no routing {reference!r} to compare with{fix}"


def _directory_problem(id_: str, instance: Instance) -> str | None:
    """Return why an instance's id is not valid as a directory name; None if it is."""
    if "/" not in id_:
        return None
    fix = f"give it an alias: {{use: {instance.written!r}, as: <alias>}}"
    return f"{id_} contains a path, so it cannot name a folder; {fix}"


def _routing_problem(study: Study, instance: Instance) -> str | None:
    """Return why a study cannot use a routing: it needs a route table, or traffic to simulate."""
    if study.traffic or not is_hop_by_hop(instance):
        return None
    if study.benchmarks:
        return (
            f"{instance.text} decides hop by hop and has no route table, so it cannot be "
            "measured: leave it out, or add 'traffic' to simulate it"
        )
    return (
        f"{instance.text} decides hop by hop and has no route table, so it can only be simulated: "
        "add 'traffic'"
    )


def _study_plan(parts: Parts, jobs: Mapping[str, tuple[BaseJob, ...]]) -> StudyPlan:
    """Return the plan of a study, with the files and plugins that its page depends on."""
    study = parts.study
    inputs = [study.path]
    if study.reference:
        inputs += [study.reference.folder / "citation.yaml", *study.reference.tables.values()]
    files = tuple(map(str, inputs))
    plugins = [type(plugin) for instance in parts.instances() for plugin in instance.plugins]
    return StudyPlan(parts, jobs, files, page_fingerprint(plugins, files))
