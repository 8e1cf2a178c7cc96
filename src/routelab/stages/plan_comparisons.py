"""From studies to the comparisons that they ask for: what is measured on a cluster."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import NamedTuple

from routelab.api import InputError, RoutelabError, TopologyPlugin
from routelab.api.grids import GridParameters
from routelab.artifacts.fingerprint import content_digest
from routelab.bench.comparison import Chosen, Comparison
from routelab.config import Study
from routelab.config.bench_settings import BenchSettings
from routelab.config.cluster import ClusterFile, load_cluster
from routelab.config.hostlist import compress
from routelab.config.mistakes import suggestion
from routelab.stages.batches import Batch, Kind
from routelab.stages.comparisons import RUNS, ComparisonIds, ComparisonJob, ComparisonSpec
from routelab.stages.instances import Instance
from routelab.stages.jobs import (
    RouteJob,
    TopologyJob,
    comparison_folder,
    route_folder,
    topology_folder,
)
from routelab.stages.plan_simulations import found_cluster, settings_id

MAX_NAME = 120
"""Longest name of a comparison's files, without the hash."""


class Settings(NamedTuple):
    """Settings of a comparison, with the cluster's file found and read."""

    id: str
    told: BenchSettings
    resolved: BenchSettings
    cluster: ClusterFile


class Place(NamedTuple):
    """Where a network is measured: how many hosts, and which; none: this machine."""

    nodes: int
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class _Wanted:
    """A comparison that a study asks for."""

    place: Place
    routings: Mapping[str, Instance]
    benchmarks: Mapping[str, Instance]
    settings: Settings


class WantedComparisons:
    """Comparisons, collected study by study."""

    def __init__(self) -> None:
        self._wanted: dict[ComparisonIds, _Wanted] = {}

    def add(
        self,
        study: Study,
        settings: Sequence[Settings],
        runs: Sequence[tuple[str, str]],
        places: Mapping[tuple[str, str], Place],
        routings: Mapping[str, Instance],
        benchmarks: Mapping[str, Instance],
    ) -> tuple[ComparisonIds, ...]:
        """Note the comparisons of a study: every network with all of its tables.

        Parameters
        ----------
        study : Study
        settings : sequence of Settings
        runs : sequence of (str, str)
            Ids of topology and routing of all tables.
        places : mapping of (str, str) to Place
            Where each network is measured, by ids of topology and settings.
        routings, benchmarks : mapping of str to Instance
            By id.

        Returns
        -------
        ids : tuple
            In the study's order.
        """
        ids: list[ComparisonIds] = []
        for topology in dict.fromkeys(t for t, _ in runs):
            among = {r: routings[r] for t, r in runs if t == topology}
            for one in settings:
                ids.append((study.name, topology, one.id))
                place = places[topology, one.id]
                self._wanted[ids[-1]] = _Wanted(place, among, benchmarks, one)
        return tuple(ids)

    def jobs(
        self,
        results: Path,
        topologies: Mapping[str, TopologyJob],
        routes: Mapping[tuple[str, str], RouteJob],
        batches: Mapping[tuple[Kind, str], Batch],
    ) -> dict[ComparisonIds, ComparisonJob]:
        """The jobs, by ids."""
        makers = {run.folder: key for key, batch in batches.items() for run in batch.runs}
        found = {}
        for ids, wanted in self._wanted.items():
            network = topologies[ids[1]]
            tables = {r: routes[network.id, r] for r in wanted.routings}
            folders = [
                topology_folder(results, network.id),
                *(route_folder(results, network.id, r) for r in tables),
            ]
            after = tuple(dict.fromkeys(makers[folder] for folder in folders))
            found[ids] = _job(results, ids, wanted, network, tables, after)
        return found


def of_benchmarks(
    study: Study, routings: Mapping[str, Instance]
) -> tuple[list[Settings], list[str]]:
    """What the benchmarks of a study are measured with, and what is wrong with it.

    Parameters
    ----------
    study : Study
    routings : mapping of str to Instance
        Those with tables, by id.

    Returns
    -------
    settings : list of Settings
    mistakes : list of str
        Clusters that are missing or wrong, and a baseline that is no routing of the study.
    """
    settings: list[Settings] = []
    mistakes: list[str] = []
    for one in study.measured:
        try:
            path = found_cluster(study.path.parent, one.cluster, "cluster")
            cluster = load_cluster(Path(path))
        except InputError as error:
            mistakes += [f"{study.place('bench')}{line}" for line in str(error).splitlines()]
            continue
        resolved = one.model_copy(update={"cluster": path})
        settings.append(Settings(settings_id(one), one, resolved, cluster))
        if one.baseline and routings and one.baseline not in routings:
            mend = suggestion(one.baseline, routings)
            mistakes.append(
                f"{study.place('bench', 'baseline')}the study has no table of routes of "
                f"{one.baseline!r} to compare with{mend}"
            )
    return ([], list(dict.fromkeys(mistakes))) if mistakes else (settings, [])


