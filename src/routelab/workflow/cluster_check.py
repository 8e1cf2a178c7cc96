"""Checks of a cluster before any node-hour is spent: what is found on this machine, and in Slurm.

What only a run can show, such as an MPI that does not fit the launcher, is left to a run of one
minute: see `smoke_command`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from routelab.api import BenchmarkPlugin, InputError, RoutelabError
from routelab.cluster.bench.fabric.fabric import program_problem
from routelab.cluster.bench.fabric.switching import require_fabric
from routelab.cluster.bench.launchers import find_program
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.instances import canonical, load
from routelab.study import load_study
from routelab.study.cluster.hostlist import compress
from routelab.study.cluster.keys import (
    CLUSTERS,
    Cluster,
    ClusterFile,
    load_cluster,
    require_cluster,
)
from routelab.study.errors import suggestion
from routelab.workflow.plan.allocations import expected_node_hours
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.stages.comparisons import ComparisonJob

SMOKE = "mpi-patterns"
"""Benchmark of the run of a minute, see `smoke_command`."""

SECONDS = 30.0
"""Time limit of a question to Slurm."""


@dataclass(frozen=True)
class ClusterCheck:
    """The result of checking one requirement of jobs.

    Attributes
    ----------
    subject : str
    state : {"ok", "missing", "cannot tell"}
    finding : str
        What was found instead, or its kind.
    fix : str
        How to fix it; empty if no fix is needed.
    """

    subject: str
    state: Literal["ok", "missing", "cannot tell"]
    finding: str = ""
    fix: str = ""


def check_cluster(
    name: str, benchmarks: Sequence[str] = (), topology: str | None = None
) -> list[ClusterCheck]:
    """Check a cluster's file, networks, launcher, partition, programs and fabric.

    Parameters
    ----------
    name : str
        Name of a file in ``config/clusters``, or a path.
    benchmarks : sequence of str
        Instance names; by default the benchmarks in the file are checked.
    topology : str, optional
        Instance name of the network of a job; by default the cluster's own, and all node sets.

    Raises
    ------
    InputError
        If the file or a name is wrong.
    """
    file = load_cluster(require_cluster(name, word="cluster"))
    cluster = file.cluster
    plugins = {text: _benchmark(text) for text in benchmarks}
    if topology is not None:
        canonical("topology", topology)
    own_network = [cluster.topology] if cluster.topology and cluster.hosts else []
    networks = [topology] if topology is not None else [*own_network, *cluster.node_sets]
    checks, nodes = _check_site(file, networks)
    ranks_per_node = cluster.ranks_per_node
    size = nodes.get(topology or cluster.topology or "") or cluster.nodes or len(cluster.all_hosts)
    if SMOKE not in {plugin.name for plugin in plugins.values()}:
        plugins[SMOKE] = _benchmark(SMOKE)  # the run of a minute needs it in any case
    for text, plugin in plugins.items():
        checks += _check_programs(
            file, f"benchmark {text}", plugin, [(max(size, 1), ranks_per_node)]
        )
    benchmark_names = [entry.key for entry in installed_catalogue().entries("benchmark")]
    for key, setting in cluster.benchmarks.items() if not benchmarks else ():
        if key == SMOKE:
            continue
        subject = f"benchmarks: {key}"
        if key not in benchmark_names:
            fix = suggestion(key, benchmark_names).removeprefix("; ")
            checks.append(ClusterCheck(subject, "missing", "benchmark plugin not found", fix))
        elif Path(setting).is_dir():
            note = f"add --benchmark {key}: the required files depend on its parameters"
            checks.append(ClusterCheck(subject, "cannot tell", f"folder {setting}", note))
        else:
            checks += _attempt(subject, file, partial(cluster.executable, key, ()))
    return _merged(checks)


def check_study_on_cluster(name: str, study: Path, results: Path) -> list[ClusterCheck]:
    """Check what all comparisons of a study need on a cluster.

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
        If the file or the study is wrong, or the study measures nothing.
    """
    file = load_cluster(require_cluster(name, word="cluster"))
    jobs = _comparisons_of(study, results)
    if not jobs:
        raise InputError(
            f"{study}: this study has no measurements on a cluster; add benchmarks: and bench: "
            f"{{cluster: {file.path.stem}}}"
        )
    on_this_cluster = [job for job in jobs if _cluster_of(job).resolve() == file.path.resolve()]
    return _check_comparisons(file, study, on_this_cluster or jobs)


def study_lines(study: Path, results: Path) -> list[str]:
    """Return what the clusters lack that a study names, as lines; none if it names no cluster.

    A cluster of Slurm is not checked on a machine without Slurm; a line says what to run there.

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
    jobs = _comparisons_of(study, results)
    for path in dict.fromkeys(map(_cluster_of, jobs)):
        file = load_cluster(path)
        name = path.stem if path.parent == CLUSTERS else str(path)
        place = f"{study}: cluster {name}: "
        if _uses_slurm(file.cluster) and shutil.which("sinfo") is None:
            command = shlex.join(["routelab", "cluster", "check", name, "--study", str(study)])
            lines.append(f"{place}sinfo was not found here; on the cluster: {command}")
            continue
        checks = _check_comparisons(file, study, [job for job in jobs if _cluster_of(job) == path])
        lines += [
            f"{place}{check.subject}: {check.finding}"
            f"{f'; {check.fix}' if check.fix else ''} ({check.state})"
            for check in checks
            if check.state != "ok"
        ] or [f"{place}nothing is missing"]
    return lines


