from __future__ import annotations

import re

from routelab.api import Citation, Plugin
from routelab.report.page.citations import bibliography, cited_works


def plugin(kind, name, *citations):
    return type("P", (Plugin,), {"kind": kind, "name": name, "citations": citations})()


def citation(key, cited_for, **others):
    known = {"title": "On turns", "authors": "Smith, A. and Doe, B.", "year": 2020, "venue": "J."}
    return Citation(key=key, cited_for=cited_for, **(known | others))


def test_a_source_of_several_plugins_is_listed_once_with_all_uses():
    works = cited_works(
        None,
        [
            plugin(
                "rules", "turn", citation("smith2020", "Theorem 2"), citation("ray1990", "bits")
            ),
            plugin("selection", "best", citation("smith2020", "Algorithm 1", authors="A. Smith")),
            plugin("rules", "turn", citation("smith2020", "Theorem 2")),
        ],
    )
    assert [(work.citation.key, work.uses) for work in works] == [
        ("smith2020", (("rules/turn", "Theorem 2"), ("selection/best", "Algorithm 1"))),
        ("ray1990", (("rules/turn", "bits"),)),
    ]
    assert works[0].authors == "Smith, A.; Doe, B."


def test_the_published_numbers_come_first_and_take_venue_and_year_from_a_plugin(write_study):
    published = write_study("", "routing,nodes,max_load\nbfs,8,9\n").reference
    mine = citation("doe2020", "Algorithm 1", venue="Journal of Loads", year=2019)
    first, second = cited_works(
        published, [plugin("rules", "turn", citation("a", "x")), plugin("routing", "bfs", mine)]
    )
    assert (first.citation.venue, first.citation.year) == ("Journal of Loads", 2019)
    assert first.uses == (("this study", "published numbers"), ("routing/bfs", "Algorithm 1"))
    assert second.citation.key == "a"


def test_a_reference_that_no_plugin_cites_needs_no_venue(write_study):
    (work,) = cited_works(write_study("", "routing,nodes,max_load\n").reference, [])
    assert work.citation.bibtex() == (
        "@misc{doe2020,\n  title = {{On loads}},\n  author = {A. Doe},\n"
        "  year = {2020},\n  doi = {10.1/2}\n}"
    )


def test_every_entry_of_the_bibliography_is_balanced_and_free_of_commands():
    hostile = "50% of A & B_1 {\\input x} #~^$"
    text = bibliography(
        cited_works(None, [plugin("rules", key, citation(key, "", title=hostile)) for key in "ab"])
    )
    assert re.findall(r"^@misc\{(\w+),$", text, re.MULTILINE) == ["a", "b"]
    bare = re.sub(r"\\[&%$#_{}]|\\text\w+\{\}", "", text)
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"[&%$#_~^\\]", bare)
