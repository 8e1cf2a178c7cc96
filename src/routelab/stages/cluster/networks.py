"""Checks whether the hosts of a cluster fit its network, and its node sets fit both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from routelab.api import InputError, RoutelabError, Topology
from routelab.config.cluster.file import Cluster, ClusterFile
from routelab.config.cluster.hostlist import compress
from routelab.registry.instances import canonical, load
from routelab.stages.cluster.answers import ClusterCheck, checks_of_error


def check_networks(file: ClusterFile, topologies: Sequence[str]) -> list[ClusterCheck]:
    """Check hosts, their coordinates, and node sets.

    Parameters
    ----------
    file : ClusterFile
    topologies : sequence of str
        Instance names of networks of jobs; none: all node sets. The cluster's own is always
        checked.
    """
    cluster = file.cluster
    if not cluster.hosts and not cluster.node_sets:
        return [_no_hosts(cluster)]
    checks: list[ClusterCheck] = []
    whole, hosts = None, tuple[str, ...]()
    if cluster.topology is not None and cluster.hosts:
        whole, hosts, found = _load_network(file, cluster.topology, "hosts")
        checks += found
        if whole is not None and hosts:
            checks.append(ClusterCheck("coordinates", "ok", _coordinates(cluster)))
    elif cluster.hosts:
        checks.append(ClusterCheck("hosts", "ok", f"{compress(cluster.all_hosts)}"))
        fix = "name their network: topology: torus~dims=..."
        checks.append(ClusterCheck("coordinates", "cannot tell", "topology is missing", fix))
    own = _canonical(cluster.topology) if cluster.topology is not None else ""
    for text in topologies or cluster.node_sets:
        if own and _canonical(text) == own:
            continue
        part, names, found = _load_network(file, text, f"node set {text}")
        checks += found
        if part is not None and names and whole is not None and hosts:
            checks += _neighbours(text, (part, names), (whole, hosts), str(cluster.topology))
    return checks


def _no_hosts(cluster: Cluster) -> ClusterCheck:
    if cluster.launcher != "srun":
        return ClusterCheck("hosts", "ok", "none: everything runs on this machine")
    return ClusterCheck(
        "hosts",
        "missing",
        "none, but the launcher is srun",
        "list them in 'hosts', or measure in an allocation (salloc, sbatch)",
    )


def _load_network(
    file: ClusterFile, text: str, what: str
) -> tuple[Topology | None, tuple[str, ...], list[ClusterCheck]]:
    """Return a network, the hosts of its terminals, and the results of their checks."""
    try:
        topology = load("topology", text).build()
    except RoutelabError as error:
        return (
            None,
            (),
            [ClusterCheck(what, "missing", f"{text}: {error}", "fix the name of the network")],
        )
    try:
        hosts = file.cluster.hosts_of(text, topology.num_terminals)
    except InputError as error:
        return (
            topology,
            (),
            checks_of_error(what, error, f"{file.path}: ", "hosts: ", "node_sets: ", f"{text}: "),
        )
    return topology, hosts, [ClusterCheck(what, "ok", f"{compress(hosts)} as {text}")]


def _coordinates(cluster: Cluster) -> str:
    if isinstance(cluster.hosts, Mapping):
        return "of every host, all inside the network"
    return f"by the order of the terminals of {cluster.topology}"


def _neighbours(
    text: str,
    part: tuple[Topology, Sequence[str]],
    whole: tuple[Topology, Sequence[str]],
    whole_text: str,
) -> list[ClusterCheck]:
    what = f"node set {text}: neighbours"
    apart = list(dict.fromkeys(strangers(*part, *whole)))
    if apart:
        shown = ", ".join(f"{one} and {other}" for one, other in apart[:3])
        more = f" and {len(apart) - 3} more pairs" if len(apart) > 3 else ""
        return [
            ClusterCheck(
                what,
                "missing",
                f"{shown}{more} are neighbours in it, but not in {whole_text}",
                "choose other hosts, or list them in the order of the terminals",
            )
        ]
    bare = part[0].num_switches - len(part[0].endpoints)
    if bare:
        found = f"{bare} of its switches have no hosts, so their positions are unknown"
        return [ClusterCheck(what, "cannot tell", found)]
    return [ClusterCheck(what, "ok", f"each channel is one of {whole_text}")]


def strangers(
    part: Topology, part_hosts: Sequence[str], whole: Topology, whole_hosts: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Iterate over pairs of hosts that are adjacent in a part of a network only.

    Parameters
    ----------
    part, whole : Topology
    part_hosts, whole_hosts : sequence of str
        In the order of their terminals; the whole has all hosts of the part.

    Yields
    ------
    one, other : str
        In alphabetical order: only in the part they share a switch, or a channel connects their
        switches.
    """
    switch = dict(zip(whole_hosts, whole.terminal_switch.tolist(), strict=True))
    ends = (whole.channel_source.tolist(), whole.channel_target.tolist())
    joined = set(zip(*ends, strict=True))
    at: dict[int, list[str]] = {}
    for host, place in zip(part_hosts, part.terminal_switch.tolist(), strict=True):
        at.setdefault(place, []).append(host)
    for hosts in at.values():
        for one, other in pairwise(hosts):
            if switch[one] != switch[other]:
                yield one, other
    ends = (part.channel_source.tolist(), part.channel_target.tolist())
    for source, target in zip(*ends, strict=True):
        if source in at and target in at:
            one, other = at[source][0], at[target][0]
            if (switch[one], switch[other]) not in joined:
                yield min(one, other), max(one, other)


def _canonical(text: str) -> str:
    try:
        return canonical("topology", text)
    except InputError:
        return text
