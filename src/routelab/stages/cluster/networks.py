"""Whether the hosts of a cluster go with its network, and its node sets with both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from routelab.api import InputError, RoutelabError, Topology
from routelab.config.cluster.file import Cluster, ClusterFile
from routelab.config.cluster.hostlist import compress
from routelab.registry.instances import canonical, load
from routelab.stages.cluster.answers import Check, refused


def check_networks(file: ClusterFile, asked: str | None) -> list[Check]:
    """Hosts, their coordinates, and node sets.

    Parameters
    ----------
    file : ClusterFile
    asked : str or None
        Instance name of the network that is meant; by default the cluster's own and all of its
        node sets.
    """
    cluster = file.cluster
    if not cluster.hosts and not cluster.node_sets:
        return [_no_hosts(cluster)]
    checks: list[Check] = []
    whole, hosts = None, tuple[str, ...]()
    if cluster.topology is not None and cluster.hosts:
        whole, hosts, found = _obtained(file, cluster.topology, "hosts")
        checks += found
        if whole is not None and hosts:
            checks.append(Check("coordinates", "ok", _coordinates(cluster)))
    elif cluster.hosts:
        checks.append(Check("hosts", "ok", f"{compress(cluster.all_hosts)}"))
        mend = "say in which network they are: topology: torus~dims=..."
        checks.append(Check("coordinates", "cannot tell", "there is no topology", mend))
    own = _canonical(cluster.topology) if cluster.topology is not None else ""
    for text in [asked] if asked is not None else cluster.node_sets:
        if own and _canonical(text) == own:
            continue
        part, names, found = _obtained(file, text, f"node set {text}")
        checks += found
        if part is not None and names and whole is not None and hosts:
            checks += _neighbours(text, (part, names), (whole, hosts), str(cluster.topology))
    return checks


def _no_hosts(cluster: Cluster) -> Check:
    if cluster.launcher != "srun":
        return Check("hosts", "ok", "none: everything runs on this machine")
    return Check(
        "hosts",
        "missing",
        "none, and the launcher is srun",
        "name them (hosts), or measure in an allocation (salloc, sbatch)",
    )


def _obtained(
    file: ClusterFile, text: str, what: str
) -> tuple[Topology | None, tuple[str, ...], list[Check]]:
    """A network, the hosts of its terminals, and what is to be said of them."""
    try:
        topology = load("topology", text).build()
    except RoutelabError as error:
        return (
            None,
            (),
            [Check(what, "missing", f"{text}: {error}", "mend the name of the network")],
        )
    try:
        hosts = file.cluster.hosts_of(text, topology.num_terminals)
    except InputError as error:
        return (
            topology,
            (),
            refused(what, error, f"{file.path}: ", "hosts: ", "node_sets: ", f"{text}: "),
        )
    return topology, hosts, [Check(what, "ok", f"{compress(hosts)} as {text}")]


def _coordinates(cluster: Cluster) -> str:
    if isinstance(cluster.hosts, Mapping):
        return "of every host, all inside the network"
    return f"by the order of the terminals of {cluster.topology}"


def _neighbours(
    text: str,
    part: tuple[Topology, Sequence[str]],
    whole: tuple[Topology, Sequence[str]],
    whole_text: str,
) -> list[Check]:
    what = f"node set {text}: neighbours"
    apart = list(dict.fromkeys(strangers(*part, *whole)))
    if apart:
        shown = ", ".join(f"{one} and {other}" for one, other in apart[:3])
        more = f" and {len(apart) - 3} more pairs" if len(apart) > 3 else ""
        return [
            Check(
                what,
                "missing",
                f"{shown}{more} are neighbours in it, and not in {whole_text}",
                "choose other hosts, or put them into the order of the terminals",
            )
        ]
    bare = part[0].num_switches - len(part[0].endpoints)
    if bare:
        found = f"{bare} switches of it have no hosts: which ones they are is not known"
        return [Check(what, "cannot tell", found)]
    return [Check(what, "ok", f"each channel lies on one of {whole_text}")]


def strangers(
    part: Topology, part_hosts: Sequence[str], whole: Topology, whole_hosts: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Hosts that a part of a network puts together, and the whole of it does not.

    Parameters
    ----------
    part, whole : Topology
    part_hosts, whole_hosts : sequence of str
        In the order of their terminals; those of the part are among those of the whole.

    Yields
    ------
    one, other : str
        In alphabetical order: they share a switch or a channel joins theirs in the part alone.
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
