"""The bench stage: a comparison of routings by benchmarks on a real system."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from routelab.api import (
    BenchmarkPlugin,
    InputError,
    Plugin,
    RouteTable,
    Topology,
    UnsupportedError,
)
from routelab.cluster.bench.comparison import (
    FIGURE_COLUMNS,
    FIGURES,
    RUN_COLUMNS,
    RUNS,
    Comparison,
    ComparisonPart,
)
from routelab.cluster.bench.fabric.fabric import Fabric
from routelab.cluster.bench.fabric.files import fabric_problems
from routelab.cluster.bench.fabric.switching import require_fabric
from routelab.cluster.bench.launchers import PROGRAMS, Launcher, find_program
from routelab.cluster.bench.plan import MeasurementPlan
from routelab.cluster.bench.results import ComparisonResult, collect
from routelab.cluster.bench.session import Session, SessionEnd
from routelab.cluster.bench.store import RunStore
from routelab.deadlock import check_table
from routelab.registry.instances import load, load_routing
from routelab.registry.requirements import collect_errors
from routelab.results.atomic import atomic_directory, check_writable
from routelab.results.outcome import OUTCOME, Outcome, Status, close_folder, read_outcome
from routelab.results.provenance import ResourceMeter
from routelab.results.tables import write_csv
from routelab.routing.route import ROUTES
from routelab.routing.routes_file import load_routes
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network
from routelab.study.cluster.keys import Cluster, ClusterFile, load_cluster, require_cluster

logger = logging.getLogger(__name__)

FABRICS = "fabrics"
"""Folder with the journals of fabrics, next to that of raw runs."""


@dataclass(frozen=True, eq=False)
class ComparisonSession:
    """A comparison that is ready to be measured, with its session.

    Attributes
    ----------
    plan : MeasurementPlan
    session : Session
    plugins : tuple of Plugin
        All plugins of the comparison.
    """

    plan: MeasurementPlan
    session: Session
    plugins: tuple[Plugin, ...]


def prepare_comparison(
    comparison: Comparison,
    store: Path,
    *,
    apply: bool,
    dry: bool = False,
) -> ComparisonSession:
    """Prepare a comparison without starting or changing anything.

    Parameters
    ----------
    comparison : Comparison
    store : Path
        Folder of raw runs.
    apply : bool
        Whether the fabric may be switched. If it may not, stored runs are results as they are,
        also those without figures.
    dry : bool
        Whether the commands are only shown; then those of the fabric need no permission, and
        programs that this machine lacks are only a warning.

    Raises
    ------
    InputError
        Lists all mistakes: names, files, hosts, executables, a missing fabric; or the fabric must
        be switched for missing runs, and may not.
    """
    # 1. Load the parts. The mistakes of a group are reported together; the second group needs the
    #    first one.
    settings = comparison.settings
    file, (topology, network), benchmarks = collect_errors(
        lambda: load_cluster(require_cluster(settings.cluster, word="cluster")),
        lambda: _network(comparison),
        lambda: _load_plugins("benchmark", comparison.benchmarks),
    )
    cluster = file.cluster
    own_nodes = cluster.nodes or max(1, len(cluster.all_hosts))
    nodes = network.num_terminals if network is not None else own_nodes
    ranks_per_node = settings.ranks_per_node or cluster.ranks_per_node
    fabric, hosts, program, executables, (tables, refusals) = collect_errors(
        lambda: _fabric(file, comparison, apply=apply),
        lambda: _hosts(file, topology, nodes),
        lambda: _launcher(cluster, dry=dry),
        lambda: _executables(file, benchmarks, nodes * ranks_per_node, dry=dry),
        lambda: _tables(network, comparison.routings),
    )
    launcher = Launcher(cluster, program, hosts, nodes, ranks_per_node)
    plan = MeasurementPlan(
        comparison, topology, file, launcher, tables, refusals, benchmarks, executables, fabric
    )

    # 2. See what is stored already. Where the fabric must not be switched, failed runs cannot be
    #    tried again, so they are results.
    state = cluster.fabric.state if cluster.fabric else ""
    fabrics = Path(state) if state else store.parent / FABRICS
    retry = apply or dry or not plan.apply
    session = Session(plan, RunStore(store), fabrics, _remake, retry=retry)

    # 3. Refuse what is missing for a switch of the fabric. Nothing is, if no run is missing.
    if plan.apply and not (apply or dry):
        _check_permission(session)
    _check_fabric(plan, session, dry=dry)
    routings = [load_routing(part.text) for part in comparison.routings]
    plugins = [plugin for routing in routings for plugin in routing.plugins]
    return ComparisonSession(plan, session, (*plugins, *benchmarks.values()))


def run_comparison(
    measurement: ComparisonSession, directory: Path | None, fingerprint: str = ""
) -> tuple[ComparisonResult, SessionEnd]:
    """Measure the missing runs, and write the comparison's folder.

    Parameters
    ----------
    measurement : ComparisonSession
    directory : Path, optional
        Folder for `OUTCOME`, `RUNS` and `FIGURES`.
    fingerprint : str
        Of the job.

    Raises
    ------
    InputError, RoutelabError
        As `Session.measure`. Earlier measurements are kept.
    """
    if directory is not None:
        check_writable(directory)
    with ResourceMeter() as measured:
        ended = measurement.session.measure()
    collected = collect(measurement.session, ended)
    if directory is not None:
        seed = measurement.plan.comparison.settings.seed
        provenance = measured.provenance(measurement.plugins, seed, fingerprint)
        provenance["sources"] = measurement.plan.digests
        _write(measurement.plan, collected, ended, provenance, directory)
    return collected, ended


def _write(
    plan: MeasurementPlan,
    collected: ComparisonResult,
    ended: SessionEnd,
    provenance: Mapping[str, Any],
    directory: Path,
) -> None:
    """Write outcome, runs and figures of a comparison into its folder."""
    status: Status = "failed" if ended.stopped or ended.restored is False else "ok"
    reason = ended.stopped or ("" if status == "ok" else "the fabric was not restored")
    outcome = Outcome("comparison", plan.topology, "", status, reason, collected.facts, provenance)
    with atomic_directory(directory) as folder:
        for name, columns, rows in (
            (RUNS, RUN_COLUMNS, collected.runs),
            (FIGURES, FIGURE_COLUMNS, collected.figures),
        ):
            write_csv(folder / name, columns, [list(row.values()) for row in rows])
        close_folder(outcome, folder)


# --- parts of a comparison --------------------------------------------------------------------


def _network(comparison: Comparison) -> tuple[str, Topology | None]:
    """Return the network and its name; without routings no network is needed."""
    if not comparison.topology and not comparison.routings:
        return "", None
    return load_network(comparison.topology)


def _hosts(file: ClusterFile, topology: str, nodes: int) -> tuple[str, ...]:
    if not topology:
        return file.cluster.all_hosts
    return file.cluster.hosts_of(topology, nodes)


def _load_plugins(kind: str, chosen: Sequence[ComparisonPart]) -> dict[str, BenchmarkPlugin]:
    plugins = collect_errors(*(partial(load, kind, part.text) for part in chosen))
    return {part.id: plugin for part, plugin in zip(chosen, plugins, strict=True)}


def _launcher(cluster: Cluster, *, dry: bool) -> str:
    """Return the launcher's file; its name if the commands are only shown and it is not here."""
    try:
        return find_program(cluster)
    except InputError as error:
        if not dry:
            raise
        logger.warning("%s", error)
        return cluster.program or PROGRAMS[cluster.launcher][0]


