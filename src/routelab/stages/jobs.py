"""The jobs of a plan, and how they are cut into batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from routelab.config import Limits
from routelab.stages.batches import Batch, Kind, Run

RUNS = 20
"""Most jobs in a batch: enough to share the imports, few enough to keep all cores busy."""

RUNS_OF: dict[Kind, int] = {"simulations": 4, "flows": 40}
"""The same for jobs that take long, of which few pay for a process."""

MAX_ID = 150
"""Longest name of a job's directory: file names have 255 bytes, and log files add an ending."""


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class NetworkJob(TopologyJob):
    """Do something on a network.

    Attributes
    ----------
    topology : TopologyJob
        Makes the network; the inputs are those of the job's own plugins.
    """

    topology: TopologyJob


@dataclass(frozen=True, kw_only=True)
class RouteJob(NetworkJob):
    """Route a network, prove and measure the routes.

    Attributes
    ----------
    metrics : tuple of str
        Canonical names, those of all studies that ask for the job.
    """

    metrics: tuple[str, ...]


BARE = "_network"
"""In the place of rules: none, all minimal routes. No plugin can have this name."""


@dataclass(frozen=True, kw_only=True)
class BoundJob(NetworkJob):
    """Bound the maximum load of a network under some rules, or `BARE`.

    Attributes
    ----------
    seconds : float
        For the search; the limits are for safety.
    exact : bool
    """

    seconds: float
    exact: bool


@dataclass(frozen=True, kw_only=True)
class SimulationJob(NetworkJob):
    """Simulate a routing on a network under some traffic, or with some workload.

    Attributes
    ----------
    work_id, work : str
        Name of the traffic's or workload's directory, and its canonical name.
    settings_id, settings : str
        Name of the settings' directory, and the settings as JSON.
    """

    work_id: str
    work: str
    settings_id: str
    settings: str


SimulationIds: TypeAlias = tuple[str, str, str, str]
"""Ids of topology, routing, traffic or workload, and settings."""

SimulationKind: TypeAlias = Literal["simulations", "flows"]
"""Kinds of simulation: of packets under traffic, of a workload's flows."""


def cut(
    results: Path,
    topologies: Mapping[str, TopologyJob],
    routes: Mapping[tuple[str, str], RouteJob],
    bounds: Mapping[tuple[str, str], BoundJob],
    simulations: Mapping[SimulationKind, Mapping[SimulationIds, SimulationJob]],
    studies: Mapping[str, Mapping[Kind, Sequence[tuple[str, ...]]]],
) -> dict[tuple[Kind, str], Batch]:
    """All jobs, cut into batches of one study and of one plugin or one make of routing.

    A job that several studies want is in a batch of the first, so that batches stay the same
    when another study is chosen as well.

    Parameters
    ----------
    studies : mapping of str to mapping of kind to sequence of tuple
        Ids of what each study shows: of topology and routing (routes), or of simulations.
    """
    study_of: dict[tuple[Kind, tuple[str, ...]], str] = {}
    for name, wanted in studies.items():
        for kind, every in wanted.items():
            for ids in every:
                study_of.setdefault((kind, ids), name)
                study_of.setdefault(("topologies", ids[:1]), name)
    networks = _grouped(
        (study_of["topologies", (job.id,)], job, _topology_run(results, job))
        for job in topologies.values()
    )
    routings = _grouped(
        (study_of["routes", ids], job, _route_run(results, job)) for ids, job in routes.items()
    )
    limits = _grouped(
        (study_of["topologies", ids[:1]], job, _bound_run(results, job))
        for ids, job in bounds.items()
    )
    simulated: dict[Kind, _Groups] = {
        kind: _grouped(
            (study_of[kind, ids], job, _simulation_run(results, kind, job))
            for ids, job in jobs.items()
        )
        for kind, jobs in simulations.items()
    }
    batches: dict[tuple[Kind, str], Batch] = {}
    for batch in _batches("topologies", networks):
        batches["topologies", batch.id] = batch
    built = {run.folder: batch.id for batch in batches.values() for run in batch.runs}
    rest: dict[Kind, _Groups] = {"routes": routings, "bounds": limits, **simulated}
    for kind, groups in rest.items():
        batches |= {(kind, batch.id): batch for batch in _batches(kind, groups, built)}
    return batches


