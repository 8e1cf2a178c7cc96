"""YAML files with the line of every part."""

from __future__ import annotations

import copy
import errno
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from routelab.study.errors import ConfigError
from routelab.toolkit.input_files import read_text

MAX_BYTES = 1_000_000
"""Largest file that is read."""

MAX_PARTS = 100_000
"""Largest number of mappings, lists and scalars of a file. A part that is repeated by ``*name``
counts again, because it is checked again: ten lines of a file can stand for billions of parts, and
as many mistakes."""


class _Loader(yaml.SafeLoader):
    """Read null, truth values and decimal numbers as YAML 1.2 does, and anything else as text.

    YAML 1.1, PyYAML's default, reads the key ``on`` as a truth value and ``010`` as eight.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


# Tag, pattern, and first characters of texts, by which PyYAML looks patterns up ("": no text).
for _tag, _pattern, _first_characters in (
    ("null", r"~|null|", [*"~n", ""]),
    ("bool", r"true|false", [*"tf"]),
    ("int", r"[-+]?(0|[1-9][0-9]*)", [*"-+0123456789"]),
    (
        "float",
        r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?",
        [*"-+.0123456789"],
    ),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})$"), _first_characters
    )


@dataclass(frozen=True)
class Document:
    """A YAML file: its data and the location of every part.

    Attributes
    ----------
    path : Path
        As the user wrote it.
    data : object
        Mappings, lists and scalars.
    root : yaml.Node
        The parsed file, whose nodes know their lines; `data` does not.
    """

    path: Path
    data: Any
    root: yaml.Node

    def line(self, location: Sequence[int | str]) -> int:
        """Return the line of a part, from 1 on; skip steps that the document does not have."""
        line, _ = self._line_and_key_path(location)
        return line

    def place(self, location: Sequence[int | str]) -> str:
        """Return ``file:line: path: `` of a part, the beginning of a message."""
        line, key_path = self._line_and_key_path(location)
        return f"{self.path}:{line}: " + (f"{key_path}: " if key_path else "")

    def _line_and_key_path(self, location: Sequence[int | str]) -> tuple[int, str]:
        """Return the line, from 1 on, and the key path of a part, such as ``tables.sizes.rows[0]``.

        Steps without such a part are skipped: a key that is missing, or the name of a union's
        branch, which pydantic adds. So a mistake about a missing key has the line of the mapping.
        """
        node, line, key_path = self.root, self.root.start_mark.line, ""
        for step in location:
            child = _child_at(node, step)
            if child is not None:
                line, node = child
                key_path += f"[{step}]" if isinstance(step, int) else f".{step}"
        # PyYAML counts lines from 0
        return line + 1, key_path.lstrip(".")


def load_document(path: Path) -> Document:
    """Read a YAML file.

    Raises
    ------
    ConfigError
        If the file does not exist, is not valid YAML, has tags for objects, is too large or too
        deep, or a mapping has a duplicate key.
    """
    try:
        cached = _parse(path, _read_file(path))
        # A copy, because a caller may change the data, which later callers get from the cache.
        return Document(path, copy.deepcopy(cached.data), cached.root)
    except RecursionError:
        raise ConfigError([f"{path}: its lists and mappings are nested too deeply"]) from None


@lru_cache(maxsize=16)
def _parse(path: Path, text: str) -> Document:
    """Return the document of a text, kept because hundreds of jobs read the same cluster file."""
    try:
        # 1. The nodes. Their number is checked before values are made of them: a node that the file
        #    names (`&name`) and repeats a thousand times (`*name`) has a thousand values.
        loader = _Loader(text)
        file_start = yaml.Mark(name="", index=0, line=0, column=0, buffer="", pointer=0)
        root = loader.get_single_node() or yaml.ScalarNode("", "", start_mark=file_start)
        _check_size(root, path)
        # PyYAML takes the last of several equal keys, and says nothing.
        duplicates = _duplicate_keys(root)
        if duplicates:
            raise ConfigError(
                [f"{path}:{line + 1}: the key {key!r} occurs twice" for line, key in duplicates]
            )
        # 2. The values; an empty file has no node, and the one made above has no tag.
        data = loader.construct_document(root) if root.tag else None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = f"is not valid YAML: {error.problem}"
        # Two frequent mistakes are explained, because YAML's own words for them do not help.
        if "constructor for the tag" in str(error.problem):
            problem = f"{error.problem}; write plain values, without '!'"
        elif str(error.problem).startswith(("expected ','", "mapping values are not allowed")):
            problem += "; put texts with special characters in quotes"
        raise ConfigError([f"{path}:{line}: {problem}"]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problem = f"is not valid YAML: the character #x{error.character:02x} is not allowed"
        raise ConfigError([f"{path}:{line}: {problem}"]) from None
    except ValueError as error:  # for example a number of thousands of digits
        problem = str(error).partition(";")[0]  # Python then advises to raise its own limit
        raise ConfigError([f"{path}: invalid value: {problem}"]) from None
    return Document(path, data, root)


def _read_file(path: Path) -> str:
    """Return the text of a file; raise ConfigError if it is too large or cannot be read."""
    try:
        return read_text(path, MAX_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ConfigError([f"{path}: is larger than {MAX_BYTES} bytes"]) from None
        raise ConfigError([f"{path}: cannot be read: {error.strerror or error}"]) from None
    except UnicodeDecodeError:
        raise ConfigError([f"{path}: is not a text file in UTF-8"]) from None


def _check_size(root: yaml.Node, path: Path) -> None:
    """Refuse a file with more than `MAX_PARTS` parts, or with a part that contains itself."""
    sizes: dict[int, int] = {}  # by id(): a part that is repeated by `*name` is the same node

    def count_parts(node: yaml.Node) -> int:
        """Return the number of parts in a node, itself included; `*name` counts each time."""
        key = id(node)
        if key not in sizes:
            # Until its size is known, a part counts as MAX_PARTS. So one that contains itself
            # (`&name [*name]`, which YAML allows) ends the recursion and is too large.
            sizes[key] = MAX_PARTS
            sizes[key] = 1 + sum(map(count_parts, _children(node)))
        return sizes[key]

    if count_parts(root) > MAX_PARTS:
        counted = f"more than {MAX_PARTS} parts, those repeated by '*name' counted each time"
        raise ConfigError([f"{path}: has {counted}; shorten the file or repeat fewer parts"])


def _children(node: yaml.Node) -> list[yaml.Node]:
    """Return the keys and values of a mapping, or the items of a list."""
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _child_at(node: yaml.Node, step: int | str) -> tuple[int, yaml.Node] | None:
    """Return the line, from 0 on, and the node of a part of a mapping or list; None if missing.

    Of a mapping, it is the line of the key, and the node of the value.
    """
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        child = node.value[step]
        return child.start_mark.line, child
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            # a key node has the text of the key, also where the key is a number: `3: value`
            if key.value == str(step):
                return key.start_mark.line, value
    return None


def _duplicate_keys(node: yaml.Node) -> Sequence[tuple[int, str]]:
    """Return the line, from 0 on, and the name of each key that occurs twice in a mapping."""
    duplicates: list[tuple[int, str]] = []
    if isinstance(node, yaml.MappingNode):
        keys = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in keys:
                    duplicates.append((key.start_mark.line, key.value))
                keys.add(key.value)
            duplicates += _duplicate_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            duplicates += _duplicate_keys(item)
    return duplicates
