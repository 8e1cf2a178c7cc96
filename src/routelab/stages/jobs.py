"""The jobs of a plan, and how they are cut into batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from routelab.config import Limits
from routelab.stages.batches import Batch, Kind, Run

RUNS = 20
"""Most jobs in a batch: enough to share the imports, few enough to keep all cores busy."""


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


def cut(
    results: Path,
    topologies: Mapping[str, TopologyJob],
    routes: Mapping[tuple[str, str], RouteJob],
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
    networks: dict[str, list[tuple[str, Run]]] = {}
    for job in topologies.values():
        run = Run(
            folder=f"{results}/topologies/{job.id}",
            fingerprint=job.fingerprint,
            seconds=job.limits.seconds,
            memory_gb=job.limits.memory_gb,
            topology=job.text,
        )
        group = f"{study_of[job.id]}.{_make(job.text)}"
        networks.setdefault(group, []).append((job.id, run))
    routings: dict[str, list[tuple[str, Run]]] = {}
    for route in routes.values():
        run = Run(
            folder=route_folder(results, route.topology.id, route.id),
            fingerprint=route.fingerprint,
            seconds=route.limits.seconds,
            memory_gb=route.limits.memory_gb,
            topology=f"{results}/topologies/{route.topology.id}",
            routing=route.text,
            metrics=route.metrics,
        )
        group = f"{study_of[route.topology.id, route.id]}.{_make(route.text)}"
        routings.setdefault(group, []).append((route.topology.id, run))
    batches: dict[tuple[Kind, str], Batch] = {}
    batch_of: dict[str, str] = {}
    for id_, members in _chunks(networks).items():
        inputs = {name for topology, _ in members for name in topologies[topology].inputs}
        runs = tuple(run for _, run in members)
        batches["topologies", id_] = Batch("topologies", id_, runs, tuple(sorted(inputs)))
        batch_of |= dict.fromkeys((topology for topology, _ in members), id_)
    read = {route_folder(results, *ids): route.inputs for ids, route in routes.items()}
    for id_, members in _chunks(routings).items():
        after = tuple(dict.fromkeys(batch_of[topology] for topology, _ in members))
        runs = tuple(run for _, run in members)
        files = {name for run in runs for name in read[run.folder]}
        batches["routes", id_] = Batch("routes", id_, runs, tuple(sorted(files)), after)
    return batches


def _make(text: str) -> str:
    """A name without parameters: what jobs that share kernels have in common."""
    return "@".join(part.partition("~")[0] for part in text.split("@"))


def route_folder(results: Path, topology: str, routing: str) -> str:
    """Where a routing's outcome goes."""
    return f"{results}/routes/{topology}/{routing}"


def _chunks(runs: Mapping[str, Sequence[tuple[str, Run]]]) -> dict[str, list[tuple[str, Run]]]:
    """Cut groups of runs into pieces of at most `RUNS`, by batch id.

    Parameters
    ----------
    runs : mapping
        By group (what the jobs have in common, which names their batches), in order.
    """
    return {
        f"{group}-{1 + first // RUNS}": list(members[first : first + RUNS])
        for group, members in runs.items()
        for first in range(0, len(members), RUNS)
    }
