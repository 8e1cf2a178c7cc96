from __future__ import annotations

import csv
import json
import re
import shutil
from html.parser import HTMLParser

import pytest

from routelab.api import InputError
from routelab.report.page.index_entry import published_results
from routelab.report.page.index_page import write_index
from routelab.report.page.provenance import provenance_lines
from routelab.report.page.render import breakable
from routelab.report.page.study_page import write_study_report
from routelab.report.page.summary import _published_sentence
from routelab.report.rows.routes import RouteRows
from routelab.report.rows.study_rows import StudyRows
from routelab.report.table_formats import deviation_text
from routelab.report.tables import build_table
from routelab.results.json_files import load_sealed, write_json

VOID = {"meta", "img", "br", "wbr", "hr", "link", "input", "col"}
STUDY = """
headline: {value: max_load, baseline: bfs}
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
        self.open, self.links, self.text, self.ids = [], [], [], []
        self.scripts = 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.links += [(name, attrs[name]) for name in ("src", "href", "action") if name in attrs]
        self.ids += [attrs["id"]] if "id" in attrs else []
        # scripts with a type hold data, and the one with a source is the library
        self.scripts += tag == "script" and not {"src", "type"} & set(attrs)
        assert not [name for name in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)


@pytest.fixture(scope="module")
def finished(new_world, new_study, tmp_path_factory):
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
def report(finished, tmp_path):
    """The finished report, to be read and changed."""
    copied = tmp_path / "report" / "demo"
    shutil.copytree(finished[2], copied)
    return copied


def test_nothing_is_loaded_from_elsewhere_and_every_file_is_there(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    for name, link in page.links:
        if link.startswith("http"):
            assert (name, link) == ("href", "https://doi.org/10.1/2")
        elif link.startswith("#"):
            assert link[1:] in page.ids
        elif link not in ("../index.html", "data:,"):
            assert (report / link).is_file(), link
    assert not re.search(r"@import|url\(", text)
    for picture in report.rglob("*.svg"):
        assert not re.search(
            r"@import|href=\"(?!#|data:)|url\((?!#)", picture.read_text(encoding="utf-8")
        ), picture


def test_texts_of_users_are_escaped(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.scripts == 1
    assert HOSTILE in "".join(page.text)
    assert "BFS is <not> fully determined & so a range." in "".join(page.text)


def test_names_break_between_parameters_and_stay_escaped():
    for text in ("sssp~a=1,b=2@rules", HOSTILE):
        assert "".join(Page(breakable(text)).text) == text
    assert len(re.findall("<wbr>", breakable("sssp~a=1,b=2@rules"))) == 3


def test_lost_runs_are_listed_with_reason_and_command(report):
    text = "".join(Page((report / "index.html").read_text(encoding="utf-8")).text)
    assert "4 of 5 runs have a result." in text
    lost = text[
        text.index("Runs without a result") : text.index("Verdicts of the deadlock checker")
    ].split("\n")
    assert any("dor" in line and "unsupported" in line for line in lost)
    assert "routelab route torus~dims=4 dor" in "".join(lost)


def test_tables_figures_and_all_runs_are_files(report):
    lines = list(csv.DictReader((report / "tables" / "loads.csv").open()))
    row = next(line for line in lines if line["routing"] == "bfs")
    assert (row["max_load"], row["max_load_low"], row["max_load_high"]) == ("8", "7", "9")
    assert row["paper_max_load"] == "9"
    assert (report / "tables" / "loads.tex").is_file()
    for name in ("spread", "picture"):
        files = [*(report / "figures").glob(f"{name}.*")]
        assert {file.suffix for file in files} == {".svg", ".csv"}
        assert all(file.stat().st_size > 0 for file in files)
    runs = list(csv.DictReader((report / "runs.csv").open()))
    assert [run["status"] for run in runs] == ["ok"] * 4 + ["unsupported"]
    assert runs[1]["command"] == "routelab route torus~dims=4x2 bfs~tie_seed=1"
    assert runs[1]["max_load"] == "9"


def test_writing_again_changes_nothing(finished, report):
    study, world, _ = finished
    before = {path: path.read_bytes() for path in report.rglob("*") if path.is_file()}
    write_study_report(study, world.records, world.results, report)
    assert {path: path.read_bytes() for path in before} == before


def test_further_files_of_figures_do_not_change_the_page(finished, tmp_path):
    study, world, _ = finished
    folders = {(): tmp_path / "page", ("pdf", "png"): tmp_path / "all"}
    for also, folder in folders.items():
        write_study_report(study, world.records, world.results, folder, also=also)
    page, every = (
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}
        for folder in folders.values()
    )
    assert page.items() <= every.items()
    figures = {name.removesuffix(".svg") for name in page if name.endswith(".svg")}
    further = {f"{figure}.{suffix}" for figure in figures for suffix in ("pdf", "png")}
    assert figures
    assert every.keys() - page.keys() == further
    # a new page leaves no pictures of older results
    write_study_report(study, world.records, world.results, tmp_path / "all")
    assert not any((tmp_path / "all" / name).exists() for name in further)


def test_a_picture_too_large_for_the_page_is_shown_as_png(finished, tmp_path, monkeypatch):
    study, world, _ = finished
    monkeypatch.setattr("routelab.report.page.blocks.MAX_SVG", 1)
    write_study_report(study, world.records, world.results, tmp_path)
    assert (tmp_path / "figures" / "picture.png").stat().st_size > 0
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert '<img src="figures/picture.png"' in page
    assert '<a href="figures/picture.png">' in page
    assert '<a href="figures/picture.svg">' in page


def test_all_mistakes_of_tables_and_figures_are_reported_together(world, write_study, tmp_path):
    world.add("bfs", "4")
    study = write_study(
        "tables: {a: {rows: [routing], values: [foo]}}\n"
        "figures: {b: {kind: ecdf, x: bar}, c: {kind: network, colour: load}}\n"
    )
    with pytest.raises(InputError) as error:
        write_study_report(study, world.records, world.results, tmp_path / "report")
    assert [line.partition(": ")[2].split(":")[0] for line in str(error.value).splitlines()] == [
        "tables.a",
        "figures.b",
    ]


def test_a_table_that_does_not_fit_leaves_a_gap_with_the_reason(world, write_study, tmp_path):
    world.add("bfs", "4")
    study = write_study(
        "headline: {value: foo, baseline: bfs}\n"
        "tables: {a: {rows: [routing], values: [foo]}, good: {rows: [routing], values: [max_load]}}"
        "\nfigures: {b: {kind: ecdf, x: bar, title: Bars}}\n"
    )
    folder = tmp_path / "report"
    write_study_report(study, world.records, world.results, folder, keep_going=True)
    text = "".join(Page((folder / "index.html").read_text(encoding="utf-8")).text)
    assert "Not shown: a; Bars. The reasons are at their places." in text
    assert re.search(r"The table a cannot be made: .+: tables\.a: no column 'foo'", text)
    assert re.search(r"The figure b cannot be made: .+: figures\.b: x: no column 'bar'", text)
    assert (folder / "tables/good.csv").read_text().startswith("routing,max_load\n")
    summary = json.loads((folder / "summary.json").read_text())
    broken = summary["broken"]
    assert summary["finding"] == broken[0]  # the other table does not answer instead
    assert [sentence.partition(" cannot")[0] for sentence in broken] == [
        "The table a",
        "The figure b",
    ]


def test_a_study_without_any_result_has_a_page(world, write_study, tmp_path):
    world.add("bfs", "4x2", status="failed", reason="no memory", tie_seed=0)
    study = write_study(STUDY, PUBLISHED)
    write_study_report(study, world.records, world.results, tmp_path / "report")
    text = "".join(Page((tmp_path / "report" / "index.html").read_text(encoding="utf-8")).text)
    assert "1 run on 1 network: 0 ok, 1 failed." in text
    assert "no memory" in text
    assert text.count("Nothing to draw") == 2


def test_the_index_groups_studies_by_paper(report, world, write_study):
    (report.parent / "stray").mkdir()
    world.records.clear()
    world.add("a", "4")
    own = write_study("figures: {spread: {kind: ecdf, x: load}}\n")
    write_study_report(own, world.records, world.results, report.parent / "own")
    write_index(report.parent)
    text = (report.parent / "index.html").read_text(encoding="utf-8")
    first, second = text.split("Other studies", 1)
    assert "On loads" in first
    assert 'href="demo/index.html"' in first
    assert 'href="own/index.html"' in second
    # ours is 8 (7 to 9), the paper's 9
    assert ">reproduced<" in first


@pytest.mark.parametrize(
    ("published", "key", "result"),
    [
        ("4", "", ("reproduced", 0, 1)),
        ("5", "", ("differs", 1, 1)),
        ("5", ", not_reproducible: No seed is printed.", ("not reproducible", 1, 1)),
        ("", "", None),
    ],
)
def test_published_numbers_are_judged_as_printed(world, write_study, published, key, result):
    world.add("dor", "4", load=[4])
    study = write_study(
        "tables: {t: {rows: [routing], values: [max_load], "
        f"beside: {{reference: table.csv, on: [routing]{key}}}}}}}\n",
        f"routing,max_load\ndor,{published}\n",
    )
    view = StudyRows(world.records).routes
    table = build_table("t", study.tables["t"], view, study.reference, "")
    counts = [
        (row["result"], row["differing"], row["numbers"])
        for row in published_results(study, [table])
    ]
    assert counts == ([result] if result else [])
    reason = "This table cannot reproduce the published numbers. No seed is printed."
    assert (reason in table.notes) == bool(key)


def test_published_numbers_without_a_result_of_ours_are_no_result(world, write_study):
    world.add("dor", "4", status="failed")
    study = write_study(
        "tables: {t: {rows: [routing], values: [max_load], "
        "beside: {reference: table.csv, on: [routing]}}}\n",
        "routing,max_load\ndor,4\n",
    )
    view = StudyRows(world.records).routes
    table = build_table("t", study.tables["t"], view, study.reference, "")
    assert [row["result"] for row in published_results(study, [table])] == ["no result"]


def test_a_study_whose_summary_cannot_be_read_hides_no_other(report):
    broken = report.parent / "broken"
    broken.mkdir()
    summary = load_sealed((report / "summary.json").read_bytes()) | {"format": "report/99"}
    write_json(broken / "summary.json", summary)
    write_index(report.parent)
    page = Page((report.parent / "index.html").read_text(encoding="utf-8"))
    assert [link for _, link in page.links if link.endswith(".html")] == [
        "values.html",
        *["demo/index.html"] * 2,
        "broken/index.html",
    ]
    assert "newer routelab" in "".join(page.text)


def test_provenance_sums_and_joins(world):
    for routing in ("a", "b"):
        world.add(routing)
    world.add("c", status="failed")
    (world.records[2].directory / "outcome.json").unlink()
    assert provenance_lines(RouteRows(world.records).outcomes) == [
        ("routelab", "0.1.0, commit 0123456789ab with local changes"),
        ("Plugins from", "zoo 2.0"),
        ("Python", "3.11.7"),
        ("numba", "0.68.1"),
        ("numpy", "2.4.6"),
        ("Hosts", "node-1"),
        ("Runs started (UTC)", "2026-11-20T10:00:00+00:00"),
        ("CPU time of all runs", "0.5 s"),
        ("Peak memory of one run", "50 MB"),
    ]


def test_the_distance_from_published_numbers_is_told(world, write_study):
    """Two of three differ, by 1 and 3; each of two columns has a mean of its own."""
    for routing, load in (("bfs", 4), ("dor", 5), ("sssp", 6)):
        world.add(routing, "4", load=[load, 1])
    beside = "beside: {reference: table.csv, on: [routing]"
    study = write_study(
        "tables:\n"
        f"  t: {{rows: [routing], values: [max_load], {beside}, columns: [max_load]}}}}\n"
        f"  u: {{rows: [routing], values: [max_load, min_load], {beside}}}}}\n",
        "routing,max_load,min_load\nbfs,4,2\ndor,4,1\nsssp,9,1\n",
    )
    view = StudyRows(world.records).routes
    alone, both = (
        build_table(name, study.tables[name], view, study.reference, "") for name in "tu"
    )
    far = "by 2 routes on average (1 to 3)"
    assert deviation_text(alone) == far
    assert deviation_text(both) == f"maximum channel load {far}, minimum channel load by 1 route"
    (sentence,) = _published_sentence(alone)
    assert sentence == (
        f"t: 2 of 3 published numbers differ, {far}. Ours is lower in 1 and higher in 1 of them."
    )