@dataclass(frozen=True)
class _Member:
    """A job of a batch: the files that it reads, and what it does."""

    inputs: tuple[str, ...]
    run: Run


_Groups: TypeAlias = Mapping[str, Sequence[_Member]]
"""Jobs by what they have in common, which names their batches."""


def _grouped(jobs: Iterable[tuple[str, TopologyJob, Run]]) -> _Groups:
    """Jobs, each with its study and what it does, by study and make."""
    groups: dict[str, list[_Member]] = {}
    for study, job, run in jobs:
        groups.setdefault(f"{study}.{_make(job.text)}", []).append(_Member(job.inputs, run))
    return groups


def _batches(kind: Kind, groups: _Groups, built: Mapping[str, str] | None = None) -> list[Batch]:
    """Batches of one kind.

    Parameters
    ----------
    groups : mapping
    built : mapping, optional
        The topology batch that makes each network's folder.
    """
    return [
        Batch(
            kind,
            id_,
            tuple(member.run for member in members),
            tuple(sorted({name for member in members for name in member.inputs})),
            tuple(dict.fromkeys(built[member.run.topology] for member in members)) if built else (),
        )
        for id_, members in _chunks(groups, RUNS_OF.get(kind, RUNS)).items()
    ]


def _run(folder: str, job: TopologyJob, topology: str, **task: Any) -> Run:
    return Run(
        folder=folder,
        fingerprint=job.fingerprint,
        seconds=job.limits.seconds,
        memory_gb=job.limits.memory_gb,
        topology=topology,
        **task,
    )


def _topology_run(results: Path, job: TopologyJob) -> Run:
    return _run(topology_folder(results, job.id), job, job.text)


def _route_run(results: Path, job: RouteJob) -> Run:
    folder = route_folder(results, job.topology.id, job.id)
    network = topology_folder(results, job.topology.id)
    return _run(folder, job, network, routing=job.text, metrics=job.metrics)


def _bound_run(results: Path, job: BoundJob) -> Run:
    folder = bound_folder(results, job.topology.id, job.id)
    network = topology_folder(results, job.topology.id)
    search = {"bound_seconds": job.seconds, "bound_exact": job.exact}
    return _run(folder, job, network, rules=job.text, **search)


def _simulation_run(results: Path, kind: SimulationKind, job: SimulationJob) -> Run:
    ids = job.topology.id, job.id, job.work_id, job.settings_id
    network = topology_folder(results, job.topology.id)
    work = "traffic" if kind == "simulations" else "workload"
    task = {"routing": job.text, work: job.work, "settings": job.settings}
    return _run(simulation_folder(results, kind, ids), job, network, **task)


def _make(text: str) -> str:
    """A name without parameters: what jobs that share kernels have in common."""
    return "@".join(part.partition("~")[0] for part in text.split("@"))


def topology_folder(results: Path, topology: str) -> str:
    """Where a network goes."""
    return f"{results}/topologies/{topology}"


def route_folder(results: Path, topology: str, routing: str) -> str:
    """Where a routing's outcome goes."""
    return f"{results}/routes/{topology}/{routing}"


def bound_folder(results: Path, topology: str, rules: str) -> str:
    """Where the outcome of a bound goes."""
    return f"{results}/bounds/{topology}/{rules}"


def simulation_folder(results: Path, kind: SimulationKind, ids: SimulationIds) -> str:
    """Where the outcome of a simulation goes."""
    return f"{results}/{kind}/{'/'.join(ids)}"


def comparison_folder(results: Path, study: str, topology: str, settings: str) -> str:
    """Where the outcome of a comparison goes."""
    return f"{results}/bench/comparisons/{study}/{topology}/{settings}"


def _chunks(groups: _Groups, most: int) -> dict[str, list[_Member]]:
    """Cut groups of jobs into pieces of at most `most`, by batch id."""
    return {
        f"{group}-{1 + first // most}": list(members[first : first + most])
        for group, members in groups.items()
        for first in range(0, len(members), most)
    }
