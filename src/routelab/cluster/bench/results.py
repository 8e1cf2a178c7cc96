"""Results of a comparison: a row per run, a row per figure of merit, and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from routelab.cluster.bench.comparison import FIGURE_COLUMNS, RUN_COLUMNS
from routelab.cluster.bench.plan import MeasurementPlan, PlannedRun, fabric_commands_text
from routelab.cluster.bench.run_check import RunVerdict
from routelab.cluster.bench.session import Session, SessionEnd
from routelab.cluster.bench.store import RawRun


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """The results of a comparison.

    Attributes
    ----------
    runs : list of dict
        A row per planned run, with the columns `RUN_COLUMNS`.
    figures : list of dict
        A row per figure of merit of a run, with the columns `FIGURE_COLUMNS`.
    facts : dict
        Site, versions, number of runs and times; the facts of the comparison's outcome.
    """

    runs: list[dict[str, Any]]
    figures: list[dict[str, Any]]
    facts: dict[str, Any]


def collect(session: Session, session_end: SessionEnd) -> ComparisonResult:
    """Read all runs of a comparison from the store, of all sessions.

    A run that gives a figure in another unit than the first run of its benchmark counts as failed:
    a median over both would be no measurement.

    Parameters
    ----------
    session : Session
    session_end : SessionEnd
        How the last session ended.
    """
    runs: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    raw_runs: list[RawRun] = []
    first_units: dict[tuple[str, str, int | None], tuple[str, str]] = {}
    for run in session.plan.runs:
        stored = session.find_verdict(run)
        if stored is None:
            # A run that is not stored has a row, too: it says why there are no figures.
            reason = run.refusal or f"not run: {session_end.stopped or 'the session ended before'}"
            status = "unsupported" if run.refusal else "failed"
            runs.append(_run_row(run, session.plan, status=status, reason=reason))
            continue
        raw, verdict = stored
        if conflict := _find_unit_conflict(run, verdict, first_units):
            verdict = RunVerdict("failed", "unreadable", conflict)
        raw_runs.append(raw)
        runs.append(_stored_run_row(run, session.plan, raw, verdict))
        figures += _figure_rows(run, raw, verdict)
    return ComparisonResult(runs, figures, _facts(session.plan, session_end, runs, raw_runs))


def _run_row(run: PlannedRun, plan: MeasurementPlan, **values: Any) -> dict[str, Any]:
    """Return the row of a run; columns that neither the plan nor `values` has are empty."""
    row = dict.fromkeys(RUN_COLUMNS, "") | {
        "routing": run.routing.id,
        "benchmark": run.benchmark.id,
        "round": run.round,
        "turn": run.turn,
        "ranks": plan.launcher.ranks,
        "hosts": ",".join(plan.hosts),
        "applied": "yes" if plan.switches_fabric else "no",
        "run": run.fingerprint,
    }
    return row | values


def _stored_run_row(
    run: PlannedRun, plan: MeasurementPlan, raw: RawRun, verdict: RunVerdict
) -> dict[str, Any]:
    """Return the row of a run that is stored."""
    return _run_row(
        run,
        plan,
        status=verdict.status,
        failure=verdict.failure,
        reason=verdict.reason,
        exit_code="" if raw.exit_code is None else raw.exit_code,
        seconds=round(raw.seconds, 3),
        started=raw.started,
        # Its own session may have had other turns than the one that is planned now.
        turn=raw.turn,
        job_id=raw.job_id,
        session=raw.session,
        version=verdict.result.version if verdict.result else "",
    )


def _find_unit_conflict(
    run: PlannedRun,
    verdict: RunVerdict,
    first_units: dict[tuple[str, str, int | None], tuple[str, str]],
) -> str:
    """Return which unit or direction differs from that of earlier runs; empty if none does.

    Parameters
    ----------
    first_units : dict
        Unit and direction (lower or higher is better) of the first figure of each benchmark, metric
        and size. Updated.
    """
    figures = verdict.result.figures if verdict.result else ()
    for figure in figures:
        key = (run.benchmark.id, figure.metric, figure.size)
        new_unit = (figure.unit, figure.better)
        first_unit = first_units.setdefault(key, new_unit)
        if new_unit != first_unit:
            new, old = (
                f"{unit} ({better or 'no direction'})" for unit, better in (new_unit, first_unit)
            )
            return f"{figure.metric} is in {new}, in earlier runs in {old}; parse() must convert it"
    return ""


def _figure_rows(run: PlannedRun, raw: RawRun, verdict: RunVerdict) -> list[dict[str, Any]]:
    """Return a row for each figure of merit of a run; none without a result."""
    if verdict.result is None:
        return []
    rows = []
    for figure in verdict.result.figures:
        row = {
            "routing": run.routing.id,
            "benchmark": run.benchmark.id,
            "round": run.round,
            "metric": figure.metric,
            "size": "" if figure.size is None else figure.size,
            "value": figure.value,
            "unit": figure.unit,
            "better": figure.better,
            "run": raw.fingerprint,
        }
        rows.append({column: row[column] for column in FIGURE_COLUMNS})
    return rows


def _end_time(raw: RawRun) -> str:
    """Return the time at which a run ended, UTC in ISO 8601, to whole seconds."""
    end = datetime.fromisoformat(raw.started) + timedelta(seconds=raw.seconds)
    return end.isoformat(timespec="seconds")


def _facts(
    plan: MeasurementPlan,
    session_end: SessionEnd,
    runs: list[dict[str, Any]],
    raw_runs: list[RawRun],
) -> dict[str, Any]:
    """Return the facts of a comparison: its site, versions, number of runs and times.

    Parameters
    ----------
    runs : list of dict
        Rows of all planned runs.
    raw_runs : list of RawRun
        The stored ones of these runs, perhaps of several sessions.
    """
    settings, launcher = plan.comparison.settings, plan.launcher
    circumstances = [raw.circumstances for raw in raw_runs]
    # The launcher's version is from the circumstances, those of benchmarks are from their outputs.
    versions = [record.get("versions", {}) for record in circumstances]
    benchmark_versions = {(row["benchmark"], row["version"]) for row in runs if row["version"]}
    versions += [{benchmark: version} for benchmark, version in sorted(benchmark_versions)]
    # kernels of the hosts, each once, such as "Linux 6.1"
    systems = dict.fromkeys(
        system for record in circumstances for system in record.get("systems", ())
    )
    # None: the last session did not switch the fabric
    restored = "" if session_end.restored is None else session_end.restored
    start_times = sorted(raw.started for raw in raw_runs)  # ISO 8601, so sorted by time
    return {
        "cluster": plan.file.path.stem,
        "launcher": plan.file.cluster.launcher,
        "hosts": list(plan.hosts),
        "nodes": launcher.nodes,
        "ranks": launcher.ranks,
        "ranks_per_node": launcher.ranks_per_node,
        "job_ids": list(dict.fromkeys(raw.job_id for raw in raw_runs if raw.job_id)),
        "versions": _merge_texts(versions),
        "systems": list(systems),
        "environment": _merge_texts([record.get("environment", {}) for record in circumstances]),
        "rounds": settings.repeats,
        "warm_up": settings.warm_up,
        "applied": plan.switches_fabric,
        "fabric": fabric_commands_text(plan.file, plan.switches_fabric) or "none",
        "wall_seconds": sum(raw.seconds for raw in raw_runs),
        "failed": sum(row["status"] in ("failed", "timeout") for row in runs),
        "restored": restored,
        "started": start_times[0] if start_times else "",
        "ended": max(map(_end_time, raw_runs), default=""),
    }


def _merge_texts(records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the texts of records by name; where they differ, all of them: ``"4.1 | 4.2"``."""
    texts: dict[str, dict[str, None]] = {}  # the inner one is an ordered set
    for record in records:
        for name, text in record.items():
            texts.setdefault(name, {})[str(text)] = None
    return {name: " | ".join(different_texts) for name, different_texts in texts.items()}
