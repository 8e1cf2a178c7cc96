from __future__ import annotations

import pytest

from routelab.api import BenchmarkPlugin, Citation, RulesPlugin, SelectionPlugin
from routelab.registry.works import read_bibliography
from routelab.report.page.citations import bibliography, cited_works
from routelab.report.page.site import write_study_report

SMITH = "@article{smith2020, title = {On Turns}, author = {Smith, A.}, journal = {J.}%s}\n"
RAY = "@book{ray1990, title = {Bits}, publisher = {P. & Sons}, year = 1990}\n"


@pytest.fixture
def plugin(site):
    """Make a plugin of a package with some bibliography and some citations."""

    def make(package, name, *citations, bib=None, base=RulesPlugin):
        if bib is not None:
            files = {f"{package}/__init__.py": "", f"{package}/references.bib": bib}
            site.install(package, {}, files)
        __import__(package)
        cited = tuple(Citation(*one) for one in citations)
        facts = {"name": name, "citations": cited, "__module__": package}
        return type("P", (base,), facts | dict.fromkeys(base.__abstractmethods__))()

    return make


def keys_and_uses(works):
    return [(cited.key, cited.uses) for cited in works]


def test_a_work_of_several_plugins_is_listed_once_with_all_uses(plugin):
    turn = plugin(
        "a", "turn", ("smith2020", "Theorem 2"), ("ray1990", "bits"), bib=SMITH % "" + RAY
    )
    best = plugin("a", "best", ("smith2020", "Algorithm 1"), base=SelectionPlugin)
    works = cited_works(None, [turn, best, turn])
    assert keys_and_uses(works) == [
        ("smith2020", [("rules/turn", "Theorem 2"), ("selection/best", "Algorithm 1")]),
        ("ray1990", [("rules/turn", "bits")]),
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SMITH % "", SMITH.replace("On Turns", "{On} turns") % ", year = 2020"),
        (SMITH % ", doi = {10.1/A}", SMITH.replace("Turns", "turns in tori") % ", doi = {10.1/a}"),
    ],
)
def test_one_work_of_two_packages_is_listed_once(plugin, ours, theirs):
    one = plugin("a", "turn", ("smith2020", "Theorem 2"), bib=ours)
    other = plugin("b", "bend", ("smith2020", "Theorem 3"), bib=theirs)
    (cited,) = cited_works(None, [one, other])
    assert cited.uses == [("rules/turn", "Theorem 2"), ("rules/bend", "Theorem 3")]
    assert cited.work.title == "On Turns"


def test_two_works_with_one_key_are_both_listed(plugin, tmp_path):
    one = plugin("a", "turn", ("smith2020", "Theorem 2"), bib=SMITH % "")
    other = plugin("b", "bend", ("smith2020", "x"), bib="@misc{smith2020, title = {On Bends}}")
    works = cited_works(None, [one, other, one])
    assert keys_and_uses(works) == [
        ("smith2020", [("rules/turn", "Theorem 2")]),
        ("smith2020-2", [("rules/bend", "x")]),
    ]
    written = tmp_path / "all.bib"
    written.write_text(bibliography(works))
    found = read_bibliography(written)
    assert not found.problems
    assert [(key, work.title) for key, work in found.works.items()] == [
        ("smith2020", "On Turns"),
        ("smith2020-2", "On Bends"),
    ]


@pytest.mark.parametrize(
    ("title", "ran", "shown", "use"),
    [
        ("Fast Benchmarks", ["7.4"], "Fast Benchmarks 7.4", "version 7.4 ran"),
        ("Fast Benchmarks 5.6.2", ["7.4"], "Fast Benchmarks 7.4", "version 7.4 ran"),
        (
            "Fast Benchmarks, Version 5",
            ["5.7", "7.4"],
            "Fast Benchmarks 5.7 and 7.4",
            "versions 5.7 and 7.4 ran",
        ),
        ("Fast {\\o} 2", ["2021.7"], "Fast ø 2021.7", "version 2021.7 ran"),
    ],
)
def test_a_program_is_cited_in_the_versions_that_ran(plugin, tmp_path, title, ran, shown, use):
    bib = f"@manual{{fast, title = {{{title}}}, organization = {{F.}}}}\n" + SMITH % ""
    cited = ("fast", "the program"), ("smith2020", "the pattern")
    one = plugin("a", "fast", *cited, bib=bib, base=BenchmarkPlugin)
    other = plugin("a", "turn", ("fast", "what is timed"))
    program, paper = works = cited_works(None, [one, other], {"fast": ran, "turn": ["1"]})
    assert program.work.title == shown
    assert program.uses == [
        ("benchmark/fast", f"the program; {use}"),
        ("rules/turn", "what is timed"),
    ]
    # an article has no version
    assert paper.work.title == "On Turns"
    written = tmp_path / "all.bib"
    written.write_text(bibliography(works))
    found = read_bibliography(written)
    assert not found.problems
    assert " and ".join(ran) in found.works["fast"].bibtex
    assert cited_works(None, [one])[0].work.title in (title, "Fast ø 2")


def test_an_unknown_key_is_listed_without_a_work(plugin):
    unknown = ("smith2002", "Theorem 2")
    one = plugin("a", "turn", unknown, ("ray1990", "bits"), bib=RAY)
    missing, known = works = cited_works(None, [one])
    assert (missing.key, missing.work, known.key) == ("smith2002", None, "ray1990")
    assert bibliography(works).startswith("@book{ray1990,")


def test_a_page_shows_what_is_known(plugin, world, write_study, tmp_path):
    world.add("bfs", "4")
    study = write_study("tables: {a: {rows: [routing], values: [max_load]}}\n")
    one = plugin("a", "turn", ("smith2002", "Theorem <2>"), bib=RAY.replace("& Sons", "\\& Sons"))
    two = plugin("a", "bend", ("ray1990", "bits"))
    folder = tmp_path / "report"
    write_study_report(study, world.records, world.results, folder, [one])
    page = (folder / "index.html").read_text()
    assert "<code>smith2002</code> is not in the bibliography of the plugin" in page
    assert "<code>rules/turn</code>: Theorem &lt;2&gt;" in page
    assert not (folder / "references.bib").exists()
    assert "references.bib" not in page
    write_study_report(study, world.records, world.results, folder, [one, two])
    page = (folder / "index.html").read_text()
    assert "<p><cite>Bits</cite>. P. &amp; Sons, 1990." in page
    assert (folder / "references.bib").read_text().startswith("@book{ray1990,\n")
    assert '<a href="references.bib">' in page


def test_the_published_numbers_come_first_and_are_shown_as_a_plugin_has_them(plugin, write_study):
    published = write_study("", "routing,nodes,max_load\nbfs,8,9\n").reference
    bib = "@article{doe2020, title = {On Loads}, journal = {Journal of Loads}, year = 2019}"
    other = plugin("a", "turn", ("ray1990", "x"), bib=RAY)
    mine = plugin("b", "bfs", ("doe2020", "Algorithm 1"), bib=bib)
    first, second = cited_works(published, [other, mine])
    assert first.work.published == "Journal of Loads, 2019"
    assert first.uses == [("this study", "published numbers"), ("rules/bfs", "Algorithm 1")]
    assert second.key == "ray1990"


def test_published_numbers_that_no_plugin_cites_need_no_venue(write_study):
    (cited,) = cited_works(write_study("", "routing,nodes,max_load\n").reference, [])
    assert cited.work.bibtex == (
        "@misc{doe2020,\n  title = {{On loads}},\n  author = {A. Doe},\n"
        "  year = {2020},\n  doi = {10.1/2}\n}"
    )
