"""What is missing on a cluster, found out before any node-hour is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from routelab.api import BenchmarkPlugin, InputError, RoutelabError, Topology
from routelab.bench.fabric.switching import load_fabric
from routelab.config.cluster.file import Cluster, ClusterFile, find_cluster, load_cluster
from routelab.config.errors import suggestion
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.instances import canonical, load, load_routing
from routelab.stages.argument_errors import together
from routelab.stages.cluster.answers import Check
from routelab.stages.cluster.fabric import check_fabric
from routelab.stages.cluster.networks import check_networks
from routelab.stages.cluster.programs import check_benchmark, check_configured, check_launcher
from routelab.stages.cluster.slurm import check_slurm


def check_cluster(
    name: str,
    benchmarks: Sequence[str] = (),
    topology: str | None = None,
    routing: str | None = None,
) -> list[Check]:
    """All checks of a cluster.

    Parameters
    ----------
    name : str
        Of a file in ``config/clusters``, or a file.
    benchmarks : sequence of str
        Instance names; by default what the file says of its benchmarks is looked at.
    topology : str, optional
        Instance name of the network of a job; by default the cluster's own, and all node sets.
    routing : str, optional
        Instance name of one that the fabric is to be switched to.

    Raises
    ------
    InputError
        If the file or one of the names is wrong; all that is wrong is told.
    """
    file, plugins, *_ = together(
        lambda: load_cluster(find_cluster(name, word="cluster")),
        lambda: together(*(_loader(text) for text in benchmarks)),
        lambda: topology is None or canonical("topology", topology),
        lambda: routing is None or load_routing(routing),
    )
    _check_own_network(file)
    fabric = load_fabric(file.cluster.fabric, f"{file.path}: fabric: ")
    cluster: Cluster = file.cluster
    text = topology or cluster.topology
    network = _built(text)
    nodes = _nodes(cluster, network)
    checks = [
        Check("file", "ok", str(file.path)),
        *check_networks(file, topology),
        *check_launcher(cluster),
        *check_slurm(cluster, _meant(cluster, topology, network), nodes),
    ]
    for asked, plugin in zip(benchmarks, plugins, strict=True):
        checks += check_benchmark(file, asked, plugin, nodes)
    if not benchmarks:
        checks += _configured(file)
    known = None if network is None or text is None else (text, network)
    checks += check_fabric(fabric, known, _hosts(cluster, text, network), routing)
    if fabric.changes and cluster.fabric is not None and not cluster.fabric.state:
        found = "two people with two folders of results may switch the fabric at once"
        mend = "name a folder that all of them may write: fabric: {..., state: /shared/folder}"
        checks.append(Check(f"fabric {fabric.name}: lock", "cannot tell", found, mend))
    return checks


def _loader(text: str) -> Callable[[], BenchmarkPlugin]:
    def loaded() -> BenchmarkPlugin:
        plugin = load("benchmark", text)
        assert isinstance(plugin, BenchmarkPlugin)
        return plugin

    return loaded


def _check_own_network(file: ClusterFile) -> None:
    """Refuse a cluster's topology that is none."""
    if file.cluster.topology:
        try:
            canonical("topology", file.cluster.topology)
        except InputError as error:
            raise InputError(f"{file.path}: topology: {error}") from None


def _built(text: str | None) -> Topology | None:
    """The network; None if there is none, or it cannot be built, which a check of it tells."""
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


def _meant(cluster: Cluster, asked: str | None, network: Topology | None) -> tuple[str, ...]:
    """The hosts that jobs run on: of the network that is asked for, or all there are."""
    if asked is not None:
        return _hosts(cluster, asked, network)
    hosts = dict.fromkeys(cluster.all_hosts)
    for text in cluster.node_sets:
        part = _built(text)
        hosts |= dict.fromkeys(_hosts(cluster, text, part))
    return tuple(hosts)


def _configured(file: ClusterFile) -> list[Check]:
    known = [entry.key for entry in installed_catalogue().entries("benchmark")]
    checks = []
    for name in file.cluster.benchmarks:
        if name in known:
            checks += check_configured(file, name)
        else:
            mend = suggestion(name, known).removeprefix("; ")
            checks.append(
                Check(f"benchmarks: {name}", "missing", "there is no such benchmark plugin", mend)
            )
    return checks