def _executables(
    file: ClusterFile, benchmarks: Mapping[str, BenchmarkPlugin], ranks: int, *, dry: bool
) -> dict[str, Path]:
    """Return the executables of benchmarks; if commands are only shown, also missing ones."""

    def find(plugin: BenchmarkPlugin) -> Path:
        names = plugin.executables(ranks)
        try:
            return file.cluster.executable(plugin.name, names)
        except InputError as error:
            if not dry:
                raise
            logger.warning("%s", error)
            setting = Path(file.cluster.benchmarks.get(plugin.name, ""))
            return setting / names[0]

    def finder(plugin: BenchmarkPlugin) -> Callable[[], Path]:
        return lambda: find(plugin)

    paths = collect_errors(*(finder(plugin) for plugin in benchmarks.values()))
    return dict(zip(benchmarks, paths, strict=True))


def _tables(
    network: Topology | None, routings: Sequence[ComparisonPart]
) -> tuple[dict[str, RouteTable], dict[str, str]]:
    """Return the routes by the routing's id, and the reasons of routings without routes."""
    tables: dict[str, RouteTable] = {}
    refusals: dict[str, str] = {}
    for routing in routings:
        assert network is not None
        try:
            tables[routing.id] = _table(network, routing)
        except UnsupportedError as error:
            refusals[routing.id] = str(error)
    return tables, refusals


