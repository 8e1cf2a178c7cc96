"""The jobs of some studies, and what the results folder has of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from routelab.config import Study
from routelab.stages.batches import TRY_AGAIN, Batch, KeptJob, Kind
from routelab.stages.comparisons import ComparisonIds, ComparisonJob
from routelab.stages.jobs import (
    BARE,
    BoundJob,
    RouteJob,
    SimulationIds,
    SimulationJob,
    TopologyJob,
    bound_folder,
    route_folder,
    simulation_folder,
)
from routelab.stages.plan_predictions import PredictionIds
from routelab.stages.shards import Item, Shard, store
from routelab.stages.surveys import SurveyPlan


@dataclass(frozen=True)
class StudyPlan:
    """What a study shows.

    Attributes
    ----------
    study : Study
    runs : tuple of (str, str)
        Ids of topology and routing of all tables, in the study's order.
    inputs : tuple of str
        The study's file and the files of the reference that it cites.
    fingerprint : str
        Changes when the report may look different though no result changed.
    rules : dict of (str, str) to str
        For every run the id of its rules, `BARE` for a complete algorithm; empty if the study asks
        for no bounds.
    simulations, flows : tuple of (str, str, str, str)
        Ids of topology, routing, traffic or workload, and settings, in the study's order.
    benchmarks : tuple of str
        Ids of those that are measured.
    comparisons : tuple of (str, str, str)
        The study's name, ids of topology and settings, in the study's order.
    predictions : dict of (str, str, str, str) to (str, str, str, str)
        The flow simulation that predicts a benchmark, by ids of topology, routing, benchmark and
        settings of the comparison. These are among `flows` only if the study asks for them.
    """

    study: Study
    runs: tuple[tuple[str, str], ...]
    inputs: tuple[str, ...]
    fingerprint: str
    rules: Mapping[tuple[str, str], str] = field(default_factory=dict)
    simulations: tuple[SimulationIds, ...] = ()
    flows: tuple[SimulationIds, ...] = ()
    benchmarks: tuple[str, ...] = ()
    comparisons: tuple[ComparisonIds, ...] = ()
    predictions: Mapping[PredictionIds, SimulationIds] = field(default_factory=dict)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Ids of all topologies and routings that meet, whether for a table or a simulation."""
        simulated = (ids[:2] for ids in (*self.simulations, *self.flows))
        return tuple(dict.fromkeys((*self.runs, *simulated)))

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
    simulations : dict of (str, str, str, str) to SimulationJob
        By ids of topology, routing, traffic and settings.
    simulated_kernel_users : tuple of str
        As `kernel_users`, of the simulations.
    flows : dict of (str, str, str, str) to SimulationJob
        By ids of topology, routing, workload and settings.
    flow_kernel_users : tuple of str
        As `kernel_users`, of the flows.
    comparisons : dict of (str, str, str) to ComparisonJob
        By name of the study and ids of topology and settings.
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
    simulations: Mapping[SimulationIds, SimulationJob] = field(default_factory=dict)
    simulated_kernel_users: tuple[str, ...] = ()
    flows: Mapping[SimulationIds, SimulationJob] = field(default_factory=dict)
    flow_kernel_users: tuple[str, ...] = ()
    comparisons: Mapping[ComparisonIds, ComparisonJob] = field(default_factory=dict)

    def spec(self, batch: Batch) -> Path:
        """The file that tells a process what the batch is."""
        return self.results / ".plan" / batch.kind / f"{batch.id}.json"

    def manifest(self, batch: Batch) -> Path:
        """The file that a batch leaves when all its jobs have an outcome."""
        return self.results / "batches" / batch.kind / f"{batch.id}.json"

    def manifests(self, shown: StudyPlan | None = None) -> list[str]:
        """Manifests of all batches and comparisons, or of those that do what a study shows."""
        compared = self.comparisons if shown is None else shown.comparisons
        measured = [str(self.comparison_manifest(self.comparisons[ids])) for ids in compared]
        wanted = None
        if shown is not None:
            wanted = {route_folder(self.results, *ids) for ids in shown.runs}
            wanted |= {bound_folder(self.results, *ids) for ids in shown.bounds}
            wanted |= {
                simulation_folder(self.results, "simulations", ids) for ids in shown.simulations
            }
            flows = (*shown.flows, *shown.predictions.values())
            wanted |= {simulation_folder(self.results, "flows", ids) for ids in flows}
        batches = [
            str(self.manifest(batch))
            for batch in self.batches.values()
            if wanted is None or any(run.folder in wanted for run in batch.runs)
        ]
        return batches + measured

    def comparison(self, id_: str) -> ComparisonJob:
        """A comparison by the id that names its files."""
        return next(job for job in self.comparisons.values() if job.id == id_)

    def comparison_spec(self, job: ComparisonJob) -> Path:
        """The file that tells a process what the comparison is."""
        return self.results / ".plan" / "comparisons" / f"{job.id}.json"

    def comparison_manifest(self, job: ComparisonJob) -> Path:
        """The file that a comparison leaves when it has an outcome."""
        return self.results / "batches" / "comparisons" / f"{job.id}.json"

    def manifests_before(self, job: ComparisonJob) -> list[str]:
        """Manifests of the batches that make the network and the routes of a comparison."""
        return [str(self.manifest(self.batches[key])) for key in job.after]

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

    def again(self) -> list[KeptJob]:
        """Jobs with a manifest, their own or their batch's, that have to run again.

        They failed, ran out of time, or their outcome is missing or belongs to other code.
        """
        jobs: list[KeptJob] = [
            run
            for batch in self.batches.values()
            if self.manifest(batch).exists()
            for run in batch.runs
        ]
        jobs += [
            job.spec for job in self.comparisons.values() if self.comparison_manifest(job).exists()
        ]
        return [job for job in jobs if not job.is_done()]

    def write_specs(self) -> None:
        """Write all specs, and forget the manifests of batches with jobs that run `again`.

        So with the tables of shards.
        """
        again = set(self.again())
        for batch in self.batches.values():
            batch.write_spec(self.spec(batch))
            if again.intersection(batch.runs):
                self.manifest(batch).unlink()
        for job in self.comparisons.values():
            job.spec.write(self.comparison_spec(job))
            if job.spec in again:
                self.comparison_manifest(job).unlink()
        if not self.surveys:
            return
        statuses = store(self.results).statuses()
        for survey in self.surveys.values():
            for shard in survey.shards:
                shard.write_spec(self.shard_spec(shard))
                if shard.missing(statuses):
                    survey.table(self.results, shard).unlink(missing_ok=True)

    def failed(self) -> list[KeptJob | Item]:
        """Jobs that failed or ran out of time, and those whose outcome cannot be read."""
        return self._ended(TRY_AGAIN)

    def unsupported(self) -> list[KeptJob | Item]:
        """Jobs of routings that do not apply to the network, or of networks that cannot be."""
        return self._ended(("unsupported",))

    def _ended(self, with_: Collection[str]) -> list[KeptJob | Item]:
        """Jobs with an outcome of one of some statuses."""
        jobs: list[KeptJob] = [run for batch in self.batches.values() for run in batch.runs]
        jobs += [job.spec for job in self.comparisons.values()]
        statuses = store(self.results).statuses() if self.surveys else {}
        rows = [
            item
            for shard in self.shards().values()
            for item in shard.items
            if statuses.get(item.fingerprint) in with_
        ]
        return [*(job for job in jobs if job.status() in with_), *rows]
