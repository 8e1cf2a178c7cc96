"""All mistakes of a configuration in one message, each with its place and its mend."""

from __future__ import annotations

from collections.abc import Iterable

from routelab.api.errors import InputError
from routelab.registry.suggest import did_you_mean


class ConfigError(InputError):
    """Everything that is wrong with the input.

    Attributes
    ----------
    mistakes : tuple of str
        One line each: place, what is wrong, what was expected.
    """

    def __init__(self, mistakes: Iterable[str]) -> None:
        self.mistakes = tuple(dict.fromkeys(mistakes))
        super().__init__("\n".join(self.mistakes))


def suggestion(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` or else ``; known: a, b``, to be put after a message."""
    known = sorted(known)
    return did_you_mean(word, known) or (f"; known: {', '.join(known)}" if known else "")
