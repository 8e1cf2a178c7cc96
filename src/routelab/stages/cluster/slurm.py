"""Checks whether Slurm has the partition, nodes and kind of MPI of a cluster's file."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from routelab.config.cluster.file import Cluster
from routelab.config.cluster.hostlist import compress
from routelab.stages.cluster.answers import CheckResult, CommandOutput, run_command

USABLE = frozenset(
    {"idle", "mixed", "allocated", "completing", "planned", "reserved", "powering_up"}
    | {"powered_down", "power_down", "powering_down", "powered_up", "power_up", "reboot"}
)
"""States of nodes that a job starts on, at once or when it is their turn."""

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


def check_slurm(cluster: Cluster, hosts: Sequence[str], nodes: int) -> list[CheckResult]:
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
        mend = "run this where Slurm's commands are (Debian: slurm-client)"
        return [CheckResult("Slurm", "missing", "there is no sinfo here", mend)]
    answer = run_command(["sinfo", "--all", "--noheader", "--format=%R|%P|%a|%l|%s|%D"])
    if answer.code != 0:
        return [
            CheckResult(
                "Slurm", "missing", answer.reason, "is slurmctld running, and this its host?"
            )
        ]
    partitions = [line.split("|") for line in answer.stdout.splitlines() if line.count("|") == 5]
    wanted, checks = _partitions(cluster, partitions, nodes)
    return [*checks, *_hosts(hosts, wanted), *(_mpi(cluster) if cluster.launcher == "srun" else [])]


def _partitions(
    cluster: Cluster, lines: Sequence[Sequence[str]], nodes: int
) -> tuple[list[str], list[CheckResult]]:
    """Return the names of the jobs' partitions, and the results of their checks."""
    known = ", ".join(line[0] for line in lines)
    if cluster.partition is None:
        wanted = [line[0] for line in lines if line[1].endswith("*")]
        if not wanted:
            mend = f"name one: partition: ...; there are {known}"
            return [], [
                CheckResult("partition", "missing", "none is named or Slurm's default", mend)
            ]
    else:
        wanted = cluster.partition.split(",")
    checks = []
    for name in wanted:
        line = next((line for line in lines if line[0] == name), None)
        what = f"partition {name}"
        if line is None:
            mend = f"name one of Slurm's: {known}" if known else "ask Slurm's administrators"
            checks.append(CheckResult(what, "missing", "Slurm does not know it", mend))
        else:
            checks += _partition(what, line, nodes)
    return wanted, checks


def _partition(what: str, line: Sequence[str], nodes: int) -> list[CheckResult]:
    _, _, available, limit, sizes, count = line
    found = f"{available}, {count} nodes, jobs of {sizes} nodes, time limit {limit}"
    if available != "up":
        return [
            CheckResult(what, "missing", f"it is {available}", "wait, or choose another partition")
        ]
    most = sizes.rpartition("-")[2]
    if int(count) < nodes or (most.isdecimal() and int(most) < nodes):
        mend = "choose another partition, or a smaller network (--topology)"
        return [CheckResult(what, "missing", f"{found}; {nodes} nodes are needed", mend)]
    return [CheckResult(what, "ok", found)]


def _hosts(hosts: Sequence[str], partitions: Sequence[str]) -> list[CheckResult]:
    """Return a check for all usable hosts, and one for each kind of problem."""
    if not hosts:
        return []
    answer = run_command(["sinfo", "--all", "--noheader", "--Node", "--format=%N|%R|%T|%E"])
    if answer.code != 0:
        return [CheckResult("nodes", "cannot tell", answer.reason)]
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
            bad.setdefault((told, "mend hosts or partition"), []).append(host)
        elif node.usable:
            good.setdefault(node.state, []).append(host)
        else:
            reason = "" if node.reason in ("", "none") else f" ({node.reason})"
            silent = " and does not answer" if NO_ANSWER in node.state else ""
            told = f"{node.state.rstrip(_FLAGS)}{silent}{reason}"
            mend = "wait, choose other hosts, or have it resumed (scontrol update ... state=resume)"
            bad.setdefault((told, mend), []).append(host)
    checks = [CheckResult(f"nodes {compress(names)}", "ok", state) for state, names in good.items()]
    return checks + [
        CheckResult(f"nodes {compress(names)}", "missing", told, mend)
        for (told, mend), names in bad.items()
    ]


def _mpi(cluster: Cluster) -> list[CheckResult]:
    if cluster.mpi is None:
        return _default_mpi()
    answer = run_command(["srun", "--mpi=list"])
    names = _mpi_kinds(answer)
    what = f"srun --mpi={cluster.mpi}"
    if not names:
        return [CheckResult(what, "cannot tell", answer.reason)]
    if cluster.mpi not in names:
        return [CheckResult(what, "missing", "srun does not list it", f"one of {', '.join(names)}")]
    # whether its library is installed is unknown before a step starts
    return [CheckResult(what, "ok", "srun lists it")]


def _default_mpi() -> list[CheckResult]:
    what = "srun --mpi"
    answer = run_command(["scontrol", "show", "config"])
    match = re.search(r"^MpiDefault\s*=\s*(\S+)", answer.stdout, re.MULTILINE)
    if match is None:
        return [
            CheckResult(
                what, "cannot tell", answer.reason, "say what the benchmarks need: mpi: pmi2"
            )
        ]
    if match[1] in ("none", "(null)"):
        mend = "say what the benchmarks need: mpi: pmi2 (MPICH) or pmix (Open MPI)"
        return [
            CheckResult(what, "missing", "Slurm's default is none: each rank would be alone", mend)
        ]
    return [CheckResult(what, "ok", f"Slurm's default, {match[1]}")]


def _mpi_kinds(answer: CommandOutput) -> list[str]:
    """Return the kinds of MPI that Slurm lists, on either stream, after its name."""
    lines: Iterable[str] = (answer.stdout + "\n" + answer.stderr).splitlines()
    words = [line.removeprefix("srun:").strip() for line in lines]
    names = [word for word in words if re.fullmatch(r"[A-Za-z0-9_.-]+", word)]
    versions = next((word for word in words if word.startswith("specific pmix plugin")), "")
    return [*names, *re.findall(r"pmix_v\d+", versions)]
