"""Checks of a cluster before any node-hour is spent: what is found on this machine, and in Slurm.

What only a run can show, such as an MPI that does not fit the launcher, is left to a run of one
minute: see `smoke_command`.
"""

from __future__ import annotations

import importlib.util
import math
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from routelab.api import BenchmarkPlugin, InputError, RoutelabError
from routelab.cluster.bench.fabric.fabric import program_problem
from routelab.cluster.bench.fabric.switching import require_fabric
from routelab.cluster.bench.launchers import find_program
from routelab.cluster.bench.slurm import allocation, slurm_nodes
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.instances import canonical, load
from routelab.study import load_study
from routelab.study.cluster.hostlist import compress, find_hosts
from routelab.study.cluster.keys import (
    CLUSTERS,
    Cluster,
    ClusterFile,
    load_cluster,
    require_cluster,
)
from routelab.study.errors import suggestion
from routelab.toolkit.programs import ProgramEnd, run_program
from routelab.workflow.plan.allocations import expected_node_hours
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.stages.comparisons import ComparisonJob

SMOKE = "mpi-patterns"
"""Benchmark of the run of a minute, see `smoke_command`."""

EXECUTOR = "snakemake-executor-plugin-slurm"
"""Package that submits the jobs of a workflow to Slurm."""

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
        What was found: the requirement itself, or why it is not met.
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
    # 1. The site, for the network of the job, or for those whose hosts the file lists.
    file = load_cluster(require_cluster(name, word="cluster"))
    cluster = file.cluster
    plugins = {text: _benchmark(text) for text in benchmarks}
    if topology is not None:
        canonical("topology", topology)  # an InputError if the name is wrong
    own_network = [cluster.topology] if cluster.topology and cluster.hosts else []
    networks = [topology] if topology is not None else [*own_network, *cluster.node_sets]
    checks, nodes = _check_site(file, networks)
    # 2. Programs of the benchmarks, for as many nodes as the job has: some have an executable for
    #    each number of processes. If step 1 has not built the network of the job, the number is
    #    that in the file, or that of its hosts. Without hosts, the job has one node, this machine.
    network = topology or cluster.topology or ""
    num_nodes = nodes.get(network) or cluster.nodes or len(cluster.all_hosts)
    sizes = [(max(num_nodes, 1), cluster.ranks_per_node)]
    if SMOKE not in {plugin.name for plugin in plugins.values()}:
        plugins[SMOKE] = _benchmark(SMOKE)  # the run of a minute needs it in any case
    for text, plugin in plugins.items():
        checks += _check_programs(file, f"benchmark {text}", plugin, sizes)
    # 3. Programs that the file alone names. A plugin knows which executables it needs only with its
    #    parameters, so a folder of them cannot be judged.
    benchmark_names = [entry.key for entry in installed_catalogue().entries("benchmark")]
    for key, setting in cluster.benchmarks.items() if not benchmarks else ():
        if key == SMOKE:  # checked in step 2
            continue
        subject = f"benchmarks: {key}"
        if key not in benchmark_names:
            fix = suggestion(key, benchmark_names).removeprefix("; ")
            checks.append(ClusterCheck(subject, "missing", "benchmark plugin not found", fix))
        elif Path(setting).is_dir():
            note = f"add --benchmark {key}: the required files depend on its parameters"
            checks.append(ClusterCheck(subject, "cannot tell", f"folder {setting}", note))
        else:
            # the setting names the program, so there are no other names to look for
            checks += _attempt(subject, file, partial(cluster.executable, key, candidates=()))
    return _merge_equal(checks)


def check_study_on_cluster(name: str, study: Path, results: Path) -> tuple[list[ClusterCheck], str]:
    """Check what all comparisons of a study need on a cluster.

    Parameters
    ----------
    name : str
        Name of a file in ``config/clusters``, or a path. If the study does not name this cluster,
        all comparisons of the study are checked as if they ran on it.
    study : Path
    results : Path
        Folder for the results.

    Returns
    -------
    checks : list of ClusterCheck
    command : str
        Command of a short run of one of the study's benchmarks; empty if none can run.

    Raises
    ------
    InputError
        If the file or the study is wrong, or the study has no comparisons.
    """
    file = load_cluster(require_cluster(name, word="cluster"))
    jobs = _comparisons_of(study, results)
    if not jobs:
        raise InputError(
            f"{study}: this study has no measurements on a cluster; add benchmarks: and bench: "
            f"{{cluster: {file.path.stem}}}"
        )
    # If the study does not name this cluster, check all of its comparisons as if they ran here.
    on_this_cluster = [job for job in jobs if _cluster_of(job).resolve() == file.path.resolve()]
    jobs = on_this_cluster or jobs
    options = _short_run_options(file, jobs)
    command = smoke_command(name, options) if options else ""
    return _check_comparisons(file, study, jobs), command


