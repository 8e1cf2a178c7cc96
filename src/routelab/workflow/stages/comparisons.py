"""Comparisons: measure all benchmarks under all routings of a network on a cluster."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from typing_extensions import override

from routelab.api import InputError, RoutelabError, TopologyPlugin
from routelab.cluster.bench.comparison import Comparison, ComparisonPart
from routelab.cluster.bench.slurm import slurm_names
from routelab.jobs.job import BaseJob, folder_name
from routelab.results.fingerprint import content_digest
from routelab.study import ConfigError, Study
from routelab.study.bench_settings import BenchSettings
from routelab.study.cluster.hostlist import compress, expand
from routelab.study.cluster.keys import ClusterFile, load_cluster, locate_cluster
from routelab.study.errors import suggestion
from routelab.toolkit.grids import GridParameters
from routelab.workflow.parts.instances import Instance
from routelab.workflow.parts.settings import settings_id
from routelab.workflow.stages.routes import RouteJob, route_jobs
from routelab.workflow.stages.topologies import TopologyJob, network_jobs

if TYPE_CHECKING:
    from routelab.workflow.parts.study_plugins import Parts

RUNS = "bench/runs"
"""Folder of raw runs in the results folder; all comparisons share them."""

MAX_NAME = 120
"""Longest name of a comparison's files, without the hash."""


class Settings(NamedTuple):
    """Settings of a comparison, with the cluster's file.

    Attributes
    ----------
    id : str
        Name of the folder.
    original : BenchSettings
        With the cluster as the study writes it, such as ``desmos``: for names and fingerprints.
    resolved : BenchSettings
        With the path of the cluster's file: to measure with.
    cluster : ClusterFile
    """

    id: str
    original: BenchSettings
    resolved: BenchSettings
    cluster: ClusterFile


