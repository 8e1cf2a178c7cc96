"""Checks whether a cluster has what the comparisons of a study need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from routelab.api import BenchmarkPlugin, FabricPlugin, InputError, Topology
from routelab.bench.fabric.switching import require_fabric
from routelab.config.cluster.file import Cluster, ClusterFile
from routelab.registry.instances import load
from routelab.stages.cluster.answers import ClusterCheck, checks_of_error
from routelab.stages.cluster.fabric import check_fabric
from routelab.stages.cluster.programs import check_mpi
from routelab.stages.cluster.slurm import JobSize
from routelab.stages.kinds.comparisons import ComparisonJob
from routelab.stages.plan.allocations import allocations_of, expected_node_hours
from routelab.stages.plan.expansion import expand_studies

NAMES = "\0"
"""Stands for the names of executables in a message that is the same for several."""


def comparisons_of(study: Path, results: Path) -> list[ComparisonJob]:
    """Return the comparisons of a study with a folder of results.

    Raises
    ------
    InputError
        If the study has mistakes.
    """
    planned = expand_studies([study], results).of(ComparisonJob.kind).values()
    return [job for job in planned if isinstance(job, ComparisonJob)]


def cluster_of(job: ComparisonJob) -> Path:
    """Return the file of the cluster on which a comparison is measured."""
    return Path(job.comparison.settings.cluster)


def ranks_per_node(job: ComparisonJob, cluster: Cluster) -> int:
    """Return the number of processes on each host of a comparison."""
    return job.comparison.settings.ranks_per_node or cluster.ranks_per_node


def job_sizes(jobs: Iterable[ComparisonJob], cluster: Cluster) -> list[JobSize]:
    """Return what the allocations of comparisons ask for."""
    return [JobSize(job.nodes, job.minutes, ranks_per_node(job, cluster)) for job in jobs]


def check_request(
    study: Path, file: ClusterFile, jobs: Sequence[ComparisonJob]
) -> list[ClusterCheck]:
    """Check whether a study names the cluster, and whether its allocations are long enough."""
    named = dict.fromkeys(cluster_of(job).stem for job in jobs)
    runs = sum(job.comparison.runs for job in jobs)
    hours = sum(job.node_hours for job in jobs)
    expected = expected_node_hours(allocations_of(jobs))
    allocations = "1 allocation" if len(jobs) == 1 else f"{len(jobs)} allocations"
    found = f"{study}: {allocations}, {runs} runs, {hours:.1f} node-hours at most"
    if expected is not None:
        found += f", {expected:.2f} expected by the runs so far"
    checks = [ClusterCheck("study", "ok", found)]
    if all(cluster_of(job).resolve() != file.path.resolve() for job in jobs):
        found = f"the study names {', '.join(named)}; this is what it would need here"
        fix = f"to measure here, set bench: {{cluster: {file.path.stem}}}"
        checks.append(ClusterCheck("study: cluster", "cannot tell", found, fix))
    for job in jobs:
        worst = job.comparison.worst_minutes
        if job.minutes < worst:
            found = (
                f"{job.minutes} minutes are requested; if every run takes its limit of "
                f"{job.comparison.settings.seconds:g} s, it needs {worst}"
            )
            fix = "run the same command again for the rest, or reduce bench: {seconds: ...}"
            checks.append(ClusterCheck("study: minutes", "cannot tell", found, fix))
    return list(dict.fromkeys(checks))


def check_executables(file: ClusterFile, jobs: Sequence[ComparisonJob]) -> list[ClusterCheck]:
    """Check the executables of all benchmarks for all numbers of processes, and their MPI."""
    sizes = sorted({(job.nodes, ranks_per_node(job, file.cluster)) for job in jobs})
    checks: list[ClusterCheck] = []
    needed: dict[tuple[str, ...], bool] = {}
    for part in dict.fromkeys(part for job in jobs for part in job.comparison.benchmarks):
        plugin = load("benchmark", part.text)
        assert isinstance(plugin, BenchmarkPlugin)
        what = f"benchmark {part.id}"
        checks += [
            ClusterCheck(
                what,
                "cannot tell",
                f"{reason} ({nodes} nodes with {each} ranks each): unsupported, these runs are "
                "left out",
                "none if this is intended; otherwise change the network or ranks_per_node",
            )
            for nodes, each in sizes
            if (reason := plugin.supports(nodes * each, each))
        ]
        programs: dict[Path, None] = {}
        problems: dict[tuple[str, str], dict[str, None]] = {}
        for ranks in sorted({nodes * each for nodes, each in sizes}):
            names = plugin.executables(ranks)
            try:
                programs[_program(file, plugin, names)] = None
                needed[plugin.name, *names] = True
            except InputError as error:
                needed[plugin.name, *names] = False
                known = (f"{file.path}: ", "benchmarks: ", f"{plugin.name}: ")
                name = " or ".join(names)
                for one in checks_of_error(what, error, *known):
                    key = one.found.replace(name, NAMES), one.fix
                    problems.setdefault(key, {})[name] = None
        checks += [
            ClusterCheck(what, "missing", found.replace(NAMES, ", ".join(names)), fix)
            for (found, fix), names in problems.items()
        ]
        if programs:
            checks.append(ClusterCheck(what, "ok", ", ".join(map(str, programs))))
            checks += [check_mpi(file.cluster, what, program) for program in programs]
    return [_count(needed.values()), *dict.fromkeys(checks)]


def _count(found: Collection[bool]) -> ClusterCheck:
    text = f"{sum(found)} of {len(found)} found, for all numbers of processes"
    if all(found):
        return ClusterCheck("executables", "ok", text)
    fix = "install those that are named below; NPB 3.3 needs one for each number of processes"
    return ClusterCheck("executables", "missing", text, fix)


def _program(file: ClusterFile, plugin: BenchmarkPlugin, names: Sequence[str]) -> Path:
    """Return the program of a benchmark, which must be a regular file."""
    program = file.cluster.executable(plugin.name, names)
    if program.is_file():
        return program
    raise InputError(
        f"{file.path}: benchmarks: {program} is not a regular file; name the executable: "
        f"{plugin.name}: /path/to/it"
    )


def check_study_fabric(
    file: ClusterFile,
    fabric: FabricPlugin,
    jobs: Sequence[ComparisonJob],
    networks: Mapping[str, Topology | None],
) -> list[ClusterCheck]:
    """Check whether the fabric can be switched to all routings, on the largest network."""
    routings = dict.fromkeys(part.text for job in jobs for part in job.comparison.routings)
    try:
        require_fabric(file, fabric, max(len(job.comparison.routings) for job in jobs))
    except InputError as error:
        return checks_of_error(f"fabric {fabric.name}", error, f"{file.path}: ", "fabric: ")
    largest = max(jobs, key=lambda job: job.nodes)
    built = networks[largest.network]
    try:
        hosts = file.cluster.hosts_of(largest.network, largest.nodes)
    except InputError:
        hosts = ()  # the check of the network reports it
    network = None if built is None else (largest.network, built)
    chosen: list[str | None] = [*routings] if fabric.changes else [None]
    return [check for one in chosen for check in check_fabric(fabric, network, hosts, one)]
