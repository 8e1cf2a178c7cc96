"""Bibliographies: where they are, what people read of them, and what is wrong with them."""

from __future__ import annotations

import importlib
import logging

import pytest

from routelab.api import Citation, TopologyPlugin
from routelab.registry.bibliography import bibliography_files, find_bibliography
from routelab.registry.works import (
    citation_problems,
    describe_work,
    find_work,
    read_bibliography,
)


def read(tmp_path, text):
    file = tmp_path / "references.bib"
    file.write_text(text, encoding="utf-8")
    return read_bibliography(file)


def cite(module, *keys):
    cited = tuple(Citation(key, "all of it") for key in keys)
    facts = {"name": "p", "citations": cited, "__module__": module, "build": None}
    return type("P", (TopologyPlugin,), facts)


def test_people_read_unicode_and_the_entry_stays_as_it_is(tmp_path):
    entry = (
        "@article{oe2020,\n"
        r"  author = {Garc{\'\i}a, A.~B. and {\"U}ber, {\O}le and {Smith and Sons}},"
        "\n"
        r"  title = {{Routes \& {GOAL}s: 50\% of $k$-ary ``cubes''}},"
        "\n"
        r"  doi = {10.1/a\_b%2},"
        "\n"
        "  month = jan\n}"
    )
    work = read(tmp_path, entry).works["oe2020"]
    assert work.authors == ("García, A. B.", "Über, Øle", "Smith and Sons")
    assert work.title == "Routes & GOALs: 50% of k-ary “cubes”"
    assert work.doi == "10.1/a_b%2"
    assert work.bibtex == entry


@pytest.mark.parametrize(
    ("entry", "published"),
    [
        (
            "@article{k, Journal = {J. Nets}, volume = 4, number = {2}, pages = {1--9}, year = 99}",
            "J. Nets 4(2), pp. 1–9, 99",
        ),
        ("@article{k, journal = {J. Nets}, pages = {7}}", "J. Nets, p. 7"),
        (
            "@inproceedings{k, booktitle = {Nets}, series = {LNCS}, volume = {3}, publisher = {P}}",
            "Nets, LNCS 3",
        ),
        ("@book{k, publisher = {P}, isbn = {1-2}, year = {1999}}", "P, ISBN 1-2, 1999"),
        ("@phdthesis{k, school = {MIT}}", "PhD thesis, MIT"),
        ("@techreport{k, institution = {NASA}, number = {7}}", "NASA, Technical Report 7"),
        ("@misc{k, eprint = {2110.1}, archiveprefix = {arXiv}, year = 2021}", "arXiv:2110.1, 2021"),
        ("@string{n = {Nets}} @inproceedings{k, booktitle = n}", "Nets"),
        ("@online{k, year = 1999}", "1999"),
        ("@misc{k, title = {T}}", ""),
    ],
)
def test_a_venue_is_described_as_far_as_it_is_stated(tmp_path, entry, published):
    assert read(tmp_path, entry).works["k"].published == published


def test_a_title_is_marked_in_the_line_of_a_work():
    work = describe_work("k", "On {Turns}", ["Doe, B.", "A. Smith"], "J.", "", "10.1/2")
    assert work.text == "Doe, B. and A. Smith. On {Turns}. J., doi:10.1/2"
    assert work.marked_text("*{}*") == "Doe, B. and A. Smith. *On {Turns}*. J., doi:10.1/2"


@pytest.mark.parametrize(
    ("title", "shown"),
    [("100% of nets", "100% of nets"), (r"5\% of nets", "5% of nets"), (r"A \sqrt", r"A \sqrt")],
)
def test_careless_latex_loses_no_text(tmp_path, title, shown):
    assert read(tmp_path, f"@misc{{k, title = {{{title}}}}}").works["k"].title == shown


def test_plain_text_becomes_an_entry_that_reads_back(tmp_path):
    facts = ("k", "50% of A & B_1 {\\input x} #~$é", ["Müller, Ä."], "J. & P.", "1999", "10.1/a_b")
    work = describe_work(*facts)
    found = read(tmp_path, work.bibtex)
    assert not found.problems
    again = found.works["k"]
    assert (again.key, again.title, list(again.authors)) == facts[:3]
    assert (again.published, again.doi) == ("J. & P., 1999", "10.1/a_b")