@dataclass(frozen=True, kw_only=True)
class ComparisonJob(BaseJob):
    """Measure all benchmarks under all routings on a network, in one allocation.

    Attributes
    ----------
    comparison : Comparison
        Its topology is the folder of a network; its routings have the folders of their routes.
    store : str
        The folder of raw runs.
    nodes : int
        Number of hosts.
    minutes : int
        Time to request from a scheduler.
    hosts : str
        In Slurm's form, ``n[01-32]`` or with commas; empty: everything runs on this machine.
    partition, account : str
        Of Slurm; empty: not set.
    allocation : tuple of str
        Further arguments for Slurm.
    """

    kind = "comparisons"
    outcome_kind = "comparison"
    nouns = "comparison", "comparisons"
    order = 5
    per_batch = 1

    comparison: Comparison
    store: str
    nodes: int
    minutes: int
    hosts: str
    partition: str
    account: str
    allocation: tuple[str, ...]

    @classmethod
    @override
    def plan(cls, parts: Parts) -> Iterable[Self]:
        """Return the comparisons of a study: every network and settings, with all tables."""
        if not parts.benchmarks:
            return
        settings, hosts = settings_and_hosts(parts)
        for topology_id in dict.fromkeys(topology_id for topology_id, _ in parts.runs):
            routes = {
                routing_id: route_jobs(parts)[topology_id, routing_id]
                for network, routing_id in parts.runs
                if network == topology_id
            }
            for bench_settings in settings:
                yield cls._from_settings(
                    parts,
                    network=network_jobs(parts)[topology_id],
                    routes=routes,
                    settings=bench_settings,
                    hosts=hosts[topology_id, bench_settings.id],
                )

    @classmethod
    def _from_settings(
        cls,
        parts: Parts,
        network: TopologyJob,
        routes: Mapping[str, RouteJob],
        settings: Settings,
        hosts: tuple[str, ...],
    ) -> Self:
        """Return the job that measures a network with one of the settings.

        Parameters
        ----------
        parts : Parts
        network : TopologyJob
        routes : mapping of str to RouteJob
            Jobs of the network's route tables, by id of the routing.
        settings : Settings
        hosts : tuple of str
            Empty: everything runs on this machine.
        """
        cluster = settings.cluster.cluster
        benchmarks = parts.benchmarks
        inputs = (
            settings.resolved.cluster,
            *(file for benchmark in benchmarks.values() for file in benchmark.inputs),
        )
        routing_files = (file for id_ in routes for file in parts.tables[id_].inputs)
        # the fingerprint leaves out all code: an upgrade never submits a comparison again
        facts = {
            "network": network.text,
            "routings": [[id_, job.text] for id_, job in routes.items()],
            "benchmarks": [[id_, benchmark.text] for id_, benchmark in benchmarks.items()],
            "settings": settings.original.canonical(),
            "inputs": [content_digest(file) for file in (*network.inputs, *routing_files, *inputs)],
        }
        comparison = Comparison(
            topology=network.folder,
            routings=tuple(
                ComparisonPart(routing_id, job.text, Path(job.folder))
                for routing_id, job in routes.items()
            ),
            benchmarks=tuple(
                ComparisonPart(id_, benchmark.text) for id_, benchmark in benchmarks.items()
            ),
            settings=settings.resolved,
        )
        ids = parts.study.name, network.ids[0], settings.id
        return cls(
            folder=cls.folder_of(parts.results.parent, ids),
            ids=ids,
            text=settings.id,
            digest=hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest(),
            inputs=inputs,
            needs=(network.folder, *(job.folder for job in routes.values())),
            network=network.text,
            comparison=comparison,
            store=f"{parts.results.parent}/{RUNS}",
            # a network that cannot be built has size 0
            nodes=max(1, sizes_of(parts)[network.ids[0]]),
            minutes=comparison.minutes,
            hosts=compress(hosts),
            partition=cluster.partition or "",
            account=cluster.account or "",
            allocation=tuple(cluster.allocation),
        )

    @classmethod
    @override
    def folder_of(cls, results: Path | str, ids: Sequence[str]) -> str:
        """Return a folder that stays when a study's results are removed."""
        return "/".join([str(results), "bench", cls.kind, *map(folder_name, ids)])

    @classmethod
    @override
    def manifest(cls, results: Path, batch: str) -> Path:
        return results / "bench" / "batches" / f"{batch}.json"

    @property
    @override
    def title(self) -> str:
        study, topology, settings = self.ids
        settings_text = "" if settings == "default" else f" with {settings}"
        return f"{study} on {topology}{settings_text}"

    @property
    def node_hours(self) -> float:
        """Node-hours that its allocation takes at most."""
        return self.nodes * self.minutes / 60

    @override
    def group(self, study: str) -> str:
        """Return a name for the batch of this job that has only letters, digits, dots and dashes.

        It is a wildcard in Snakemake, and executors of clusters pass wildcards on as text that
        commas separate. Other characters become dashes and long names are cut, so a hash makes the
        name unique.
        """
        text = re.sub(r"[^A-Za-z0-9._-]", "-", ".".join(self.ids))
        return f"{text[:MAX_NAME]}-{hashlib.sha256('/'.join(self.ids).encode()).hexdigest()[:8]}"

    @property
    def slurm_extra(self) -> str:
        """Return options of sbatch for which the executor has no resource, in shell syntax."""
        hosts = compress(slurm_names(expand(self.hosts))) if self.hosts else ""
        nodes = (f"--nodelist={hosts}",) if hosts else ()
        options = ("--exclusive", "--ntasks-per-node=1", *nodes, *self.allocation)
        return shlex.join(options)

    @override
    def work_items(self) -> tuple[()]:
        """Refuse to run comparisons like other jobs.

        Raises
        ------
        RoutelabError
            Always: measurements have separate limits, see `routelab bench`.
        """
        raise RoutelabError("comparisons are measured by 'routelab bench --comparison'")


@lru_cache(maxsize=4)
def settings_and_hosts(
    parts: Parts,
) -> tuple[list[Settings], dict[tuple[str, str], tuple[str, ...]]]:
    """Return a study's settings of comparisons, and hosts by ids of topology and settings.

    Without hosts, this machine is measured.

    Raises
    ------
    ConfigError
        With everything that is wrong.
    """
    settings, mistakes = benchmark_settings(parts.study, parts.tables)
    hosts, host_mistakes = hosts_of(parts.study, settings, parts.topologies, sizes_of(parts))
    if mistakes or host_mistakes:
        raise ConfigError(list(dict.fromkeys([*mistakes, *host_mistakes])))
    return settings, hosts