def smoke_command(name: str) -> str:
    """Return the command of a run of a minute, which shows what no check can."""
    words = ["--benchmark", SMOKE, "--repeats", "1", "--warm-up", "0", "--seconds", "60"]
    return shlex.join(["routelab", "bench", "--cluster", name, *words])


def _check_comparisons(
    file: ClusterFile, study: Path, jobs: Sequence[ComparisonJob]
) -> list[ClusterCheck]:
    """Return the checks of one study: its cost, its cluster's site, and the programs it needs."""
    allocations = "1 allocation" if len(jobs) == 1 else f"{len(jobs)} allocations"
    runs, hours = sum(job.comparison.runs for job in jobs), sum(job.node_hours for job in jobs)
    finding = f"{study}: {allocations}, {runs} runs, {hours:.1f} node-hours at most"
    expected = expected_node_hours(jobs)
    if expected is not None:
        finding += f", {expected:.2f} expected by the runs so far"
    checks = [ClusterCheck("study", "ok", finding)]
    cluster_names = dict.fromkeys(_cluster_of(job).stem for job in jobs)
    if file.path.stem not in cluster_names:
        finding = f"the study names {', '.join(cluster_names)}; this is what it would need here"
        choice = f"studies={study.stem} cluster={file.path.stem}"
        fix = f"to measure here: snakemake report --config {choice}"
        checks.append(ClusterCheck("study: cluster", "cannot tell", finding, fix))
    networks = dict.fromkeys(job.network for job in jobs)
    max_routings = max(len(job.comparison.routings) for job in jobs)
    checks += _check_site(file, list(networks), max_routings)[0]
    sizes = [
        (job.nodes, job.comparison.settings.ranks_per_node or file.cluster.ranks_per_node)
        for job in jobs
    ]
    for part in dict.fromkeys(part for job in jobs for part in job.comparison.benchmarks):
        checks += _check_programs(file, f"benchmark {part.id}", _benchmark(part.text), sizes)
    return _merged(checks)


def _check_site(
    file: ClusterFile, networks: Sequence[str], routings: int = 1
) -> tuple[list[ClusterCheck], dict[str, int]]:
    """Check all but programs; return also the number of nodes of each network."""
    cluster = file.cluster
    checks = [ClusterCheck("file", "ok", str(file.path))]
    if not cluster.hosts and not cluster.node_sets:
        checks.append(_no_hosts(cluster))
    nodes: dict[str, int] = {}
    for text in dict.fromkeys(networks):

        def hosts_of(text: str = text) -> str:
            nodes[text] = load("topology", text).build().num_terminals
            return f"{compress(cluster.hosts_of(text, nodes[text]))} as {text}"

        checks += _attempt(f"hosts of {text}", file, hosts_of)
    checks += _attempt(f"launcher {cluster.launcher}", file, lambda: find_program(cluster))
    if _uses_slurm(cluster):
        max_nodes = max([*nodes.values(), cluster.nodes or 1])
        checks += _check_partitions(cluster, max_nodes)

    def fabric() -> str:
        require_fabric(file, routings)
        if cluster.fabric is None:
            return "none"
        if cluster.fabric.export:
            load("export", cluster.fabric.export)
        return cluster.fabric.use

    checks += _attempt("fabric", file, fabric)
    if cluster.fabric is not None:
        for name, words in (("apply", cluster.fabric.apply), ("restore", cluster.fabric.restore)):
            checks += _attempt(f"fabric: {name}", file, partial(_command_programs, words))
        if cluster.fabric.state:
            find = partial(_writable_folder, Path(cluster.fabric.state))
            checks += _attempt("fabric: state", file, find)
    return checks, nodes


def _command_programs(words: Sequence[str]) -> str:
    """Find the program of a command, and the one that it starts by sudo."""
    program, *more = words
    programs = [program]
    if Path(program).name == "sudo":
        programs += [word for word in more if not word.startswith("-")][:1]
    for name in programs:
        if problem := program_problem(name):
            raise InputError(f"{problem}; install it here, or name another one")
    return " ".join(str(shutil.which(name)) for name in programs)


def _writable_folder(folder: Path) -> str:
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{existing} cannot be written; let all who switch the fabric write there")
    return str(folder)


