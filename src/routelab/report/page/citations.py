"""What a study builds on: the works that its plugins and its published numbers are taken from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from routelab.api import Plugin
from routelab.config import Reference
from routelab.registry.works import PublishedWork, describe_work, find_work


@dataclass
class CitedWork:
    """A work and what it is cited for.

    Attributes
    ----------
    key : str
        Of the work, and no other one's in the same list.
    work : PublishedWork or None
        None if the bibliography of the plugin that cites it does not have the key.
    uses : list of (str, str)
        Who cites it (``selection/sssp``, or the study) and for what.
    """

    key: str
    work: PublishedWork | None
    uses: list[tuple[str, str]] = field(default_factory=list)


def cited_works(
    reference: Reference | None,
    plugins: Iterable[Plugin],
    versions: Mapping[str, Sequence[str]] | None = None,
) -> list[CitedWork]:
    """List every work once; the study's own first, then in the order of `plugins`.

    Each plugin's keys are looked up in the bibliography of its package. Entries of several packages
    are one work if they have the same key and the same DOI or title; the first is shown. Another
    work with the same key gets a number after it: ``smith2020-2``. The study's own source is shown
    as a plugin's bibliography has it, which may know more.

    Parameters
    ----------
    reference : Reference or None
        Published numbers of the study.
    plugins : iterable of Plugin
    versions : mapping of str to sequence of str, optional
        Versions that ran, by name of the benchmark plugin; its citations show them.
    """
    plugins, versions = list(plugins), versions or {}
    programs: dict[str, list[str]] = {}
    works: dict[str, CitedWork] = {}
    if reference is not None:
        own = _source_work(reference)
        found = (find_work(type(one), own.key) for one in plugins if _cites(one, own.key))
        work = next((other for other in found if _is_one(other, own)), own)
        works[own.key] = CitedWork(own.key, work, [("this study", "published numbers")])
    for plugin in plugins:
        for citation in plugin.citations:
            work = find_work(type(plugin), citation.key)
            entry = _entry(works, citation.key, work)
            ran = versions.get(plugin.name, ()) if plugin.kind == "benchmark" else ()
            if ran:
                programs[entry.key] = [*programs.get(entry.key, ()), *ran]
            use = f"{plugin.kind}/{plugin.name}", citation.cited_for + _version_text(ran)
            if use not in entry.uses:
                entry.uses.append(use)
    for key, ran in programs.items():
        cited = works[key]
        if cited.work is not None and cited.work.is_program:
            cited.work = cited.work.of_version(" and ".join(dict.fromkeys(ran)))
    return list(works.values())


def bibliography(works: Iterable[CitedWork]) -> str:
    """Return the works as a BibTeX file; those that no bibliography has are left out."""
    return "\n\n".join(cited.work.bibtex for cited in works if cited.work) + "\n"


def _version_text(versions: Sequence[str]) -> str:
    if not versions:
        return ""
    noun = "version" if len(versions) == 1 else "versions"
    return f"; {noun} {' and '.join(versions)} ran"


def _cites(plugin: Plugin, key: str) -> bool:
    return any(citation.key == key for citation in plugin.citations)


def _entry(works: dict[str, CitedWork], key: str, work: PublishedWork | None) -> CitedWork:
    """Return the entry of a work, a new one if it has none."""
    number, name = 1, key
    while name in works and not _is_one(works[name].work, work):
        number += 1
        name = f"{key}-{number}"
    return works.setdefault(name, CitedWork(name, work and work.renamed(name)))


def _is_one(one: PublishedWork | None, other: PublishedWork | None) -> bool:
    return one is other is None or (one is not None and other is not None and one.is_same(other))


def _source_work(reference: Reference) -> PublishedWork:
    source = reference.source
    return describe_work(
        key=source.key,
        title=source.title,
        authors=source.authors,
        venue=source.venue or "",
        year=str(source.year or ""),
        doi=source.doi or "",
    )