@lru_cache(maxsize=4)
def sizes_of(parts: Parts) -> dict[str, int]:
    """Return the numbers of terminals of the measured networks, by id."""
    networks = dict.fromkeys(topology_id for topology_id, _ in parts.runs)
    return {topology_id: count_terminals(parts.topologies[topology_id]) for topology_id in networks}


def benchmark_settings(
    study: Study, routings: Mapping[str, Instance]
) -> tuple[list[Settings], list[str]]:
    """Return the settings of a study's comparisons, or all mistakes in them.

    Parameters
    ----------
    study : Study
    routings : mapping of str to Instance
        Routings with tables, by id.

    Returns
    -------
    settings : list of Settings
        Empty if there are mistakes.
    mistakes : list of str
        Missing or invalid clusters, and a baseline that is not a routing of the study.
    """
    settings: list[Settings] = []
    mistakes: list[str] = []
    for bench in study.bench_settings:
        try:
            path = locate_cluster(study.path.parent, bench.cluster, "cluster")
            cluster = load_cluster(Path(path))
        except InputError as error:
            mistakes += [f"{study.place('bench')}{line}" for line in str(error).splitlines()]
            continue
        resolved = bench.model_copy(update={"cluster": path})
        settings.append(Settings(settings_id(bench), bench, resolved, cluster))
        if bench.baseline and routings and bench.baseline not in routings:
            fix = suggestion(bench.baseline, routings)
            mistakes.append(
                f"{study.place('bench', 'baseline')}the study has no route table of "
                f"{bench.baseline!r} to compare with{fix}"
            )
    return ([], list(dict.fromkeys(mistakes))) if mistakes else (settings, [])


def hosts_of(
    study: Study,
    settings: Sequence[Settings],
    topologies: Mapping[str, Instance],
    sizes: Mapping[str, int],
) -> tuple[dict[tuple[str, str], tuple[str, ...]], list[str]]:
    """Return the hosts on which a study's networks are measured.

    Parameters
    ----------
    study : Study
    settings : sequence of Settings
    topologies : mapping of str to Instance
        By id.
    sizes : mapping of str to int
        Numbers of terminals of the measured networks, by id.

    Returns
    -------
    hosts : dict of (str, str) to tuple of str
        By ids of topology and settings; empty: everything runs on this machine.
    mistakes : list of str
        Networks for which a cluster's file has no hosts, or the wrong number of them.
    """
    hosts: dict[tuple[str, str], tuple[str, ...]] = {}
    mistakes: list[str] = []
    for (topology, num_terminals), bench in product(sizes.items(), settings):
        hosts[topology, bench.id] = ()
        try:
            # a network that cannot be built has 0 terminals here, and its own job reports why
            if num_terminals:
                text = topologies[topology].text
                hosts[topology, bench.id] = bench.cluster.cluster.hosts_of(text, num_terminals)
        except InputError as error:
            mistakes += [f"{study.place('bench')}{line}" for line in str(error).splitlines()]
    return hosts, list(dict.fromkeys(mistakes))


def count_terminals(topology: Instance) -> int:
    """Return the number of terminals of a network; 0 if it cannot be built.

    For whole grids it follows from the parameters: a torus 4x3 with 2 terminals at each switch has
    24. Other networks are built, which takes a moment.
    """
    # a network has one plugin, or none if that cannot be used
    for plugin in topology.plugins:
        grid = plugin.parameters
        if isinstance(grid, GridParameters):
            # Compare the grid with a whole one of the same size, which has no failed and no
            # allocated switches. Parameters that only the class of this grid has, such as the twist
            # of a torus, are left out: they do not change the number of terminals.
            whole_grid = GridParameters(dims=grid.dims, terminals=grid.terminals)
            common_parameters = set(GridParameters.model_fields)
            if grid.model_dump(include=common_parameters) == whole_grid.model_dump():
                return prod(grid.dims) * grid.terminals
        if isinstance(plugin, TopologyPlugin):
            try:
                return plugin.build().num_terminals
            except RoutelabError:
                return 0  # the network's own job reports why
    return 0
