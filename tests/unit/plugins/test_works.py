"""Built-in plugins cite each work of their list, which has it once."""

from __future__ import annotations

from collections import Counter

from routelab.registry.catalogue import installed_catalogue
from routelab_plugins import works


def listed():
    return {name: work("all of it") for name, work in vars(works).items() if name.isupper()}


def test_every_work_is_cited():
    cited = {
        citation.text
        for entry in installed_catalogue().entries()
        if entry.distribution == "routelab"
        for citation in entry.plugin.citations
    }
    assert [name for name, work in listed().items() if work.text not in cited] == []


def test_every_work_is_listed_once():
    all_works = listed().values()
    for often in (
        Counter(work.doi.lower() for work in all_works),
        Counter(work.text for work in all_works),
    ):
        assert [fact for fact, count in often.items() if fact and count > 1] == []


def test_a_doi_has_no_address():
    assert [
        work.doi for work in listed().values() if work.doi and not work.doi.startswith("10.")
    ] == []
