"""What a run prints of its jobs: counts, problems, an estimate, and the rows of surveys."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from routelab.jobs import events
from routelab.jobs.batches import run_batch
from routelab.jobs.events import ENDED, Event
from routelab.stages.plan.expansion import expand_studies
from routelab.stages.plan.plan import Plan
from routelab.stages.workflow import progress as module
from routelab.stages.workflow.progress import (
    LONGEST_NAME,
    Progress,
    count_missing_results,
    progress_lines,
)

LIMIT = "reached its limit of 60 CPU-s (limits.seconds) in dor: routing"


def event(
    title: str, status: str = "ok", reason: str = "", seconds: float = 0.0, kind: str = "routes"
) -> Event:
    return Event(kind=kind, title=title, status=status, reason=reason, seconds=seconds)


def test_results_are_counted_once() -> None:
    progress = Progress({"topologies": 1, "routes": 3}, 2)
    assert progress.line() == "0 of 4 jobs done"
    assert progress.add([event("a", ""), event("a"), event("n", kind="topologies")]) == []
    assert progress.line().startswith("2 of 4 jobs done")
    assert progress.done == 2
    assert progress.add([]) == []
    assert progress.done == 2


def test_more_results_than_planned_are_no_more_than_all() -> None:
    progress = Progress({"routes": 1}, 1)
    progress.add([event("a"), event("b"), event("c")])
    assert progress.line() == "3 of 3 jobs done"
    assert progress.remaining() == 0


def test_what_is_running_is_named_until_it_ends() -> None:
    progress = Progress({"routes": 9}, 2)
    progress.add([event("a", ""), event("b", "")])
    assert progress.line() == "0 of 9 jobs done, running: route table a; route table b"
    progress.add([event("a"), *(event(name, "") for name in "cdef")])
    assert progress.line().endswith(
        "running: route table b; route table c; route table d and 2 more"
    )
    progress.add([event(name) for name in "bcdef"])
    assert "running" not in progress.line()


def test_a_long_name_is_cut() -> None:
    progress = Progress({"routes": 1}, 1)
    progress.add([event("x" * 500, "")])
    shown = progress.line().partition("running: ")[2]
    assert shown.startswith("route table xxx")
    assert shown.endswith("x…")
    assert len(shown) == LONGEST_NAME


def test_problems_with_one_cause_are_one_line() -> None:
    progress = Progress({"routes": 9}, 2)
    lines = progress.add(
        [
            event("a", "timeout", LIMIT),
            event("b", "failed", "dor: route() raised ValueError: no\nwith more lines"),
            event("c", "timeout", LIMIT),
            event("d"),
            event("e", "timeout", LIMIT),
            event("f", "failed", LIMIT, kind="flows"),
        ]
    )
    assert lines == [
        f"route table a and 2 more: {LIMIT}",
        "route table b: failed: dor: route() raised ValueError: no",
        f"flow simulation f: {LIMIT}",
    ]
    assert "6 of 9 jobs done, 5 failed or stopped" in progress.line()
    # the same again is news
    assert progress.add([event("g", "timeout", LIMIT)]) == [f"route table g: {LIMIT}"]


def test_that_a_routing_does_not_apply_is_printed_once_and_is_no_loss() -> None:
    progress = Progress({"routes": 9}, 2)
    (line,) = progress.add([event("a", "unsupported", "dor: needs a torus")])
    assert line == "route table a: unsupported: dor: needs a torus"
    assert progress.add([event("b", "unsupported", "dor: needs a torus")]) == []
    assert len(progress.add([event("c", "unsupported", "another reason")])) == 1
    assert "failed" not in progress.line()
    assert progress.done == 3


def test_a_problem_without_a_reason_is_a_line_too() -> None:
    (line,) = Progress({}, 1).add([event("a", "failed", "")])
    assert line.startswith("route table a: failed")


def test_a_kind_that_is_not_known_here_has_its_own_name() -> None:
    assert Progress({}, 1).add([event("a", "failed", "why", kind="tea")]) == ["tea a: failed: why"]


def test_the_estimate_is_that_of_each_kind_on_all_cores() -> None:
    progress = Progress({"routes": 4, "flows": 2, "bounds": 1}, 2)
    assert progress.remaining() is None
    progress.add([event("a", seconds=10), event("b", seconds=20)])
    # two more of 15 s; what has not run yet takes as long as all others did, on average
    assert progress.remaining() == (2 * 15 + 2 * 15 + 15) / 2
    progress.add([event("c", seconds=60, kind="flows")])
    assert progress.remaining() == (2 * 15 + 60 + 30) / 2
    assert "about 60 s left" in progress.line()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.1, "about 5 s left"),
        (62, "about 60 s left"),
        (300, "about 5 min left"),
        (7200, "about 2.0 h left"),
    ],
)
def test_an_estimate_is_a_round_number(seconds: float, text: str) -> None:
    progress = Progress({"routes": 2}, 1)
    progress.add([event("a", seconds=seconds)])
    assert text in progress.line()


def test_no_core_is_a_core() -> None:
    progress = Progress({"routes": 2}, 0)
    progress.add([event("a", seconds=3)])
    assert progress.remaining() == 3


def test_rows_of_a_survey_are_counted_and_its_job_is_not() -> None:
    progress = Progress({"surveys": 3}, 1)
    progress.add(
        [
            event("s-1", "", kind="surveys"),
            event("dor on torus~dims=4", kind="surveys", seconds=2),
            event("dor on torus~dims=5", "failed", "why", kind="surveys"),
        ]
    )
    assert progress.line() == (
        "2 of 3 jobs done, 1 failed or stopped, about 5 s left, running: survey run s-1"
    )
    progress.add(
        [event("dor on torus~dims=6", kind="surveys"), event("s-1", ENDED, kind="surveys")]
    )
    assert progress.line() == "3 of 3 jobs done, 1 failed or stopped"


def test_a_step_that_is_done_is_counted_at_once(tmp_path: Path) -> None:
    """Snakemake may end steps more often than the thread looks."""
    log = events.log_of(tmp_path)
    log.parent.mkdir()
    lines: list[str] = []
    with progress_lines(Plan(tmp_path, {}, {}, {}), 1, lines.append) as progress:
        log.write_text(json.dumps(event("a", "failed", "why")) + "\n")
        progress.look()
        assert progress.line() == "1 of 1 jobs done, 1 failed or stopped"
    assert lines == ["route table a: failed: why"]


# --- with jobs --------------------------------------------------------------------------------


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def planned(text: str) -> Plan:
        Path("s.yaml").write_text(text)
        plan = expand_studies([Path("s.yaml")])
        plan.write_specs()
        return plan

    return planned


def do(plan: Plan) -> None:
    """Do all batches in this process, as part of the run."""
    events.open_log(events.log_of(plan.results))
    try:
        for batch in plan.batches.values():
            run_batch(plan.spec(batch), plan.manifest(batch))
    finally:
        events.open_log(Path("no/folder/log"))


ROUTES = """\
title: t
topologies: [torus~dims=4, "torus~dims=4,failed_links=0-9"]
routings: [dor]
metrics: [route-length]
"""


def test_a_run_reports_what_its_jobs_note(plan) -> None:
    planned = plan(ROUTES)
    assert +count_missing_results(planned) == {"topologies": 2, "routes": 2}
    lines: list[str] = []
    with progress_lines(planned, 2, lines.append) as progress:
        do(planned)
    assert progress.done == 4
    assert progress.line() == "4 of 4 jobs done"
    damaged = "torus~dims=4,failed_links=0-9"
    first, second = (line for line in lines if "jobs done" not in line)
    reason = first.removeprefix(f"network {damaged}: unsupported: ")
    assert reason != first
    assert reason.startswith("torus: failed_links: ")
    assert second == f"route table dor on {damaged}: unsupported: no network: {reason}"
    # all is done: nothing is left
    assert count_missing_results(expand_studies([Path("s.yaml")])).total() == 0


def test_rows_of_a_real_survey_are_counted(plan) -> None:
    planned = plan(
        "title: t\nsurvey: true\nbound: {seconds: 5}\n"
        "topologies: [torus~dims=4, torus~dims=3]\nroutings: [dor, angara-bfs]\n"
    )
    assert +count_missing_results(planned) == {"surveys": 4}
    with progress_lines(planned, 1, lambda line: None) as progress:
        do(planned)
    # bounds are beside their rows, and no results
    assert progress.done == 4
    assert "running" not in progress.line()
    assert not +count_missing_results(expand_studies([Path("s.yaml")]))


def test_lines_come_while_jobs_run_and_only_when_something_changed(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(module, "REPORT_SECONDS", 0.05)
    empty = Plan(tmp_path, {}, {}, {})
    log = events.log_of(tmp_path)
    log.parent.mkdir()
    lines: list[str] = []
    came = threading.Event()

    def put(line: str) -> None:
        lines.append(line)
        came.set()

    with progress_lines(empty, 1, put):
        with log.open("a") as stream:
            stream.write(json.dumps(event("a", seconds=1)) + "\n")
        assert came.wait(10)
        time.sleep(0.3)
        assert lines == ["1 of 1 jobs done"]
    assert lines == ["1 of 1 jobs done"]


def test_this_process_takes_part_in_no_run_by_reading_its_jobs(plan, tmp_path) -> None:
    """Only a process of a run notes events and holds the results."""
    planned = plan("title: t\ntopologies: [torus~dims=4]\nroutings: [dor]\n")
    (batch, *_) = planned.batches.values()
    run_batch(planned.spec(batch), planned.manifest(batch))
    assert not events.log_of(planned.results).exists()