def _table(network: Topology, part: ComparisonPart) -> RouteTable:
    """Return the table of a routing: its job's, or newly computed without a folder."""
    if part.folder is None:
        return Routing.from_name(part.text).table(network)
    outcome = read_outcome(part.folder / OUTCOME)
    if outcome.status == "ok":
        return load_routes(part.folder / ROUTES, network)
    if outcome.status == "unsupported":
        raise UnsupportedError(outcome.reason)
    raise InputError(f"{part.folder} holds no routes: {outcome.reason}")


def _remake(topology: str, routing: str) -> RouteTable:
    return Routing.from_name(routing).table(load_network(topology)[1])


def _fabric(file: ClusterFile, comparison: Comparison, *, apply: bool) -> Fabric | None:
    if apply:
        require_fabric(file, len(comparison.routings))
    return None if file.cluster.fabric is None else Fabric(file.cluster.fabric)


def _check_permission(session: Session) -> None:
    """Accept a comparison that leaves the fabric alone because all of its runs are stored.

    Raises
    ------
    InputError
        If a run is missing, or the fabric is still switched.
    """
    fix = "add --apply-routing (in the workflow: --config apply_routing=true)"
    plan = session.plan
    num_runs = sum(len(turn.runs) for turn in session.missing())
    if num_runs:
        raise InputError(
            f"{num_runs} of {sum(1 for _ in plan.runs)} runs are missing. They would switch the "
            f"fabric's routing, which is not allowed: {fix}; or "
            "measure the fabric as it is, without routings"
        )
    interrupted = session.journal.entry()
    if interrupted is not None:
        raise InputError(
            f"all runs are stored, but the fabric is still switched to {interrupted['routing']}, "
            f"and restoring it is not allowed: {fix}"
        )
    failures = sum(map(session.is_failed, plan.runs))
    if failures:
        logger.warning(
            "%d stored runs failed and are not repeated, because switching the fabric is not "
            "allowed: %s",
            failures,
            fix,
        )


def _check_fabric(plan: MeasurementPlan, session: Session, *, dry: bool) -> None:
    """Refuse a fabric with missing parts, and routes that may cause a deadlock.

    Raises
    ------
    InputError
    """
    if plan.fabric is None or not plan.apply or not session.missing():
        return
    problems: dict[str, None] = {}
    program_problems: dict[str, None] = {}
    for routing in plan.comparison.routings:
        if routing.id in plan.tables:
            verdict = check_table(plan.tables[routing.id])
            if not verdict.proven:
                unproven = f"{routing.id} is not proven free of deadlock and is not applied"
                problems[f"{unproven}: {verdict.reason}"] = None
            job = plan.job(routing, session.journal.folder.resolve())
            problems |= dict.fromkeys(fabric_problems(plan.fabric, job))
            program_problems |= dict.fromkeys(plan.fabric.program_problems(job) if dry else ())
    for text in program_problems:
        problems.pop(text)
        logger.warning("%s: fabric: %s", plan.file.path, text)
    if problems:
        raise InputError("\n".join(f"{plan.file.path}: fabric: {text}" for text in problems))
