"""Checks whether Slurm has the partition, nodes and kind of MPI of a cluster's file."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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


def check_slurm(cluster: Cluster, hosts: Sequence[str], nodes: int) -> list[ClusterCheck]:
    """Check the cluster's Slurm, if its launcher uses Slurm.

    Parameters
    ----------
    cluster : Cluster
    hosts : sequence of str
        All hosts of jobs.
    nodes : int
        Number of nodes of the largest job.
    """
    if cluster.launcher != "srun" and cluster.partition is None:
        return []
    if shutil.which("sinfo") is None:
        fix = "run this where Slurm's commands are (Debian: slurm-client)"
        return [ClusterCheck("Slurm", "missing", "there is no sinfo here", fix)]
    answer = query_system(["sinfo", "--all", "--noheader", "--format=%R|%P|%a|%l|%s|%D"])
    if answer.code != 0:
        return [
            ClusterCheck(
                "Slurm", "missing", answer.reason, "is slurmctld running, and this its host?"
            )
        ]
    partitions = [line.split("|") for line in answer.stdout.splitlines() if line.count("|") == 5]
    wanted, checks = _partitions(cluster, partitions, nodes)
    return [*checks, *_hosts(hosts, wanted), *(_mpi(cluster) if cluster.launcher == "srun" else [])]


def _partitions(
    cluster: Cluster, lines: Sequence[Sequence[str]], nodes: int
) -> tuple[list[str], list[ClusterCheck]]:
    """Return the names of the jobs' partitions, and the results of their checks."""
    known = ", ".join(line[0] for line in lines)
    if cluster.partition is None:
        wanted = [line[0] for line in lines if line[1].endswith("*")]
        if not wanted:
            fix = f"name one: partition: ...; there are {known}"
            return [], [
                ClusterCheck("partition", "missing", "none is named or Slurm's default", fix)
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
            checks += _partition(what, line, nodes)
    return wanted, checks


def _partition(what: str, line: Sequence[str], nodes: int) -> list[ClusterCheck]:
    _, _, available, limit, sizes, count = line
    found = f"{available}, {count} nodes, jobs of {sizes} nodes, time limit {limit}"
    if available != "up":
        return [
            ClusterCheck(what, "missing", f"it is {available}", "wait, or choose another partition")
        ]
    most = sizes.rpartition("-")[2]
    if int(count) < nodes or (most.isdecimal() and int(most) < nodes):
        fix = "choose another partition, or a smaller network (--topology)"
        return [ClusterCheck(what, "missing", f"{found}; {nodes} nodes are needed", fix)]
    return [ClusterCheck(what, "ok", found)]


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
            told = elsewhere if host in known else "Slurm does not know it"
            bad.setdefault((told, "fix hosts or partition"), []).append(host)
        elif node.usable:
            good.setdefault(node.state, []).append(host)
        else:
            reason = "" if node.reason in ("", "none") else f" ({node.reason})"
            silent = " and does not answer" if NO_ANSWER in node.state else ""
            told = f"{node.state.rstrip(_FLAGS)}{silent}{reason}"
            fix = "wait, choose other hosts, or have it resumed (scontrol update ... state=resume)"
            bad.setdefault((told, fix), []).append(host)
    checks = [
        ClusterCheck(f"nodes {compress(names)}", "ok", state) for state, names in good.items()
    ]
    return checks + [
        ClusterCheck(f"nodes {compress(names)}", "missing", told, fix)
        for (told, fix), names in bad.items()
    ]


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
                what, "cannot tell", answer.reason, "say what the benchmarks need: mpi: pmi2"
            )
        ]
    if match[1] in ("none", "(null)"):
        fix = "say what the benchmarks need: mpi: pmi2 (MPICH) or pmix (Open MPI)"
        return [
            ClusterCheck(what, "missing", "Slurm's default is none: each rank would be alone", fix)
        ]
    return [ClusterCheck(what, "ok", f"Slurm's default, {match[1]}")]


def _mpi_kinds(answer: CommandOutput) -> list[str]:
    """Return the kinds of MPI that Slurm lists, on either stream, after its name."""
    lines: Iterable[str] = (answer.stdout + "\n" + answer.stderr).splitlines()
    words = [line.removeprefix("srun:").strip() for line in lines]
    names = [word for word in words if re.fullmatch(r"[A-Za-z0-9_.-]+", word)]
    versions = next((word for word in words if word.startswith("specific pmix plugin")), "")
    return [*names, *re.findall(r"pmix_v\d+", versions)]
