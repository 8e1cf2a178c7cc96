"""What a page and the index say when results are missing."""

from __future__ import annotations

import csv
import json
import re
from html import unescape

import pytest

from routelab.report.page.missing_rows import missing_results
from routelab.report.page.study_page import write_study_report
from routelab.report.rows.routes import RouteRows
from routelab.report.rows.study_rows import StudyRows
from routelab.report.rows.survey import survey_records
from routelab.results.outcome import Outcome, write_outcome
from routelab.results.survey_table import SurveyTable, write_survey_table

LIMIT = "reached its limit of 120 CPU-s (limits.seconds)"
ALL_LOST = "9 of 9 simulations of demo reached their limit of 120 CPU-s; raise limits.seconds."
TABLE = (
    "tables: {t: {of: loads, rows: [routing, traffic], values: [latency_mean], "
    "where: {load: 0.1}}}\n"
)
HEADLINE = "headline: {value: latency_mean, baseline: r8}\n"
STUDY = "traffic: [uniform]\n" + HEADLINE + TABLE


def simulations(world, lost, status="timeout", reason=LIMIT, total=9):
    """Simulations of a study with one route table; the first `lost` have no result."""
    world.add("r0", "4x2")
    for i in range(total):
        curve = [{"load": 0.1, "state": "stationary", "latency_mean": 10.0 + i}]
        record = world.simulate(f"r{i}", curve=curve)
        if i < lost:
            path = record.directory / "outcome.json"
            path.unlink()
            if status != "not-run":
                why = f"{reason} in r{i}: load 0.3" if reason == LIMIT else reason
                names = record.topology, record.routing
                write_outcome(Outcome("simulation", *names, status, why), path)


def written(world, study, folder):
    """The page's text and its summary."""
    write_study_report(
        study, world.records, world.results, folder, (), world.simulated, world.flows
    )
    return (folder / "index.html").read_text(encoding="utf-8"), json.loads(
        (folder / "summary.json").read_text()
    )


def boxes(page):
    """Role, and sentences of every box about missing results."""
    matches = re.findall(r'<div class="missing[^"]*" role="(\w+)">(.*?)</div>', page, re.DOTALL)
    return [
        (role, [unescape(text) for text in re.findall(r"<li>(.*?)</li>", box)])
        for role, box in matches
    ]


def test_when_all_simulations_are_lost_the_page_says_so_first(world, write_study, tmp_path):
    simulations(world, 9)
    page, summary = written(world, write_study(STUDY), tmp_path / "report")
    assert boxes(page) == [("alert", [ALL_LOST])]
    assert page.count('<span class="status timeout">reached a limit</span>') == 9
    assert summary["status"] == "9 reached a limit"
    # what is proven is still there, but it is not what matters
    assert summary["finding"] == ALL_LOST
    assert "The route table is proven free of deadlock." in summary["sentences"]
    assert "9 simulations on 1 network: 0 ok, 9 reached a limit." in summary["sentences"]
    assert summary["losses"] == [
        {
            "thing": "simulation",
            "status": "timeout",
            "lost": 9,
            "total": 9,
            "text": ALL_LOST.replace(" of demo", ""),
            "sentence": ALL_LOST,
        }
    ]


@pytest.mark.parametrize(
    ("lost", "words"),
    [(9, "9 of 9 simulations of demo have"), (1, "1 of 9 simulations of demo has")],
)
def test_pending_runs_are_no_failures(world, write_study, tmp_path, lost, words):
    simulations(world, lost, "not-run")
    page, summary = written(world, write_study(STUDY), tmp_path / "report")
    assert boxes(page) == [("alert", [f"{words} not run yet."])]
    assert (summary["finding"] == f"{words} not run yet.") == (lost == 9)
    assert page.count('<span class="status not-run">not run yet</span>') == lost
    assert "failed" not in unescape(re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL))
    ok = 9 - lost
    assert f"9 simulations on 1 network: {ok} ok, {lost} not run yet." in summary["sentences"]
    with (tmp_path / "report/simulations.csv").open() as file:
        statuses = [row["status"] for row in csv.DictReader(file)]
    assert statuses == ["not-run"] * lost + ["ok"] * ok


def test_each_kind_of_work_is_counted_alone(world):
    world.simulate("a")
    world.flow("a", status="unsupported")
    views = StudyRows((), world.simulated, world.flows)
    assert [loss.sentence for loss in missing_results("s", views)] == [
        "1 of 1 flow simulation of s does not apply to its network: because"
    ]


def test_runs_that_a_survey_has_no_row_of_have_not_run(world, tmp_path):
    for routing in ("a", "b"):
        world.add(routing)
    row = {"topology": "torus~dims=4", "routing": "a", "status": "ok", "reason": ""}
    write_survey_table(SurveyTable([row], {}, {}), tmp_path / "1.csv")
    records = survey_records(world.records, [tmp_path / "1.csv", tmp_path / "2.csv"])
    assert [outcome.status for outcome in RouteRows(records).outcomes] == ["ok", "not-run"]