def test_entries_that_are_not_valid_are_named_with_their_lines(tmp_path):
    found = read(
        tmp_path,
        "@misc{a, title = {First}}\n@misc{a, title = {Second}}\n"
        "@misc{b, title = {x}, title = {y}}\n@misc{c, title = {x}\n",
    )
    assert {key: work.title for key, work in found.works.items()} == {"a": "First"}
    file = tmp_path / "references.bib"
    assert found.problems == (
        f"{file}:2: a second entry 'a'; remove one of them",
        f"{file}:3: a field is in the entry twice (title); remove one",
        f"{file}:4: not a valid BibTeX entry; check its braces, quotes and commas",
    )


def test_a_file_that_is_not_text_is_a_problem_and_no_crash(tmp_path):
    file = tmp_path / "references.bib"
    file.write_bytes(b"\xff\xfe@misc{a}")
    found = read_bibliography(file)
    assert not found.works
    assert f"{file}: cannot be read: " in found.problems[0]


@pytest.fixture
def packages(site):
    """Install a package with two bibliographies, a module with one, and a package without any."""
    files = {
        "outer/__init__.py": "",
        "outer/references.bib": "@misc{a, title = {Outer}}",
        "outer/plugin.py": "",
        "outer/inner/__init__.py": "",
        "outer/inner/references.bib": "@misc{a, title = {Inner}}",
        "outer/inner/plugin.py": "",
        "alone.py": "",
        "alone.bib": "@misc{a, title = {Alone}}\n@misc{broken, ",
        "bare/__init__.py": "",
        # of nobody: it lies where all modules are
        "references.bib": "@misc{a, title = {Wrong}}",
    }
    site.install("some", {}, files)
    for module in ("outer.plugin", "outer.inner.plugin", "alone", "bare"):
        importlib.import_module(module)
    return site.folder


@pytest.mark.parametrize(
    ("module", "title"),
    [
        ("outer", "Outer"),
        ("outer.plugin", "Outer"),
        ("outer.inner", "Inner"),
        ("outer.inner.plugin", "Inner"),
        ("alone", "Alone"),
    ],
)
def test_the_nearest_bibliography_counts(packages, module, title):
    work = find_work(cite(module, "a"), "a")
    assert work is not None
    assert work.title == title
    assert find_work(cite(module, "a"), "b") is None


def test_without_a_bibliography_there_is_no_work(packages):
    assert find_bibliography("bare") is None
    assert find_work(cite("bare", "a"), "a") is None


def test_bibliographies_of_plugins_are_listed_once_and_only_where_they_cite(packages):
    plugins = [
        cite("outer.plugin", "a")(),
        cite("alone")(),
        cite("outer", "a")(),
        cite("bare", "a")(),
    ]
    assert bibliography_files(plugins) == [packages / "outer/references.bib"]


def test_a_sound_plugin_has_no_problems(packages):
    assert list(citation_problems(cite("outer.plugin", "a"))) == []
    assert list(citation_problems(cite("bare"))) == []


def test_what_is_wrong_with_citations_is_said_with_place_and_fix(packages):
    file = packages / "outer/references.bib"
    assert list(citation_problems(cite("outer.plugin", "a", "aa", "xyz"))) == [
        f"topology/p cites 'aa', which is not in {file}; did you mean 'a'?",
        f"topology/p cites 'xyz', which is not in {file}; add an entry with this key",
    ]
    (missing,) = citation_problems(cite("bare", "a", "b"))
    assert missing == (
        "topology/p cites 'a', 'b', but there is no references.bib in the package bare; add the "
        "file with an entry for each key"
    )
    (broken,) = citation_problems(cite("alone", "a"))
    assert broken.startswith(f"{packages / 'alone.bib'}:2: not a valid BibTeX entry")


def test_an_entry_needs_a_title(tmp_path, site):
    site.install("some", {}, {"one/__init__.py": "", "one/references.bib": "@misc{a, year = 1}"})
    importlib.import_module("one")
    (problem,) = citation_problems(cite("one", "a"))
    assert problem.endswith("references.bib: the entry 'a' has no title; add one")


def test_a_broken_entry_is_warned_of_once_where_works_are_shown(packages, caplog):
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert find_work(cite("alone", "a"), "a") is not None
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [
        f"{packages / 'alone.bib'}:2"
    ]
