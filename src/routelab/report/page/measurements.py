"""Measurements on the page: clusters, failed runs and raw outputs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any
from urllib.parse import quote

from routelab.cluster.bench.comparison import FIGURES, RUNS
from routelab.cluster.bench.store import STDERR, STDOUT
from routelab.report.rows.bench_rows import BenchmarkRecord
from routelab.report.rows.benchmarks import SWITCH_WARNING, BenchmarkRows
from routelab.report.rows.comparison_files import ComparisonFiles, failure_kind
from routelab.report.rows.row_set import OK
from routelab.results.missing_results import NOT_RUN

MAX_RUNS = 1000
"""Largest number of runs of a comparison on the page; its table of runs has all."""

RESTORE_ALARM = (
    "The fabric was NOT restored after the measurements: it may still route as the last routing "
    "of this comparison. Restore it by hand, or run the comparison again, which restores it first."
)


def page_comparisons(row_set: BenchmarkRows, page: Path) -> list[dict[str, Any]]:
    """Return what the page shows of each comparison: interleaved runs of several routings.

    Parameters
    ----------
    row_set : BenchmarkRows
        Measurements of the study; the rows of a comparison have its folder.
    page : Path
        Folder of the page, to which links are relative.

    Returns
    -------
    comparisons : list of dict
        ``title``; ``alarms`` (serious problems); ``counts_text`` (a sentence with the numbers of
        runs, and of those with figures of merit); ``facts``, ``versions`` and ``environment``
        (headings and texts); ``failed`` and ``runs`` (runs without figures of merit, and all runs;
        each at most `MAX_RUNS`); ``cut`` (whether some runs are not listed); ``links`` (to its
        tables).
    """
    # All records of a comparison have the same settings: take the first one.
    first_records: dict[Path, BenchmarkRecord] = {}
    for record in row_set.records:
        first_records.setdefault(record.directory, record)
    return [
        _page_comparison(first_records[files.directory], files, page)
        for files in row_set.comparisons
    ]


def _page_comparison(record: BenchmarkRecord, files: ComparisonFiles, page: Path) -> dict[str, Any]:
    """Return what the page shows of one comparison; `page_comparisons` explains the keys."""
    facts = files.outcome.facts
    runs = [_page_run(run, record.store, page) for run in files.runs]
    failures = [run for run in runs if run["status"] != OK]
    # The sentence with the numbers of runs. Warm-up rounds have the numbers 0 and less.
    measured_runs = [run for run in files.runs if run["round"] >= 1]
    num_warm_up = len(files.runs) - len(measured_runs)
    num_ok = sum(run["status"] == OK for run in measured_runs)
    counts_text = f"{num_ok} of {len(measured_runs)} runs gave figures"
    counts_text += f", plus {num_warm_up} for warm-up." if num_warm_up else "."
    return {
        "title": f"{record.topology}, {record.settings_id}",
        "alarms": _alarms(files),
        "counts_text": counts_text,
        "facts": _fact_lines(files, record),
        "versions": _pairs(facts.get("versions")),
        "environment": _pairs(facts.get("environment")),
        "failed": failures[:MAX_RUNS],
        "runs": runs[:MAX_RUNS],
        "cut": len(runs) > MAX_RUNS,
        "links": _links(files.directory, ("outcome.json", RUNS, FIGURES), page),
    }


def _alarms(files: ComparisonFiles) -> list[str]:
    """Return sentences on serious problems of a comparison."""
    facts, alarms = files.outcome.facts, []
    # not recorded if the fabric was never switched
    if facts.get("restored") is False:
        alarms.append(RESTORE_ALARM)
    if files.outcome.status == NOT_RUN:
        alarms.append("This comparison has not been completed yet.")
    elif files.outcome.status != OK:
        alarms.append(f"Not everything was measured: {files.outcome.reason}")
    # runs that were measured although the fabric had not been switched to their routing
    if any(run["applied"] == "no" for run in files.runs):
        alarms.append(SWITCH_WARNING)
    return alarms


def _fact_lines(files: ComparisonFiles, record: BenchmarkRecord) -> list[tuple[str, str]]:
    """Return the headings and texts of a comparison's facts that are known."""
    facts = files.outcome.facts
    jobs, hosts = facts.get("job_ids") or [], facts.get("hosts") or []
    nodes, ranks_per_node = facts.get("nodes"), facts.get("ranks_per_node")
    seconds = facts.get("wall_seconds")
    times = [str(facts[name]) for name in ("started", "ended") if facts.get(name)]
    # Versions of the benchmarks that ran: "LU 3.4.1; osu-alltoall 5.7, 7.4".
    versions: dict[str, dict[str, None]] = {}
    for run in files.runs:
        if run["version"]:
            versions.setdefault(run["benchmark"], {})[run["version"]] = None
    versions_text = "; ".join(f"{name} {', '.join(texts)}" for name, texts in versions.items())
    # A comparison that has not begun has no facts, so that most texts are empty.
    lines = [
        ("Cluster", str(facts.get("cluster") or record.cluster)),
        ("Processes", f"{facts.get('ranks')}: {nodes} nodes × {ranks_per_node}" if nodes else ""),
        ("Nodes", ", ".join(map(str, hosts)) or ("this machine" if facts else "")),
        ("Allocations", f"{len(jobs)} ({', '.join(map(str, jobs))})" if jobs else "none"),
        ("Launcher", str(facts.get("launcher") or "")),
        ("Fabric", str(facts.get("fabric") or "")),
        ("Benchmarks", versions_text),
        ("Rounds", f"{record.settings.repeats}, after {record.settings.warm_up} for warm-up"),
        ("Compared with", record.baseline),
        ("Wall time of all runs", f"{seconds:.1f} s" if seconds else ""),
        ("Runs started (UTC)", " to ".join(dict.fromkeys(times))),
        ("Systems", "; ".join(map(str, facts.get("systems") or []))),
    ]
    return [(heading, text) for heading, text in lines if text]


def _pairs(texts: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    return [(str(name), str(text)) for name, text in (texts or {}).items()]


def _page_run(run: Mapping[str, Any], store: Path, page: Path) -> dict[str, Any]:
    """Return what the page shows of a run, with ``links`` to its output files by file name."""
    links = _links(store / run["run"], (STDOUT, STDERR), page) if run["run"] else {}
    seconds = run["seconds"]
    return {
        "routing": run["routing"],
        "benchmark": run["benchmark"],
        "round": str(int(run["round"])) if run["round"] >= 1 else "warm-up",
        "status": run["status"],
        "cause": failure_kind(run),
        "reason": run["reason"],
        "seconds": "" if isnan(seconds) else f"{seconds:.1f}",
        "job_id": run["job_id"],
        "links": links,
    }


def _links(folder: Path, names: Sequence[str], page: Path) -> dict[str, str]:
    """Return links to the files that exist, by name and relative to the page's folder."""
    return {
        name: quote(Path(os.path.relpath((folder / name).resolve(), page.resolve())).as_posix())
        for name in names
        if (folder / name).is_file()
    }
