"""Works that a study cites: sources of its plugins and of its published numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from routelab.api import Citation, Plugin
from routelab.config import Reference


@dataclass(frozen=True)
class CitedWork:
    """A source and the reasons for citing it.

    Attributes
    ----------
    citation : Citation
    uses : tuple of (str, str)
        Who cites it (``selection/sssp``, or the study) and for what.
    """

    citation: Citation
    uses: tuple[tuple[str, str], ...]

    @property
    def authors(self) -> str:
        """The authors as text."""
        return self.citation.authors.replace(" and ", "; ")


def cited_works(reference: Reference | None, plugins: Iterable[Plugin]) -> list[CitedWork]:
    """Return each source once, by key: the study's own first, then in the order of `plugins`.

    Among citations with the same key, the first one of a plugin is used, because plugins must
    state the year and the venue.
    """
    uses: dict[str, dict[tuple[str, str], None]] = {}
    citations: dict[str, Citation] = {}
    if reference is not None:
        uses[reference.source.key] = {("this study", "published numbers"): None}
    for plugin in plugins:
        for citation in plugin.citations:
            citations.setdefault(citation.key, citation)
            use = f"{plugin.kind}/{plugin.name}", citation.cited_for
            uses.setdefault(citation.key, {})[use] = None
    if reference is not None:
        citations.setdefault(reference.source.key, _citation(reference))
    return [CitedWork(citations[key], tuple(mine)) for key, mine in uses.items()]


def bibliography(works: Iterable[CitedWork]) -> str:
    """Return the works as a BibTeX file."""
    return "\n\n".join(work.citation.bibtex() for work in works) + "\n"


def _citation(reference: Reference) -> Citation:
    source = reference.source
    return Citation(
        key=source.key,
        title=source.title,
        authors=" and ".join(source.authors),
        year=source.year,
        venue=source.venue or "",
        cited_for="published numbers",
        doi=source.doi or "",
    )
