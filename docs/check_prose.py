"""Check the English of manual, help texts, messages, docstrings and studies.

python docs/check_prose.py [FILE ...]

Lists phrases of docs/prose.yaml and sentences that are too long, with file and line. Exits with 1
if there are any.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
RULES = Path(__file__).with_name("prose.yaml")

SOURCES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "profiles/**/*.md",
    "profiles/**/*.yaml",
    "docs/**/*.md",
    "config/**/*.yaml",
    "src/**/*.py",
    "src/**/*.pyi",
    "src/**/*.j2",
    "src/**/*.md",
    "plugins/**/*.py",
)
SKIPPED = ("docs/decisions/", "docs/reference/")
"""The log of decisions is history; reference pages are generated from sources checked here."""

WORDS = re.compile(r"[^\W\d_]{2,}|[aI]\b")
CODE = re.compile(
    r"^(```|~~~).*?^\1[^\n]*$|<!--.*?-->|^(?: {4,}|\t|<)(?![-*\d ])[^\n]*$", re.M | re.S
)
SENTENCE_END = re.compile(r"(?<=[.!?;])[)\"*]*\s+(?=\S)|:\s+(?=\S)|\n\s*(?=\n|- )|\|")


@dataclass(frozen=True)
class Text:
    """A piece of prose, in the line where it starts."""

    line: int
    text: str

    def line_of(self, position: int) -> int:
        """Return the line of a position in the text."""
        return self.line + self.text.count("\n", 0, position)


def markdown_texts(source: str) -> Iterator[Text]:
    """Yield the paragraphs, list items, headings and table rows of a page, without code."""
    source = CODE.sub(_blank, source)
    parts = re.split(r"(\n(?=\s*(?:\n|[-*+] |\d+\. |\||#|>)))", source)
    line = 1
    for part in parts:
        for row in part.split("|") if part.lstrip().startswith("|") else [part]:
            if row.strip():
                yield Text(line + _leading_lines(row), row.strip())
        line += part.count("\n")


def template_texts(source: str) -> Iterator[Text]:
    """Yield the text of a template between tags; of a template of Python, its texts."""
    source = re.sub(r"\{#.*?#\}|\{%.*?%\}|<(style|script).*?</\1>", _blank, source, flags=re.S)
    source = re.sub(r"\{\{.*?\}\}", "X", source, flags=re.S)
    source = re.sub(r"</?(b|i|em|strong|code|a|span|sup|sub)\b[^<>]*>", "", source)
    try:
        yield from python_texts(source)
        return
    except SyntaxError:
        pass  # not Python
    line = 1
    for part in re.split(r"(<[^<>]*>|\n\s*\n)", source):
        if part.strip() and not part.startswith("<"):
            yield Text(line + _leading_lines(part), part.strip())
        line += part.count("\n")


def yaml_texts(source: str) -> Iterator[Text]:
    """Yield the comments and the sentences of a YAML file."""
    for number, line in enumerate(source.splitlines(), 1):
        comment = re.search(r"(?:^|\s)#\s+(.*)", line)
        if comment:
            yield Text(number, comment.group(1))
    nodes = [yaml.compose(source)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.ScalarNode) and " " in node.value:
            yield Text(node.start_mark.line + 1, node.value)
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
        elif isinstance(node, yaml.MappingNode):
            nodes += [value for _, value in node.value]


def python_texts(source: str) -> Iterator[Text]:
    """Yield the docstrings of a module, and its strings of at least three words."""
    tree = ast.parse(source)
    inside = {
        part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            text = node.value
        else:
            continue
        if text.strip().count(" ") >= 2:
            yield Text(node.lineno, _apart(text))


READERS = {
    ".md": markdown_texts,
    ".j2": template_texts,
    ".yaml": yaml_texts,
    ".py": python_texts,
    ".pyi": python_texts,
}


def _apart(text: str) -> str:
    """End a sentence where the indentation changes, as in lists of parameters."""
    lines = text.split("\n")
    for number, (line, below) in enumerate(pairwise(lines[1:]), 1):
        indents = [len(one) - len(one.lstrip()) for one in (line, below)]
        if below.strip() and indents[0] != indents[1]:
            lines[number] += "."
    return "\n".join(lines)


def _blank(match: re.Match[str]) -> str:
    return "\n" * match.group().count("\n")


def _leading_lines(text: str) -> int:
    return text[: len(text) - len(text.lstrip())].count("\n")


def sentences(text: Text) -> Iterator[tuple[int, str]]:
    """Yield every sentence with its line."""
    start = 0
    for match in [*SENTENCE_END.finditer(text.text), None]:
        end = match.start() if match else len(text.text)
        sentence = text.text[start:end]
        yield text.line_of(start + len(sentence) - len(sentence.lstrip())), sentence
        start = match.end() if match else end


def findings(text: Text, rules: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the findings of a text: line and message."""
    plain = re.sub(r"`[^`]*`", lambda code: re.sub(r"[^\n]", "0", code.group()), text.text)
    for phrase, advice in rules["phrases"].items():
        for match in re.finditer(rf"(?<![\w-])(?:{phrase})(?![\w-])", plain, re.I):
            around = plain[max(0, match.start() - 60) : match.end() + 60]
            if not any(fine in " ".join(around.split()) for fine in rules["allowed"]):
                found = " ".join(match.group().split())
                yield text.line_of(match.start()), f"'{found}': {advice}"
    for line, sentence in sentences(Text(text.line, plain)):
        words = len(WORDS.findall(sentence))
        if words > rules["words"]:
            start = " ".join(sentence.split()[:6])
            yield line, f"{words} words in '{start} ...': split it"


def main(names: list[str]) -> int:
    """Print the findings of the files, or of all; return the exit code."""
    rules = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    paths = map(Path, names) if names else sorted(p for s in SOURCES for p in ROOT.glob(s))
    failed = False
    for path in paths:
        name = str(path.resolve().relative_to(ROOT))
        if name.startswith(SKIPPED) and not names:
            continue
        for text in READERS[path.suffix](path.read_text(encoding="utf-8")):
            for line, message in findings(text, rules):
                failed = True
                print(f"{name}:{line}: {message}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
