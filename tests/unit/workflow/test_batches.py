"""A batch does what is missing, each job under its own limits, and loses nothing."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from routelab.api import InputError, RoutelabError
from routelab.jobs.batches import run_batch, write_jobs
from routelab.jobs.folder_job import Result
from routelab.jobs.job import BaseJob
from routelab.results.outcome import read_outcome, write_outcome
from routelab.study import Limits
from routelab.workflow.stages.routes import RouteJob
from routelab.workflow.stages.topologies import TopologyJob

LIMITS = {"seconds": 60.0, "memory_gb": 4.0}


@pytest.fixture
def network(tmp_path: Path) -> str:
    return build(tmp_path, "ring", "torus~dims=4")


def build(tmp_path: Path, name: str, text: str) -> str:
    folder = str(tmp_path / "networks" / name)
    do(tmp_path, TopologyJob(folder=folder, text=text, digest=name, limits=Limits(**LIMITS)))
    return folder


def do(folder: Path, *jobs: BaseJob) -> int:
    spec = folder / "spec.json"
    write_jobs(jobs, spec)
    return run_batch(spec, folder / "manifest.json")


def route(tmp_path: Path, network: str, routing: str, mark: str = "f", **limits: float) -> RouteJob:
    return RouteJob(
        folder=str(tmp_path / "routes" / routing),
        topology=network,
        text=routing,
        digest=mark,
        limits=Limits(**{**LIMITS, **limits}),
    )


def test_only_unfinished_jobs_run(tmp_path: Path, network: str) -> None:
    jobs = [route(tmp_path, network, name) for name in ("dor", "angara-sssp")]
    assert do(tmp_path, *jobs) == 2
    times = [job.outcome.stat().st_mtime_ns for job in jobs]
    assert do(tmp_path, *jobs) == 0
    jobs[1].outcome.unlink()
    assert do(tmp_path, *jobs) == 1
    upgraded = route(tmp_path, network, "dor", mark="g")
    assert do(tmp_path, upgraded, jobs[1]) == 1
    assert read_outcome(upgraded.outcome).provenance["fingerprint"] == upgraded.fingerprint
    assert jobs[0].outcome.stat().st_mtime_ns > times[0]


def test_every_end_of_a_job_is_an_outcome(
    tmp_path: Path, network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = build(tmp_path, "cube", "torus~dims=12x12x12")
    bad = build(tmp_path, "bad", "torus~dims=4,failed_links=0-9")
    jobs = [
        route(tmp_path, network, "dor"),
        route(tmp_path, slow, "p2-sssp@up-down", seconds=0.2),
        route(tmp_path, bad, "dfsssp"),
        route(tmp_path, slow, "angara-bfs", memory_gb=psutil.virtual_memory().total // 10**9),
    ]
    deeds: dict[str, Callable[[], object]] = dict.fromkeys([job.text for job in jobs], lambda: None)
    deeds["angara-bfs"] = lambda: np.empty(psutil.virtual_memory().total)
    run_as(monkeypatch, deeds)
    assert do(tmp_path, *jobs) == 4
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert [entry["status"] for entry in manifest["outcomes"]] == [
        "ok",
        "timeout",
        "unsupported",
        "failed",
    ]
    reasons = [entry["reason"] for entry in manifest["outcomes"]]
    assert reasons[0] == ""
    assert reasons[1].startswith("reached its limit of 0.2 CPU-s (limits.seconds)")
    assert reasons[2].startswith("no network: ")
    assert reasons[3].startswith(f"reached its limit of {jobs[3].limits.memory_gb:g} GB (limits.")
    # what failed or ran out of time is tried again, what is not supported is a result
    assert do(tmp_path, *jobs) == 2


def test_an_earlier_failure_is_not_taken_for_the_outcome_of_a_new_try(
    tmp_path: Path, network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = route(tmp_path, network, "dor")
    do(tmp_path, job)
    failed = replace(read_outcome(job.outcome), status="failed", reason="long ago")
    write_outcome(failed, job.outcome)
    monkeypatch.setattr(RouteJob, "run", lambda self, *parts: os._exit(0))
    assert do(tmp_path, job) == 1
    ((status, reason),) = job.statuses()
    assert status == "failed"
    assert reason.startswith("its process ended without a result")


def test_an_outcome_that_cannot_be_written_stops_the_batch(tmp_path: Path, network: str) -> None:
    (tmp_path / "routes").write_text("a file where a folder is needed")
    with pytest.raises(RoutelabError, match="no outcome was written"):
        do(tmp_path, route(tmp_path, network, "dor"))
    assert (
        not (tmp_path / "manifest.json").exists()
        or "routes/dor" not in (tmp_path / "manifest.json").read_text()
    )


def run_as(monkeypatch: pytest.MonkeyPatch, deeds: dict[str, Callable[[], object]]) -> None:
    """Let jobs do something of their own before they are done as usual, by routing."""
    real_run = RouteJob.run

    def run(self: RouteJob, *parts: Any) -> Result:
        deeds[self.text]()
        return real_run(self, *parts)

    monkeypatch.setattr(RouteJob, "run", run)


def test_jobs_share_a_process_until_one_ends_it(
    tmp_path: Path, network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "processes"

    def note() -> None:
        with seen.open("a") as stream:
            stream.write(f"{os.getpid()}\n")

    def end() -> None:
        note()
        os._exit(0)

    def leave_thread() -> None:
        note()
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()

    deeds = {"dor": note, "first@angara": end, "dfsssp": note, "p2-sssp@up-down": leave_thread}
    deeds |= {"angara-sssp": note, "angara-bfs": note}
    run_as(monkeypatch, deeds)
    jobs = [route(tmp_path, network, name) for name in deeds]
    assert do(tmp_path, *jobs) == 6
    processes = seen.read_text().split()
    numbers = [list(dict.fromkeys(processes)).index(process) for process in processes]
    assert numbers == [0, 0, 1, 2, 2, 3, 3]  # what ends a shared process is tried once more alone
    assert [job.status() for job in jobs] == ["ok", "failed", "ok", "ok", "ok", "ok"]


def test_a_job_does_not_answer_for_those_before_it(
    tmp_path: Path, network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = []
    sleeper = tmp_path / "sleeper"

    def leave() -> None:
        """Keep memory and a process, and leave the folder."""
        kept.append(np.ones(150_000_000))
        sleeper.write_text(str(subprocess.Popen(["sleep", "600"]).pid))
        os.chdir("/")

    def look() -> None:
        assert not psutil.pid_exists(int(sleeper.read_text()))

    run_as(monkeypatch, {"dor": leave, "dfsssp": look, "angara-bfs": look})
    data = psutil.Process().memory_info().data
    jobs = [
        route(tmp_path, network, "dor"),
        route(tmp_path, network, "dfsssp"),
        # too little for what the first job keeps, so it is tried again in a process of its own
        route(tmp_path, network, "angara-bfs", memory_gb=data / 1e9 + 0.5),
    ]
    assert do(tmp_path, *jobs) == 3
    assert [job.statuses() for job in jobs] == [[("ok", "")]] * 3


def test_peak_memory_is_that_of_one_job(
    tmp_path: Path, network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_as(monkeypatch, {"dor": lambda: np.ones(50_000_000).sum(), "dfsssp": lambda: None})
    jobs = [route(tmp_path, network, name) for name in ("dor", "dfsssp")]
    do(tmp_path, *jobs)
    first, second = (read_outcome(job.outcome).provenance["peak_memory_bytes"] for job in jobs)
    # 400 MB, less what the process has imported meanwhile; none if the second had the first's peak
    assert first - second > 200e6


def test_a_damaged_spec_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        run_batch(tmp_path / "spec.json", tmp_path / "manifest.json")