def study_lines(study: Path, results: Path) -> list[str]:
    """Return a line for each thing that a study needs and its clusters lack.

    A cluster that lacks nothing has one line that says so. There is no line if the study has no
    benchmarks. A cluster of Slurm is not checked on a machine without Slurm; then the line has the
    command to run on the cluster.

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
        prefix = f"{study}: cluster {name}: "
        if _uses_slurm(file.cluster) and shutil.which("sinfo") is None:
            command = shlex.join(["routelab", "cluster", "check", name, "--study", str(study)])
            lines.append(f"{prefix}sinfo was not found here; on the cluster: {command}")
            continue
        checks = _check_comparisons(file, study, [job for job in jobs if _cluster_of(job) == path])
        problems = [check for check in checks if check.state != "ok"]
        for check in problems:
            fix = f"; {check.fix}" if check.fix else ""
            lines.append(f"{prefix}{check.subject}: {check.finding}{fix} ({check.state})")
        if not problems:
            lines.append(f"{prefix}nothing is missing")
    return lines


def smoke_command(
    name: str, options: Sequence[str] = ("--benchmark", SMOKE, "--seconds", "60")
) -> str:
    """Return the command of one short run, which shows what no check can, such as a wrong MPI.

    Parameters
    ----------
    name : str
        The cluster.
    options : sequence of str
        Options of ``routelab bench`` that choose the benchmark and its time limit.
    """
    words = ["--cluster", name, *options, "--repeats", "1", "--warm-up", "0"]
    return shlex.join(["routelab", "bench", *words])


def _short_run_options(file: ClusterFile, jobs: Sequence[ComparisonJob]) -> list[str]:
    """Return the options of `smoke_command` for one benchmark of a study.

    It is the first one that can run on the study's smallest network; if there is none, on the next
    larger one. The list is empty if none of the benchmarks can run on any of the networks.
    """
    smallest_first = sorted(jobs, key=lambda job: job.nodes)
    for job in smallest_first:
        settings = job.comparison.settings
        ranks_per_node = settings.ranks_per_node or file.cluster.ranks_per_node
        for benchmark in job.comparison.benchmarks:
            plugin = _benchmark(benchmark.text)
            reason = plugin.supports(job.nodes * ranks_per_node, ranks_per_node)
            if reason:  # why the benchmark cannot run with this number of processes
                continue
            options = ["--benchmark", benchmark.text, "--topology", job.network]
            if settings.ranks_per_node:
                options += ["--ranks-per-node", str(settings.ranks_per_node)]
            return [*options, "--seconds", f"{settings.seconds:g}"]
    return []


def _check_comparisons(
    file: ClusterFile, study: Path, jobs: Sequence[ComparisonJob]
) -> list[ClusterCheck]:
    """Check what a study needs on a cluster: its cost, the cluster's site, and the programs.

    `jobs` are the comparisons of the study that would run on this cluster.
    """
    allocations = "1 allocation" if len(jobs) == 1 else f"{len(jobs)} allocations"
    num_runs = sum(job.comparison.runs for job in jobs)
    max_node_hours = sum(job.node_hours for job in jobs)
    finding = f"{study}: {allocations}, {num_runs} runs, {max_node_hours:.1f} node-hours at most"
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
    site_checks, _ = _check_site(file, list(networks), jobs)
    checks += site_checks
    sizes = [
        (job.nodes, job.comparison.settings.ranks_per_node or file.cluster.ranks_per_node)
        for job in jobs
    ]
    # The jobs of a study have the same benchmarks; check each once, for the sizes of all jobs.
    for benchmark in dict.fromkeys(b for job in jobs for b in job.comparison.benchmarks):
        subject = f"benchmark {benchmark.id}"
        checks += _check_programs(file, subject, _benchmark(benchmark.text), sizes)
    return _merge_equal(checks)


def _check_site(
    file: ClusterFile, networks: Sequence[str], jobs: Sequence[ComparisonJob] = ()
) -> tuple[list[ClusterCheck], dict[str, int]]:
    """Check the file, hosts, launcher, Slurm and fabric, but not the benchmarks' programs.

    Parameters
    ----------
    file : ClusterFile
    networks : sequence of str
        Instance names.
    jobs : sequence of ComparisonJob
        Comparisons of the study that is checked; none if a single measurement is checked.

    Returns
    -------
    checks : list of ClusterCheck
    nodes : dict of str to int
        Number of nodes of each network that could be built, by its instance name.
    """
    # 1. Hosts of each network.
    cluster = file.cluster
    checks = [ClusterCheck("file", "ok", str(file.path))]
    if not cluster.hosts and not cluster.node_sets:
        checks.append(_no_hosts(cluster))
    nodes: dict[str, int] = {}
    all_hosts: list[str] = []

    def find_hosts_of(network: str) -> str:
        """Add the network to `nodes` and its hosts to `all_hosts`; return what was found."""
        nodes[network] = load("topology", network).build().num_terminals
        hosts = cluster.hosts_of(network, nodes[network])
        all_hosts.extend(hosts)
        return f"{compress(hosts)} as {network}"

    for network in dict.fromkeys(networks):
        checks += _attempt(f"hosts of {network}", file, partial(find_hosts_of, network))
    # 2. What starts the processes. Networks may share hosts, so each host is passed on once.
    checks += _attempt(f"launcher {cluster.launcher}", file, lambda: find_program(cluster))
    if _uses_slurm(cluster):
        max_nodes = max([*nodes.values(), cluster.nodes or 1])
        checks += _check_slurm(file, max_nodes, list(dict.fromkeys(all_hosts)), jobs)

    # 3. What applies the routings. It is necessary where one job compares several of them.
    def find_fabric() -> str:
        max_routings = max((len(job.comparison.routings) for job in jobs), default=1)
        require_fabric(file, max_routings)
        if cluster.fabric is None:
            return "none"
        if cluster.fabric.export:
            load("export", cluster.fabric.export)
        return cluster.fabric.use

    checks += _attempt("fabric", file, find_fabric)
    if cluster.fabric is not None:
        for name, words in (("apply", cluster.fabric.apply), ("restore", cluster.fabric.restore)):
            checks += _attempt(f"fabric: {name}", file, partial(_find_programs, words))
        if cluster.fabric.state:
            find = partial(_require_writable, Path(cluster.fabric.state))
            checks += _attempt("fabric: state", file, find)
    return checks, nodes


def _find_programs(words: Sequence[str]) -> str:
    """Return the paths of a command's program, and of the one that it starts by sudo."""
    program, *arguments = words
    programs = [program]
    if Path(program).name == "sudo":  # sudo -n PROGRAM ARGUMENTS
        programs += [word for word in arguments if not word.startswith("-")][:1]
    for name in programs:
        if problem := program_problem(name):
            raise InputError(f"{problem}; install it here, or name another one")
    return " ".join(str(shutil.which(name)) for name in programs)


