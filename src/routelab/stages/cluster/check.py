"""Checks of a cluster before any node-hour is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from routelab.api import BenchmarkPlugin, InputError, RoutelabError, Topology
from routelab.bench.fabric.switching import load_fabric
from routelab.config.cluster.file import Cluster, ClusterFile, find_cluster, load_cluster
from routelab.config.errors import suggestion
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.instances import canonical, load, load_routing
from routelab.stages.argument_errors import call_all
from routelab.stages.cluster.answers import ClusterCheck
from routelab.stages.cluster.fabric import check_fabric
from routelab.stages.cluster.networks import check_networks
from routelab.stages.cluster.programs import check_benchmark, check_configured, check_launcher
from routelab.stages.cluster.slurm import check_slurm


def check_cluster(
    name: str,
    benchmarks: Sequence[str] = (),
    topology: str | None = None,
    routing: str | None = None,
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
    routing : str, optional
        Instance name of a routing for the fabric.

    Raises
    ------
    InputError
        If the file or a name is wrong; lists all mistakes.
    """
    file, plugins, *_ = call_all(
        lambda: load_cluster(find_cluster(name, word="cluster")),
        lambda: call_all(*(_loader(text) for text in benchmarks)),
        lambda: topology is None or canonical("topology", topology),
        lambda: routing is None or load_routing(routing),
    )
    _check_own_network(file)
    fabric = load_fabric(file.cluster.fabric, f"{file.path}: fabric: ")
    cluster: Cluster = file.cluster
    text = topology or cluster.topology
    network = _network_or_none(text)
    nodes = _nodes(cluster, network)
    checks = [
        ClusterCheck("file", "ok", str(file.path)),
        *check_networks(file, topology),
        *check_launcher(cluster),
        *check_slurm(cluster, _job_hosts(cluster, topology, network), nodes),
    ]
    for asked, plugin in zip(benchmarks, plugins, strict=True):
        checks += check_benchmark(file, asked, plugin, nodes)
    if not benchmarks:
        checks += _check_file_benchmarks(file)
    known = None if network is None or text is None else (text, network)
    checks += check_fabric(fabric, known, _hosts(cluster, text, network), routing)
    if fabric.changes and cluster.fabric is not None and not cluster.fabric.state:
        found = "two people with two folders of results may switch the fabric at once"
        fix = "name a folder that all of them may write: fabric: {..., state: /shared/folder}"
        checks.append(ClusterCheck(f"fabric {fabric.name}: lock", "cannot tell", found, fix))
    return checks


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


def _job_hosts(cluster: Cluster, asked: str | None, network: Topology | None) -> tuple[str, ...]:
    """Return the hosts of jobs: those of the requested network, or all hosts."""
    if asked is not None:
        return _hosts(cluster, asked, network)
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
                ClusterCheck(
                    f"benchmarks: {name}", "missing", "there is no such benchmark plugin", fix
                )
            )
    return checks
