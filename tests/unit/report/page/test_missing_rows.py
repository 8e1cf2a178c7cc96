"""What a page and the index say when results are missing."""

from __future__ import annotations

import csv
import json
import re
from html import unescape

import pytest

from routelab.report.page.index_page import write_index
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
    return (folder / "index.html").read_text(), json.loads((folder / "summary.json").read_text())


def boxes(page):
    """Role, and sentences of every box about missing results."""
    found = re.findall(r'<div class="missing[^"]*" role="(\w+)">(.*?)</div>', page, re.DOTALL)
    return [
        (role, [unescape(text) for text in re.findall(r"<li>(.*?)</li>", box)])
        for role, box in found
    ]


def bold(page):
    return [unescape(text) for text in re.findall(r'<p class="finding">(.*?)</p>', page)]


def test_when_all_simulations_are_lost_the_page_says_so_first(world, write_study, tmp_path):
    simulations(world, 9)
    page, summary = written(world, write_study(STUDY), tmp_path / "report")
    assert boxes(page) == [("alert", [ALL_LOST])]
    # the same sentence again would be noise
    assert bold(page) == []
    answer = page.index('id="answer"')
    assert answer < page.index("No answer: results are missing") < page.index('id="summary"')
    assert page.index('role="alert"') < page.index('id="answer"')
    assert 'href="#lost"' in page
    assert page.count('id="lost"') == 1
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


def test_the_most_serious_loss_comes_first_and_hostile_reasons_stay_text(
    world, write_study, tmp_path
):
    world.add("a", "4", status="failed", reason="<b>it</b> broke\nat line 1")
    for routing in ("b", "c"):
        world.add(routing, "4", status="unsupported", reason="no")
    world.add("d", "4")
    (world.add("e", "4").directory / "outcome.json").unlink()
    page, _ = written(world, write_study(""), tmp_path / "report")
    assert boxes(page) == [
        (
            "alert",
            [
                "1 of 5 route tables of demo failed: <b>it</b> broke.",
                "1 of 5 route tables of demo has not run yet.",
            ],
        ),
        ("note", ["2 of 5 route tables of demo do not apply to their network: no."]),
    ]
    assert "<b>it" not in page


def test_lost_bounds_are_in_the_banner_and_in_the_list_but_are_no_finding(
    world, write_study, tmp_path
):
    folder = tmp_path / "bounds/torus~dims=4"
    for name, status, reason in (("angara", "failed", "it broke"), ("_network", "ok", "")):
        outcome = Outcome("bound", "torus~dims=4", name, status, reason, {"lower_bound": 1})
        write_outcome(outcome, folder / name / "outcome.json")
    record = world.add("bfs", "4", status="failed", reason="no memory")
    good = world.add("dor", "4")
    bounds = {"rules_bound": folder / "angara", "network_bound": folder / "gone"}
    world.records[:] = [record, type(good)(**vars(good) | bounds)]
    page, summary = written(world, write_study(""), tmp_path / "report")
    assert boxes(page)[0][1] == [
        "1 of 2 route tables of demo failed: no memory.",
        "1 of 2 bounds of demo failed: it broke.",
        "1 of 2 bounds of demo has not run yet.",
    ]
    assert summary["finding"].startswith("1 of 2 route tables")
    assert "bound of the rules angara" in page
    assert "bound of the network" in page
    assert "routelab evaluate torus~dims=4 dor --bound" in page
    assert "1 of 2 runs have a result." in page

    world.records.pop(0)
    _, summary = written(world, write_study(""), tmp_path / "other")
    assert summary["finding"] == "The route table is proven free of deadlock."


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


# --- The index ---


def index(report):
    write_index(report)
    return unescape((report / "index.html").read_text())


def test_the_index_marks_studies_with_losses(world, write_study, tmp_path):
    simulations(world, 9)
    written(world, write_study(STUDY), tmp_path / "report/demo")
    text = index(tmp_path / "report")
    marked = "9 of 9 simulations reached their limit of 120 CPU-s; raise limits.seconds."
    assert text.count(marked) == 1
    # the same sentence again would be noise
    assert ALL_LOST not in text
