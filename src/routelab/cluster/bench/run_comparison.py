"""The bench stage: a comparison of routings by benchmarks on a real system."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
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
from routelab.results.atomic import atomic_directory, check_folder_writable
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
        lambda: _load_network(comparison),
        lambda: _load_benchmarks(comparison.benchmarks),
    )
    cluster = file.cluster
    # Without a network: the number of nodes or hosts in the file; 1, this machine, without both.
    num_hosts = cluster.nodes or max(1, len(cluster.all_hosts))
    nodes = network.num_terminals if network is not None else num_hosts
    ranks_per_node = settings.ranks_per_node or cluster.ranks_per_node
    fabric, hosts, program, executables, (tables, refusals) = collect_errors(
        lambda: _load_fabric(file, comparison, apply=apply),
        lambda: cluster.hosts_of(topology, nodes) if topology else cluster.all_hosts,
        lambda: _find_launcher(cluster, dry=dry),
        lambda: _find_executables(file, benchmarks, nodes * ranks_per_node, dry=dry),
        lambda: _compute_tables(network, comparison.routings),
    )
    plan = MeasurementPlan(
        comparison=comparison,
        topology=topology,
        file=file,
        launcher=Launcher(
            cluster=cluster,
            program=program,
            hosts=hosts,
            nodes=nodes,
            ranks_per_node=ranks_per_node,
        ),
        tables=tables,
        refusals=refusals,
        benchmarks=benchmarks,
        executables=executables,
        fabric=fabric,
    )

    # 2. Find the stored runs. If the fabric would have to be switched and must not be, failed runs
    #    cannot be tried again, so they are results.
    fabric_folder = cluster.fabric.state if cluster.fabric else ""
    fabrics = Path(fabric_folder) if fabric_folder else store.parent / FABRICS
    may_switch = apply or dry
    retry = may_switch or not plan.switches_fabric
    session = Session(
        plan, RunStore(store), fabrics, compute_table=_compute_table_by_name, retry=retry
    )

    # 3. Refuse a fabric that would have to be switched, but must not or cannot be. If no run is
    #    missing, it need not be switched.
    if plan.switches_fabric and not may_switch:
        _require_no_switch(session)
    _require_switchable(plan, session, dry=dry)
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
        Fingerprint of the job that measures it; empty outside a workflow.

    Raises
    ------
    InputError, RoutelabError
        The errors of `Session.measure`. Earlier measurements are kept.
    """
    if directory is not None:
        check_folder_writable(directory)
    with ResourceMeter() as resources:
        session_end = measurement.session.measure()
    result = collect(measurement.session, session_end)
    if directory is not None:
        seed = measurement.plan.comparison.settings.seed
        provenance = resources.provenance(measurement.plugins, seed, fingerprint)
        provenance["sources"] = measurement.plan.digests
        _write(measurement.plan, result, session_end, provenance, directory)
    return result, session_end


def _write(
    plan: MeasurementPlan,
    result: ComparisonResult,
    session_end: SessionEnd,
    provenance: Mapping[str, Any],
    directory: Path,
) -> None:
    """Write outcome, runs and figures of a comparison into its folder."""
    # `restored` is None if the fabric was not switched, and then needs no restoring
    status: Status = "failed" if session_end.stopped or session_end.restored is False else "ok"
    reason = session_end.stopped or ("" if status == "ok" else "the fabric was not restored")
    outcome = Outcome(
        kind="comparison",
        topology=plan.topology,
        routing="",
        status=status,
        reason=reason,
        facts=result.facts,
        provenance=provenance,
    )
    with atomic_directory(directory) as folder:
        for name, columns, rows in (
            (RUNS, RUN_COLUMNS, result.runs),
            (FIGURES, FIGURE_COLUMNS, result.figures),
        ):
            write_csv(folder / name, columns, [list(row.values()) for row in rows])
        close_folder(outcome, folder)


# --- parts of a comparison --------------------------------------------------------------------


def _load_network(comparison: Comparison) -> tuple[str, Topology | None]:
    """Return the network's name and the network; without routings no network is needed."""
    if not comparison.topology and not comparison.routings:
        return "", None
    return load_network(comparison.topology)


def _load_benchmarks(benchmarks: Sequence[ComparisonPart]) -> dict[str, BenchmarkPlugin]:
    """Return the plugins of benchmarks by id; raise an InputError that lists all wrong names."""
    plugins = collect_errors(*(partial(load, "benchmark", part.text) for part in benchmarks))
    return {part.id: plugin for part, plugin in zip(benchmarks, plugins, strict=True)}


def _find_launcher(cluster: Cluster, *, dry: bool) -> str:
    """Return the launcher's file; its name if the commands are only shown and it is not here."""
    try:
        return find_program(cluster)
    except InputError as error:
        if not dry:
            raise
        logger.warning("%s", error)
        return cluster.program or PROGRAMS[cluster.launcher][0]


