"""What an algorithm, a network or a number is taken from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Citation:
    """A published source and what it is cited for.

    Parameters
    ----------
    key : str
        Short citation key, e.g. ``"mukosey2020"``; the same source has one key everywhere.
    title, authors, venue : str
        As printed; authors separated by ``" and "``, as in BibTeX.
    year : int
    cited_for : str
        What this plugin takes from the source, e.g. ``"Algorithm 3"``.
    doi : str, optional
        Without the resolver's address.
    """

    key: str
    title: str
    authors: str
    year: int
    venue: str
    cited_for: str
    doi: str = ""

    def bibtex(self) -> str:
        """The source as a BibTeX entry."""
        fields = {
            "title": "{" + self.title + "}",
            "author": self.authors,
            "year": str(self.year),
            "howpublished": self.venue,
            "doi": self.doi,
        }
        body = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items() if text)
        return f"@misc{{{self.key},\n{body}\n}}"
