"""What a comparison has found: a row a run, a row a figure of merit, and facts about all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from routelab.bench.comparison import FIGURE_COLUMNS, RUN_COLUMNS
from routelab.bench.plan import PlannedRun, Prepared, fabric_text
from routelab.bench.session import Ended, Session
from routelab.bench.store import RawRun
from routelab.bench.verdict import Judged


@dataclass(frozen=True, eq=False)
class Collected:
    """All that a comparison found.

    Attributes
    ----------
    runs : list of dict
        By `RUN_COLUMNS`.
    figures : list of dict
        By `FIGURE_COLUMNS`.
    facts : dict
    """

    runs: list[dict[str, Any]]
    figures: list[dict[str, Any]]
    facts: dict[str, Any]


def collect(session: Session, ended: Ended) -> Collected:
    """Read all runs of a comparison from the store, whichever session made them.

    Parameters
    ----------
    session : Session
    ended : Ended
        How the last session ended.
    """
    runs: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    raws: list[RawRun] = []
    for run in session.prepared.runs:
        found = session.judged(run)
        if found is None:
            reason = run.refused or f"not run: {ended.stopped or 'the session ended before'}"
            status = "unsupported" if run.refused else "failed"
            runs.append(_row(run, session.prepared, status=status, reason=reason))
            continue
        raw, judged = found
        raws.append(raw)
        runs.append(_done_row(run, session.prepared, raw, judged))
        figures += _figures(run, raw, judged)
    return Collected(runs, figures, _facts(session.prepared, ended, runs, raws))


def _row(run: PlannedRun, prepared: Prepared, **more: Any) -> dict[str, Any]:
    row = dict.fromkeys(RUN_COLUMNS, "") | {
        "routing": run.routing.id,
        "benchmark": run.benchmark.id,
        "round": run.round,
        "turn": run.turn,
        "ranks": prepared.launcher.ranks,
        "hosts": ",".join(prepared.hosts),
        "applied": "yes" if prepared.apply else "no",
        "run": run.fingerprint,
    }
    return row | more


def _done_row(run: PlannedRun, prepared: Prepared, raw: RawRun, judged: Judged) -> dict[str, Any]:
    return _row(
        run,
        prepared,
        status=judged.status,
        failure=judged.failure,
        reason=judged.reason,
        exit_code="" if raw.exit_code is None else raw.exit_code,
        seconds=round(raw.seconds, 3),
        started=raw.started,
        turn=raw.turn,
        job_id=raw.job_id,
        session=raw.session,
        version=judged.result.version if judged.result else "",
    )


def _figures(run: PlannedRun, raw: RawRun, judged: Judged) -> list[dict[str, Any]]:
    if judged.result is None:
        return []
    rows = []
    for figure in judged.result.figures:
        values = (
            *(run.routing.id, run.benchmark.id, run.round, figure.metric),
            *("" if figure.size is None else figure.size, figure.value),
            *(figure.unit, figure.better, raw.fingerprint),
        )
        rows.append(dict(zip(FIGURE_COLUMNS, values, strict=True)))
    return rows


def _facts(
    prepared: Prepared, ended: Ended, runs: list[dict[str, Any]], raws: list[RawRun]
) -> dict[str, Any]:
    settings, launcher = prepared.comparison.settings, prepared.launcher
    versions: dict[str, str] = {}
    environment: dict[str, str] = {}
    systems: dict[str, None] = {}
    for raw in raws:
        _merge(versions, raw.circumstances.get("versions", {}))
        _merge(environment, raw.circumstances.get("environment", {}))
        systems |= dict.fromkeys(raw.circumstances.get("systems", ()))
    told = {(row["benchmark"], row["version"]) for row in runs if row["version"]}
    for benchmark, version in sorted(told):
        _merge(versions, {benchmark: version})
    started = sorted(raw.started for raw in raws)
    return {
        "cluster": prepared.file.path.stem,
        "launcher": prepared.file.cluster.launcher,
        "hosts": list(prepared.hosts),
        "nodes": launcher.nodes,
        "ranks": launcher.ranks,
        "ranks_per_node": launcher.ranks_per_node,
        "job_ids": list(dict.fromkeys(raw.job_id for raw in raws if raw.job_id)),
        "versions": versions,
        "systems": list(systems),
        "environment": environment,
        "rounds": settings.repeats,
        "warm_up": settings.warm_up,
        "applied": prepared.apply,
        "fabric": fabric_text(prepared.file, prepared.apply) or prepared.fabric.name,
        "wall_seconds": sum(raw.seconds for raw in raws),
        "failed": sum(row["status"] in ("failed", "timeout") for row in runs),
        "restored": "" if ended.restored is None else ended.restored,
        "started": started[0] if started else "",
        "ended": started[-1] if started else "",
    }


def _merge(into: dict[str, str], more: Mapping[str, Any]) -> None:
    """Add texts; where sessions differ, all stand side by side."""
    for name, text in more.items():
        known = into.setdefault(name, str(text))
        if str(text) not in known.split(" | "):
            into[name] = f"{known} | {text}"
