"""Checks whether Slurm has the partition, nodes and kind of MPI of a cluster's file."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from routelab.config.cluster.file import Cluster
from routelab.config.cluster.hostlist import compress
from routelab.stages.cluster.answers import ClusterCheck, CommandOutput, query_system

USABLE = frozenset(
    {"idle", "mixed", "allocated", "completing", "planned", "reserved", "powering_up"}
    | {"powered_down", "power_down", "powering_down", "powered_up", "power_up", "reboot"}
)
"""States of nodes on which a job can start, immediately or later."""

NO_ANSWER = "*"
"""Ends the state of a node that does not answer."""

_FLAGS = "*~#$@^!%-+"


@dataclass(frozen=True)
class _Node:
    name: str
    partition: str
    state: str
    reason: str

    @property
    def usable(self) -> bool:
        return self.state.rstrip(_FLAGS).lower() in USABLE and NO_ANSWER not in self.state


class JobSize(NamedTuple):
    """The size of a job: nodes, minutes to ask for (0: unknown), processes on each node."""

    nodes: int
    minutes: int = 0
    ranks_per_node: int = 0


def uses_slurm(cluster: Cluster) -> bool:
    """Return whether jobs of a cluster go through Slurm."""
    return cluster.launcher == "srun" or cluster.partition is not None


def absent(cluster: Cluster) -> str:
    """Return why this machine does not belong to a cluster; empty if it may belong to it.

    A machine belongs to a cluster with Slurm if its Slurm knows the partition or one of the hosts.
    """
    if not uses_slurm(cluster):
        return ""
    if shutil.which("sinfo") is None:
        return "sinfo was not found here"
    answer = query_system(["sinfo", "--all", "--noheader", "--Node", "--format=%N|%R"])
    if answer.code != 0:
        return f"Slurm does not answer: {answer.reason}"
    pairs = [line.split("|") for line in answer.stdout.splitlines() if "|" in line]
    known = {name for host, partition, *_ in pairs for name in (host, partition)}
    named = (cluster.partition or "").split(",")
    if known.isdisjoint([*named, *cluster.all_hosts]):
        return "Slurm here has neither its partition nor its hosts"
    return ""


def check_slurm(
    cluster: Cluster, hosts: Sequence[str], jobs: Sequence[JobSize]
) -> list[ClusterCheck]:
    """Check the cluster's Slurm, if its launcher uses Slurm.

    Parameters
    ----------
    cluster : Cluster
    hosts : sequence of str
        All hosts of jobs.
    jobs : sequence of JobSize
        At least one.
    """
    if not uses_slurm(cluster):
        return []
    if shutil.which("sinfo") is None:
        fix = "run this on a host with Slurm's commands (Debian: slurm-client)"
        return [ClusterCheck("Slurm", "missing", "sinfo was not found here", fix)]
    answer = query_system(["sinfo", "--all", "--noheader", "--format=%R|%P|%a|%l|%s|%D"])
    if answer.code != 0:
        return [
            ClusterCheck(
                "Slurm",
                "missing",
                answer.reason,
                "check that slurmctld runs and that this host belongs to its cluster",
            )
        ]
    partitions = [line.split("|") for line in answer.stdout.splitlines() if line.count("|") == 5]
    wanted, checks = _partitions(cluster, partitions, jobs)
    checks += [*_hosts(hosts, wanted), *_cores(hosts, max(job.ranks_per_node for job in jobs))]
    return [*checks, *(_mpi(cluster) if cluster.launcher == "srun" else [])]


def _partitions(
    cluster: Cluster, lines: Sequence[Sequence[str]], jobs: Sequence[JobSize]
) -> tuple[list[str], list[ClusterCheck]]:
    """Return the names of the jobs' partitions, and the results of their checks."""
    known = ", ".join(line[0] for line in lines)
    if cluster.partition is None:
        wanted = [line[0] for line in lines if line[1].endswith("*")]
        if not wanted:
            fix = f"name one: partition: ...; there are {known}"
            return [], [
                ClusterCheck("partition", "missing", "none is named, and Slurm has no default", fix)
            ]
    else:
        wanted = cluster.partition.split(",")
    checks = []
    for name in wanted:
        line = next((line for line in lines if line[0] == name), None)
        what = f"partition {name}"
        if line is None:
            fix = f"name one of Slurm's: {known}" if known else "ask Slurm's administrators"
            checks.append(ClusterCheck(what, "missing", "Slurm does not know it", fix))
        else:
            checks += _partition(what, line, jobs)
    return wanted, checks


def _partition(what: str, line: Sequence[str], jobs: Sequence[JobSize]) -> list[ClusterCheck]:
    _, _, available, limit, sizes, count = line
    found = f"{available}, {count} nodes, jobs of {sizes} nodes, time limit {limit}"
    if available != "up":
        return [
            ClusterCheck(what, "missing", f"it is {available}", "wait, or choose another partition")
        ]
    least, most = sizes.partition("-")[0], sizes.rpartition("-")[2]
    checks = []
    for nodes in sorted({job.nodes for job in jobs}):
        if int(count) < nodes or (most.isdecimal() and int(most) < nodes):
            fix = "choose another partition, or a smaller network (--topology)"
        elif least.isdecimal() and int(least) > nodes:
            fix = "choose another partition, or a larger network (--topology)"
        else:
            continue
        checks.append(ClusterCheck(what, "missing", f"{found}; {nodes} nodes are needed", fix))
    minutes = max(job.minutes for job in jobs)
    allowed = limit_minutes(limit)
    if allowed is not None and allowed < minutes:
        found += f"; {minutes} minutes are requested"
        fix = (
            f"request less with bench: {{minutes: {int(allowed)}}} and run the same command again "
            "for the rest; or choose another partition"
        )
        checks.append(ClusterCheck(what, "missing", found, fix))
    return checks or [ClusterCheck(what, "ok", found)]