def places_of(
    study: Study,
    settings: Sequence[Settings],
    topologies: Mapping[str, Instance],
    sizes: Mapping[str, int],
) -> tuple[dict[tuple[str, str], Place], list[str]]:
    """Where a study's networks are measured, by ids of topology and settings, and what is wrong.

    Parameters
    ----------
    study : Study
    settings : sequence of Settings
    topologies : mapping of str to Instance
        By id.
    sizes : mapping of str to int
        Terminals of those that are measured.
    """
    places: dict[tuple[str, str], Place] = {}
    mistakes: list[str] = []
    for (topology, nodes), one in product(sizes.items(), settings):
        hosts: tuple[str, ...] = ()
        try:
            # a network that cannot be has no terminals, and its own job tells why
            if nodes:
                hosts = one.cluster.cluster.hosts_of(topologies[topology].text, nodes)
        except InputError as error:
            mistakes += [f"{study.place('bench')}{line}" for line in str(error).splitlines()]
        places[topology, one.id] = Place(max(1, nodes), hosts)
    return places, list(dict.fromkeys(mistakes))


def terminals(topology: Instance) -> int:
    """How many terminals a network has; 0 if it cannot be.

    Whole grids tell it by their parameters. Others are built, which takes a moment.
    """
    for plugin in topology.plugins:
        asked = plugin.parameters
        if isinstance(asked, GridParameters):
            whole = GridParameters(dims=asked.dims, terminals=asked.terminals)
            shared = set(GridParameters.model_fields)
            if asked.model_dump(include=shared) == whole.model_dump():
                return prod(asked.dims) * asked.terminals
        if isinstance(plugin, TopologyPlugin):
            try:
                return plugin.build().num_terminals
            except RoutelabError:
                return 0  # the network's own job tells why
    return 0


def _job(
    results: Path,
    ids: ComparisonIds,
    wanted: _Wanted,
    network: TopologyJob,
    tables: Mapping[str, RouteJob],
    after: tuple[tuple[Kind, str], ...],
) -> ComparisonJob:
    settings, cluster = wanted.settings, wanted.settings.cluster.cluster
    inputs = (
        settings.resolved.cluster,
        *(file for one in wanted.benchmarks.values() for file in one.inputs),
    )
    # of what is measured, not of the code that reads it: a better parser costs no node-hour
    facts = {
        "network": [network.text, network.fingerprint],
        "routings": [[r, job.text, job.fingerprint] for r, job in tables.items()],
        "benchmarks": [[id_, one.text] for id_, one in wanted.benchmarks.items()],
        "settings": settings.told.canonical(),
        "inputs": [content_digest(file) for file in inputs],
    }
    comparison = Comparison(
        topology_folder(results, network.id),
        tuple(
            Chosen(r, job.text, Path(route_folder(results, network.id, r)))
            for r, job in tables.items()
        ),
        tuple(Chosen(id_, one.text) for id_, one in wanted.benchmarks.items()),
        settings.resolved,
    )
    spec = ComparisonSpec(
        folder=comparison_folder(results, *ids),
        fingerprint=hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest(),
        comparison=comparison,
        store=f"{results}/{RUNS}",
    )
    return ComparisonJob(
        id=_file_name(ids),
        study=ids[0],
        topology=ids[1],
        settings=ids[2],
        spec=spec,
        after=after,
        inputs=inputs,
        nodes=wanted.place.nodes,
        minutes=comparison.minutes,
        hosts=compress(wanted.place.hosts),
        partition=cluster.partition or "",
        account=cluster.account or "",
        allocation=tuple(cluster.allocation),
    )


def _file_name(ids: ComparisonIds) -> str:
    """Ids as one name of letters, digits, dots and dashes, with a hash that tells such names apart.

    Executors of clusters hand wildcards on as text, with commas between them.
    """
    text = re.sub(r"[^A-Za-z0-9._-]", "-", ".".join(ids))
    return f"{text[:MAX_NAME]}-{hashlib.sha256('/'.join(ids).encode()).hexdigest()[:8]}"
