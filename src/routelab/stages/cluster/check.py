"""Checks of a cluster before any node-hour is spent."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from routelab.api import BenchmarkPlugin, FabricPlugin, InputError, RoutelabError, Topology
from routelab.bench.fabric.switching import load_fabric, require_fabric
from routelab.config import load_study
from routelab.config.cluster.file import (
    CLUSTERS,
    Cluster,
    ClusterFile,
    find_cluster,
    load_cluster,
)
from routelab.config.errors import suggestion
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.instances import canonical, load, load_routing
from routelab.stages.argument_errors import call_all
from routelab.stages.cluster.answers import ClusterCheck, checks_of_error
from routelab.stages.cluster.disk import check_space, is_writable
from routelab.stages.cluster.fabric import check_fabric
from routelab.stages.cluster.networks import check_networks
from routelab.stages.cluster.programs import check_benchmark, check_configured, check_launcher
from routelab.stages.cluster.slurm import JobSize, absent, check_slurm
from routelab.stages.cluster.study import (
    check_executables,
    check_request,
    check_study_fabric,
    cluster_of,
    comparisons_of,
    job_sizes,
)
from routelab.stages.kinds.comparisons import ComparisonJob


def check_cluster(
    name: str,
    benchmarks: Sequence[str] = (),
    topology: str | None = None,
    routings: Sequence[str] = (),
) -> list[ClusterCheck]:
    """Run all checks of a cluster.

    Parameters
    ----------
    name : str
        Name of a file in ``config/clusters``, or a path.
    benchmarks : sequence of str
        Instance names; by default the benchmarks in the file are checked.
    topology : str, optional
        Instance name of the network of a job; by default the cluster's own, and all node sets.
    routings : sequence of str
        Instance names of routings for the fabric.

    Raises
    ------
    InputError
        If the file or a name is wrong; lists all mistakes.
    """
    file, plugins, *_ = call_all(
        lambda: load_cluster(find_cluster(name, word="cluster")),
        lambda: call_all(*(_loader(text) for text in benchmarks)),
        lambda: topology is None or canonical("topology", topology),
        *(_routing_loader(text) for text in routings),
    )
    fabric = _fabric(file)
    cluster: Cluster = file.cluster
    text = topology or cluster.topology
    network = _network_or_none(text)
    nodes = _nodes(cluster, network)
    checks = [
        ClusterCheck("file", "ok", str(file.path)),
        *check_networks(file, [topology] if topology is not None else []),
        *check_launcher(cluster),
        *check_slurm(cluster, _job_hosts(cluster, topology, network), [JobSize(nodes)]),
    ]
    for requested, plugin in zip(benchmarks, plugins, strict=True):
        checks += check_benchmark(file, requested, plugin, nodes)
    if not benchmarks:
        checks += _check_file_benchmarks(file)
    known = None if network is None or text is None else (text, network)
    try:
        require_fabric(file, fabric, len(set(routings)))
    except InputError as error:
        checks += checks_of_error(f"fabric {fabric.name}", error, f"{file.path}: ", "fabric: ")
    else:
        hosts = _hosts(cluster, text, network)
        chosen: list[str | None] = [*routings] or [None]
        for routing in chosen:
            checks += check_fabric(fabric, known, hosts, routing)
    return list(dict.fromkeys([*checks, *_lock(cluster, fabric)]))


def check_study_on_cluster(name: str, study: Path, results: Path) -> list[ClusterCheck]:
    """Check everything that can be known before a study is measured on a cluster.

    Parameters
    ----------
    name : str
        Name of a file in ``config/clusters``, or a path. If the study does not name this cluster,
        the checks are those of all of its comparisons on it.
    study : Path
    results : Path
        Folder for the results.

    Raises
    ------
    InputError
        If the file or the study is wrong, or the study measures nothing; lists all mistakes.
    """
    file = load_cluster(find_cluster(name, word="cluster"))
    jobs = comparisons_of(study, results)
    if not jobs:
        raise InputError(
            f"{study}: this study has no measurements on a cluster; add benchmarks: and bench: "
            f"{{cluster: {file.path.stem}}}"
        )
    own = [job for job in jobs if cluster_of(job).resolve() == file.path.resolve()]
    return _check_comparisons(file, study, own or jobs, results)


def study_lines(study: Path, results: Path) -> list[str]:
    """Return what the clusters lack that a study names, as lines; none if it names no cluster.

    A cluster that this machine does not belong to is checked by its file only, and a line says
    what to run there.

    Parameters
    ----------
    study : Path
        Its benchmarks are measured on the clusters.
    results : Path
        Folder for the results.

    Raises
    ------
    InputError
        If the study has mistakes.
    """
    if not load_study(study).benchmarks:
        return []
    lines: list[str] = []
    jobs = comparisons_of(study, results)
    for path in dict.fromkeys(map(cluster_of, jobs)):
        file = load_cluster(path)
        own = [job for job in jobs if cluster_of(job) == path]
        reason = absent(file.cluster)
        try:
            checks = _check_comparisons(file, study, own, results, present=not reason)
        except InputError as error:  # a fabric whose plugin is installed on the cluster only
            checks = checks_of_error("file", error)
        name = path.stem if path.parent == CLUSTERS else str(path)
        place = f"{study}: cluster {name}: "
        lines += [
            f"{place}{one.what}: {one.found}{f'; {one.fix}' if one.fix else ''} ({one.state})"
            for one in checks
            if one.state != "ok"
        ]
        if reason:
            command = shlex.join(["routelab", "cluster", "check", name, "--study", str(study)])
            lines.append(f"{place}only its file was checked ({reason}); on the cluster: {command}")
        elif all(one.state == "ok" for one in checks):
            lines.append(f"{place}nothing is missing")
    return lines


def _check_comparisons(
    file: ClusterFile,
    study: Path,
    jobs: Sequence[ComparisonJob],
    results: Path,
    *,
    present: bool = True,
) -> list[ClusterCheck]:
    """Check comparisons on a cluster; without the cluster itself, if this is another machine."""
    cluster, fabric = file.cluster, _fabric(file)
    networks = {job.network: _network_or_none(job.network) for job in jobs}
    used = [host for text, one in networks.items() for host in _hosts(cluster, text, one)]
    hosts = dict.fromkeys(host for host in (*cluster.all_hosts, *used) if host in set(used))
    checks = [
        ClusterCheck("file", "ok", str(file.path)),
        *check_request(study, file, jobs),
        *check_networks(file, list(networks)),
    ]
    if present:
        checks += check_launcher(cluster)
        checks += check_slurm(cluster, tuple(hosts), job_sizes(jobs, cluster))
        checks += check_executables(file, jobs)
    if present or not fabric.changes:
        checks += check_study_fabric(file, fabric, jobs, networks)
    if present:
        checks += _lock(cluster, fabric)
        checks.append(check_space(results, sum(job.comparison.runs for job in jobs)))
    return list(dict.fromkeys(checks))


def _fabric(file: ClusterFile) -> FabricPlugin:
    """Return the fabric of a cluster whose topology is a valid instance name."""
    _check_own_network(file)
    return load_fabric(file.cluster.fabric, f"{file.path}: fabric: ")


def _lock(cluster: Cluster, fabric: FabricPlugin) -> list[ClusterCheck]:
    """Check whether all who switch the fabric share a lock, and may write it."""
    if not fabric.changes or cluster.fabric is None:
        return []
    what = f"fabric {fabric.name}: lock"
    state = cluster.fabric.state
    if not state:
        found = "two people with separate results folders could switch the fabric at the same time"
        fix = "set a folder that all of them can write: fabric: {..., state: /shared/folder}"
        return [ClusterCheck(what, "cannot tell", found, fix)]
    if not is_writable(Path(state)):
        fix = "make it a folder to which everyone who switches the fabric can write"
        return [ClusterCheck(what, "missing", f"{state} is not writable", fix)]
    return []


def _routing_loader(text: str) -> Callable[[], object]:
    return lambda: load_routing(text)


def _loader(text: str) -> Callable[[], BenchmarkPlugin]:
    def load_benchmark() -> BenchmarkPlugin:
        plugin = load("benchmark", text)
        assert isinstance(plugin, BenchmarkPlugin)
        return plugin

    return load_benchmark


def _check_own_network(file: ClusterFile) -> None:
    """Refuse a cluster whose topology is not a valid instance name."""
    if file.cluster.topology:
        try:
            canonical("topology", file.cluster.topology)
        except InputError as error:
            raise InputError(f"{file.path}: topology: {error}") from None


def _network_or_none(text: str | None) -> Topology | None:
    """Return the network; None if it is missing or cannot be built, which a check reports."""
    try:
        return load("topology", text).build() if text is not None else None
    except RoutelabError:
        return None


def _nodes(cluster: Cluster, network: Topology | None) -> int:
    if network is not None:
        return network.num_terminals
    return cluster.nodes or max(1, len(cluster.all_hosts))


def _hosts(cluster: Cluster, text: str | None, network: Topology | None) -> tuple[str, ...]:
    if text is None or network is None:
        return ()
    try:
        return cluster.hosts_of(text, network.num_terminals)
    except InputError:
        return ()


def _job_hosts(
    cluster: Cluster, requested: str | None, network: Topology | None
) -> tuple[str, ...]:
    """Return the hosts of jobs: those of the requested network, or all hosts."""
    if requested is not None:
        return _hosts(cluster, requested, network)
    hosts = dict.fromkeys(cluster.all_hosts)
    for text in cluster.node_sets:
        part = _network_or_none(text)
        hosts |= dict.fromkeys(_hosts(cluster, text, part))
    return tuple(hosts)


def _check_file_benchmarks(file: ClusterFile) -> list[ClusterCheck]:
    known = [entry.key for entry in installed_catalogue().entries("benchmark")]
    checks = []
    for name in file.cluster.benchmarks:
        if name in known:
            checks += check_configured(file, name)
        else:
            fix = suggestion(name, known).removeprefix("; ")
            checks.append(
                ClusterCheck(f"benchmarks: {name}", "missing", "benchmark plugin not found", fix)
            )
    return checks
