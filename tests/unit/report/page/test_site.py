from __future__ import annotations

import csv
import json
import re
import shutil
from html.parser import HTMLParser

import pytest

from routelab.config import ConfigError
from routelab.report.figures.drawing import PALETTE
from routelab.report.frames.runs import Frames
from routelab.report.page.provenance import provenance_lines
from routelab.report.page.site import write_index, write_study_report

VOID = {"meta", "img", "br", "hr", "link", "input"}
STUDY = """
notes: ["BFS is <not> fully determined & so a range."]
tables:
  loads:
    rows: [routing, nodes]
    values: [max_load, min_load]
    over: {tie_seed: range}
    beside: {reference: table.csv, on: [routing, nodes]}
figures:
  spread: {title: Spread, kind: ecdf, x: load, hue: routing, col: nodes}
  picture: {kind: network, colour: load, where: {nodes: 8}}
"""
PUBLISHED = "routing,nodes,max_load\nbfs,8,9\n"
HOSTILE = '<script>alert(1)</script> & "quotes" \' `x`'


class Page(HTMLParser):
    """Checks that every tag is closed in order and collects what the tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.text, self.tables, self.ids = [], [], [], [], []
        self.scripts = 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.links += [(name, attrs[name]) for name in ("src", "href", "action") if name in attrs]
        self.ids += [attrs["id"]] if "id" in attrs else []
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append(0)
        if tag in ("td", "th"):
            self.tables[-1][-1] += int(attrs.get("colspan", 1))
            assert tag == "td" or attrs["scope"] in ("row", "col", "colgroup")
        self.scripts += tag == "script"
        assert not [name for name in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)


@pytest.fixture(scope="module")
def made(new_world, new_study, tmp_path_factory):
    """A study with a pooled, an unsupported and a hostile run, and its finished report."""
    home = tmp_path_factory.mktemp("made")
    world = new_world(home)
    for tie, load in enumerate([7, 9, 8]):
        world.add(f"bfs~tie_seed={tie}", "4x2", load=[load, 1], tie_seed=tie)
    world.add("dor", "4x2", load=[4], tie_seed=0)
    world.add("dor", "4", status="unsupported", reason=HOSTILE, tie_seed=0)
    study = new_study(home, STUDY, PUBLISHED)
    folder = home / "report" / study.name
    write_study_report(study, world.records, world.results, folder)
    return study, world, folder


@pytest.fixture
def report(made, tmp_path):
    """The finished report, to be read and changed."""
    copied = tmp_path / "report" / "demo"
    shutil.copytree(made[2], copied)
    return copied


def test_the_page_is_well_formed_and_its_tables_are_rectangular(report):
    page = Page((report / "index.html").read_text())
    text = (report / "index.html").read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    assert len(page.ids) == len(set(page.ids))
    (loads, *others) = page.tables
    assert loads[0] == 2 + 2 + 1 + 1  # two keys, a value with the paper's, a value, runs
    assert loads[1] == 2
    assert set(loads[2:]) == {loads[0]}
    for table in others:
        assert len(set(table)) == 1


def test_nothing_is_loaded_from_elsewhere_and_every_file_is_there(report):
    text = (report / "index.html").read_text()
    page = Page(text)
    for name, link in page.links:
        if link.startswith("http"):
            assert (name, link) == ("href", "https://doi.org/10.1/2")
        elif link.startswith("#"):
            assert link[1:] in page.ids
        elif link not in ("../index.html", "data:,"):
            assert (report / link).is_file(), link
    assert not re.search(r"@import|url\(", text)


def test_what_others_wrote_stays_text(report):
    text = (report / "index.html").read_text()
    page = Page(text)
    assert page.scripts == 1
    assert HOSTILE in "".join(page.text)
    assert "BFS is <not> fully determined & so a range." in "".join(page.text)


def test_lost_runs_are_listed_with_reason_and_command(report):
    text = "".join(Page((report / "index.html").read_text()).text)
    assert "4 of 5 runs are ok." in text
    lost = text[text.index("Runs without a result") : text.index("Freedom from deadlock")].split(
        "\n"
    )
    assert any("dor" in line and "unsupported" in line for line in lost)
    assert "routelab route torus~dims=4 dor" in "".join(lost)


def test_ranges_and_differences_are_shown(report):
    text = "".join(Page((report / "index.html").read_text()).text)
    assert "8 (7–9)" in text
    assert "9 −1 ⊂" in text


def test_tables_figures_and_all_runs_are_files(report):
    lines = list(csv.DictReader((report / "tables" / "loads.csv").open()))
    row = next(line for line in lines if line["routing"] == "bfs")
    assert (row["max_load"], row["max_load_low"], row["max_load_high"]) == ("8", "7", "9")
    assert row["paper_max_load"] == "9"
    for suffix in ("md", "tex"):
        assert (report / "tables" / f"loads.{suffix}").is_file()
    for name in ("spread", "picture"):
        for suffix in ("svg", "png", "pdf", "csv"):
            assert (report / "figures" / f"{name}.{suffix}").stat().st_size > 0
    runs = list(csv.DictReader((report / "runs.csv").open()))
    assert [run["status"] for run in runs] == ["ok"] * 4 + ["unsupported"]
    assert runs[1]["command"] == "routelab route torus~dims=4x2 bfs~tie_seed=1"
    assert runs[1]["max_load"] == "9"


def test_figures_pool_what_the_tables_pool(report):
    with (report / "figures" / "spread.csv").open() as stream:
        assert {line["routing"] for line in csv.DictReader(stream)} == {"bfs", "dor"}


def test_writing_again_changes_nothing(made, report):
    study, world, _ = made
    before = {path: path.read_bytes() for path in report.rglob("*") if path.is_file()}
    write_study_report(study, world.records, world.results, report)
    assert {path: path.read_bytes() for path in before} == before


def test_all_mistakes_of_tables_and_figures_are_told_at_once(world, write_study, tmp_path):
    world.add("bfs", "4")
    study = write_study(
        "tables: {a: {rows: [routing], values: [foo]}}\n"
        "figures: {b: {kind: ecdf, x: bar}, c: {kind: network, colour: load}}\n"
    )
    with pytest.raises(ConfigError) as error:
        write_study_report(study, world.records, world.results, tmp_path / "report")
    assert [line.partition(": ")[2].split(":")[0] for line in error.value.mistakes] == [
        "tables.a",
        "figures.b",
    ]


def test_a_study_without_any_result_has_a_page(world, write_study, tmp_path):
    world.add("bfs", "4x2", status="failed", reason="no memory", tie_seed=0)
    study = write_study(STUDY, PUBLISHED)
    write_study_report(study, world.records, world.results, tmp_path / "report")
    text = "".join(Page((tmp_path / "report" / "index.html").read_text()).text)
    assert "1 run on 1 network: 0 ok, 1 failed." in text
    assert "no memory" in text
    assert text.count("Nothing to draw") == 2


def test_below_a_figure_stands_what_it_could_not_show(world, write_study, tmp_path):
    curve = [{"load": 0.1, "state": "stationary", "latency_mean": 9.0}]
    world.simulate("dor", curve=curve)
    world.simulate("rdr", curve=[{"load": 0.1, "state": "saturated", "latency_mean": None}])
    study = write_study(
        "traffic: [uniform]\n"
        "figures:\n"
        "  both: {of: loads, kind: curve, x: load, y: latency_mean}\n"
        "  none: {of: loads, kind: line, x: load, y: latency_mean, where: {routing: rdr}}\n"
    )
    folder = tmp_path / "report"
    write_study_report(study, world.records, world.results, folder, (), world.simulated)
    text = " ".join("".join(Page((folder / "index.html").read_text()).text).split())
    assert text.count("Without a value: rdr (saturated at load 0.1).") == 2
    assert text.count("Nothing to draw: none of its runs has a value.") == 1


def test_a_series_has_one_colour_in_all_figures_of_a_page(world, write_study, tmp_path):
    for name in ("first", "second"):
        world.add(name, "4x2")
    study = write_study(
        "figures:\n"
        "  both: {kind: ecdf, x: load}\n"
        "  one: {kind: ecdf, x: load, where: {routing: second}}\n"
    )
    write_study_report(study, world.records, world.results, tmp_path)
    texts = [(tmp_path / f"figures/{name}.svg").read_text().upper() for name in ("both", "one")]
    assert [[f"STROKE: {colour};" in text for colour in PALETTE[:2]] for text in texts] == [
        [True, True],
        [False, True],
    ]


def test_the_index_lists_all_studies_and_only_them(report):
    (report.parent / "stray").mkdir()
    write_index(report.parent)
    text = (report.parent / "index.html").read_text()
    page = Page(text)
    assert [link for _, link in page.links if link.endswith(".html")] == ["demo/index.html"]
    text = "".join(page.text)
    assert "On 8 nodes, the lowest maximum load is 4, by dor" in text
    tiles = re.findall(r">([^<]+)</dt><dd>(\d+)<", (report.parent / "index.html").read_text())
    assert tiles == [
        ("runs", "5"),
        ("networks", "2"),
        ("routings", "2"),
        ("tables proven free of deadlock", "4"),
        ("unsupported", "1"),
    ]


def test_the_index_of_nothing_says_so(tmp_path):
    write_index(tmp_path)
    assert "No study has a report yet." in (tmp_path / "index.html").read_text()


def test_a_study_whose_summary_cannot_be_read_hides_no_other(report):
    broken = report.parent / "broken"
    broken.mkdir()
    summary = json.loads((report / "summary.json").read_text()) | {"format": "report/99"}
    (broken / "summary.json").write_text(json.dumps(summary))
    write_index(report.parent)
    page = Page((report.parent / "index.html").read_text())
    assert [link for _, link in page.links if link.endswith(".html")] == [
        "broken/index.html",
        "demo/index.html",
    ]
    assert "newer routelab" in "".join(page.text)


def test_provenance_sums_and_joins(world):
    for routing in ("a", "b"):
        world.add(routing)
    world.add("c", status="failed")
    (world.records[2].directory / "outcome.json").unlink()
    assert provenance_lines(Frames(world.records).outcomes) == [
        ("routelab", "0.1.0, commit 0123456789ab with local changes"),
        ("Plugins from", "zoo 2.0"),
        ("Python", "3.11.7"),
        ("numba", "0.68.1"),
        ("numpy", "2.4.6"),
        ("Hosts", "node-1"),
        ("Runs started (UTC)", "2026-11-20T10:00:00+00:00"),
        ("CPU time of all runs", "0.5 s"),
        ("Most memory of one run", "50 MB"),
    ]
