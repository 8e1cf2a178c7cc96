"""What a study builds on: the works that its plugins and its published numbers are taken from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from routelab.api import Citation, Plugin
from routelab.config import Reference


@dataclass(frozen=True)
class CitedWork:
    """A source and what it is cited for.

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
        """The authors for people."""
        return self.citation.authors.replace(" and ", "; ")


def cited_works(reference: Reference | None, plugins: Iterable[Plugin]) -> list[CitedWork]:
    """Every source once, by its key; the study's own first, then in the order of `plugins`.

    Of citations with one key the first that a plugin gives is shown, as plugins must state the
    year and the venue.
    """
    uses: dict[str, dict[tuple[str, str], None]] = {}
    shown: dict[str, Citation] = {}
    if reference is not None:
        uses[reference.source.key] = {("this study", "published numbers"): None}
    for plugin in plugins:
        for citation in plugin.citations:
            shown.setdefault(citation.key, citation)
            use = f"{plugin.kind}/{plugin.name}", citation.cited_for
            uses.setdefault(citation.key, {})[use] = None
    if reference is not None:
        shown.setdefault(reference.source.key, _citation(reference))
    return [CitedWork(shown[key], tuple(mine)) for key, mine in uses.items()]


def bibliography(works: Iterable[CitedWork]) -> str:
    """The works as a BibTeX file."""
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
