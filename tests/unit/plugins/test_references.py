"""The built-in plugins' bibliographies hold what they cite, each work once, and nothing else."""

from __future__ import annotations

from collections import Counter

from routelab.registry.bibliography import find_bibliography
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.works import citation_problems, read_bibliography


def cited():
    """Keys that built-in plugins cite, by bibliography."""
    found = {}
    for entry in installed_catalogue().entries():
        if entry.distribution == "routelab" and entry.plugin.citations:
            keys = found.setdefault(find_bibliography(entry.plugin.__module__), set())
            keys |= {citation.key for citation in entry.plugin.citations}
    return found


def test_every_key_is_known():
    problems = [
        problem
        for entry in installed_catalogue().entries()
        if entry.distribution == "routelab"
        for problem in citation_problems(entry.plugin)
    ]
    assert problems == []


def test_every_entry_is_cited():
    for file, keys in cited().items():
        assert set(read_bibliography(file).works) == keys, file


def test_every_work_is_in_one_place():
    works = [work for file in cited() for work in read_bibliography(file).works.values()]
    assert len(works) >= 37
    for facts in ("key", "title", "doi"):
        often = Counter(getattr(work, facts).lower() for work in works)
        assert [fact for fact, count in often.items() if fact and count > 1] == []


def test_every_entry_has_authors_and_a_venue():
    works = [work for file in cited() for work in read_bibliography(file).works.values()]
    assert [work.key for work in works if not (work.authors and work.venue)] == []
