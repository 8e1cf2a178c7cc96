"""What a study builds on: the works that its plugins and its published numbers are taken from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from routelab.api import Plugin
from routelab.study import Reference


def cited_works(
    reference: Reference | None,
    plugins: Iterable[Plugin],
    versions: Mapping[str, Sequence[str]] | None = None,
) -> list[dict[str, Any]]:
    """List every work once; the study's own first, then in the order of `plugins`.

    Two citations are of one work if they have the same DOI or, where one has none, the same text.

    Parameters
    ----------
    reference : Reference or None
        Published numbers of the study.
    plugins : iterable of Plugin
    versions : mapping of str to sequence of str, optional
        Versions that ran, by name of the benchmark plugin; its citations show them.

    Returns
    -------
    works : list of dict
        ``text`` and ``doi`` as in a `Citation`, and ``uses``: pairs of who cites the work
        (``selection/sssp``, or the study) and for what.
    """
    works: dict[str, dict[str, Any]] = {}  # by DOI, or by text

    def add_use(text: str, doi: str, use: tuple[str, str]) -> None:
        work = works.setdefault(doi.lower() or text, {"text": text, "doi": doi, "uses": []})
        if use not in work["uses"]:
            work["uses"].append(use)

    if reference is not None:
        source = reference.source
        # "A. Author; B. Author. Title. Venue. 2020". An author such as "A. Jr." ends with a full
        # stop, which is not doubled.
        parts = ("; ".join(source.authors), source.title, source.venue, str(source.year or ""))
        text = ". ".join(part.rstrip(".") for part in parts if part)
        add_use(text, source.doi or "", ("this study", "published numbers"))
    for plugin in plugins:
        is_benchmark = plugin.kind == "benchmark"
        run_versions = (versions or {}).get(plugin.name, ()) if is_benchmark else ()
        for citation in plugin.citations:
            use = f"{plugin.kind}/{plugin.name}", citation.cited_for + _version_text(run_versions)
            add_use(citation.text, citation.doi, use)
    return list(works.values())


def _version_text(versions: Sequence[str]) -> str:
    """Return ``; versions 5.7 and 7.4 ran``; empty without versions."""
    if not versions:
        return ""
    noun = "version" if len(versions) == 1 else "versions"
    return f"; {noun} {' and '.join(versions)} ran"
