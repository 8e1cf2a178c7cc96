"""The table over all studies."""

from __future__ import annotations

import csv
import html
import re
import shutil

import pytest

from routelab.report.page.index_page import write_index
from routelab.report.page.study_page import write_study_report
from routelab.results.json_files import load_sealed, write_json
from routelab.study import load_study

LOADS = """
title: Loads
cites: doe2020
topologies: [torus]
routings: [x]
bound: true
headline: {value: max_load, baseline: bfs, table: loads}
tables:
  other: {rows: [routing, topology, tie_seed], values: [min_load]}
  loads:
    rows: [routing, topology]
    values: [max_load, lower_bound_rules, gap]
    over: {tie_seed: range}
    beside: {reference: table.csv, on: [routing]}
"""
TRAFFIC = """
title: Traffic
topologies: [torus]
routings: [x]
traffic: [uniform, tornado]
tables:
  accepted:
    of: loads
    rows: [topology, traffic]
    pivot: {by: routing, value: [accepted_load, accepted_bound]}
    where: {load: 0.5}
"""
HOSTILE = "<b>&'\"x"


def value_rows(report):
    """Return the texts of all cells of the page, row by row."""
    body = (
        (report / "values.html")
        .read_text(encoding="utf-8")
        .partition("<tbody>")[2]
        .partition("</tbody>")[0]
    )
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows)
    return [[html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in row] for row in cells]


def stored_rows(report, study, table):
    with (report / study / "tables" / f"{table}.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def finished(new_world, new_study, tmp_path_factory):
    """The reports of a study of loads with bounds, and of one of traffic."""
    home = tmp_path_factory.mktemp("made")
    new_study(home, "tables: {}\n", "routing,max_load\nbfs,9\n")  # writes the reference
    world = new_world(home / "loads")
    for tie, load in enumerate([7, 9, 8]):
        facts = {"lower_bound_rules": 6, "gap": load - 6}
        world.add(f"bfs~tie={tie}", "4x2", [load, 1], alias="bfs", facts=facts, tie_seed=tie)
    # the bound is that of shortest routes, and these take detours
    world.add("detours", "4x2", [5], facts={"lower_bound_rules": 6, "gap": None}, tie_seed=0)
    world.add("x", "4", [6], alias=HOSTILE, facts={"lower_bound_rules": 6, "gap": 0}, tie_seed=0)
    world.add("failed", "4", status="failed", tie_seed=0)
    (home / "loads.yaml").write_text(LOADS)
    (home / "traffic.yaml").write_text(TRAFFIC)
    folder = home / "report"
    study = load_study(home / "loads.yaml")
    write_study_report(study, world.records, world.results, folder / "loads")
    packets = new_world(home / "traffic")
    for routing, accepted in (("dor", 0.25), ("ugal", 0.4)):
        for traffic in ("uniform", "tornado"):
            curve = [
                {"load": load, "accepted_load": accepted * load, "accepted_bound": 0.16}
                for load in (0.5, 1.0)
            ]
            packets.simulate(routing, curve=curve, traffic=traffic)
    study = load_study(home / "traffic.yaml")
    results = packets.results
    write_study_report(study, [], results, folder / "traffic", simulations=packets.simulated)
    return folder


@pytest.fixture
def report(finished, tmp_path):
    """The finished reports, to be changed."""
    return shutil.copytree(finished, tmp_path / "report")


def test_each_value_of_the_answer_is_a_row(report):
    write_index(report)
    expected = []
    for row in stored_rows(report, "loads", "loads"):
        if row["max_load"]:
            value, gap = float(row["max_load"]), row["gap"]
            bound = value - float(gap) if gap else None
            distance = "" if bound is None else f"{100 * (value - bound) / bound:.1f}"
            numbers = [f"{value:.0f}", "" if bound is None else f"{bound:.0f}", distance]
            names = ["maximum channel load (routes)", row["topology"], ""]
            published = row["paper_max_load"]
            expected.append(["loads", row["routing"], *numbers, published, *names])
    for row in stored_rows(report, "traffic", "accepted"):
        traffic = f"{row['traffic']}, offered load 0.5 flits per cycle"
        for routing in ("dor", "ugal"):
            value = float(row[f"accepted_load ({routing})"])
            names = ["accepted load (flits per cycle)", row["topology"], traffic]
            distance = f"{100 * (0.16 - value) / 0.16:.1f}"
            numbers = [f"{value:.3f}", "0.16", distance, ""]
            expected.append(["traffic", routing, *numbers, *names])
    assert len(expected) == 3 + 4
    assert value_rows(report) == expected
    assert value_rows(report)[0][2:6] == ["8", "6", "33.3", "9"]
    assert ["", ""] in [row[3:5] for row in value_rows(report) if row[1] == "detours"]


def test_names_are_escaped_and_rows_lead_to_their_studies(report):
    write_index(report)
    text = (report / "values.html").read_text(encoding="utf-8")
    assert HOSTILE in [row[1] for row in value_rows(report)]
    assert "<b>" not in text
    assert text.count('href="loads/index.html"') == 3
    assert 'href="values.html"' in (report / "index.html").read_text(encoding="utf-8")


def test_a_summary_that_cannot_be_read_or_has_no_values_costs_its_own_rows(report):
    write_index(report)
    before = value_rows(report)
    summary = load_sealed((report / "loads" / "summary.json").read_bytes())
    for name, change in (("broken", {"format": "report/99"}), ("early", {"study": "early"})):
        (report / name).mkdir()
        kept = {key: item for key, item in summary.items() if key != "values"}
        write_json(report / name / "summary.json", kept | change)
    (report / "torn").mkdir()
    (report / "torn" / "summary.json").write_text("{")
    write_index(report)
    assert value_rows(report) == before
    rest = (report / "values.html").read_text(encoding="utf-8").partition("</table>")[2]
    named = re.findall(r'href="(\w+)/index.html"', rest)
    assert named == ["broken", "early", "torn"]
