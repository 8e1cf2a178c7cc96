from __future__ import annotations

from routelab.api import BenchmarkPlugin, Citation, RulesPlugin, SelectionPlugin
from routelab.report.page.citations import cited_works

TURNS = "Smith, A. On Turns. J., 2020"
BITS = "Bits. P. & Sons, 1990"


def plugin(name, *citations, base=RulesPlugin):
    cited = tuple(Citation(*citation) for citation in citations)
    return type(
        "P", (base,), {"name": name, "citations": cited} | dict.fromkeys(base.__abstractmethods__)
    )()


def test_a_work_of_several_plugins_is_listed_once_with_all_uses():
    turn = plugin("turn", (TURNS, "10.1/A", "Theorem 2"), (BITS, "", "bits"))
    # another text of the same work
    best = plugin("best", ("On turns", "10.1/a", "Algorithm 1"), base=SelectionPlugin)
    bend = plugin("bend", (BITS, "", "more bits"))
    assert [
        (work["text"], work["uses"]) for work in cited_works(None, [turn, best, turn, bend])
    ] == [
        (TURNS, [("rules/turn", "Theorem 2"), ("selection/best", "Algorithm 1")]),
        (BITS, [("rules/turn", "bits"), ("rules/bend", "more bits")]),
    ]


def test_a_program_is_cited_with_the_versions_that_ran():
    program = plugin("fast", ("Fast Benchmarks", "", "the program"), base=BenchmarkPlugin)
    other = plugin("fast", ("Fast Benchmarks", "", "what is timed"))
    (work,) = cited_works(None, [program, other], {"fast": ["5.7", "7.4"]})
    assert work["uses"] == [
        ("benchmark/fast", "the program; versions 5.7 and 7.4 ran"),
        ("rules/fast", "what is timed"),
    ]


def test_the_published_numbers_come_first(write_study):
    published = write_study("", "routing,nodes,max_load\nbfs,8,9\n").reference
    other = plugin("turn", (BITS, "", "x"))
    bfs = plugin("bfs", ("On loads. J. of Loads", published.source.doi, "Algorithm 1"))
    first, second = cited_works(published, [other, bfs])
    assert first["text"] == "A. Doe. On loads. 2020"
    assert first["uses"] == [("this study", "published numbers"), ("rules/bfs", "Algorithm 1")]
    assert second["text"] == BITS
