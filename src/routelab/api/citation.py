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
    year : int or None
        None where none is printed.
    cited_for : str
        What this plugin takes from the source, e.g. ``"Algorithm 3"``.
    doi : str, optional
        Without the resolver's address.
    """

    key: str
    title: str
    authors: str
    year: int | None
    venue: str
    cited_for: str
    doi: str = ""

    @property
    def published(self) -> str:
        """Venue and year, as far as they are printed."""
        return ", ".join(str(part) for part in (self.venue, self.year) if part)

    def bibtex(self) -> str:
        """The source as a BibTeX entry; characters that LaTeX takes for commands are escaped."""
        fields = {
            "title": f"{{{_escaped(self.title)}}}",
            "author": _escaped(self.authors),
            "year": str(self.year or ""),
            "howpublished": _escaped(self.venue),
            "doi": self.doi,
        }
        body = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items() if text)
        return f"@misc{{{self.key},\n{body}\n}}"


_COMMANDS = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def _escaped(text: str) -> str:
    return text.translate(_COMMANDS)