def limit_minutes(text: str) -> float | None:
    """Return a time limit as sinfo prints it, in minutes; None if there is none.

    Forms are ``infinite``, ``minutes:seconds``, ``hours:minutes:seconds`` and the latter behind
    ``days-``.
    """
    match = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return (days * 24 + hours) * 60 + minutes + seconds / 60


def _hosts(hosts: Sequence[str], partitions: Sequence[str]) -> list[ClusterCheck]:
    """Return a check for all usable hosts, and one for each kind of problem."""
    if not hosts:
        return []
    answer = query_system(["sinfo", "--all", "--noheader", "--Node", "--format=%N|%R|%T|%E"])
    if answer.code != 0:
        return [ClusterCheck("nodes", "cannot tell", answer.reason)]
    lines = (line.split("|", 3) for line in answer.stdout.splitlines() if line.count("|") >= 3)
    nodes = [_Node(*line) for line in lines]
    there = {node.name: node for node in nodes if not partitions or node.partition in partitions}
    known = {node.name for node in nodes}
    good: dict[str, list[str]] = {}
    bad: dict[tuple[str, str], list[str]] = {}
    for host in hosts:
        node = there.get(host)
        if node is None:
            elsewhere = f"not in partition {','.join(partitions)}"
            problem = elsewhere if host in known else "Slurm does not know it"
            bad.setdefault((problem, "fix hosts or partition"), []).append(host)
        elif node.usable:
            good.setdefault(node.state, []).append(host)
        else:
            reason = "" if node.reason in ("", "none") else f" ({node.reason})"
            silent = " and does not answer" if NO_ANSWER in node.state else ""
            problem = f"{node.state.rstrip(_FLAGS)}{silent}{reason}"
            fix = "wait, choose other hosts, or resume it (scontrol update ... state=resume)"
            bad.setdefault((problem, fix), []).append(host)
    checks = [
        ClusterCheck(f"nodes {compress(names)}", "ok", state) for state, names in good.items()
    ]
    return checks + [
        ClusterCheck(f"nodes {compress(names)}", "missing", problem, fix)
        for (problem, fix), names in bad.items()
    ]


def _cores(hosts: Sequence[str], ranks_per_node: int) -> list[ClusterCheck]:
    """Check whether hosts have a core for each process; nothing if the number is unknown."""
    if not (hosts and ranks_per_node):
        return []
    answer = query_system(["sinfo", "--all", "--noheader", "--Node", "--format=%N|%c"])
    lines = [line.split("|") for line in answer.stdout.splitlines()]
    cores = {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdecimal()}
    few = [host for host in hosts if cores.get(host, ranks_per_node) < ranks_per_node]
    if few:
        least = min(cores[host] for host in few)
        found = f"{least} cores for {ranks_per_node} processes"
        fix = "use fewer processes, bench: {ranks_per_node: ...}, or other hosts"
        return [ClusterCheck(f"cores of {compress(few)}", "missing", found, fix)]
    return []


def _mpi(cluster: Cluster) -> list[ClusterCheck]:
    if cluster.mpi is None:
        return _default_mpi()
    answer = query_system(["srun", "--mpi=list"])
    names = _mpi_kinds(answer)
    what = f"srun --mpi={cluster.mpi}"
    if not names:
        return [ClusterCheck(what, "cannot tell", answer.reason)]
    if cluster.mpi not in names:
        return [
            ClusterCheck(what, "missing", "srun does not list it", f"one of {', '.join(names)}")
        ]
    # whether its library is installed is unknown before a step starts
    return [ClusterCheck(what, "ok", "srun lists it")]


def _default_mpi() -> list[ClusterCheck]:
    what = "srun --mpi"
    answer = query_system(["scontrol", "show", "config"])
    match = re.search(r"^MpiDefault\s*=\s*(\S+)", answer.stdout, re.MULTILINE)
    if match is None:
        return [
            ClusterCheck(
                what,
                "cannot tell",
                answer.reason,
                "set the type that the benchmarks need: mpi: pmi2",
            )
        ]
    if match[1] in ("none", "(null)"):
        fix = "set the type that the benchmarks need: mpi: pmi2 (MPICH) or pmix (Open MPI)"
        return [
            ClusterCheck(what, "missing", "Slurm's default is none: each rank would run alone", fix)
        ]
    return [ClusterCheck(what, "ok", f"Slurm's default, {match[1]}")]


def _mpi_kinds(answer: CommandOutput) -> list[str]:
    """Return the kinds of MPI that Slurm lists, on either stream, after its name."""
    lines: Iterable[str] = (answer.stdout + "\n" + answer.stderr).splitlines()
    words = [line.removeprefix("srun:").strip() for line in lines]
    names = [word for word in words if re.fullmatch(r"[A-Za-z0-9_.-]+", word)]
    versions = next((word for word in words if word.startswith("specific pmix plugin")), "")
    return [*names, *re.findall(r"pmix_v\d+", versions)]