def _require_writable(folder: Path) -> str:
    """Return the name of a folder; InputError if it cannot be written or created."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
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


def _check_slurm(
    file: ClusterFile, max_nodes: int, hosts: Sequence[str], jobs: Sequence[ComparisonJob]
) -> Iterable[ClusterCheck]:
    """Check Slurm's commands, partitions, nodes and interface of MPI, without an allocation.

    The largest job has `max_nodes` nodes.
    """
    # 1. The package with which a workflow submits steps; a single measurement does without it. Its
    #    module has underscores instead of dashes.
    cluster = file.cluster
    has_executor = importlib.util.find_spec(EXECUTOR.replace("-", "_")) is not None
    if jobs and cluster.launcher == "srun" and not has_executor:
        finding = "not installed in this Python; profiles/slurm and profiles/desmos need it"
        yield ClusterCheck(EXECUTOR, "missing", finding, "install '.[cluster]' from the clone")
    # 2. The partitions. A machine where sinfo does not answer is no host of the cluster, so nothing
    #    else is checked.
    fix = "run this on a host of the cluster, with Slurm's commands (Debian: slurm-client)"
    if shutil.which("sinfo") is None:
        yield ClusterCheck("Slurm", "missing", "sinfo was not found here", fix)
        return
    try:
        # a line for each partition: name|state|number of nodes|time limit
        sinfo = _run_slurm_command("sinfo", "--all", "--noheader", "--format=%R|%a|%D|%l")
    except RoutelabError as error:
        yield ClusterCheck("Slurm", "missing", str(error), fix)
        return
    partitions = {}
    for line in sinfo.stdout.splitlines():
        name, *facts = line.split("|")
        partitions[name] = facts
    max_minutes = max((job.minutes for job in jobs), default=0)
    yield from _check_partitions(cluster, partitions, max_nodes, max_minutes)
    # 3. What only srun needs: a command for an allocation, unless this process is in one; names of
    #    hosts as Slurm has them; an interface of MPI.
    if cluster.launcher != "srun":
        return
    commands = [] if allocation() else ["salloc"]
    commands += ["sbatch", "squeue"] if jobs else []
    for command in commands:
        if shutil.which(command) is None:
            yield ClusterCheck(command, "missing", "not found here", fix)
    yield from _check_host_names(file, hosts)
    yield from _check_mpi(cluster)


def _run_slurm_command(*words: str) -> ProgramEnd:
    """Run a command of Slurm in English; RoutelabError if it fails or does not answer."""
    answer = run_program(words, environment={**os.environ, "LC_ALL": "C"}, seconds=SECONDS)
    if answer.timed_out:
        raise RoutelabError(f"no answer in {SECONDS:g} s")
    if answer.exit_code:
        first_line = answer.stderr.strip().partition("\n")[0]
        raise RoutelabError(first_line or f"{words[0]}: exit code {answer.exit_code}")
    return answer


def _check_partitions(
    cluster: Cluster, partitions: Mapping[str, Sequence[str]], max_nodes: int, max_minutes: int
) -> Iterable[ClusterCheck]:
    """Check whether the partitions are up and large enough, and allow enough time.

    Parameters
    ----------
    cluster : Cluster
    partitions : mapping of str to (str, str, str)
        State, number of nodes and time limit, by name.
    max_nodes, max_minutes : int
        What the largest and the longest job need.
    """
    for name in cluster.partition.split(",") if cluster.partition else ():
        subject = f"partition {name}"
        if name not in partitions:
            fix = f"name one of Slurm's: {', '.join(partitions)}"
            yield ClusterCheck(subject, "missing", "Slurm does not know it", fix)
            continue
        state, count, limit = partitions[name]
        finding = f"{state}, {count} nodes"
        if state != "up" or int(count) < max_nodes:
            fix = "choose another partition, or a smaller network (--topology)"
            yield ClusterCheck(subject, "missing", f"{finding}; {max_nodes} are needed", fix)
        elif _limit_minutes(limit) < max_minutes:
            finding += f", time limit {limit}; the study requests {max_minutes} minutes"
            fix = "choose another partition, or set bench: {minutes: ...} in the study"
            yield ClusterCheck(subject, "missing", finding, fix)
        else:
            yield ClusterCheck(subject, "ok", finding)


def _limit_minutes(limit: str) -> float:
    """Return the minutes of a time limit as sinfo prints it: ``[days-][hours:]minutes:seconds``.

    ``1-12:00:00`` is a day and a half, or 2160 minutes; ``infinite`` and other words are no limit.
    """
    days, _, clock = limit.rpartition("-")  # `days` is empty if there is no dash
    try:
        numbers = [int(number) for number in clock.split(":")]
    except ValueError:
        return math.inf
    # from the right: seconds, minutes and hours
    seconds = sum(number * 60.0**power for power, number in enumerate(reversed(numbers)))
    return int(days or 0) * 24 * 60 + seconds / 60


def _check_host_names(file: ClusterFile, hosts: Sequence[str]) -> Iterable[ClusterCheck]:
    """Check whether Slurm has a node for each of the hosts; report only hosts that it lacks.

    Nothing is checked if Slurm does not list its nodes.
    """
    nodes = slurm_nodes()
    subject = "hosts in Slurm"

    def find_all_hosts() -> str:
        known_hosts = find_hosts(hosts, nodes)
        if unknown := [host for host in hosts if host not in known_hosts]:
            raise InputError(f"Slurm has no {compress(unknown)}; name hosts as 'sinfo --Node' does")
        return ""

    if nodes:
        checks = _attempt(subject, file, find_all_hosts)
        yield from (check for check in checks if check.state != "ok")


def _check_mpi(cluster: Cluster) -> Iterable[ClusterCheck]:
    """Check whether srun knows the interface of MPI that the file names, such as ``pmix``.

    Nothing is checked if srun does not list the interfaces that it knows.
    """
    try:
        answer = _run_slurm_command(find_program(cluster), "--mpi=list")
    except RoutelabError:
        return
    # Srun prints a line for each interface; some versions of srun print them as an error. All
    # versions of PMIx share a line, so `mpi` may be any word of the answer. The message lists only
    # those that have a line of their own.
    lines = answer.stdout + answer.stderr
    types = re.findall(r"^\s*([\w-]+)$", lines, re.MULTILINE)
    words = re.findall(r"[\w-]+", lines)
    if cluster.mpi and types and cluster.mpi not in words:
        fix = f"name one of srun's: {', '.join(types)}"
        yield ClusterCheck(f"mpi: {cluster.mpi}", "missing", "srun does not know it", fix)


def _check_programs(
    file: ClusterFile, subject: str, plugin: BenchmarkPlugin, sizes: Iterable[tuple[int, int]]
) -> list[ClusterCheck]:
    """Check the executables of a benchmark for all `sizes`: nodes, and ranks on each of them."""
    checks: dict[str, list[ClusterCheck]] = {"ok": [], "missing": [], "cannot tell": []}
    for nodes, ranks_per_node in sorted(set(sizes)):
        reason = plugin.supports(nodes * ranks_per_node, ranks_per_node)
        if reason:  # why the benchmark cannot run with this number of processes
            size = f"{nodes} nodes with {ranks_per_node} ranks each"
            text = f"{reason} ({size}): these runs are left out"
            checks["cannot tell"].append(ClusterCheck(subject, "cannot tell", text))
            continue
        find = partial(_find_executable, file, plugin, nodes * ranks_per_node)
        for check in _attempt(subject, file, find):
            checks[check.state].append(check)
    # Report only the first finding of each state, and how many others there are: the executables
    # for all numbers of processes are usually missing for one cause.
    rows = []
    for state_checks in checks.values():
        distinct = list(dict.fromkeys(state_checks))
        if distinct:
            more = f" and {len(distinct) - 1} more" if len(distinct) > 1 else ""
            rows.append(replace(distinct[0], finding=distinct[0].finding + more))
    return rows


def _find_executable(file: ClusterFile, plugin: BenchmarkPlugin, ranks: int) -> Path:
    """Return the executable of a benchmark; InputError if it, or what it needs, is missing."""
    path = file.cluster.executable(plugin.name, plugin.executables(ranks))
    if lack := plugin.lacks(path):
        raise InputError(f"{path}: {lack}")
    return path


def _merge_equal(checks: Iterable[ClusterCheck]) -> list[ClusterCheck]:
    """Merge the checks of all subjects that lack the same thing, for example one folder.

    The row then has the subject "osu-latency and 2 more".
    """
    rows: dict[tuple[str, str, str], list[ClusterCheck]] = {}
    for check in checks:
        # errors of the cluster's file begin with the key, which differs between benchmarks
        cause = re.sub(r"^benchmarks: [\w-]+: ", "", check.finding)
        # a subject that is not missing keeps its own row: its name makes the key unique
        key = (cause, check.fix, "" if check.state == "missing" else check.subject)
        rows.setdefault(key, []).append(check)
    return [replace(first, subject=_subjects(first, more)) for first, *more in rows.values()]


def _subjects(first: ClusterCheck, more: Sequence[ClusterCheck]) -> str:
    return f"{first.subject} and {len(more)} more" if more else first.subject


def _attempt(subject: str, file: ClusterFile, find: Callable[[], object]) -> list[ClusterCheck]:
    """Return one check: what a function finds, or the error that it raises.

    Errors have the form "problem; fix".
    """
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
