"""The grammar of instance names.

::

    routing   = name [ "@" name [ "@" name ] ]          selection @ rules @ layers
    name      = word [ "~" parameter { "," parameter } ]
    parameter = word "=" value
    value     = [ "~/" ] text without , ~ @ = [ ]  |  "[" any text with balanced brackets "]"

Brackets only quote: ``valiant~base=[dor~order=longest]`` gives ``base`` the value
``dor~order=longest``. The plugin's parameters define the meaning of a value's text (``4x2x2``,
``a+b+c``), not the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from routelab.api.errors import InputError

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SPECIAL = frozenset(",~@=[]")
_PLAIN = re.compile(r"[^,~@=\[\]]+")
MAX_DEPTH = 20
"""Largest depth of nested brackets. Every pair can be a routing within a routing."""
_CONTEXT = 60
"""Characters before and after a mistake in a long name that a message shows."""


@dataclass(frozen=True)
class Name:
    """A plugin's key with parameters; ``str()`` returns the text.

    Attributes
    ----------
    key : str
    parameters : tuple of (str, str)
        Parameter and value, the value without the brackets that quote it.

    Raises
    ------
    InputError
        If the grammar has no text for this name: a key or parameter is not a word, a parameter
        occurs twice, or the brackets in a value are not balanced.
    """

    key: str
    parameters: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for word in (self.key, *(parameter for parameter, _ in self.parameters)):
            if not _WORD.fullmatch(word):
                raise InputError(f"{word!r} cannot be used in a name: {_WORD_RULE}")
        names: set[str] = set()
        for parameter, value in self.parameters:
            if parameter in names:
                raise InputError(f"parameter {parameter!r} of {self.key!r} is given twice")
            names.add(parameter)
            if not _is_balanced(value):
                raise InputError(
                    f"the value {value!r} of parameter {parameter!r} of {self.key!r} cannot be "
                    "written in a name: its brackets are not balanced"
                )

    def __str__(self) -> str:
        """Return the name as text, with brackets around values that need them."""
        pairs = ",".join(f"{name}={quote(value)}" for name, value in self.parameters)
        return f"{self.key}~{pairs}" if pairs else self.key


def compose(parts: Iterable[Name]) -> str:
    """Return the name of a routing as text, from the names that `parse_routing` returns."""
    return "@".join(map(str, parts))


def quote(value: str) -> str:
    """Return a value as in a name: in brackets if it is empty or has a special character."""
    return value if value and _SPECIAL.isdisjoint(value.removeprefix("~/")) else f"[{value}]"


def parse_name(text: str) -> Name:
    """Read the name of one plugin's instance.

    Raises
    ------
    InputError
        If `text` does not follow the grammar; the message shows the position.
    """
    parser = _Parser(text)
    name = parser.read_name()
    if parser.next == "@":
        raise parser.error("only routings are composed with '@'")
    parser.expect_end()
    return name


def parse_routing(text: str) -> tuple[Name, ...]:
    """Read the name of a routing: one name, or those of selection, rules and perhaps layers.

    Raises
    ------
    InputError
        If `text` does not follow the grammar; the message shows the position.
    """
    parser = _Parser(text)
    parts = [parser.read_name()]
    while len(parts) < 3 and parser.accept("@"):
        parts.append(parser.read_name())
    if parser.next == "@":
        raise parser.error("a routing has at most three parts, selection@rules@layers")
    parser.expect_end()
    return tuple(parts)


_WORD_RULE = "it takes letters, digits, '-', '_' and '.', and starts with a letter or digit"


def without_parameters(name: str, omitted: Collection[str]) -> str:
    """Return a canonical instance name without some of its parameters.

    ``genetic~seed=3@angara~turns=exact`` without ``seed`` is ``genetic@angara~turns=exact``: one
    label for the runs with all seeds. Qualifiers do not count: ``seed`` and ``selection.seed``
    remove ``seed``, ``selection.seed`` and ``layers.seed`` from all parts of the name.

    Raises
    ------
    InputError
        If `name` is not an instance name.
    """
    omitted_words = {parameter.rpartition(".")[2] for parameter in omitted}
    parts = []
    for part in parse_routing(name):
        remaining = tuple(
            (parameter, value)
            for parameter, value in part.parameters
            if parameter.rpartition(".")[2] not in omitted_words
        )
        parts.append(Name(part.key, remaining))
    return compose(parts)


def _is_balanced(text: str) -> bool:
    """Return whether each bracket of a text has its partner: ``[a[b]]`` does, ``]a[`` does not."""
    depth = 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if depth < 0:
            return False
    return depth == 0


class _Parser:
    """A recursive-descent parser of names; `position` is that of the next character to read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    @property
    def next(self) -> str:
        """The next character, empty at the end."""
        return self.text[self.position : self.position + 1]

    def error(self, problem: str, position: int | None = None) -> InputError:
        """Return an error that marks a character of the name, by default the next one."""
        caret = self.position if position is None else position
        text = self.text
        # Of a long name, show what is around the character. The caret moves left by the characters
        # that are cut off in front, and right by the dots in their place.
        if len(text) > 4 * _CONTEXT:
            start, end = max(caret - _CONTEXT, 0), caret + _CONTEXT
            before = "..." if start > 0 else ""
            after = "..." if end < len(text) else ""
            text = f"{before}{text[start:end]}{after}"
            caret += len(before) - start
        return InputError(f"bad name: {problem}\n    {text}\n    {' ' * caret}^")

    def accept(self, char: str) -> bool:
        """Read `char` if it is the next character; return whether it was."""
        if self.next != char:
            return False
        self.position += 1
        return True

    def expect_end(self) -> None:
        if self.next:
            raise self.error(f"unexpected {self.next!r}")

    def read_name(self) -> Name:
        """Read the name of a plugin with its parameters."""
        key = self.read_word("the name of a plugin")
        # Each parameter is read with those before it: to refuse a name that is given twice, and for
        # a hint if a comma is followed by the rest of the last value.
        parameters: list[tuple[str, str]] = []
        if self.accept("~"):
            parameters.append(self.read_parameter(parameters))
            while self.accept(","):
                parameters.append(self.read_parameter(parameters))
        elif self.next == "=":
            raise self.error("parameters come after '~', as in key~parameter=value")
        return Name(key, tuple(parameters))

    def read_parameter(self, earlier: list[tuple[str, str]]) -> tuple[str, str]:
        """Read a parameter and its value; `earlier` are the parameters before it, with values."""
        start = self.position
        # After a comma, what is no parameter is probably the rest of the value before it: the 3 of
        # dims=4,3 instead of dims=[4,3].
        hint = f"; a value with a comma goes in brackets, {earlier[-1][0]}=[...]" if earlier else ""
        name = self.read_word("a parameter", hint)
        if any(name == earlier_name for earlier_name, _ in earlier):
            raise self.error(f"parameter {name!r} is given twice", start)
        if not self.accept("="):
            raise self.error(f"expected '=' and a value for parameter {name!r}{hint}")
        return name, self.read_value(name)

    def read_word(self, expected: str, hint: str = "") -> str:
        """Read a word; `expected` and `hint` are for the message if there is none."""
        match = _WORD.match(self.text, self.position)
        if not match:
            raise self.error(f"expected {expected}; {_WORD_RULE}{hint}")
        self.position = match.end()
        return match.group()

    def read_value(self, parameter: str) -> str:
        """Read a value: in brackets, or up to the next comma or @ or the end of the text.

        Outside brackets, refuse other special characters.
        """
        start = self.position
        if self.next == "[":
            return self.read_bracket_value()
        if self.text.startswith("~/", self.position):  # a file in the home folder, not parameters
            self.position += 2
        plain = _PLAIN.match(self.text, self.position)
        self.position = plain.end() if plain else self.position
        if self.next and self.next not in ",@":
            raise self.error(
                f"a value with {self.next!r} in it goes in brackets, {parameter}=[...]"
            )
        if self.position == start:
            raise self.error(
                f"expected a value for parameter {parameter!r}; write [] for an empty one"
            )
        return self.text[start : self.position]

    def read_bracket_value(self) -> str:
        """Read a value in brackets, which may be nested; return it without the outermost."""
        start, depth = self.position, 0
        for position in range(start, len(self.text)):
            char = self.text[position]
            depth += (char == "[") - (char == "]")
            if depth > MAX_DEPTH:
                raise self.error(f"brackets can be nested at most {MAX_DEPTH} deep", position)
            if depth == 0:
                self.position = position + 1
                if self.next and self.next not in ",@":
                    raise self.error("expected ',' or '@' after the closing bracket")
                return self.text[start + 1 : position]
        raise self.error("this bracket is never closed", start)