def _no_hosts(cluster: Cluster) -> ClusterCheck:
    if cluster.launcher != "srun":
        return ClusterCheck("hosts", "ok", "none: everything runs on this machine")
    fix = "list them in 'hosts', or measure in an allocation (salloc, sbatch)"
    return ClusterCheck("hosts", "missing", "none, but the launcher is srun", fix)


def _uses_slurm(cluster: Cluster) -> bool:
    return cluster.launcher == "srun" or cluster.partition is not None


def _check_partitions(cluster: Cluster, nodes: int) -> Iterable[ClusterCheck]:
    """Check whether Slurm answers, and its partitions are up and large enough."""
    try:
        sinfo = subprocess.run(
            ["sinfo", "--all", "--noheader", "--format=%R|%a|%D"],
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        text = (getattr(error, "stderr", "") or str(error)).strip().partition("\n")[0]
        fix = "run this on a host of the cluster, with Slurm's commands (Debian: slurm-client)"
        yield ClusterCheck("Slurm", "missing", text, fix)
        return
    partitions = {line.split("|")[0]: line.split("|")[1:] for line in sinfo.stdout.splitlines()}
    for name in cluster.partition.split(",") if cluster.partition else ():
        subject = f"partition {name}"
        if name not in partitions:
            fix = f"name one of Slurm's: {', '.join(partitions)}"
            yield ClusterCheck(subject, "missing", "Slurm does not know it", fix)
            continue
        state, count = partitions[name]
        finding = f"{state}, {count} nodes"
        if state != "up" or int(count) < nodes:
            fix = "choose another partition, or a smaller network (--topology)"
            yield ClusterCheck(subject, "missing", f"{finding}; {nodes} are needed", fix)
        else:
            yield ClusterCheck(subject, "ok", finding)


def _check_programs(
    file: ClusterFile, subject: str, plugin: BenchmarkPlugin, sizes: Iterable[tuple[int, int]]
) -> list[ClusterCheck]:
    """Check the executables of a benchmark for all numbers of nodes, with processes on each."""
    checks: dict[str, list[ClusterCheck]] = {"ok": [], "missing": [], "cannot tell": []}
    for nodes, ranks_per_node in sorted(set(sizes)):
        reason = plugin.supports(nodes * ranks_per_node, ranks_per_node)
        if reason:
            size = f"{nodes} nodes with {ranks_per_node} ranks each"
            text = f"{reason} ({size}): these runs are left out"
            checks["cannot tell"].append(ClusterCheck(subject, "cannot tell", text))
            continue
        for check in _attempt(
            subject, file, partial(_program, file, plugin, nodes * ranks_per_node)
        ):
            checks[check.state].append(check)
    # one row for each state: the executables of all numbers of processes lack for one cause
    rows = []
    for state_checks in checks.values():
        distinct = list(dict.fromkeys(state_checks))
        if distinct:
            more = f" and {len(distinct) - 1} more" if len(distinct) > 1 else ""
            rows.append(replace(distinct[0], finding=distinct[0].finding + more))
    return rows


def _program(file: ClusterFile, plugin: BenchmarkPlugin, ranks: int) -> Path:
    """Find the executable of a benchmark, and what it needs itself."""
    path = file.cluster.executable(plugin.name, plugin.executables(ranks))
    if lack := plugin.lacks(path):
        raise InputError(f"{path}: {lack}")
    return path


def _merged(checks: Iterable[ClusterCheck]) -> list[ClusterCheck]:
    """Return one row for all subjects that lack the same, for example one folder."""
    rows: dict[tuple[str, str, str], list[ClusterCheck]] = {}
    for check in checks:
        what = re.sub(r"^benchmarks: [\w-]+: ", "", check.finding)
        key = (what, check.fix, "" if check.state == "missing" else check.subject)
        rows.setdefault(key, []).append(check)
    return [replace(first, subject=_subjects(first, more)) for first, *more in rows.values()]


def _subjects(first: ClusterCheck, more: Sequence[ClusterCheck]) -> str:
    return f"{first.subject} and {len(more)} more" if more else first.subject


def _attempt(subject: str, file: ClusterFile, find: Callable[[], object]) -> list[ClusterCheck]:
    """Return what a function finds, or the error that it raises, whose fix follows a semicolon."""
    try:
        return [ClusterCheck(subject, "ok", str(find()))]
    except RoutelabError as error:
        text = " ".join(str(error).removeprefix(f"{file.path}: ").split())
        finding, _, fix = text.partition("; ")
        return [ClusterCheck(subject, "missing", finding, fix)]


def _benchmark(text: str) -> BenchmarkPlugin:
    plugin = load("benchmark", text)
    assert isinstance(plugin, BenchmarkPlugin)
    return plugin


def _comparisons_of(study: Path, results: Path) -> list[ComparisonJob]:
    planned = expand_studies([study], results).of(ComparisonJob.kind).values()
    return [job for job in planned if isinstance(job, ComparisonJob)]


def _cluster_of(job: ComparisonJob) -> Path:
    return Path(job.comparison.settings.cluster)
