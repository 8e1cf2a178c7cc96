"""Documents of headings, paragraphs, lists and commands, as Markdown and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from routelab.report.table_formats import escape_latex, escape_markdown


@dataclass(frozen=True)
class Mono:
    """A text in a typewriter font: a file, a name, a hash or a command."""

    text: str


Span = str | Mono
Text = str | Sequence[Span]
"""A text is a string or a sequence of spans."""


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: Text


@dataclass(frozen=True)
class Bullets:
    """A list of short texts."""

    items: Sequence[Text]


@dataclass(frozen=True)
class Facts:
    """A list of names with a text each: a table in Markdown, a list in LaTeX."""

    heads: tuple[str, str]
    rows: Sequence[tuple[Text, Text]]


@dataclass(frozen=True)
class Commands:
    """Lines for a shell."""

    lines: Sequence[str]


Block = Heading | Paragraph | Bullets | Facts | Commands
Document = Sequence[Block]


def to_markdown(document: Document) -> str:
    """Return a document as Markdown, with tables as on GitHub."""
    return "\n".join(_markdown_block(block) for block in document)


def to_latex(document: Document) -> str:
    r"""Return a document as LaTeX for ``\input``; it needs ``\usepackage[T1]{fontenc}``.

    Commands, paths and hashes can be broken at the end of a line.
    """
    return "\n".join([_LATEX_HEAD, *(_latex_block(block) for block in document)])


FORMATS: dict[str, Callable[[Document], str]] = {"md": to_markdown, "tex": to_latex}
"""Writers by file name suffix."""


# --- Markdown -------------------------------------------------------------------------------------


def _markdown_block(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {escape_markdown(_one_line(text))}\n"
        case Paragraph(text):
            return f"{_markdown(text)}\n"
        case Bullets(items):
            return "".join(f"- {_markdown(item)}\n" for item in items)
        case Facts(heads, rows):
            lines = [heads, ("---", "---"), *((_cell(name), _cell(text)) for name, text in rows)]
            return "".join(f"| {name} | {text} |\n" for name, text in lines)
        case Commands(lines):
            return "".join(f"    {_one_line(line)}\n" for line in lines)


def _markdown(text: Text, bar: str = "|") -> str:
    return "".join(
        _markdown_code(span.text).replace("|", bar)
        if isinstance(span, Mono)
        else _with_ends(span, escape_markdown(_one_line(span)))
        for span in _spans(text)
    )


def _spans(text: Text) -> Sequence[Span]:
    return [text] if isinstance(text, str) else text


def _cell(text: Text) -> str:
    """Return a text of a table; there, a bar ends a cell even in code."""
    return _markdown(text, bar="\\|")


def _markdown_code(text: str) -> str:
    """Return code between more backticks than it has in a row."""
    text = _one_line(text)
    ticks = "`" * (1 + max((len(found) for found in re.findall("`+", text)), default=0))
    space = " " if "`" in text or not text else ""
    return f"{ticks}{space}{text}{space}{ticks}"


# --- LaTeX ----------------------------------------------------------------------------------------

_LATEX_HEAD = "% for \\input; needs \\usepackage[T1]{fontenc}\n"
_SECTIONS = {1: "section", 2: "subsection", 3: "subsubsection"}


def _latex_block(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"\\{_SECTIONS[level]}{{{_plain(text)}}}\n"
        case Paragraph(text):
            return f"{_latex(text)}\n"
        case Bullets(items):
            return _environment("itemize", [f"\\item {_latex(item)}" for item in items])
        case Facts(_, rows):
            lines = [f"\\item {_latex(name)}: {_latex(text)}" for name, text in rows]
            return _environment("itemize", ["\\raggedright", *lines])
        case Commands(lines):
            return _environment(
                "quote", ["\\raggedright", *(f"{_typed(one)}\\par" for one in lines)]
            )


def _environment(name: str, lines: Sequence[str]) -> str:
    return "\n".join([f"\\begin{{{name}}}", *lines, f"\\end{{{name}}}", ""])


def _latex(text: Text) -> str:
    return "".join(
        _typed(span.text) if isinstance(span, Mono) else _with_ends(span, _plain(span))
        for span in _spans(text)
    )


def _plain(text: str) -> str:
    return "".join(_character(character) for character in _one_line(text))


_TYPED = {"'": r"\textquotesingle{}", "`": r"\textasciigrave{}", "-": "-{}", ",": ",{}"}
"""Characters that fonts would join or curl, so that a copied command would be another one."""
_BREAKS = frozenset("/,=~@+._-:")
_HASH = re.compile(r"[0-9a-f]{32,}")
_GROUP = 8


def _typed(text: str) -> str:
    """Return a text in a typewriter font that can be broken after separators and inside hashes."""
    text = _one_line(text)
    inside = {
        found.start() + step
        for found in _HASH.finditer(text)
        for step in range(_GROUP, len(found[0]), _GROUP)
    }
    parts = []
    for place, character in enumerate(text):
        if place in inside:
            parts.append(r"\allowbreak{}")
        parts.append(_TYPED.get(character) or _character(character))
        if character in _BREAKS:
            parts.append(r"\allowbreak{}")
    return f"\\texttt{{{''.join(parts)}}}"


_MATHS = {"≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "→": r"$\rightarrow$"}
_DRAWN = frozenset(map(chr, range(0xA1, 0x17F))) - set("ĦħĸĿŀŉŦŧ") | set("–—‘’“”…€•")
"""Characters that LaTeX has in the font encoding T1."""


def _character(character: str) -> str:
    """Return a character for LaTeX, or its number if LaTeX has no such character."""
    escaped = _MATHS.get(character) or escape_latex(character)
    if character == " " or escaped != character or character.isascii() or character in _DRAWN:
        return escaped or " "
    return f"U+{ord(character):04X}"


def _one_line(text: str) -> str:
    """Return a text in one line, without control characters."""
    return "".join(one for one in " ".join(text.split()) if one.isprintable() or one == " ")


def _with_ends(text: str, shown: str) -> str:
    """Return a shown text with a space at each end where the text has one."""
    if not shown:
        return " " if text else ""
    return f"{' ' * text[:1].isspace()}{shown}{' ' * text[-1:].isspace()}"
