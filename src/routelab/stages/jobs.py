"""The jobs of a plan, and how they are cut into batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from routelab.config import Limits
from routelab.stages.batches import Batch, Kind, Run

RUNS = 20
"""Most jobs in a batch: enough to share the imports, few enough to keep all cores busy."""

MAX_ID = 150
"""Longest name of a job's directory: file names have 255 bytes, and log files add an ending."""


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
        As in `TopologyJob`; the inputs are those of the routing and the metrics.
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


BARE = "_network"
"""In the place of rules: none, all minimal routes. No plugin can have this name."""


@dataclass(frozen=True)
class BoundJob:
    """Bound the maximum load of a network under some rules.

    Attributes
    ----------
    topology : TopologyJob
    id, fingerprint, inputs, limits
        As in `TopologyJob`; the inputs are those of the rules alone.
    text : str
        Canonical name of the rules, or `BARE`.
    seconds : float
        For the search; the limits are for safety.
    exact : bool
    """

    topology: TopologyJob
    id: str
    text: str
    fingerprint: str
    inputs: tuple[str, ...]
    limits: Limits
    seconds: float
    exact: bool


def cut(
    results: Path,
    topologies: Mapping[str, TopologyJob],
    routes: Mapping[tuple[str, str], RouteJob],
    bounds: Mapping[tuple[str, str], BoundJob],
    studies: Mapping[str, Sequence[tuple[str, str]]],
) -> dict[tuple[Kind, str], Batch]:
    """All jobs, cut into batches of one study and of one plugin or one make of routing.

    A job that several studies want is in a batch of the first, so that batches stay the same
    when another study is chosen as well.
    """
    study_of: dict[str | tuple[str, str], str] = {}
    for name, wanted in studies.items():
        for run_ids in wanted:
            study_of.setdefault(run_ids, name)
            study_of.setdefault(run_ids[0], name)
    networks: dict[str, list[_Member]] = {}
    for job in topologies.values():
        group = f"{study_of[job.id]}.{_make(job.text)}"
        member = _Member(job.inputs, _topology_run(results, job))
        networks.setdefault(group, []).append(member)
    routings: dict[str, list[_Member]] = {}
    for route in routes.values():
        group = f"{study_of[route.topology.id, route.id]}.{_make(route.text)}"
        member = _Member(route.inputs, _route_run(results, route))
        routings.setdefault(group, []).append(member)
    limits: dict[str, list[_Member]] = {}
    for bound in bounds.values():
        group = f"{study_of[bound.topology.id]}.{_make(bound.text)}"
        member = _Member(bound.inputs, _bound_run(results, bound))
        limits.setdefault(group, []).append(member)
    batches = {(_TOPOLOGIES, batch.id): batch for batch in _batches(_TOPOLOGIES, networks)}
    built = {run.folder: batch.id for batch in batches.values() for run in batch.runs}
    for kind, groups in ((_ROUTES, routings), (_BOUNDS, limits)):
        batches |= {(kind, batch.id): batch for batch in _batches(kind, groups, built)}
    return batches


_TOPOLOGIES: Kind = "topologies"
_ROUTES: Kind = "routes"
_BOUNDS: Kind = "bounds"


@dataclass(frozen=True)
class _Member:
    """A job of a batch: the files that it reads, and what it does."""

    inputs: tuple[str, ...]
    run: Run


def _batches(
    kind: Kind, groups: Mapping[str, Sequence[_Member]], built: Mapping[str, str] | None = None
) -> list[Batch]:
    """Batches of one kind.

    Parameters
    ----------
    groups : mapping
        By what the jobs have in common, which names their batches.
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
        for id_, members in _chunks(groups).items()
    ]


def _topology_run(results: Path, job: TopologyJob) -> Run:
    return Run(
        folder=f"{results}/topologies/{job.id}",
        fingerprint=job.fingerprint,
        seconds=job.limits.seconds,
        memory_gb=job.limits.memory_gb,
        topology=job.text,
    )


def _route_run(results: Path, job: RouteJob) -> Run:
    return Run(
        folder=route_folder(results, job.topology.id, job.id),
        fingerprint=job.fingerprint,
        seconds=job.limits.seconds,
        memory_gb=job.limits.memory_gb,
        topology=f"{results}/topologies/{job.topology.id}",
        routing=job.text,
        metrics=job.metrics,
    )


def _bound_run(results: Path, job: BoundJob) -> Run:
    return Run(
        folder=bound_folder(results, job.topology.id, job.id),
        fingerprint=job.fingerprint,
        seconds=job.limits.seconds,
        memory_gb=job.limits.memory_gb,
        topology=f"{results}/topologies/{job.topology.id}",
        rules=job.text,
        bound_seconds=job.seconds,
        bound_exact=job.exact,
    )


def _make(text: str) -> str:
    """A name without parameters: what jobs that share kernels have in common."""
    return "@".join(part.partition("~")[0] for part in text.split("@"))


def route_folder(results: Path, topology: str, routing: str) -> str:
    """Where a routing's outcome goes."""
    return f"{results}/routes/{topology}/{routing}"


def bound_folder(results: Path, topology: str, rules: str) -> str:
    """Where the outcome of a bound goes."""
    return f"{results}/bounds/{topology}/{rules}"


def _chunks(groups: Mapping[str, Sequence[_Member]]) -> dict[str, list[_Member]]:
    """Cut groups of jobs into pieces of at most `RUNS`, by batch id."""
    return {
        f"{group}-{1 + first // RUNS}": list(members[first : first + RUNS])
        for group, members in groups.items()
        for first in range(0, len(members), RUNS)
    }
