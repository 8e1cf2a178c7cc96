"""The works that plugins cite, from the BibTeX files of their packages."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from bibtexparser.entrypoint import parse_string, write_string
from bibtexparser.library import Library
from bibtexparser.middlewares import NormalizeFieldKeys
from bibtexparser.middlewares.names import split_multiple_persons_names
from bibtexparser.model import (
    Block,
    DuplicateBlockKeyBlock,
    DuplicateFieldKeyBlock,
    Entry,
    Field,
)
from bibtexparser.writer import BibtexFormat
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexencode import unicode_to_latex

from routelab.api import Plugin
from routelab.registry.bibliography import expected_place, find_bibliography
from routelab.registry.suggest import did_you_mean
from routelab.toolkit.input_files import MAX_BIBLIOGRAPHY, read_text

logger = logging.getLogger(__name__)

_FORMAT = BibtexFormat()  # type: ignore[no-untyped-call]
_FORMAT.indent = "  "
_RESOLVER = re.compile(r"^(https?://(dx\.)?doi\.org/|doi:)\s*", re.IGNORECASE)
_TITLE_VERSION = re.compile(r",?\s+(v|version\s+)?[0-9]+(\.[0-9]+)*$", re.IGNORECASE)
_THESES = {"phdthesis": "PhD thesis", "mastersthesis": "Master's thesis"}
_PUBLISHERS = ("school", "institution", "organization", "publisher", "howpublished")


@dataclass(frozen=True)
class PublishedWork:
    """A published work, in Unicode as people read it.

    Attributes
    ----------
    key, title : str
    authors : tuple of str
        As in the entry, for example ``"Dally, William J."``.
    venue : str
        Journal, proceedings or publisher, with volume and pages; empty if not stated.
    year : str
        Empty if not stated.
    doi : str
        Without the resolver's address; empty if there is none.
    bibtex : str
        The entry, with the LaTeX commands and all fields of its source.
    """

    key: str
    title: str
    authors: tuple[str, ...]
    venue: str
    year: str
    doi: str
    bibtex: str

    @property
    def published(self) -> str:
        """Venue and year, as far as they are stated."""
        return ", ".join(part for part in (self.venue, self.year) if part)

    @property
    def text(self) -> str:
        """The work on one line, without its key."""
        return self.marked_text("{}")

    def marked_text(self, title: str) -> str:
        """Return the work on one line; `title` is the format of its title, such as ``*{}*``."""
        doi = f"doi:{self.doi}" if self.doi else ""
        parts = (" and ".join(self.authors).rstrip("."), title.format(self.title))
        where = ", ".join(part for part in (self.published, doi) if part)
        return ". ".join(part for part in (*parts, where) if part)

    def is_same(self, other: PublishedWork) -> bool:
        """Tell whether an entry of another file describes the same work: by DOI or by title."""
        if self.doi and self.doi.lower() == other.doi.lower():
            return True
        return bool(_bare(self.title)) and _bare(self.title) == _bare(other.title)

    @property
    def is_program(self) -> bool:
        """Whether the work is a program rather than a publication."""
        return re.match(r"\s*@(manual|software)\b", self.bibtex, re.IGNORECASE) is not None

    def of_version(self, version: str) -> PublishedWork:
        """Return this work, a program, with another version in its title."""
        title = f"{_TITLE_VERSION.sub('', self.title)} {version}"
        bibtex = self.bibtex.replace(self.title, title, 1)
        if bibtex == self.bibtex:
            bibtex = bibtex.replace(
                f"{{{self.key},", f"{{{self.key},\n  version = {{{version}}},", 1
            )
        return replace(self, title=title, bibtex=bibtex)

    def renamed(self, key: str) -> PublishedWork:
        """Return the work under another key."""
        bibtex = self.bibtex.replace(f"{{{self.key},", f"{{{key},", 1)
        return replace(self, key=key, bibtex=bibtex)


@dataclass(frozen=True)
class Bibliography:
    """The works of a BibTeX file.

    Attributes
    ----------
    works : mapping of str to PublishedWork
        By key.
    problems : tuple of str
        What cannot be read, with file and line.
    """

    works: Mapping[str, PublishedWork]
    problems: tuple[str, ...]


def find_work(plugin: type[Plugin], key: str) -> PublishedWork | None:
    """Look up a key that a plugin cites; None if the plugin's bibliography does not have it.

    What cannot be read in the bibliography is logged, once per process.
    """
    file = find_bibliography(plugin.__module__)
    return _read_and_warn(file).works.get(key) if file else None


def citation_problems(plugin: type[Plugin]) -> Iterator[str]:
    """List what is wrong with the works that a plugin cites: problem, place and fix."""
    if not plugin.citations:
        return
    file = find_bibliography(plugin.__module__)
    if file is None:
        keys = ", ".join(repr(citation.key) for citation in plugin.citations)
        yield (
            f"{plugin.kind}/{plugin.name} cites {keys}, but there is no "
            f"{expected_place(plugin.__module__)}; add the file with an entry for each key"
        )
        return
    found = read_bibliography(file)
    yield from found.problems
    for citation in plugin.citations:
        work = found.works.get(citation.key)
        if work is None:
            fix = did_you_mean(citation.key, found.works) or "; add an entry with this key"
            yield (
                f"{plugin.kind}/{plugin.name} cites {citation.key!r}, which is not in {file}{fix}"
            )
        elif not work.title:
            yield f"{file}: the entry {citation.key!r} has no title; add one"


@cache
def read_bibliography(file: Path) -> Bibliography:
    """Read a BibTeX file, once per process.

    Entries that are not valid are left out and listed as problems, as is a file that cannot be
    read. Of entries with one key the first counts.
    """
    try:
        text = read_text(file, MAX_BIBLIOGRAPHY).replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        return Bibliography({}, (f"{file}: cannot be read: {error}",))
    # its messages do not say which file they are about
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    library = parse_string(text, append_middleware=[NormalizeFieldKeys()])
    works = {entry.key: _make_work(entry) for entry in library.entries}
    problems = tuple(f"{file}:{_line(block)}: {_cause(block)}" for block in library.failed_blocks)
    return Bibliography(works, problems)


def describe_work(
    key: str, title: str, authors: Iterable[str], venue: str, year: str, doi: str
) -> PublishedWork:
    """Make a work, and its BibTeX entry, from what is known of it as plain text."""
    names = tuple(authors)
    texts = {"author": " and ".join(names), "howpublished": venue, "year": year}
    fields = [Field(name, unicode_to_latex(text)) for name, text in texts.items() if text]
    # the inner braces keep the capital letters of the title
    fields.insert(0, Field("title", f"{{{unicode_to_latex(title)}}}"))
    if doi:
        fields.append(Field("doi", doi))
    bibtex = _written(Entry("misc", key, fields))
    return PublishedWork(key, title, names, venue, year, doi, bibtex)


@cache
def _read_and_warn(file: Path) -> Bibliography:
    found = read_bibliography(file)
    for problem in found.problems:
        logger.warning(problem)
    return found


def _make_work(entry: Entry) -> PublishedWork:
    source = {field.key: str(field.value) for field in entry.fields}
    fields = {name: _decoded(text) for name, text in source.items()}
    return PublishedWork(
        key=entry.key,
        title=fields.get("title", ""),
        authors=tuple(map(_decoded, split_multiple_persons_names(source.get("author", "")))),
        venue=_venue(entry.entry_type.lower(), fields),
        year=fields.get("year", ""),
        # in a DOI, % and ~ are not LaTeX
        doi=_RESOLVER.sub("", source.get("doi", "").replace("\\", "").strip()),
        bibtex=_written(entry),
    )


def _decoded(text: str) -> str:
    """Return LaTeX as Unicode on one line, or as it is where it is not valid."""
    try:
        # a bare % would hide the rest of the text, as a comment
        text = _decoder().latex_to_text(re.sub(r"(?<!\\)%", r"\\%", text))
    except Exception as error:
        # of any type: a command without its argument raises KeyError
        logger.debug("%r cannot be decoded: %r", text, error)
    return " ".join("".join(one for one in text if one.isspace() or one.isprintable()).split())


@cache
def _decoder() -> LatexNodes2Text:
    return LatexNodes2Text()


def _venue(kind: str, fields: Mapping[str, str]) -> str:
    """Describe where a work was published, as in "IEEE Micro 42(2), pp. 61–67"."""
    get = fields.get
    volume, number, pages = get("volume", ""), get("number", ""), get("pages", "")
    place = get("journal", "")
    parts = []
    if place:
        parts.append(f"{place} {volume}{f'({number})' if number else ''}".strip())
    else:
        place = get("booktitle", "")
        parts += [place, f"{get('series', '')} {volume}".strip(), _THESES.get(kind, "")]
    if not place:
        parts.append(next((fields[name] for name in _PUBLISHERS if name in fields), ""))
    if kind == "techreport":
        parts.append(f"{get('type', 'Technical Report')} {number}".strip())
    if "isbn" in fields:
        parts.append(f"ISBN {fields['isbn']}")
    if "eprint" in fields:
        parts.append(f"{get('archiveprefix', 'eprint')}:{fields['eprint']}")
    if pages:
        parts.append(f"{'p.' if pages.isdigit() else 'pp.'} {pages}")
    return ", ".join(part for part in parts if part)


def _written(entry: Entry) -> str:
    return write_string(Library([entry]), bibtex_format=_FORMAT).strip()


def _line(block: Block) -> int:
    return (block.start_line or 0) + 1


def _cause(block: Block) -> str:
    """Describe an entry that is not valid, and the fix."""
    if isinstance(block, DuplicateBlockKeyBlock):
        return f"a second entry {block.key!r}; remove one of them"
    if isinstance(block, DuplicateFieldKeyBlock):
        return f"a field is in the entry twice ({', '.join(block.duplicate_keys)}); remove one"
    return "not a valid BibTeX entry; check its braces, quotes and commas"


def _bare(title: str) -> str:
    return "".join(filter(str.isalnum, title)).casefold()