def _find_executables(
    file: ClusterFile, benchmarks: Mapping[str, BenchmarkPlugin], num_ranks: int, *, dry: bool
) -> dict[str, Path]:
    """Return the executables of benchmarks by id; if commands are only shown, also missing ones."""

    def find(plugin: BenchmarkPlugin) -> Path:
        # Possible names of one program, the best one first.
        names = plugin.executables(num_ranks)
        try:
            return file.cluster.executable(plugin.name, names)
        except InputError as error:
            if not dry:
                raise
            logger.warning("%s", error)
            # Show the best name, in the folder of the cluster's file if this names one.
            folder = Path(file.cluster.benchmarks.get(plugin.name, ""))
            return folder / names[0]

    paths = collect_errors(*(partial(find, plugin) for plugin in benchmarks.values()))
    return dict(zip(benchmarks, paths, strict=True))


def _compute_tables(
    network: Topology | None, routings: Sequence[ComparisonPart]
) -> tuple[dict[str, RouteTable], dict[str, str]]:
    """Return the routes by the routing's id, and the reasons of routings without routes."""
    tables: dict[str, RouteTable] = {}
    refusals: dict[str, str] = {}
    for routing in routings:
        assert network is not None  # only a comparison without routings has none
        try:
            tables[routing.id] = _load_or_compute_table(network, routing)
        except UnsupportedError as error:
            refusals[routing.id] = str(error)
    return tables, refusals


def _load_or_compute_table(network: Topology, part: ComparisonPart) -> RouteTable:
    """Return the table of a routing: from the folder that its job wrote, or newly computed."""
    if part.folder is None:
        return Routing.from_name(part.text).table(network)
    outcome = read_outcome(part.folder / OUTCOME)
    if outcome.status == "ok":
        return load_routes(part.folder / ROUTES, network)
    if outcome.status == "unsupported":
        raise UnsupportedError(outcome.reason)
    raise InputError(f"{part.folder} holds no routes: {outcome.reason}")


def _compute_table_by_name(topology: str, routing: str) -> RouteTable:
    return Routing.from_name(routing).table(load_network(topology)[1])


def _load_fabric(file: ClusterFile, comparison: Comparison, *, apply: bool) -> Fabric | None:
    """Return the cluster's fabric, if it has commands to switch it.

    Raises
    ------
    InputError
        If several routings are to be applied without such commands.
    """
    if apply:
        require_fabric(file, len(comparison.routings))
    return None if file.cluster.fabric is None else Fabric(file.cluster.fabric)


def _require_no_switch(session: Session) -> None:
    """Require that a comparison leaves the fabric alone, because all of its runs are stored.

    Raises
    ------
    InputError
        If a run is missing, or the fabric is still switched.
    """
    fix = "add --apply-routing (in the workflow: --config apply_routing=true)"
    plan = session.plan
    num_runs = sum(len(turn.runs) for turn in session.missing_turns())
    if num_runs:
        raise InputError(
            f"{num_runs} of {sum(1 for _ in plan.runs)} runs are missing. They would switch the "
            f"fabric's routing, which is not allowed: {fix}; or "
            "measure the fabric as it is, without routings"
        )
    unrestored = session.journal.read_entry()
    if unrestored is not None:
        raise InputError(
            f"all runs are stored, but the fabric is still switched to {unrestored['routing']}, "
            f"and restoring it is not allowed: {fix}"
        )
    num_failed = sum(map(session.is_failed, plan.runs))
    if num_failed:
        logger.warning(
            "%d stored runs failed and are not repeated, because switching the fabric is not "
            "allowed: %s",
            num_failed,
            fix,
        )


def _require_switchable(plan: MeasurementPlan, session: Session, *, dry: bool) -> None:
    """Refuse a fabric with missing parts, and routes that may cause a deadlock.

    If commands are only shown (`dry`), programs that this machine lacks are only a warning.

    Raises
    ------
    InputError
        Lists all problems.
    """
    if plan.fabric is None or not plan.switches_fabric or not session.missing_turns():
        return
    # Dictionaries without values are ordered sets: a problem of several routings is listed once.
    problems: dict[str, None] = {}
    program_problems: dict[str, None] = {}
    for routing in plan.comparison.routings:
        if routing.id in plan.tables:  # the others have no routes here, and are not applied
            verdict = check_table(plan.tables[routing.id])
            if not verdict.proven:
                unproven = f"{routing.id} is not proven free of deadlock and is not applied"
                problems[f"{unproven}: {verdict.reason}"] = None
            job = plan.job(routing, session.journal.folder.resolve())
            problems |= dict.fromkeys(fabric_problems(plan.fabric, job))
            program_problems |= dict.fromkeys(plan.fabric.program_problems(job) if dry else ())
    # If commands are only shown, missing programs are no errors: `fabric_problems` has them, too.
    for text in program_problems:
        problems.pop(text)
        logger.warning("%s: fabric: %s", plan.file.path, text)
    if problems:
        raise InputError("\n".join(f"{plan.file.path}: fabric: {text}" for text in problems))
