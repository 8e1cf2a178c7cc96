"""Results of a comparison: a row per run, a row per figure of merit, and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from routelab.cluster.bench.comparison import FIGURE_COLUMNS, RUN_COLUMNS
from routelab.cluster.bench.plan import MeasurementPlan, PlannedRun, fabric_text
from routelab.cluster.bench.run_check import RunVerdict
from routelab.cluster.bench.session import Session, SessionEnd
from routelab.cluster.bench.store import RawRun


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """The results of a comparison.

    Attributes
    ----------
    runs : list of dict
        With the columns `RUN_COLUMNS`.
    figures : list of dict
        With the columns `FIGURE_COLUMNS`.
    facts : dict
    """

    runs: list[dict[str, Any]]
    figures: list[dict[str, Any]]
    facts: dict[str, Any]


def collect(session: Session, ended: SessionEnd) -> ComparisonResult:
    """Read all runs of a comparison from the store, of all sessions.

    A run that gives a figure in another unit than the first run of its benchmark counts as failed:
    a median over both would be no measurement.

    Parameters
    ----------
    session : Session
    ended : SessionEnd
        How the last session ended.
    """
    runs: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    raws: list[RawRun] = []
    units: dict[tuple[str, str, int | None], tuple[str, str]] = {}
    for run in session.plan.runs:
        stored = session.find_verdict(run)
        if stored is None:
            reason = run.refusal or f"not run: {ended.stopped or 'the session ended before'}"
            status = "unsupported" if run.refusal else "failed"
            runs.append(_row(run, session.plan, status=status, reason=reason))
            continue
        raw, verdict = stored
        if conflict := _unit_conflict(run, verdict, units):
            verdict = RunVerdict("failed", "unreadable", conflict)
        raws.append(raw)
        runs.append(_done_row(run, session.plan, raw, verdict))
        figures += _figures(run, raw, verdict)
    return ComparisonResult(runs, figures, _facts(session.plan, ended, runs, raws))


def _row(run: PlannedRun, plan: MeasurementPlan, **more: Any) -> dict[str, Any]:
    """Return a row of a run; columns that are not in `more` or the plan are empty."""
    row = dict.fromkeys(RUN_COLUMNS, "") | {
        "routing": run.routing.id,
        "benchmark": run.benchmark.id,
        "round": run.round,
        "turn": run.turn,
        "ranks": plan.launcher.ranks,
        "hosts": ",".join(plan.hosts),
        "applied": "yes" if plan.apply else "no",
        "run": run.fingerprint,
    }
    return row | more


def _done_row(
    run: PlannedRun, plan: MeasurementPlan, raw: RawRun, verdict: RunVerdict
) -> dict[str, Any]:
    """Return the row of a run that was started."""
    return _row(
        run,
        plan,
        status=verdict.status,
        failure=verdict.failure,
        reason=verdict.reason,
        exit_code="" if raw.exit_code is None else raw.exit_code,
        seconds=round(raw.seconds, 3),
        started=raw.started,
        turn=raw.turn,
        job_id=raw.job_id,
        session=raw.session,
        version=verdict.result.version if verdict.result else "",
    )


def _unit_conflict(
    run: PlannedRun, verdict: RunVerdict, units: dict[tuple[str, str, int | None], tuple[str, str]]
) -> str:
    """Return which unit or direction differs from that of earlier runs; empty if none does.

    Updated: `units`, those of figures by benchmark, metric and size.
    """
    for figure in verdict.result.figures if verdict.result else ():
        unit = figure.unit, figure.better
        first = units.setdefault((run.benchmark.id, figure.metric, figure.size), unit)
        if unit != first:
            new, old = (f"{name} ({better or 'no direction'})" for name, better in (unit, first))
            return f"{figure.metric} is in {new}, in earlier runs in {old}; parse() must convert it"
    return ""


def _figures(run: PlannedRun, raw: RawRun, verdict: RunVerdict) -> list[dict[str, Any]]:
    """Return a row for each figure of merit of a run; none without a result."""
    if verdict.result is None:
        return []
    rows = []
    for figure in verdict.result.figures:
        values = (
            *(run.routing.id, run.benchmark.id, run.round, figure.metric),
            *("" if figure.size is None else figure.size, figure.value),
            *(figure.unit, figure.better, raw.fingerprint),
        )
        rows.append(dict(zip(FIGURE_COLUMNS, values, strict=True)))
    return rows


def _facts(
    plan: MeasurementPlan,
    ended: SessionEnd,
    runs: list[dict[str, Any]],
    raws: list[RawRun],
) -> dict[str, Any]:
    """Return the facts of a measurement: its site, versions, number of runs and times."""
    settings, launcher = plan.comparison.settings, plan.launcher
    # the launcher's version is from the session, those of benchmarks are from their outputs
    sessions = [raw.circumstances for raw in raws]
    benchmarks = {(row["benchmark"], row["version"]) for row in runs if row["version"]}
    versions = [session.get("versions", {}) for session in sessions]
    versions += [{benchmark: version} for benchmark, version in sorted(benchmarks)]
    systems = dict.fromkeys(system for session in sessions for system in session.get("systems", ()))
    started = sorted(raw.started for raw in raws)
    return {
        "cluster": plan.file.path.stem,
        "launcher": plan.file.cluster.launcher,
        "hosts": list(plan.hosts),
        "nodes": launcher.nodes,
        "ranks": launcher.ranks,
        "ranks_per_node": launcher.ranks_per_node,
        "job_ids": list(dict.fromkeys(raw.job_id for raw in raws if raw.job_id)),
        "versions": _joined(versions),
        "systems": list(systems),
        "environment": _joined([session.get("environment", {}) for session in sessions]),
        "rounds": settings.repeats,
        "warm_up": settings.warm_up,
        "applied": plan.apply,
        "fabric": fabric_text(plan.file, plan.apply) or "none",
        "wall_seconds": sum(raw.seconds for raw in raws),
        "failed": sum(row["status"] in ("failed", "timeout") for row in runs),
        "restored": "" if ended.restored is None else ended.restored,
        "started": started[0] if started else "",
        "ended": started[-1] if started else "",
    }


def _joined(records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the texts of records by name; where they differ, all of them."""
    texts: dict[str, dict[str, None]] = {}
    for record in records:
        for name, text in record.items():
            texts.setdefault(name, {})[str(text)] = None
    return {name: " | ".join(different) for name, different in texts.items()}
